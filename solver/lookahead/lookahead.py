"""A look ahead: the move that seems best when so many plies are looked at, or as many as there is time for.

It proves nothing. One ply more is looked at each time (iterative deepening), since the moves that were best so far let
the next look cut more; when time is out, what the last whole look found is told.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import numpy as np

from retrograde.games.game import UNDECIDED, Game, RuleError, defines
from retrograde.solver.lookahead import kernels
from retrograde.solver.lookahead.scores import DECIDED, DEEPEST, FAR, INFINITE, score_of
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import refuse_to_search
from retrograde.solver.rules.expansion import compiling

MORE = 8
"""Plies that are looked at beyond, where a position is not quiet."""
ENTRIES = 1 << 16
"""Entries of the table, of 32 bytes."""
WIDEST = 64
"""Moves that there is room for, to begin with."""


@dataclass(frozen=True)
class Look:
    """What seems best: a move, what it is thought to bring (see `scores.py`), and how many plies were looked at.

    `to_the_end` tells whether no line was given up before its end, so that no estimate was asked for.
    """

    move: int
    score: int
    depth: int
    to_the_end: bool
    nodes: int
    seconds: float


class Lookahead:
    """A search of a game to a depth, by an estimate: the game's own unless said otherwise (see `kernels.py`)."""

    def __init__(self, game: Game, estimate: int = kernels.OWN):
        refuse_to_search(game)
        compiled.prepare(game)
        self.game = game
        own = estimate == kernels.OWN and defines(game, "quiet")
        self.sight = kernels.Sight(estimate, MORE if own else 0)
        self.stop = np.zeros(1, np.uint8)
        self.widest = WIDEST
        self.nodes = 0
        self.make_room()

    def make_room(self) -> None:
        self.room = kernels.make_room(DEEPEST + MORE + 2, self.widest, ENTRIES, self.stop)

    def find(self, position: int, depth: int | None = None, seconds: float | None = None, seed: int = 0) -> Look:
        """Return what seems best in an undecided position, to a depth or within a time; of equals, one by chance.

        One ply is looked at in any case.
        """
        began, nodes = time.monotonic(), self.nodes
        moves = self.moves(position)
        Random(f"{seed} {position}").shuffle(moves)
        deepest = min(depth or (DEEPEST if seconds else 1), DEEPEST)
        found, plies = self.best(moves, 1), 1  # also lets the rules be compiled, which is no search
        with self.limited(seconds):
            while found is not None:
                (move, score), to_the_end = found, not self.room.counts[kernels.ESTIMATED]
                look = Look(move, score, plies, to_the_end, self.nodes - nodes, time.monotonic() - began)
                if to_the_end or abs(score) > DECIDED or plies == deepest:
                    break
                moves.sort(key=lambda pair: pair[0] != look.move)
                plies += 1
                found = self.best(moves, plies)
        return look

    def scores(self, position: int, depth: int) -> list[tuple[int, int]]:
        """Return each move of an undecided position with the score that it has, all of them exact."""
        return [(move, self.one(child, depth, -INFINITE, INFINITE) or 0) for move, child in self.moves(position)]

    def score(self, position: int, depth: int) -> int:
        """Return the score of a position."""
        if (end := self.game.primitive(position)) != UNDECIDED:
            return score_of(end)
        return max(score for _, score in self.scores(position, depth))

    def moves(self, position: int) -> list[tuple[int, int]]:
        """Return the moves of a position and where they lead."""
        found = [(move, self.game.do_move(position, move)) for move in self.game.generate_moves(position)]
        if not found:
            raise RuleError(f"position {self.game.write(position)} has no moves, and is not over")
        return found

    def best(self, moves: list[tuple[int, int]], depth: int) -> tuple[int, int] | None:
        """Return the first of the best of some moves, and its score; None where time is out."""
        self.room.counts[kernels.ESTIMATED] = 0
        best, chosen = -INFINITE, -1
        for move, child in moves:
            score = self.one(child, depth, best, INFINITE)
            if score is None:
                return None
            if score > best:
                best, chosen = score, move
            if best == FAR - 1:
                break
        return chosen, best

    def one(self, child: int, depth: int, low: int, high: int) -> int | None:
        """Return what a move brings that leads somewhere; None where time is out."""
        low, high = -kernels.farther(high), -kernels.farther(low)
        while not self.stop[0]:
            counts = self.room.counts
            counts[kernels.NODES] = counts[kernels.TROUBLE] = 0
            with compiling(self.game, np.array([0, child])):
                score = -kernels.look(self.game, child, depth - 1, low, high, 0, self.sight, self.room)
            self.nodes += int(counts[kernels.NODES])
            if not counts[kernels.TROUBLE]:
                return int(kernels.nearer(score))
            if counts[kernels.TROUBLE] == kernels.MANY_MOVES:
                estimated = counts[kernels.ESTIMATED]
                self.widen()
                self.room.counts[kernels.ESTIMATED] = estimated
        return None

    def widen(self) -> None:
        """Make room for more moves."""
        self.widest *= 4
        self.make_room()

    def count(self, position: int, depth: int, order: int, sight: kernels.Sight) -> int:
        """Return how many positions alpha-beta without a table looks at, with moves in some order (see kernels.py)."""
        while True:
            self.room.counts[:] = 0
            kernels.alpha_beta(self.game, position, depth, -INFINITE, INFINITE, 0, order, sight, self.room)
            if not self.room.counts[kernels.TROUBLE]:
                return int(self.room.counts[kernels.NODES])
            self.widen()

    @contextmanager
    def limited(self, seconds: float | None) -> Iterator[None]:
        """Stop what is looked at within after some seconds."""
        timer = None if seconds is None else threading.Timer(seconds, self.halt)
        if timer:
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer:
                timer.cancel()
            self.stop[0] = 0

    def halt(self) -> None:
        """Stop looking."""
        self.stop[0] = 1
