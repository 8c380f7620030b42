"""Predecessor lists that may still be needed, loaded into memory once they fit.

    parts on disk --keep--> lists of undecided positions, with undecided parents only

Most remotenesses have a few positions in nearly every part. Reading all parts for these would take most of the time.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import kernels
from retrograde.solver.methods.listed.predecessors.sorting import Part, PutPart
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.values.score import decided_from

Array = np.ndarray[Any, Any]

TOGETHER_BITS = 4
"""Parts that are loaded together, as a power of two."""
BYTES_A_POSITION = 6
"""Memory for each loaded position beside its list, in bytes."""
MOST_BITS = 16
"""Positions that are loaded together at most, as a power of two."""


class Kept(NamedTuple):
    """Predecessor lists of some of at most 2**16 consecutive positions.

    `numbers` uint16[n] ascends: the positions with a list, counted from the first. The list of `numbers[i]` is
    `parents[begins[i]:begins[i + 1]]`, with `begins` uint32[n + 1].
    """

    numbers: Array
    begins: Array
    parents: Array

    def rows(self, frontier: Array, first: int) -> Array:
        """Return the rows of `numbers` for a sorted frontier, minus *first*; skips positions without a list."""
        asked = (frontier - first).astype(np.uint16)
        rows = np.searchsorted(self.numbers, asked)
        rows = rows[rows < len(self.numbers)] if len(self.numbers) else rows[:0]
        there: Array = rows[self.numbers[rows] == asked[: len(rows)]]
        return there


class Keeping(NamedTuple):
    """Task: load predecessor lists of some parts, of which the first begins with position *first*.

    Loads lists of positions that are undecided or have a score in *untold*, with undecided parents only.
    """

    scratch: Scratch
    parts: list[PutPart]
    first: int
    scores: Array
    left: Array
    untold: Array


def bytes_needed(unasked: int, left: Array) -> int:
    """Return the memory for the lists of *unasked* positions whose parents have not been looked up, at most.

    An edge to such a position is counted in the undecided-children counter of its undecided parent.
    """
    item = 4 if len(left) < 1 << 31 else 8
    return BYTES_A_POSITION * unasked + item * int(kernels.links_left(left, decided_from(left)))


def keep(task: Keeping) -> Kept:
    """Return the predecessor lists that may still be needed."""
    decided = decided_from(task.left)
    first, begin = task.first, 0
    pieces = []
    for put in task.parts:
        part: Part = put.read(task.scratch)
        numbers, begins = np.empty(put.size, np.uint16), np.empty(put.size, np.uint32)
        parents = np.empty_like(part.parents)
        known = task.scores[first : first + put.size], task.left, decided, task.untold
        here = kernels.keep(part.begins, part.parents, first, *known, numbers, begins, parents)
        links = int(begins[here - 1]) if here else 0
        pieces.append(
            (numbers[:here] + np.uint16(first - task.first), begins[:here] + np.uint32(begin), parents[:links].copy())
        )
        first, begin = first + put.size, begin + links
    numbers, ends, parents = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return Kept(numbers, np.concatenate([np.zeros(1, np.uint32), ends]), parents)


def sparse(part: Part, bits: int) -> list[Kept]:
    """Return predecessor lists in groups of `2**bits` positions, without positions that have no parents."""
    pieces = []
    for first in range(0, len(part.begins) - 1, 1 << bits):
        begins = part.begins[first : first + (1 << bits) + 1].astype(np.int64)
        counts = np.diff(begins)
        numbers = np.flatnonzero(counts)
        ends = np.concatenate([[0], np.cumsum(counts[numbers])]).astype(np.uint32)
        pieces.append(Kept(numbers.astype(np.uint16), ends, part.parents[begins[0] : begins[-1]].copy()))
    return pieces
