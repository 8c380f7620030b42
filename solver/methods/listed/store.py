"""The scores of a state space: solves its tiers in reverse order, each with the method that it needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.listed.cycles import solve_by_ranges, solve_cycles
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace, StateSpace, levels
from retrograde.solver.methods.listed.sweep import solve_sweeping
from retrograde.solver.methods.listed.table import ListedTable
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.driver import Done, StoredCounts
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import score_type

Array = np.ndarray[Any, Any]


class CompressedSizes:
    """Numbers of symmetric positions, compressed in memory. Each tier must be written from front to back."""

    def __init__(self, starts: Array):
        self.starts = starts
        self.tiers = [CompressedArray(np.uint16) for _ in starts[1:]]

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
    """Scores of a state space while it is solved (a `Store`, see runtime/driver.py).

    `scores` uint16[n] or uint32[n] (see values/score.py). `sizes` uint16[n] is the number of positions symmetric to
    each; empty if the game has no symmetry, compressed if positions are spilled to disk. A group is a list of tier
    numbers.
    """

    def __init__(
        self, game: Game, space: StateSpace | SpilledStateSpace, bits: int, work: Work, propagate: bool = False
    ):
        """Begin a store in which nothing is solved. Raises MemoryLimit if the scores do not fit.

        If *propagate*, all tiers are solved like tiers with cycles.
        """
        work.budget.check(self.bytes_needed(game, space, bits), f"solving {len(space):,} positions")
        shared = work.zeros(f"scores{bits}", len(space), score_type(bits))
        self.table = ListedTable(game, space, shared, bits)
        self.work, self.propagate = work, propagate
        self.scores = shared.array
        self.sizes: Array | CompressedSizes = np.zeros(0, np.uint16)
        if self.table.symmetric:
            spilled = isinstance(space, SpilledStateSpace)
            self.sizes = CompressedSizes(space.starts) if spilled else np.zeros(len(space), np.uint16)
        self.unsolved = {k: [space.stretch(k)] for k in range(len(space.tiers))}
        """The blocks of each tier that are not solved yet."""

    @staticmethod
    def bytes_needed(game: Game, space: StateSpace | SpilledStateSpace, bits: int) -> int:
        """Return the memory of the score and size arrays, in bytes."""
        sizes = 2 * Traits.of(game).has_images * isinstance(space, StateSpace)
        return len(space) * (np.dtype(score_type(bits)).itemsize + sizes)

    def groups(self) -> Iterator[list[int]]:
        """Yield groups of tiers that do not depend on each other, last first."""
        yield from levels(self.table.space.tiers.tolist(), self.table.space.edges)

    def solve(self, group: list[int], phase: Phase) -> Iterator[Done]:
        """Yield the scores and sizes of blocks of the tiers in a group."""
        waiting = [k for k in group if self.unsolved[k]]
        cyclic = {k for k in waiting if self.propagate or self.table.space.has_cycles(k)}
        plain = [(k, *part) for k in waiting if k not in cyclic for part in self.unsolved[k]]
        yield from solve_sweeping(self.table, plain, self.work)
        ranged = self.work.ranged_from
        for k in sorted(cyclic):
            low, high = self.table.space.stretch(k)
            solve = solve_cycles if ranged is None or high - low < ranged else solve_by_ranges
            yield from solve(self.table, k, self.work, phase)

    def keep(self, done: Done) -> StoredCounts:
        """Store the scores and sizes of solved blocks, given as (k, begin, end) triples."""
        blocks, scores, sizes = done
        count = 0
        for k, begin, end in blocks.reshape(-1, 3).tolist():
            self.scores[begin:end] = scores[count : count + end - begin]
            if len(self.sizes):
                self.sizes[begin:end] = sizes[count : count + end - begin]
            count += end - begin
            self.unsolved[k] = [rest for part in self.unsolved[k] for rest in without(part, begin, end)]
        return StoredCounts(count, int(self.table.space.tiers[k]), int(sizes.sum()) if len(sizes) else count)


def without(part: tuple[int, int], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a block that remain when another block is removed.

    >>> list(without((0, 10), 2, 5))
    [(0, 2), (5, 10)]
    """
    low, high = part
    for first, last in ((low, min(high, begin)), (max(low, end), high)):
        if first < last:
            yield first, last
