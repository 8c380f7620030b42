"""Databases of chess endings probed as tablebases are: by a board, in the manner of python-chess' readers of tables."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

from retrograde.databases import NoDatabase, home_folder
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.contract.game import LOSE, WIN, RetrogradeError
from retrograde.games.contract.zeroing import DTC, DTZ
from retrograde.solver.play.solution import Solution
from retrograde.solver.play.tablebase.category import category, dtc_of, dtz_of
from retrograde.solver.play.tablebase.files import Tables, ending_on

WDL = {"loss": -2, "blessed-loss": -1, "draw": 0, "cursed-win": 1, "win": 2}


class HasFen(Protocol):
    """A board that says what it is as FEN, as those of python-chess do."""

    def fen(self) -> str: ...


Board = str | HasFen
"""FEN, or a board."""


class Found(NamedTuple):
    """The solution that has a board, and which of its positions that is."""

    solution: Solution
    position: int


class Tablebase:
    """The databases of chess in a folder, each opened when a board first asks for it.

    Distances are in plies, above 0 where the side to move wins, below 0 where it loses, and 0 for a draw. `probe_…`
    raises NoDatabase where none here has the board, or has it by that metric, and PositionError where it is no legal
    position; `get_…` then returns the default. A context manager, which closes the databases.
    """

    def __init__(self, folder: Path):
        self._faults: dict[str, None] = {}
        self._tables = Tables(lambda fault: self._faults.setdefault(fault))
        self._tables.move_to(folder)

    def find(self, board: Board) -> Found:
        """Return the solution that has a board, and the position in it."""
        if not (isinstance(board, str) or hasattr(board, "fen")):
            raise TypeError(f"a board is FEN, or one of python-chess, not {type(board).__name__}")
        any_board = AnyBoard.from_fen(board if isinstance(board, str) else board.fen())
        try:
            ending = ending_on(any_board)
        except RetrogradeError as error:  # more men than any has, or castling
            raise NoDatabase(str(error)) from error
        self._faults.clear()
        if found := self._tables.find(ending, any_board.fen()):
            return Found(*found)
        if self._faults:
            raise NoDatabase("; ".join(self._faults))
        what = f"no database of {ending} in {os.fspath(self._tables.path)!r}"
        raise NoDatabase(f"{what}; make one with: retrograde solve chess:{ending}")

    def probe_dtm(self, board: Board) -> int:
        """Return the distance to mate; 0 also for who is mated."""
        solution, position = self.find(board)
        value, plies = solution.value(position)
        return {WIN: plies, LOSE: -plies}.get(value, 0) if plies else 0

    def probe_dtz(self, board: Board) -> int:
        """Return the distance to the next capture or move of a pawn, as Syzygy's tables count it but never rounded:
        more than 100 is a draw by the fifty-move rule; -1 for who is mated."""
        solution, position = self.find(board)
        return known(solution, DTZ, dtz_of(position, solution.value(position).value, solution))

    def probe_dtc(self, board: Board) -> int:
        """Return the distance to the next capture or promotion; 0 also for who is mated."""
        solution, position = self.find(board)
        if solution.conversion and not solution.value(position).remoteness:
            return 0
        return known(solution, DTC, dtc_of(position, solution))

    def probe_wdl(self, board: Board) -> int:
        """Return 2 for a win, -2 for a loss, 0 for a draw; 1 and -1 for those that the fifty-move rule makes a draw,
        where it begins to count on this board. Raises NoDatabase where that hangs on dtz, which is not there."""
        solution, position = self.find(board)
        value, plies = solution.value(position)
        told = category(position, value, plies or 0, 0, dtz_of(position, value, solution))
        return known(solution, DTZ, WDL.get(told))

    def get_dtm(self, board: Board, default: int | None = None) -> int | None:
        """Return the distance to mate, or the default."""
        return unless_there(self.probe_dtm, board, default)

    def get_dtz(self, board: Board, default: int | None = None) -> int | None:
        """Return the distance to zeroing, or the default."""
        return unless_there(self.probe_dtz, board, default)

    def get_dtc(self, board: Board, default: int | None = None) -> int | None:
        """Return the distance to conversion, or the default."""
        return unless_there(self.probe_dtc, board, default)

    def get_wdl(self, board: Board, default: int | None = None) -> int | None:
        """Return what the board is worth by the fifty-move rule, or the default."""
        return unless_there(self.probe_wdl, board, default)

    def close(self) -> None:
        """Close all databases; one that is asked for again is opened anew."""
        self._tables.close()

    def __enter__(self) -> "Tablebase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_tablebase(folder: str | os.PathLike[str] | None = None) -> Tablebase:
    """Return the databases of chess in a folder, or one file, as a tablebase; those of the usual place if None.

    Raises NoDatabase where there is no such folder.
    """
    path = home_folder() if folder is None else Path(folder)
    if not path.exists():
        raise NoDatabase(f"there is no {os.fspath(path)!r}; make databases with: retrograde solve chess:all=3")
    return Tablebase(path)


def known(solution: Solution, metric: str, told: int | None) -> int:
    """Return what is known by a metric; raise NoDatabase where nothing is."""
    if told is None:
        what = f"no database of {solution.variant} by {metric} beside the one by {solution.metric}"
        raise NoDatabase(f"{what}; make one with: retrograde solve {solution.variant} --metric {metric}")
    return told


def unless_there(probe: Callable[[Board], int], board: Board, default: int | None) -> int | None:
    """Return what a probe finds, or the default where no database has the board."""
    try:
        return probe(board)
    except NoDatabase:
        return default
