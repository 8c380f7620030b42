"""Depth-limited search: the move that seems best at a given depth, or as deep as the time allows.

It proves nothing. The depth grows by one ply each time (iterative deepening), because the best move of one iteration,
searched first, gives the next iteration more cutoffs. When time is out, the last complete iteration counts.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np

from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import refuse_tuples
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.search.depth import kernels
from retrograde.solver.search.depth.scores import DEEPEST
from retrograde.solver.search.timer import limited

MORE = 8
"""Plies of quiescence search: how far beyond the depth positions that are not quiet are searched."""
ENTRIES = 1 << 16
"""Entries of the transposition table, 32 bytes each."""
WIDEST = 64
"""Moves of a position that the workspace holds at first."""


class MetChance(Exception):
    """It is chance's turn in a position, and this search does not handle chance."""


@dataclass(frozen=True)
class Look:
    """The result of a search: the best move, its score (points, or see `scores.py`), and the depth in plies.

    `to_the_end` is True if every line ended within the depth, so that the score uses no estimate.
    """

    move: int
    score: float
    depth: int
    to_the_end: bool
    nodes: int
    seconds: float


class Ahead(ABC):
    """A depth-limited search of one game. Subclasses call their kernels in `look` (see `lookahead.py`, `points.py`)."""

    LOWEST: ClassVar[float]
    """Less than the score of any move."""

    def __init__(self, game: Game):
        """Prepare a search; raise NotForSearch if positions are tuples of ints."""
        refuse_tuples(game, "looked ahead in")
        compiled.prepare(game)
        self.game = game
        self.stop = np.zeros(1, np.uint8)
        self.widest = WIDEST
        self.nodes = 0
        self.make_room()

    @abstractmethod
    def make_room(self) -> None:
        """Allocate the workspace `room` for *widest* moves a position."""

    @property
    @abstractmethod
    def counts(self) -> kernels.Array:
        """The counters in the workspace; see `kernels.NODES`."""

    @abstractmethod
    def look(self, position: int, move: int, child: int, depth: int, low: float) -> float:
        """Return the score of a move that leads to *child*; any upper bound if the score is not above *low*."""

    def begin(self, position: int) -> None:  # noqa: B027  # a hook; most subclasses do nothing
        """Prepare for searches of *position*. Most subclasses need not."""

    @staticmethod
    def is_decided(score: float) -> bool:
        """Return whether a deeper search would not change the move."""
        return False

    def more(self, estimate: int = kernels.OWN) -> int:
        """Return the plies of quiescence search: MORE if the game defines `quiet` and its own estimate is used,
        else 0.
        """
        return MORE if estimate == kernels.OWN and Traits.of(self.game).has_quiet else 0

    def find(self, position: int, depth: int | None = None, seconds: float | None = None, seed: int = 0) -> Look:
        """Return the move that seems best in an undecided position; *seed* decides between equals.

        Search to *depth* plies, or for *seconds*; at least one ply is always searched.
        """
        began, nodes = time.monotonic(), self.nodes
        moves = self.moves(position)
        Random(f"{seed} {position}").shuffle(moves)
        deepest = min(depth or (DEEPEST if seconds else 1), DEEPEST)
        # The first ply runs outside the time limit: it may compile the rules, which is no search.
        found, plies = self.best(position, moves, 1), 1
        with limited(seconds, self.halt, self.resume):
            while found is not None:
                (move, score), to_the_end = found, not self.counts[kernels.ESTIMATED]
                look = Look(move, score, plies, to_the_end, self.nodes - nodes, time.monotonic() - began)
                if to_the_end or self.is_decided(score) or plies == deepest:
                    break
                # The best move comes first in the next iteration.
                moves.sort(key=lambda pair: pair[0] != look.move)
                plies += 1
                found = self.best(position, moves, plies)
        return look

    def scores(self, position: int, depth: int) -> Sequence[tuple[int, float]]:
        """Return each move of an undecided position with its exact score at this depth."""
        self.begin(position)
        return [
            (move, self.one(position, move, child, depth, self.LOWEST) or 0) for move, child in self.moves(position)
        ]

    def moves(self, position: int) -> list[tuple[int, int]]:
        """Return the moves of a position, each with the position it leads to; raise RuleError if there are none."""
        found = [(move, self.game.do_move(position, move)) for move in self.game.generate_moves(position)]
        if not found:
            raise RuleError(f"position {self.game.write(position)} has no moves, and is not over")
        return found

    def best(self, position: int, moves: list[tuple[int, int]], depth: int) -> tuple[int, float] | None:
        """Return the first best move and its score; None if time is out."""
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
        """Return whether no score can be greater, so that the remaining moves need no search."""
        return False

    def one(self, position: int, move: int, child: int, depth: int, low: float) -> float | None:
        """Return the score of one move, with more workspace if needed; None if time is out."""
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
        """Enlarge the workspace to four times as many moves."""
        self.widest *= 4
        self.make_room()

    def halt(self) -> None:
        """Stop the search."""
        self.stop[0] = 1

    def resume(self) -> None:
        """Allow searching again after `halt`."""
        self.stop[0] = 0
