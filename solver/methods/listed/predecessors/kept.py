"""Links that may still be asked for, kept in memory once they fit: of positions that are not decided, to such parents.

    parts in scratch --keep--> those of many parts together, without what is decided

Each remoteness has positions in nearly all parts, and most have few in each: whoever reads parts for these does little
else.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import kernels
from retrograde.solver.methods.listed.predecessors.sorting import Part, PutPart
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.values.left import decided_from

Array = np.ndarray[Any, Any]

TOGETHER_BITS = 4
"""Parts that are kept together, as a power of two."""
BYTES_A_POSITION = 6
"""What a position that is kept takes beside its links."""
MOST_BITS = 16
"""Positions that are kept together at most, as a power of two."""


class Kept(NamedTuple):
    """The links of some positions, at most 2**16, whose `numbers` uint16[n], from that of the first on, ascend: the
    parents of the one with number `numbers[i]` are `parents[begins[i]:begins[i + 1]]`, uint32[n + 1]."""

    numbers: Array
    begins: Array
    parents: Array

    def rows(self, frontier: Array, first: int) -> Array:
        """Return which of the numbers are those of a sorted frontier, less *first*; what is not there is left out."""
        asked = (frontier - first).astype(np.uint16)
        rows = np.searchsorted(self.numbers, asked)
        rows = rows[rows < len(self.numbers)] if len(self.numbers) else rows[:0]
        there: Array = rows[self.numbers[rows] == asked[: len(rows)]]
        return there


class Keeping(NamedTuple):
    """The task of keeping links of the parts from number *first* on: of positions that are undecided, or have one of
    the scores *untold*, to parents that are undecided."""

    scratch: Scratch
    parts: list[PutPart]
    first: int
    scores: Array
    left: Array
    untold: Array


def bytes_needed(unasked: int, left: Array) -> int:
    """Return what the links of so many positions that have not been asked for take, at most.

    What is left of an undecided position says how many children may still be decided, each of which has a link.
    """
    item = 4 if len(left) < 1 << 31 else 8
    return BYTES_A_POSITION * unasked + item * int(kernels.links_left(left, decided_from(left)))


def keep(task: Keeping) -> Kept:
    """Return the links that may still be asked for."""
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
    """Return the parents of some positions, `2**bits` together, without those that have none."""
    pieces = []
    for first in range(0, len(part.begins) - 1, 1 << bits):
        begins = part.begins[first : first + (1 << bits) + 1].astype(np.int64)
        counts = np.diff(begins)
        numbers = np.flatnonzero(counts)
        ends = np.concatenate([[0], np.cumsum(counts[numbers])]).astype(np.uint32)
        pieces.append(Kept(numbers.astype(np.uint16), ends, part.parents[begins[0] : begins[-1]].copy()))
    return pieces
