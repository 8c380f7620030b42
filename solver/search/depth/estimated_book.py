"""Books of estimates: what depth-limited searches think of the positions near the start, stored as JSON.

    draughts.estimates.json
    {"format": "retrograde estimates", "game": "draughts", "rules": …, "plies": 6, "depth": 9, …,
     "estimates": {"B:W21,22,…": 0, …}}

A position is a text that the game writes; of symmetric positions, only the canonical one is in the book. An estimate is
a score as in `scores.py`, for the player to move:

- at an end: the score of its value,
- where all moves lead to positions of the book: that of the best move (backed up; Buro, 1999; Lincke, 2000). Play that
  can go on in the book for ever is a draw, 0,
- elsewhere: the score that a search of `depth` plies finds.

All of these are estimates. None is a proof, not even where a search has seen a win: nothing takes them for values.
`rules` and `hints` are digests, `weights` those of the features, `tables` the endgame tables that the searches probed.
"""

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrograde.databases.durable import read_facts, write_facts
from retrograde.databases.errors import NotADatabase
from retrograde.databases.location import estimates_path
from retrograde.games.catalog import is_digest_of, rules_digest, typed, variant
from retrograde.games.contract.game import UNDECIDED, Game, RetrogradeError
from retrograde.games.identity.digest import numbering_digest
from retrograde.solver.search.depth.scores import DEEPEST, FAR, score_of_move

if TYPE_CHECKING:
    from retrograde.solver.search.probing.tables import LoadedTables

FORMAT = "retrograde estimates"
MOST_PLIES = 60
"""The greatest depth of a book, in plies from the start."""


class WrongEstimates(NotADatabase):
    """A file that is no book of estimates, is damaged, or was made with other rules."""


class NoEstimates(RetrogradeError, FileNotFoundError):
    """A game has no book of estimates."""


@dataclass(frozen=True)
class Origin:
    """What made a book of estimates: the game, what it estimates with, the depth, and which positions."""

    game: str
    rules: str
    hints: str
    weights: tuple[int, ...]
    tables: tuple[str, ...]
    plies: int
    depth: int
    most: int | None
    """Where to stop choosing positions; None if the book has all positions within its plies."""


def origin_of(game: Game, tables: "LoadedTables | None", plies: int, depth: int, most: int | None) -> Origin:
    """Return the origin of a book that is made now, by searches that probe these endgame tables."""
    digests, weights = (rules_digest(game), numbering_digest(game)), tuple(getattr(game, "feature_weights", ()))
    names = tuple(sorted(database.file.variant for database in tables.databases)) if tables else ()
    return Origin(variant(game), *digests, weights, names, plies, depth, most)


@dataclass(frozen=True)
class EstimatesFile:
    """The content of a file of estimates, whose rules may be missing. The start has an estimate, if anything has."""

    path: Path
    origin: Origin
    start: str
    estimates: dict[str, int]
    digest: str

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size


@dataclass(frozen=True)
class EstimatedBook:
    """A book of estimates with its game."""

    game: Game
    file: EstimatesFile

    @property
    def depth(self) -> int:
        """The depth of the searches, in plies."""
        return self.file.origin.depth

    def score(self, position: int) -> int | None:
        """Return the estimate of a position for the player to move; None if the book lacks it."""
        return self.file.estimates.get(self.game.write(self.game.canonical(position)))

    def moves(self, position: int) -> dict[int, int]:
        """Return the moves of a position with their scores for the player to move; {} unless the book has all."""
        scores: dict[int, int] = {}
        if self.game.primitive(position) != UNDECIDED:
            return scores
        for move in self.game.generate_moves(position):
            child = self.score(self.game.do_move(position, move))
            if child is None:
                return {}
            scores[move] = score_of_move(child)
        return scores

    def best_moves(self, position: int) -> list[int]:
        """Return the best moves by the book, in the order of the rules; none unless it has all moves."""
        scores = self.moves(position)
        best = max(scores.values(), default=0)
        return [move for move, score in scores.items() if score == best]


# Files


