"""Compares parents with children: the edges that `parents()` gives must be those that moves give.

A tier is solved with edges in both directions. Children come from moves; parents come from `parents()`, if the game has
it. A 32-bit number that looks random, the *mark*, stands for each parent:

 from moves       each child sums up the marks of the parents that lead to it   (`add_up`)
 from parents()   the marks of the parents given must have the same sum         (`compare`)

A wrong sum is equal by chance once in 2**32 cases; if memory is short, sums have 16 or 8 bits, and it happens
accordingly more often. Parents are requested of all decided positions, so a wrong answer cannot change a value
unnoticed. Parents of draws decide nothing; only a sample of draws is checked.
"""

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel

SAMPLE = 1 << 11
"""Positions of a tier, about, in a sample."""


@kernel
def mark_of(position):
    """Return the mark of a parent, 0 to 2**32 - 1. *position* is the parent's number in its tier."""
    # As in splitmix64: multiply by odd constants whose bits look random, and fold the upper bits down.
    mark = np.uint64(position + 1) * np.uint64(0x9E3779B97F4A7C15)
    mark = (mark ^ (mark >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.uint32(mark >> np.uint64(32))


@kernel
def add_up(children, counts, first, sums):
    """Add each parent's mark to the sums of its children. The parents are *first*, *first* + 1, …; parent *first* + i
    has the next `counts[i]` children of the list *children*."""
    begin = 0
    for i in range(len(counts)):
        mark = mark_of(first + i)
        for link in range(begin, begin + counts[i]):
            sums[children[link]] += mark
        begin += counts[i]


@kernel
def difference(total, sums, position):
    """Return `sums[position] - total` in the bits of the array's type: 0 if the sum of marks is the expected one."""
    return np.uint32(sums[position] - total) & np.uint32((1 << (8 * sums.itemsize)) - 1)


@kernel
def compare(frontier, parents, low, children_left, sums):
    """Return (i, difference) for the first `frontier[i]` whose parents have the wrong sum of marks, or (-1, 0). Column
    i of *parents* holds the parents of `frontier[i]`, numbered from *low* on; numbers below *low* are padding."""
    primitive = (1 << (8 * children_left.itemsize)) - 1
    for i in range(len(frontier)):
        total = np.uint32(0)
        for row in range(parents.shape[0]):
            parent = parents[row, i] - low
            # Primitive parents have no moves, so they do not count.
            if parent >= 0 and children_left[parent] != primitive:
                total = np.uint32(total + mark_of(parent))
        if difference(total, sums, frontier[i]):
            return i, difference(total, sums, frontier[i])
    return -1, np.uint32(0)


@kernel
def position_with(mark, count):
    """Return which position below *count* has this mark; -1 if none has."""
    for position in range(count):
        if mark_of(position) == mark:
            return position
    return -1


def sample_of(count: int) -> Array:
    """Return about SAMPLE of the positions 0 to *count* - 1, evenly spaced. The spacing is odd, so that both players
    are in the sample if they alternate from one number to the next."""
    return np.arange(0, count, (count // SAMPLE) | 1)
