"""The chess databases of a folder: which endings each file has, and the databases that are open.

The header of a file is read once for each state of the file, so that more files do not make a move slower.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from retrograde.databases import Database, DatabaseFile, NotInDatabase, home_folder, list_databases, open_database
from retrograde.databases.slots.read import OutcomeReader
from retrograde.games.catalog import rules_digest
from retrograde.games.chess import Chess, men
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.fen import position_on
from retrograde.games.chess.fields import Fields
from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.play.solution import Solution

State = tuple[int, int, int]

MOST_OPEN = 32
"""Databases that are opened in advance."""


tier_of = lru_cache(1024)(men.tier_of)


class EndingTables:
    """The databases in a folder, or one file. *remark* is called with each error of one that cannot be opened."""

    def __init__(self, remark: Callable[[str], object]):
        self.remark = remark
        self.path = usual_folder()
        self.solutions: dict[Path, Solution] = {}
        self.endings: dict[Path, tuple[State, frozenset[int]]] = {}
        """The state of each file when it was read, and its endings, as numbers of tiers."""

    def with_ending(self, material: str) -> Iterator[tuple[Path, Solution]]:
        """Yield the databases that have an ending, open ones first."""
        tier = tier_of(material)
        yield from [(path, solution) for path, solution in self.solutions.items() if tier in self.endings[path][1]]
        for path in databases_in(self.path):
            if path not in self.solutions and tier in self.read_tiers(path) and self.open(path):
                yield path, self.solutions[path]

    def find(self, material: str, board: AnyBoard | Fields) -> tuple[Solution, int] | None:
        """Return the first database with this board, and the position in it; None if no database has it."""
        fields = board if isinstance(board, Fields) else board.as_fields()
        for _, solution in self.with_ending(material):
            position = position_on(solution.game, fields)
            with suppress(NotInDatabase):
                solution.value(position)  # raises if it is missing; the answer is cached
                return solution, position
        return None

    def open(self, path: Path) -> bool:
        """Open a database. Return whether that worked."""
        try:
            solution = Solution(open_by_material(path))
            # Look a position up by both distances, so that no move waits for what takes time at the first call: rules
            # compute the tables that they use.
            solution.value(solution.start_or_example)
            solution.by_zeroing(solution.start_or_example)
            self.solutions[path] = solution
        except Exception as error:
            self.remark(f"{os.fspath(path)}: {message_of(error)}")
            return False
        return True

    def read_tiers(self, path: Path) -> frozenset[int]:
        """Return the tiers in a file that the current rules have made; none for other files."""
        state, cached = state_of(path), self.endings.get(path)
        if state is None:
            return frozenset()
        if cached is None or cached[0] != state:
            cached = self.endings[path] = state, tiers_made_by_rules(path)
        return cached[1]

    def prepare(self) -> None:
        """Read all headers and open some databases, so that no move has to wait for it."""
        for path in databases_in(self.path):
            if self.read_tiers(path) and path not in self.solutions and len(self.solutions) < MOST_OPEN:
                self.open(path)

    def refresh(self) -> None:
        """Close the databases whose files have changed or are gone."""
        for path in list(self.solutions):
            if state_of(path) != self.endings[path][0]:
                self.forget(path)

    def move_to(self, path: Path) -> None:
        """Look for databases in another folder."""
        self.close()
        self.path = path

    def forget(self, path: Path) -> None:
        """Close a database; it is opened again when it is needed."""
        with suppress(Exception):  # it is one that has failed
            self.solutions.pop(path).close()

    def close(self) -> None:
        for path in list(self.solutions):
            self.forget(path)


def state_of(path: Path) -> State | None:
    """Return the inode, time and size of a file, which show changes; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def usual_folder() -> Path:
    """Return the home folder of databases; as it is written in the environment if it cannot be resolved."""
    try:
        return home_folder()
    except RuntimeError:  # ~ of an unknown user
        return Path(os.environ.get("RETROGRADE_HOME", os.devnull))


def databases_in(path: Path) -> list[Path]:
    """Return the databases in a folder, or the file itself; none if they cannot be read."""
    try:
        return [path] if path.is_file() else list_databases(path)
    except (OSError, ValueError):
        return []


def tiers_made_by_rules(path: Path) -> frozenset[int]:
    """Return the tiers in a file that the current rules have made; none for other files."""
    try:
        with DatabaseFile(path) as file:
            is_chess = (file.game_name, file.rules) == (Chess.name, rules_digest(Chess))
            if not is_chess or not isinstance(file.contents, OutcomeReader) or file.measures:  # of another metric
                return frozenset()
            return frozenset(file.contents.tiers.numbers.tolist())
    except Exception:  # whatever a file does to its reader, it hinders no other
        return frozenset()


def open_by_material(path: Path) -> Database:
    """Open a chess database with the rules for the men that the file names."""
    with DatabaseFile(path) as file:
        material = file.options["material"]
    return open_database(path, game=Chess(str(material)))


def message_of(error: Exception) -> str:
    """Return the message of an error, with its class if it is not one of ours."""
    if isinstance(error, RetrogradeError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def ending_on(board: AnyBoard | Fields) -> str:
    """Return the name of the ending on a board; raise RetrogradeError if no database can have it."""
    ending = ending_of("".join(sorted(board.men.replace(".", ""))))
    if board.castling != "-":
        raise RetrogradeError("no database knows castling")
    return ending


@lru_cache(1024)
def ending_of(letters: str) -> str:
    """Return the name of the ending with these men, capitals for White; raise RetrogradeError if there is none.

    >>> ending_of("kQKr")
    'KQKR'
    """
    letters = letters.replace("K", "").replace("k", "")
    white, black = ("".join(man for man in letters if man.isupper() == side) for side in (True, False))
    if len(letters) + 2 > men.MOST_MEN:
        raise RetrogradeError(f"{len(letters) + 2} men are on the board; databases have {men.MOST_MEN} at most")
    if len(letters) + 2 > men.MOST_WITH_PAWNS and {"P", "p"} & {*letters}:
        raise RetrogradeError(f"{len(letters) + 2} men are on the board; with pawns databases have five at most")
    return men.ending_name(f"K{white}K{black}")