def write_estimates(path: Path, origin: Origin, start: str, estimates: dict[str, int]) -> None:
    """Write a book of estimates; raise CannotWrite if that is impossible."""
    facts = {"format": FORMAT, **asdict(origin), "start": start, "digest": "", "estimates": estimates}
    facts["digest"] = digest_of_facts(facts)
    write_facts(path, facts, "--database")


def digest_of_facts(facts: dict[str, Any]) -> str:
    """Return the digest of all facts in a file but the digest itself."""
    undigested = {**facts, "digest": ""}
    return sha256(json.dumps(undigested, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def read_estimates(path: str | os.PathLike[str]) -> EstimatesFile:
    """Read a file of estimates; raise WrongEstimates if it is not one, or is damaged. The rules are not needed."""
    path = Path(path)
    try:
        facts = read_facts(path)
    except OSError as error:
        raise WrongEstimates(f"cannot read estimates from {str(path)!r}: {error.strerror}") from error
    except ValueError as error:
        raise damaged_error(path) from error
    if facts.get("format") != FORMAT or facts.get("digest") != digest_of_facts(facts):
        raise damaged_error(path)
    try:
        origin = read_origin(facts)
        start, estimates = facts["start"], facts["estimates"]
    except (KeyError, TypeError, ValueError) as error:
        raise damaged_error(path) from error
    if not (maps_to_scores(estimates) and isinstance(start, str) and start in estimates):
        raise damaged_error(path)
    return EstimatesFile(path, origin, start, estimates, facts["digest"])


def damaged_error(path: Path) -> WrongEstimates:
    """Return the error that a file is damaged, or of another kind."""
    remedy = "make it again with: retrograde book VARIANT --plies N --depth N --fresh"
    return WrongEstimates(f"{str(path)!r} is no book of estimates, or is damaged; {remedy}")


def read_origin(facts: dict[str, Any]) -> Origin:
    """Return the origin in the facts of a file; raise KeyError, TypeError or ValueError if it is none."""
    game, rules, hints, plies, depth = (facts[name] for name in ("game", "rules", "hints", "plies", "depth"))
    weights, tables, most = tuple(facts["weights"]), tuple(facts["tables"]), facts["most"]
    if not all(isinstance(word, str) for word in (game, rules, hints, *tables)):
        raise ValueError("a name is no text")
    if not all(type(number) is int for number in (plies, depth, *weights, 0 if most is None else most)):
        raise ValueError("a number is no int")
    if not (0 <= plies <= MOST_PLIES and 1 <= depth <= DEEPEST):
        raise ValueError("a depth is out of range")
    return Origin(game, rules, hints, weights, tables, plies, depth, most)


def maps_to_scores(estimates: Any) -> bool:
    """Return whether a value from a file maps positions to scores."""
    return isinstance(estimates, dict) and all(type(score) is int and abs(score) <= FAR for score in estimates.values())


def open_estimates(path: str | os.PathLike[str], game: Game) -> EstimatedBook:
    """Return the book of a game in a file; raise WrongEstimates if it is damaged, or of another game or rules."""
    file = read_estimates(path)
    origin, remedy = file.origin, f"make it again with: {command_for(game)} --fresh"
    if origin.game != variant(game):
        raise WrongEstimates(f"{str(path)!r} is of another game than {variant(game)}; {remedy}")
    if not is_digest_of(origin.rules, rules_digest(game)):
        raise WrongEstimates(f"{str(path)!r} was made with other rules of {variant(game)}; {remedy}")
    return EstimatedBook(game, file)


def find_estimates(game: Game, home: str | os.PathLike[str] | None = None) -> EstimatedBook | None:
    """Return a game's book of estimates from the database folder, or None. Raise WrongEstimates if it is damaged."""
    path = estimates_path(variant(game), home)
    return open_estimates(path, game) if os.path.exists(path) else None  # False also for names that no file can have


def require_estimates(game: Game) -> EstimatedBook:
    """Return a game's book of estimates; raise NoEstimates if there is none."""
    if (book := find_estimates(game)) is None:
        raise NoEstimates(f"no book of estimates of {variant(game)}; make it with: {command_for(game)}")
    return book


def command_for(game: Game) -> str:
    """Return the command that makes a book of estimates of a game."""
    return f"retrograde book {typed(game)} --plies 4 --depth 9"
