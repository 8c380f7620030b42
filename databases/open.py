"""From a variant or a path to a database: find the file, and check it against the game's rules.

>>> with open_database("tictactoe") as db:
...     db[db.game.start]
Outcome(value=<Value.TIE: 3>, remoteness=9)
"""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from retrograde.databases.bounds.database import BoundsDatabase
from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.certificates.database import Certificate
from retrograde.databases.certificates.read import CertificateFile
from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database
from retrograde.databases.errors import NoDatabase, OtherRules
from retrograde.databases.file import AnyReader, DatabaseFile
from retrograde.databases.header import options_text
from retrograde.databases.location import (
    SUFFIX,
    certificate_path,
    database_path,
    metric_named,
    model_in,
    process_folder,
)
from retrograde.databases.records.database import RecordsDatabase
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.remote import is_address, path_of
from retrograde.databases.rows.database import RowsDatabase
from retrograde.databases.rows.read import RowsReader
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.databases.slots.derive import CompactDatabase
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.steps.database import StepsDatabase
from retrograde.databases.steps.read import StepsReader
from retrograde.games import Game, VariantError
from retrograde.games.catalog import (
    find_game,
    games_named,
    is_digest_of,
    is_own,
    load_game,
    rules_digest,
    variant,
    variant_of_same_rules,
)
from retrograde.games.contract.game import METRICS, metric_of
from retrograde.games.contract.live import with_source
from retrograde.games.contract.raised import given_start
from retrograde.games.contract.snapshot import has_source
from retrograde.games.contract.unfolded import folded, unfolded

KINDS: dict[type[AnyReader], Callable[[DatabaseFile, Game, int], Database]] = {
    RecordsReader: RecordsDatabase,
    RowsReader: RowsDatabase,
    StepsReader: StepsDatabase,
    SlotsReader: SlotsDatabase,
    CompactReader: CompactDatabase,
    BoundsReader: BoundsDatabase,
}


def open_database(
    variant_or_path: str | os.PathLike[str],
    *,
    game: Game | None = None,
    home: str | os.PathLike[str] | None = None,
    cache_blocks: int = CACHE_BLOCKS,
) -> Database:
    """Open a database by its variant, its path (a Path, or a text that ends in .h5), or its address (https:, s3:).

    A metric other than the game's own may follow the variant, as in `tictactoe@score`.

    The rules come from an installed game, from one that was solved on this machine, or from *game*. A file never makes
    us load code from elsewhere. *home* replaces the database folder. Raises NoDatabase, NotADatabase,
    DamagedDatabase, UnreadableVersion, OtherRules if the rules have changed since the solve, or VariantError if they
    cannot be found.
    """
    if names_file(variant_or_path):
        path = path_of(variant_or_path)
    else:
        path, game = find_database(str(variant_or_path), game, home)
    file = DatabaseFile(path)
    try:
        return database_of(file, matching_game(file, game), cache_blocks)
    except BaseException:
        file.close()
        raise


def names_file(text: str | os.PathLike[str]) -> bool:
    """Return whether a variant or a path is a path, or an address."""
    return isinstance(text, os.PathLike) or text.endswith(SUFFIX) or is_address(text)


def open_certificate(
    variant_or_path: str | os.PathLike[str],
    *,
    game: Game | None = None,
    home: str | os.PathLike[str] | None = None,
) -> Certificate:
    """Open a certificate by the variant whose start it proves, or by path, as `open_database` does."""
    if names_file(variant_or_path):
        path = path_of(variant_or_path)
    else:
        game = game or load_game(str(variant_or_path))
        path = certificate_path(variant(game), home=home)
        if not path.exists():
            raise NoDatabase(f"no certificate for {variant(game)}; make it with: retrograde prove {variant_or_path}")
    file = CertificateFile(path)
    try:
        return Certificate(file, matching_game(file, game))
    except BaseException:
        file.close()
        raise


def find_certificate(game: Game, home: str | os.PathLike[str] | None = None) -> Certificate | None:
    """Return the certificate for a game's start from the database folder, or None."""
    path = certificate_path(variant(game), home=home)
    return open_certificate(path, game=game) if os.path.exists(path) else None  # False also for impossible names


