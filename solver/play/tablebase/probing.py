"""Probe databases of chess endings by board, with the interface of python-chess' tablebase readers."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

from retrograde.databases import NoDatabase, home_folder
from retrograde.games.chess import fields
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.contract.game import LOSE, WIN, RetrogradeError
from retrograde.games.contract.zeroing import DTC, DTZ
from retrograde.solver.play.solution import Solution
from retrograde.solver.play.tablebase.category import category, dtc_of, dtz_of
from retrograde.solver.play.tablebase.files import EndingTables, ending_on

WDL = {"loss": -2, "blessed-loss": -1, "draw": 0, "cursed-win": 1, "win": 2}


class HasFen(Protocol):
    """A board with a method `fen`, such as those of python-chess."""

    def fen(self) -> str: ...


Board = str | HasFen
"""FEN, or a board."""


class ProbedPosition(NamedTuple):
    """The solution that has a board, and the position in it."""

    solution: Solution
    position: int


class Tablebase:
    """The chess databases in a folder, each opened when it is first needed; a context manager.

    Distances are in plies, positive if the side to move wins, negative if it loses, and 0 for a draw. `probe_…` raises
    NoDatabase if no database here has the board, or none by that metric, and PositionError if the board is not legal.
    In the case of NoDatabase `get_…` returns the default.
    """

    def __init__(self, folder: Path):
        self._faults: dict[str, None] = {}
        self._tables = EndingTables(lambda fault: self._faults.setdefault(fault))
        self._tables.move_to(folder)

    def find(self, board: Board) -> ProbedPosition:
        """Return the solution that has a board, and the position in it. Raise NoDatabase or PositionError."""
        if not (isinstance(board, str) or hasattr(board, "fen")):
            raise TypeError(f"a board is FEN, or one of python-chess, not {type(board).__name__}")
        # The fast way: read a board of python-chess directly. If that finds nothing, the slow way says what is wrong.
        if not isinstance(board, str) and (board_fields := fields.of_board(board)):
            with suppress(RetrogradeError):
                if found := self._tables.find(ending_on(board_fields), board_fields):
                    return ProbedPosition(*found)
        # The slow way: read FEN.
        any_board = AnyBoard.from_fen(board if isinstance(board, str) else board.fen())
        try:
            ending = ending_on(any_board)
        except RetrogradeError as error:  # more men than any database has, or castling
            raise NoDatabase(str(error)) from error
        self._faults.clear()
        if found := self._tables.find(ending, any_board):
            return ProbedPosition(*found)
        if self._faults:
            raise NoDatabase("; ".join(self._faults))
        what = f"no database of {ending} in {os.fspath(self._tables.path)!r}"
        raise NoDatabase(f"{what}; make one with: retrograde solve chess:{ending}")

    def probe_dtm(self, board: Board) -> int:
        """Return the distance to mate; 0 also if the side to move is mated."""
        solution, position = self.find(board)
        value, plies = solution.value(position)
        return {WIN: plies, LOSE: -plies}.get(value, 0) if plies else 0

    def probe_dtz(self, board: Board) -> int:
        """Return the plies to the next capture, pawn move or mate, negative if the side to move loses; 0 for a draw.

        It counts as Syzygy tables do, but is never rounded: beyond ±100 it is a draw by the fifty-move rule. It is -1
        if the side to move is mated.
        """
        solution, position = self.find(board)
        return require(solution, DTZ, dtz_of(position, solution.value(position).value, solution))

    def probe_dtc(self, board: Board) -> int:
        """Return the distance to the next capture or promotion; 0 also if the side to move is mated."""
        solution, position = self.find(board)
        if solution.conversion and not solution.value(position).remoteness:
            return 0
        return require(solution, DTC, dtc_of(position, solution))

    def probe_wdl(self, board: Board) -> int:
        """Return 2 for a win, -2 for a loss, 0 for a draw, and 1 or -1 for a cursed win or blessed loss.

        The last two are draws by the fifty-move rule, with the counter at 0 on this board. Raises NoDatabase if the
        result depends on dtz and no database has it.
        """
        solution, position = self.find(board)
        value, plies = solution.value(position)
        found = category(position, value, plies or 0, 0, dtz_of(position, value, solution))
        return require(solution, DTZ, WDL.get(found))

    def get_dtm(self, board: Board, default: int | None = None) -> int | None:
        """Return the distance to mate, or the default."""
        return probe_or_default(self.probe_dtm, board, default)

    def get_dtz(self, board: Board, default: int | None = None) -> int | None:
        """Return the distance to zeroing, or the default."""
        return probe_or_default(self.probe_dtz, board, default)

    def get_dtc(self, board: Board, default: int | None = None) -> int | None:
        """Return the distance to conversion, or the default."""
        return probe_or_default(self.probe_dtc, board, default)

    def get_wdl(self, board: Board, default: int | None = None) -> int | None:
        """Return the result under the fifty-move rule, or the default."""
        return probe_or_default(self.probe_wdl, board, default)

    def close(self) -> None:
        """Close all databases; one that is needed again is opened again."""
        self._tables.close()

    def __enter__(self) -> "Tablebase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_tablebase(folder: str | os.PathLike[str] | None = None) -> Tablebase:
    """Return the chess databases in a folder, or one file, as a tablebase; those of the home folder if None.

    Raises NoDatabase if there is no such folder.
    """
    path = home_folder() if folder is None else Path(folder)
    if not path.exists():
        raise NoDatabase(f"there is no {os.fspath(path)!r}; make databases with: retrograde solve chess:all=3")
    return Tablebase(path)


def require(solution: Solution, metric: str, found: int | None) -> int:
    """Return *found*, a distance or result; raise NoDatabase if it is None."""
    if found is None:
        what = f"no database of {solution.variant} by {metric} beside the one by {solution.metric}"
        raise NoDatabase(f"{what}; make one with: retrograde solve {solution.variant} --metric {metric}")
    return found


def probe_or_default(probe: Callable[[Board], int], board: Board, default: int | None) -> int | None:
    """Return what a probe returns, or the default if no database has the board."""
    try:
        return probe(board)
    except NoDatabase:
        return default
