"""Parents held against children: the edges that are met from behind must be those that were met from the front.

A tier is solved with links in both directions: a position's children come from its moves, and its parents, where a game
has them, from `parents()`. When the children are looked at, each child gets added up what stands for its parents, a
number that looks random for each; when the parents are asked for, those given must add up to the same. A sum that is
wrong is right by chance once in 2**32, or where memory is short, and sums are of 16 bits or 8, once in so many. What is
asked for its parents is all that has been decided, so that a wrong
answer cannot change a value; of draws, whose parents decide nothing, some are asked.
"""

from typing import Any

import numpy as np

from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

SAMPLE = 1 << 11
"""Positions of a tier, about, that are looked at where there is no need to look at all."""


@kernel
def mark_of(position):
    """Return the number from 0 to 2**32 - 1 that stands for a parent, given by its place in the tier."""
    mark = np.uint64(position + 1) * np.uint64(0x9E3779B97F4A7C15)
    mark = (mark ^ mark >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    return np.uint32(mark >> np.uint64(32))


@kernel
def add_up(links, counts, first, sums):
    """Add to the sum of each child what stands for its parents.

    The *links* are children, so many as *counts* says of one parent after another, from parent number *first* on.
    """
    end = 0
    for i in range(len(counts)):
        mark = mark_of(first + i)
        for link in range(end, end + counts[i]):
            sums[links[link]] += mark
        end += counts[i]


@kernel
def differs(total, numbers, which):
    """Return by how much a sum of marks is less than one of some *numbers*, as far as these have bits for it."""
    return np.uint32(numbers[which] - total) & np.uint32((1 << 8 * numbers.itemsize) - 1)


@kernel
def compare(frontier, places, low, left, sums):
    """Return the number in the *frontier* of a position whose parents do not add up to its sum, -1 for none; and by how
    much.

    The parents of one position are a column of *places*, less than 0 for none and else from *low* on.
    """
    primitive = (1 << 8 * left.itemsize) - 1
    for i in range(len(frontier)):
        total = np.uint32(0)
        for slot in range(places.shape[0]):
            parent = places[slot, i] - low
            if parent >= 0 and left[parent] != primitive:
                total = np.uint32(total + mark_of(parent))
        if differs(total, sums, frontier[i]):
            return i, differs(total, sums, frontier[i])
    return -1, np.uint32(0)


@kernel
def place_of(mark, count):
    """Return which of so many positions a mark stands for; -1 where it is none of them."""
    for position in range(count):
        if mark_of(position) == mark:
            return position
    return -1


def some_of(count: int) -> Array:
    """Return some of so many places, spread evenly, by an odd step, for sides may take turns among them."""
    return np.arange(0, count, count // SAMPLE | 1)
