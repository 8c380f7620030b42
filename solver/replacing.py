"""Whether a solve may replace the file that is at its path. The command and the Python function ask the same.

A solve replaces a database of the same rules and metric. It replaces one of other rules only if an earlier text of the
same rule file or program made it in seconds, or if it is to start *fresh*.
"""

from pathlib import Path
from typing import Any, Protocol

from retrograde.databases.errors import DamagedDatabase, NotADatabase, OpenElsewhere, OtherRules, UnreadableVersion
from retrograde.databases.file import DatabaseFile
from retrograde.databases.location import home_folder
from retrograde.databases.open import matching_game
from retrograde.games import Game, RetrogradeError
from retrograde.games.catalog import file_of_rules, record_key, rules_digest, source_file, variant
from retrograde.games.contract.game import METRICS
from retrograde.games.identity.trusted import read_record

SOON_SOLVED = 100_000
"""Databases of up to this many records are replaced without asking: making them again takes seconds."""

MADE_HERE: dict[Path, tuple[str, str]] = {}
"""The databases that this process has made: (digest of the rules, file of the rules)."""


REMEDIES = {
    "fresh": "pass fresh=True to replace it",
    "path": "choose another path",
    "remove": "choose another path, or remove it",
}
"""What to do about a file that must not be replaced, in Python."""


class CannotReplace(RetrogradeError, FileExistsError):
    """The file at the path of a solve must not be replaced.

    *what* says why. *remedy* is one of REMEDIES.
    """

    def __init__(self, what: str, remedy: str = "fresh"):
        super().__init__(f"{what}; {REMEDIES[remedy]}")
        self.what = what
        self.remedy = remedy

    def __reduce__(self) -> Any:
        return CannotReplace, (self.what, self.remedy)


class Opponent(Protocol):
    """What counts of a model of the opponent: its name and its digest."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...


def is_of_same_solve(game: Game, path: Path, metric: str, ties: str, against: Opponent | None, fresh: bool) -> bool:
    """Return whether the database of this game, metric and opponent is at a path. Raise CannotReplace if there is a
    file that a solve must not replace.

    False if nothing is there, or something that a solve may replace. *fresh* allows more to be replaced.
    """
    if not path.exists():
        return False
    try:
        with DatabaseFile(path) as file:
            matching_game(file, game)
            if (stored := file.metric if file.measures else METRICS[0]) != metric:
                raise CannotReplace(f"{str(path)!r} holds another metric, {stored}", "path")
            refuse_other_model(path, file.details, against, fresh)
            if ties and file.details.get("ties", ties) != ties and not fresh:
                raise CannotReplace(f"{str(path)!r} was made with other ties, {file.details['ties']}")
            return True
    except OpenElsewhere:
        raise
    except OtherRules as error:
        if file.variant != variant(game):
            raise CannotReplace("; ".join((str(error), *getattr(error, "__notes__", ()))), "path") from error
        if not fresh and not is_made_by_earlier_text(game, path, file):
            raise CannotReplace(f"{str(path)!r} was made by other rules of {file.variant}") from error
    except NotADatabase as error:
        raise CannotReplace(str(error), "remove") from error
    except (DamagedDatabase, UnreadableVersion) as error:
        if path.is_dir():
            raise
        if not fresh:
            raise CannotReplace(str(error).removesuffix("; solve the game again")) from error
    return False


def is_made_by_earlier_text(game: Game, path: Path, file: DatabaseFile) -> bool:
    """Return whether an earlier text of the game's rule file or program made a database in its folder, in seconds.

    False if another rule file or program of that name is on record.
    """
    if file.stored > SOON_SOLVED or path.resolve().parent != home_folder().resolve():
        return False
    if MADE_HERE.get(path.resolve()) == (file.rules, source_file(type(game))):
        return True
    source, record = file_of_rules(type(game)), read_record()
    entries = [entry for key in (game.name, record_key(game.name, in_program=True)) for entry in record.get(key, [])]
    if source is None or {entry["file"] for entry in entries} != {str(source)}:
        return False
    # Records of early versions have no digests of rules.
    return all("rules" not in entry or file.rules in entry["rules"] for entry in entries)


def record_solve(game: Game, path: Path) -> None:
    """Remember that this process has made the database at a path, with the game's rules."""
    MADE_HERE[path.resolve()] = rules_digest(type(game)), source_file(type(game))


def refuse_other_model(path: Path, details: dict[str, Any], model: Opponent | None, fresh: bool) -> None:
    """Raise CannotReplace if a database of expectations is against another model than *model* (None: perfect players).

    *details* are those of the file. *fresh* allows to replace it if only the model of this name has changed.
    """
    stored, name = details.get("against", ""), model.name if model else ""
    if stored != name:
        of = f"a best response to {stored}" if stored else "expectations between perfect players"
        raise CannotReplace(f"{str(path)!r} holds {of}", "path")
    if model and details.get("model") != model.digest and not fresh:
        raise CannotReplace(f"{str(path)!r} is against {stored}, which has changed since")
