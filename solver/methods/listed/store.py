"""The scores of a state space: solves its tiers in reverse order.

A tier without moves inside itself takes one pass (`solve_sweeping`), others retrograde analysis (`cycles.py`).
"""

from collections.abc import Iterator

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.cycles import solve_by_ranges, solve_cycles
from retrograde.solver.methods.listed.explore.cutting import TASK, TierBlock, cut_into_tasks
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace, StateSpace, levels
from retrograde.solver.methods.listed.spill.lookup import LocatedChildren, locate_children
from retrograde.solver.methods.listed.table import ListedTable, blocks_of
from retrograde.solver.runtime.driver import Done, StoredCounts
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import RemotenessOverflow, score_type
from retrograde.solver.values.score_kernels import add_counts

LONGER = 16
"""Blocks of large tiers are this many times as long, so that children that are looked up in a row lie closer."""


class ListedStore:
    """Scores of a state space while it is solved (a `Store`, see runtime/driver.py).

    `scores` uint16[n] or uint32[n] (see values/score.py). `counts` int64[3, codes] are those of all solved positions
    (see values/score_kernels.py, `count_scores`). A group is a list of tier numbers. A position's *size* is the number
    of positions symmetric to it, itself included.
    """

    def __init__(
        self, game: Game, space: StateSpace | SpilledStateSpace, bits: int, work: Work, propagate: bool = False
    ):
        """Begin with nothing solved; raise MemoryLimit. If *propagate*, all tiers are solved like tiers with cycles."""
        kind = score_type(bits)
        work.budget.check(len(space) * np.dtype(kind).itemsize, f"solving {len(space):,} positions")
        shared = work.zeros(f"scores{bits}", len(space), kind)
        self.table = ListedTable(game, space, shared, bits)
        self.work, self.propagate = work, propagate
        self.scores, self.counts = shared.array, np.zeros((3, 256), np.int64)
        self.unsolved = {k: [space.bounds_of(k)] for k in range(len(space.tiers))}
        """The blocks of each tier that are not solved yet."""

    def groups(self) -> Iterator[list[int]]:
        """Yield groups of tiers that do not depend on each other, last first."""
        yield from levels(self.table.space.tiers.tolist(), self.table.space.edges)

    def solve(self, group: list[int], phase: Phase) -> Iterator[Done]:
        """Yield the scores and sizes of blocks of the tiers in a group."""
        unsolved = [k for k in group if self.unsolved[k]]
        cyclic = {k for k in unsolved if self.propagate or self.table.space.has_cycles(k)}
        acyclic_blocks = [(k, *block) for k in unsolved if k not in cyclic for block in self.unsolved[k]]
        yield from solve_sweeping(self.table, acyclic_blocks, self.work)
        ranged = self.work.ranged_from
        for k in sorted(cyclic):
            low, high = self.table.space.bounds_of(k)
            solve = solve_cycles if ranged is None or high - low < ranged else solve_by_ranges
            yield from solve(self.table, k, self.work, phase)

    def keep(self, done: Done) -> StoredCounts:
        """Store the scores and sizes of solved blocks, given as (k, begin, end) triples."""
        blocks, scores, sizes = done
        stored = 0
        for k, begin, end in blocks.reshape(-1, 3).tolist():
            self.scores[begin:end] = scores[stored : stored + end - begin]
            # Copied: arrays of the journal are read-only, and kernels would be compiled again for them.
            block_sizes = sizes[stored : stored + end - begin].copy()
            # A resumed solve may solve blocks of a tier again; each is counted once.
            for low, high in self.unsolved[k]:
                first, last = max(low, begin), min(high, end)
                if first < last:
                    new = self.scores[first:last], block_sizes[first - begin : last - begin]
                    self.counts = add_counts(self.counts, *new, first, self.table.bits)
            self.unsolved[k] = [rest for block in self.unsolved[k] for rest in cut_out(block, begin, end)]
            stored += end - begin
        # Without symmetry there are no sizes: each position stands for itself.
        return StoredCounts(stored, int(self.table.space.tiers[k]), int(sizes.sum()) if len(sizes) else stored)


def cut_out(block: tuple[int, int], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what is left of a block when the range from *begin* to *end* is removed.

    >>> list(cut_out((0, 10), 2, 5))
    [(0, 2), (5, 10)]
    """
    low, high = block
    for first, last in ((low, min(high, begin)), (max(low, end), high)):
        if first < last:
            yield first, last


# Tiers without cycles


def solve_sweeping(table: ListedTable, blocks: list[TierBlock], work: Work) -> Iterator[Done]:
    """Yield the scores and sizes of blocks of tiers without moves inside the tier."""
    if isinstance(table.space, SpilledStateSpace):
        tasks = list(cut_into_tasks(blocks, TASK))
        located = locate_children(table.game, table.space.lists_on_disk(), tasks, work)
        yield from work.map(sweep, ((table, *task) for task in zip(tasks, located, strict=True)))
        return
    # Tasks of large tiers are longer, because their blocks are (see LONGER).
    least = TASK * (4 if table.space.large else 1)
    yield from work.map(sweep, ((table, task, None) for task in cut_into_tasks(blocks, least)))


def sweep(task: tuple[ListedTable, list[TierBlock], LocatedChildren | None]) -> Done:
    """Return the scores and sizes of blocks of tiers without cycles. *located* children need not be looked up."""
    table, blocks, located = task
    scores, sizes = [], [np.empty(0, np.uint16)]
    times = LONGER if located is None and table.space.large else 1
    located_blocks = (
        located_block
        for k, first, last in (blocks if located is None else blocks[:1])  # *located* has the children of all blocks
        for located_block in blocks_of(table, k, first, last, located, times)
    )
    for begin, end, block in located_blocks:
        result = np.empty(end - begin, score_type(table.bits))
        if kernels.sweep(block, table.bits, table.scores.array, result):
            raise RemotenessOverflow
        scores.append(result)
        sizes.append(block.matrix.sizes.copy())
    return np.array(blocks, np.int64).ravel(), np.concatenate(scores), np.concatenate(sizes)
