"""Predecessor lists that may still be needed, loaded into memory once they fit.

    lists on disk --load--> lists of undecided positions, with undecided parents only

Most remotenesses have a few positions in nearly every block of lists. Reading all blocks for these would take most of
the time.
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import kernels
from retrograde.solver.methods.listed.predecessors.sorting import ParentLists, StoredParentLists
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.values.score import decided_from

TOGETHER_BITS = 4
"""Blocks of lists that are loaded together, as a power of two."""
BYTES_A_POSITION = 6
"""Memory for each loaded position beside its list, in bytes."""
MOST_BITS = 16
"""The most positions that are loaded together, as a power of two."""


class LoadedLists(NamedTuple):
    """Predecessor lists of some of at most 2**16 consecutive positions.

    `numbers` uint16[n] ascends: the positions with a list, counted from the first. The list of `numbers[i]` is
    `parents[begins[i]:begins[i + 1]]`, with `begins` uint32[n + 1].
    """

    numbers: Array
    begins: Array
    parents: Array

    def rows(self, numbers: Array) -> Array:
        """Return the indices of the lists of ascending *numbers*; skips positions without a list."""
        wanted = numbers.astype(np.uint16)
        rows = np.searchsorted(self.numbers, wanted)
        rows = rows[rows < len(self.numbers)]  # ascending as well, so the last ones go
        exact: Array = rows[self.numbers[rows] == wanted[: len(rows)]]
        return exact


def bytes_needed(pending: int, children_left: Array) -> int:
    """Return the most memory for the lists of *pending* positions, whose parents have not been looked up. An edge to
    such a position is counted in the undecided-children counter of its undecided parent."""
    item = 4 if len(children_left) < 1 << 31 else 8
    return BYTES_A_POSITION * pending + item * int(kernels.sum_counters(children_left, decided_from(children_left)))


def load_lists(
    scratch: Scratch, blocks: list[StoredParentLists], begin: int, scores: Array, children_left: Array,
    unpropagated: Array,
) -> LoadedLists:  # fmt: skip
    """Return the predecessor lists in some blocks that may still be needed, with undecided parents only.

    These are the lists of positions that are undecided or have a score in *unpropagated*. The first block begins with
    position number *begin*.
    """
    decided = decided_from(children_left)
    first, end = begin, 0
    loaded = []
    for stored in blocks:
        lists = stored.read(scratch)
        block = kernels.LoadedBlock(
            np.empty(stored.size, np.uint16), np.empty(stored.size, np.uint32), np.empty_like(lists.parents)
        )
        block_scores = scores[first : first + stored.size]
        count = kernels.load_lists(lists, first, block_scores, children_left, decided, unpropagated, block)
        edges = int(block.ends[count - 1]) if count else 0
        numbers = block.numbers[:count] + np.uint16(first - begin)
        loaded.append((numbers, block.ends[:count] + np.uint32(end), block.parents[:edges].copy()))
        first, end = first + stored.size, end + edges
    numbers, ends, parents = (np.concatenate(arrays) for arrays in zip(*loaded, strict=True))
    return LoadedLists(numbers, np.concatenate([np.zeros(1, np.uint32), ends]), parents)


def without_empty_lists(lists: ParentLists, bits: int) -> list[LoadedLists]:
    """Return predecessor lists in groups of `2**bits` positions, without positions that have no parents."""
    loaded = []
    for first in range(0, len(lists.begins) - 1, 1 << bits):
        begins = lists.begins[first : first + (1 << bits) + 1].astype(np.int64)
        counts = np.diff(begins)
        numbers = np.flatnonzero(counts)
        ends = np.concatenate([[0], np.cumsum(counts[numbers])]).astype(np.uint32)
        loaded.append(LoadedLists(numbers.astype(np.uint16), ends, lists.parents[begins[0] : begins[-1]].copy()))
    return loaded
