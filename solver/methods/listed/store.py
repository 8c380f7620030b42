"""The scores of a state space, tier by tier: solved last first, each in the way that it needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game, defines
from retrograde.solver.methods.listed.cycles import solve_by_ranges, solve_cycles
from retrograde.solver.methods.listed.explore.space import SpaceAside, StateSpace, levels
from retrograde.solver.methods.listed.sweep import solve_sweeping
from retrograde.solver.methods.listed.table import Table
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.runtime.driver import Done, Kept
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import score_type

Array = np.ndarray[Any, Any]


class SizesAside:
    """How many positions are symmetric to each, compressed; each tier is told from the front."""

    def __init__(self, starts: Array):
        self.starts = starts
        self.tiers = [Compressed(np.uint16) for _ in starts[1:]]

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __setitem__(self, where: slice, sizes: Array) -> None:
        k = int(self.starts.searchsorted(where.start, "right")) - 1
        start = int(self.starts[k])
        self.tiers[k][where.start - start : where.stop - start] = sizes

    def __getitem__(self, where: slice) -> Array:
        begin, end = where.start, min(where.stop, len(self))
        low, high = int(self.starts.searchsorted(begin, "right")) - 1, int(self.starts.searchsorted(end))
        parts = [np.empty(0, np.uint16)]
        for k, start, stop in zip(range(low, high), self.starts[low:high], self.starts[low + 1 :], strict=False):
            parts.append(self.tiers[k][max(0, begin - int(start)) : min(end, int(stop)) - int(start)])
        return np.concatenate(parts)


class ListedStore:
    """The scores of a state space in the making.

    `scores` uint16[n] or uint32[n] (see values/score.py); `sizes` uint16[n], the number of positions symmetric to
    each, or uint16[0] where the game has no symmetry; compressed where positions lie in scratch. A group is a list of
    numbers of tiers.
    """

    def __init__(self, game: Game, space: StateSpace | SpaceAside, bits: int, work: Work, propagate: bool = False):
        """Begin a store in which nothing is solved; all tiers are to be solved as if moves stayed there if *propagate*.

        Raises MemoryLimit where there is not enough for it.
        """
        work.budget.check(self.bytes_needed(game, space, bits), f"solving {len(space):,} positions")
        shared = work.zeros(f"scores{bits}", len(space), score_type(bits))
        self.table = Table(game, space, shared, bits)
        self.work, self.propagate = work, propagate
        self.scores = shared.array
        self.sizes: Array | SizesAside = np.zeros(0, np.uint16)
        if self.table.symmetric:
            aside = isinstance(space, SpaceAside)
            self.sizes = SizesAside(space.starts) if aside else np.zeros(len(space), np.uint16)
        self.left = {k: [space.stretch(k)] for k in range(len(space.tiers))}
        """Stretches of each tier that are not solved."""

    @staticmethod
    def bytes_needed(game: Game, space: StateSpace | SpaceAside, bits: int) -> int:
        """Return how much memory the arrays will take."""
        sizes = 2 * defines(game, "images") * isinstance(space, StateSpace)
        return len(space) * (np.dtype(score_type(bits)).itemsize + sizes)

    def groups(self) -> Iterator[list[int]]:
        """Yield the numbers of tiers that can be solved at once, last first."""
        yield from levels(self.table.space.tiers.tolist(), self.table.space.edges)

    def solve(self, group: list[int], phase: Phase) -> Iterator[Done]:
        """Yield the scores and sizes of stretches of tiers."""
        left = [k for k in group if self.left[k]]
        cyclic = {k for k in left if self.propagate or self.table.space.has_cycles(k)}
        plain = [(k, *part) for k in left if k not in cyclic for part in self.left[k]]
        yield from solve_sweeping(self.table, plain, self.work)
        ranged = self.work.ranged_from
        for k in sorted(cyclic):
            low, high = self.table.space.stretch(k)
            solve = solve_cycles if ranged is None or high - low < ranged else solve_by_ranges
            yield from solve(self.table, k, self.work, phase)

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
