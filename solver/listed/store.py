"""The scores of a state space, tier by tier: solved last first, each in the way that it needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.games.game import Game, defines
from retrograde.solver.listed.cycles import solve_cycles
from retrograde.solver.listed.space import StateSpace, levels
from retrograde.solver.listed.sweep import solve_sweeping
from retrograde.solver.listed.table import Table
from retrograde.solver.outcomes.score import score_type
from retrograde.solver.work.driver import Done, Kept
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]


class ListedStore:
    """The scores of a state space in the making.

    `scores` uint16[n] or uint32[n] (see outcomes/score.py); `sizes` uint16[n], the number of positions symmetric to
    each, or uint16[0] where the game has no symmetry. A group is a list of numbers of tiers.
    """

    def __init__(self, game: Game, space: StateSpace, bits: int, work: Work, propagate: bool = False):
        """Begin a store in which nothing is solved; all tiers are to be solved as if moves stayed there if *propagate*.

        Raises MemoryLimit where there is not enough for it.
        """
        work.budget.check(self.bytes_needed(game, space, bits), f"solving {len(space):,} positions")
        shared = work.zeros(f"scores{bits}", len(space), score_type(bits))
        self.table = Table(game, space, shared, bits)
        self.work, self.propagate = work, propagate
        self.scores = shared.array
        self.sizes = np.zeros(len(space) if self.table.symmetric else 0, np.uint16)
        self.left = {k: [space.stretch(k)] for k in range(len(space.tiers))}
        """Stretches of each tier that are not solved."""

    @staticmethod
    def bytes_needed(game: Game, space: StateSpace, bits: int) -> int:
        """Return how much memory the arrays will take."""
        return len(space) * (np.dtype(score_type(bits)).itemsize + 2 * defines(game, "images"))

    def groups(self) -> Iterator[list[int]]:
        """Yield the numbers of tiers that can be solved at once, last first."""
        yield from levels(self.table.space.tiers.tolist(), self.table.space.edges)

    def solve(self, group: list[int], phase: Phase) -> Iterator[Done]:
        """Yield the scores and sizes of stretches of tiers."""
        left = [k for k in group if self.left[k]]
        cyclic = {k for k in left if self.propagate or self.table.space.has_cycles(k)}
        plain = [(k, *part) for k in left if k not in cyclic for part in self.left[k]]
        yield from solve_sweeping(self.table, plain, self.work)
        for k in sorted(cyclic):
            yield solve_cycles(self.table, k, self.work, phase)

    def keep(self, done: Done) -> Kept:
        """Take the scores and sizes of stretches of tiers."""
        stretches, scores, sizes = done
        count = 0
        for k, begin, end in stretches.reshape(-1, 3).tolist():
            self.scores[begin:end] = scores[count : count + end - begin]
            if len(self.sizes):
                self.sizes[begin:end] = sizes[count : count + end - begin]
            count += end - begin
            self.left[k] = [rest for part in self.left[k] for rest in without(part, begin, end)]
        return Kept(count, int(self.table.space.tiers[k]), int(sizes.sum()) if len(sizes) else count)


def without(part: tuple[int, int], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what is left of a stretch without another.

    >>> list(without((0, 10), 2, 5))
    [(0, 2), (5, 10)]
    """
    low, high = part
    for first, last in ((low, min(high, begin)), (max(low, end), high)):
        if first < last:
            yield first, last
