"""Batches: tasks of a wave that read the same tiers of the wave after, so that each of these is loaded once.

A tier has a parent tier for almost every move. If each task unpacked the planes of all tiers that it reads, every tier
would be unpacked several times. In a *batch*, all tiers that its tasks read are unpacked before these run, and stay in
memory until the last batch that reads them. Tasks are in the order of their tiers' numbers, so that few tiers are
needed for long. A wave has as many batches as memory demands::

    batch 0    | tier 0 | tier 1 | tier 2        |
    batch 1    | tier 4 |        | tier 2        | tier 3 |      tiers 0 and 1 are not needed any more
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.backward_kernels import WaveValues
from retrograde.solver.methods.setwise.forward_kernels import Sets
from retrograde.solver.methods.setwise.storage import FOR_LOADED, NO_WORDS, bytes_loaded
from retrograde.solver.methods.setwise.words import AFTER_TIER
from retrograde.solver.rules.plain.tier_kernels import GROUP, GROUPS, WORD, WORDS
from retrograde.solver.runtime.array_type import Array

MOST_BATCHES = 64
"""Batches of a wave at most. With more of them, workers would wait too often for the last tasks of a batch."""

NO_ROWS = np.empty(0, np.int64)


class Batch(NamedTuple):
    """Some tasks, and the rows of the tiers to be loaded before they run, ascending."""

    tasks: list[Any]
    rows: Array


class Plan(NamedTuple):
    """The batches of a wave. `tiers` is the table of the wave after, which says where loaded tiers begin in buffers of
    `groups` groups and `words` words."""

    batches: list[Batch]
    tiers: Array
    groups: int
    words: int

    def buffers(self, planes: int) -> WaveValues:
        """Return new buffers for the loaded tiers with a number of planes."""
        occupied, before = np.empty(self.groups, np.uint64), np.empty(self.groups, np.uint32)
        sets = Sets(self.tiers, occupied, before, NO_WORDS)
        return WaveValues(sets, np.empty((planes, self.words + 1), np.uint64))


def plan_batches(tasks: list[Any], read: list[Array], tiers: Array, planes: int, free: int) -> Plan | None:
    """Return the plan with the fewest batches whose tiers take at most FOR_LOADED of *free* bytes; None if none does.

    `read[i]` are the rows of *tiers*, the table of the wave after, that task i reads.
    """
    count = 1
    while count <= min(MOST_BATCHES, len(tasks)):
        plan = cut_into(count, tasks, read, tiers)
        if bytes_loaded(plan.groups, planes * plan.words) <= FOR_LOADED * free:
            return plan
        count *= 2
    return None


def cut_into(count: int, tasks: list[Any], read: list[Array], tiers: Array) -> Plan:
    """Return the plan with *count* batches of about as many tasks each. The arguments are those of `plan_batches`."""
    # Step 1: Find the first and the last batch that reads each tier.
    cuts = [number * len(tasks) // count for number in range(count + 1)]
    first, last = np.full(len(tiers), count), np.full(len(tiers), -1)
    for number, (begin, end) in enumerate(pairwise(cuts)):
        rows = np.concatenate(read[begin:end])
        first[rows], last[rows] = np.minimum(first[rows], number), number
    # Step 2: Place the tiers.
    tiers = tiers.copy()
    tiers[:, GROUP], groups = place(tiers[:, GROUPS] + AFTER_TIER, first, last)
    tiers[:, WORD], words = place(tiers[:, WORDS], first, last)
    batches = [
        Batch(tasks[begin:end], np.flatnonzero(first == number)) for number, (begin, end) in enumerate(pairwise(cuts))
    ]
    return Plan(batches, tiers, groups, words)


def place(sizes: Array, first: Array, last: Array) -> tuple[Array, int]:
    """Return (offsets of items in a buffer, size of the buffer), such that items in use at once do not overlap.

    Item i has length `sizes[i]` and is in use from batch `first[i]` to batch `last[i]`; if `last[i]` is -1, never. Each
    item goes into the first gap that is large enough.

    >>> place(np.array([3, 2, 4, 3]), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    (array([0, 3, 5, 0]), 9)
    """
    offsets, in_use, size = np.zeros(len(sizes), np.int64), np.zeros(0, np.int64), 0
    for batch in range(int(last.max(initial=-1)) + 1):
        # Step 1: List the gaps between the items still in use, as [begin, end]. The last gap has no end.
        in_use = in_use[last[in_use] >= batch]
        in_use = in_use[np.argsort(offsets[in_use])]
        begins, ends = [0, *(offsets + sizes)[in_use].tolist()], [*offsets[in_use].tolist(), float("inf")]
        gaps = [[begin, end] for begin, end in zip(begins, ends, strict=True) if begin < end]
        # Step 2: Place the items that this batch reads first.
        new = np.flatnonzero(first == batch)
        for item in new.tolist():
            gap = next(gap for gap in gaps if gap[1] - gap[0] >= sizes[item])
            offsets[item] = gap[0]
            gap[0] += int(sizes[item])
            size = max(size, gap[0])
        in_use = np.append(in_use, new)
    return offsets, size