def database_of(file: DatabaseFile, game: Game, cache_blocks: int = CACHE_BLOCKS) -> Database:
    """Return the `Database` subclass instance for a file's kind of storage."""
    kind = next(kind for reader, kind in KINDS.items() if isinstance(file.contents, reader))
    database = kind(file, game, cache_blocks)
    if isinstance(database, SlotsDatabase):
        where = file.path.parent, game
        database.open_other = partial(open_beside, *where, metric=database.metric, cache_blocks=cache_blocks)
    return database


def open_beside(
    folder: Path, game: Game, variant: str, metric: str = METRICS[0], cache_blocks: int = CACHE_BLOCKS
) -> Database:
    """Open the database of another variant of the same rules, by a metric. It is looked for in *folder*, then in the
    database folder. Raises NoDatabase."""
    other = variant_of_same_rules(game, variant)
    suffix = "" if metric == metric_of(other) else metric
    home = folder if database_path(variant, folder, suffix).exists() else None
    return open_database(f"{variant}@{suffix}" if suffix else variant, game=other, home=home, cache_blocks=cache_blocks)


def path_for(game: Game, metric: str, home: str | os.PathLike[str] | None) -> Path:
    """Return the usual path of a game's database by a metric, whether or not it exists.

    "" stands for the game's own metric. If the source of the rules is not known, only this process can open it.
    """
    folder = process_folder() if home is None and not has_source(type(game)) else home
    return database_path(variant(game), folder, metric if metric != metric_of(game) else "")


def no_database(name: str, metric: str = "", text: str = "") -> NoDatabase:
    """Return the error for a variant without a database, by a metric if given. *text* is what the user typed.

    >>> print(no_database("nim", "nimber"))
    no database for nim by nimber; make it with: retrograde solve nim --metric nimber
    """
    what, option = (f"{name} by {metric}", f" --metric {metric}") if metric else (name, "")
    if model := model_in(metric):
        what, option = f"{name} against {model}", f" --against {model}"
    return NoDatabase(f"no database for {what}; make it with: retrograde solve {text or name}{option}")


def find_database(text: str, game: Game | None, home: str | os.PathLike[str] | None) -> tuple[Path, Game | None]:
    """Return the path of the database that a text such as `tictactoe@score` names, and its game; raise NoDatabase.

    The game is None if the name alone does not lead to it, and the file at the path may.
    """
    name, metric = metric_named(text)
    try:
        games = [game] if game else games_named(name)
    except VariantError:
        if (path := database_path(name, home, metric)).exists():
            return path, None
        raise
    found = [(path, each) for each in games if (path := path_for(each, metric, home)).exists()]
    for path, each in found[:-1]:
        with DatabaseFile(path) as file:
            if is_digest_of(file.rules, rules_digest(type(each))):
                return path, each
    if found:
        return found[-1]
    error = no_database(variant(games[-1]), metric, name)
    if is_own(type(games[-1])):  # which no command can solve
        option = f", metric={metric!r}" if metric and not model_in(metric) else ""
        what = str(error).partition("; make it")[0]
        raise NoDatabase(f"{what}; make it in Python with: retrograde.solve({games[-1]!r}{option})")
    raise error


def matching_game(file: CheckedFile, game: Game | None) -> Game:
    """Return the game of a database, checked against the file; raise OtherRules, VariantError or DamagedDatabase.

    If the file stores symmetric positions separately, the game has no symmetry.
    """

    def fits(cls: type[Game]) -> bool:
        """Return whether a class has the rules of the file."""
        return is_digest_of(file.rules, rules_digest(cls))

    game = with_source(game)[0] if game else None
    game = folded(game or find_game(file.variant, fits, file.rules))
    # Checks of the file against the game: variant, rules, start, options.
    if variant(game) != file.variant:
        error = OtherRules(f"the database {str(file.path)!r} is of {file.variant}, not of {variant(game)}")
        if game.name != file.game_name and fits(type(game)):
            error.add_note(f"its rules are the same: name their file {file.game_name}.py")
        raise error
    if not fits(type(game)):
        raise OtherRules(
            f"the database {str(file.path)!r} was made with other rules of {file.variant}; "
            "solve it again with --fresh (in Python: fresh=True), or use the rules that made it"
        )
    start = given_start(game)
    if file.start not in (None, start):
        raise file.damaged(f"its start is {file.start}, and by the rules {start}")
    if options_text(game) != json.dumps(file.options, sort_keys=True, ensure_ascii=False):
        raise file.damaged(f"its options are not those of {file.variant}")
    return game if getattr(file, "details", {}).get("symmetry", True) else unfolded(game)
