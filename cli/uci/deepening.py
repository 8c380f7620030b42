"""Moves for boards that no database can have, found by a depth-limited search of the whole game within the clock.

The search runs in the thread that answers `go`. It is compiled once, in a separate thread, and no move waits for that
longer than its clock allows.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

from retrograde.cli.uci.clock import Clock, in_background, number
from retrograde.cli.uci.searches import AROUND, SECONDS, SPARE
from retrograde.games.catalog import load_game
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.solver.search.depth.scores import DEEPEST, plies_to_end
from retrograde.solver.search.depth.searcher import DepthResult, ValueSearch
from retrograde.solver.search.probing.tables import find_tables

ENTRY_BYTES = 72
"""The size of an entry of the transposition table."""
SHORTEST = 0.01
"""With fewer seconds than this, no search begins."""
KEPT = 0.2
"""The share of the time that is kept for delays: at most SPARE seconds."""
FOR_COMPILING = 5.0
"""Seconds that `isready` waits for the search after `ucinewgame`."""


class ChessSearch:
    """The search of the whole game. *say* prints lines of `info`, *remark* prints a text for people."""

    def __init__(self, say: Callable[[str], object], remark: Callable[[str], object]):
        self.say, self.remark = say, remark
        self.game: Any = load_game("chess")
        self.coming: Future[ValueSearch] | None = None
        """The search, ready or compiling."""
        self.entries = 0

    def best(
        self, board: AnyBoard, moves: Sequence[str], past: Collection[object], clock: Clock, words: Sequence[str],
        options: Mapping[str, int],
    ) -> str | None:  # fmt: skip
        """Return the best of some moves within the clock; None if time is too short.

        *past* are the keys of the positions that the game has had (see `key_of`).
        """
        limits = dict(zip(words, map(number, words[1:]), strict=False))  # each word with the number after it
        depth = limits.get("depth")
        if clock.seconds is None and not clock.infinite and not depth:
            clock = clock.within(SECONDS)
        search = self.compiled_in_time(options["Hash"], clock)
        if search is None:
            self.remark("the rules are being compiled; until then the engine looks two plies ahead")
            return None
        left = None if clock.left is None else clock.left - min(SPARE, KEPT * clock.left)
        if left is not None and left < SHORTEST:
            self.remark("there is no time for a search; the engine looks two plies ahead")
            return None
        position = self.game.position_on(board)
        names = {self.game.uci(move): move for move in self.game.generate_moves(position)}
        draws = {names[move] for move in names if key_of(board.after(move)) in past}
        search.resume()
        clock.stopped.add_done_callback(lambda stopped: search.halt())
        best = None
        among, most = [names[move] for move in moves], options["MultiPV"]
        if most == 1:
            for result in search.deepen(position, depth or DEEPEST, left, moves=among, draws=draws):
                best = self.print_result(search, position, result, clock)
            return best
        for results in search.deepen_several(position, most, depth or DEEPEST, left, moves=among, draws=draws):
            lines = [self.print_result(search, position, one, clock, rank) for rank, one in enumerate(results, 1)]
            best = lines[0]
        return best

    def print_result(
        self, search: ValueSearch, position: int, result: DepthResult, clock: Clock, rank: int = 0
    ) -> str:  # fmt: skip
        """Print the result of a depth, and return its move. *rank* counts from 1; 0: one move alone is shown."""
        line = " ".join(map(self.game.uci, search.line(position, result.move, result.depth)))
        rate = round(result.nodes / max(result.seconds, 1e-6))
        self.say(
            f"info depth {result.depth} {f'multipv {rank} ' * bool(rank)}score {score_of(int(result.score))} "
            f"nodes {result.nodes} nps {rate} time {clock.milliseconds} pv {line}"
        )
        return line.split()[0]

    def compiled_in_time(self, table: int, clock: Clock) -> ValueSearch | None:
        """Return the search; None if it is not compiled before the clock ends the wait. *table* is in MiB."""
        coming = self.begin(table)
        return coming.result() if clock.await_result(coming, AROUND * (clock.left or 0.0)) else None

    def begin(self, table: int) -> "Future[ValueSearch]":
        """Begin to compile the search, unless that has been done for a table of this size."""
        # The greatest power of two that fits.
        entries = 1 << ((table * (1 << 20) // ENTRY_BYTES).bit_length() - 1)
        if self.coming is None or entries != self.entries:
            self.coming, self.entries = in_background(partial(self.compiled_search, entries)), entries
        return self.coming

    def wait(self) -> None:
        """Wait a little for a search that is being compiled."""
        if self.coming:
            wait((self.coming,), FOR_COMPILING)

    def compiled_search(self, entries: int) -> ValueSearch:
        """Return a search whose table has *entries* entries, after it has compiled its kernels."""
        search = ValueSearch(self.game, tables=find_tables(self.game))
        search.entries = entries
        search.make_workspace()
        search.line(self.game.start, search.find(self.game.start, 4).move, 4)
        return search


def key_of(board: AnyBoard) -> object:
    """Return a key that is equal for two boards if the second repeats the position of the first."""
    return board.men, board.white_to_move, board.castling, board.capturable()


def score_of(score: int) -> str:
    """Return a score as UCI writes it.

    >>> from retrograde.solver.search.depth.scores import FAR
    >>> score_of(35), score_of(FAR - 3), score_of(4 - FAR)
    ('cp 35', 'mate 2', 'mate -2')
    """
    plies = plies_to_end(score)
    if plies is None:
        return f"cp {score}"
    return f"mate {(plies + 1) // 2}" if score > 0 else f"mate {-(plies // 2)}"
