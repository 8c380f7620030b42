"""A look ahead: the move that seems best when so many plies are looked at, or as many as there is time for.

It proves nothing. One ply more is looked at each time (iterative deepening), since the moves that were best so far let
the next look cut more; when time is out, what the last whole look found is told.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np

from retrograde.games.contract.game import Game, RuleError, defines
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import refuse_tuples
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.search.depth import kernels
from retrograde.solver.search.depth.scores import DEEPEST
from retrograde.solver.search.timer import limited

MORE = 8
"""Plies that are looked at beyond, where a position is not quiet."""
ENTRIES = 1 << 16
"""Entries of the table, of 32 bytes."""
WIDEST = 64
"""Moves that there is room for, to begin with."""


class MetChance(Exception):
    """It is chance's turn in a position, which this search knows nothing of."""


@dataclass(frozen=True)
class Look:
    """What seems best: a move, what it is thought to bring (in points, or see `scores.py`), and how many plies were
    looked at.

    `to_the_end` tells whether no line was given up before its end, so that no estimate was asked for.
    """

    move: int
    score: float
    depth: int
    to_the_end: bool
    nodes: int
    seconds: float


class Ahead(ABC):
    """A search of a game to a depth; those of each kind say by which kernel (see `lookahead.py` and `points.py`)."""

    LOWEST: ClassVar[float]
    """Less than any move brings."""

    def __init__(self, game: Game):
        """Raise NotForSearch where positions are tuples of ints."""
        refuse_tuples(game, "looked ahead in")
        compiled.prepare(game)
        self.game = game
        self.stop = np.zeros(1, np.uint8)
        self.widest = WIDEST
        self.nodes = 0
        self.make_room()

    @abstractmethod
    def make_room(self) -> None:
        """Make the memory of the search, `room`, for moves as wide as is said."""

    @property
    @abstractmethod
    def counts(self) -> kernels.Array:
        """The counts in the memory."""

    @abstractmethod
    def look(self, position: int, move: int, child: int, depth: int, low: float) -> float:
        """Return what a move of a position brings that leads to a child; any bound where that is no more than *low*."""

    def begin(self, position: int) -> None:  # noqa: B027  # most need not know
        """Be told which position is looked at next."""

    @staticmethod
    def is_decided(score: float) -> bool:
        """Tell whether to look further makes no difference."""
        return False

    def more(self, estimate: int = kernels.OWN) -> int:
        """Return how many plies more are looked at where a position is not quiet."""
        return MORE if estimate == kernels.OWN and defines(self.game, "quiet") else 0

    def find(self, position: int, depth: int | None = None, seconds: float | None = None, seed: int = 0) -> Look:
        """Return what seems best in an undecided position, to a depth or within a time; of equals, one by chance.

        One ply is looked at in any case.
        """
        began, nodes = time.monotonic(), self.nodes
        moves = self.moves(position)
        Random(f"{seed} {position}").shuffle(moves)
        deepest = min(depth or (DEEPEST if seconds else 1), DEEPEST)
        found, plies = self.best(position, moves, 1), 1  # also lets the rules be compiled, which is no search
        with limited(seconds, self.halt, self.resume):
            while found is not None:
                (move, score), to_the_end = found, not self.counts[kernels.ESTIMATED]
                look = Look(move, score, plies, to_the_end, self.nodes - nodes, time.monotonic() - began)
                if to_the_end or self.is_decided(score) or plies == deepest:
                    break
                moves.sort(key=lambda pair: pair[0] != look.move)
                plies += 1
                found = self.best(position, moves, plies)
        return look

    def scores(self, position: int, depth: int) -> Sequence[tuple[int, float]]:
        """Return each move of an undecided position with the score that it has, all of them exact."""
        self.begin(position)
        return [
            (move, self.one(position, move, child, depth, self.LOWEST) or 0) for move, child in self.moves(position)
        ]

    def moves(self, position: int) -> list[tuple[int, int]]:
        """Return the moves of a position and where they lead."""
        found = [(move, self.game.do_move(position, move)) for move in self.game.generate_moves(position)]
        if not found:
            raise RuleError(f"position {self.game.write(position)} has no moves, and is not over")
        return found

    def best(self, position: int, moves: list[tuple[int, int]], depth: int) -> tuple[int, float] | None:
        """Return the first of the best of some moves, and its score; None where time is out."""
        self.begin(position)
        self.counts[kernels.ESTIMATED] = 0
        best, chosen = self.LOWEST, -1
        for move, child in moves:
            score = self.one(position, move, child, depth, best)
            if score is None:
                return None
            if score > best:
                best, chosen = score, move
            if self.is_best(best):
                break
        return chosen, best

    @staticmethod
    def is_best(score: float) -> bool:
        """Tell whether nothing can be better."""
        return False

    def one(self, position: int, move: int, child: int, depth: int, low: float) -> float | None:
        """Return what a move brings; None where time is out."""
        while not self.stop[0]:
            counts = self.counts
            counts[kernels.NODES] = counts[kernels.TROUBLE] = 0
            with compiling(self.game, np.array([0, child])):
                score = self.look(position, move, child, depth, low)
            self.nodes += int(counts[kernels.NODES])
            if not counts[kernels.TROUBLE]:
                return score
            if counts[kernels.TROUBLE] == kernels.CHANCES:
                raise MetChance
            if counts[kernels.TROUBLE] == kernels.MANY_MOVES:
                estimated = counts[kernels.ESTIMATED]
                self.widen()
                self.counts[kernels.ESTIMATED] = estimated
        return None

    def widen(self) -> None:
        """Make room for more moves."""
        self.widest *= 4
        self.make_room()

    def halt(self) -> None:
        """Stop looking."""
        self.stop[0] = 1

    def resume(self) -> None:
        """Let what is looked at next be searched."""
        self.stop[0] = 0
