"""Masks, compiled: the bits of a position that vary, pushed together to a rank, and spread again.

position   0 1 1 0 1 0 0 1
mask       0 1 1 0 0 0 1 1      two runs of ones
rank               1 1 0 1
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.extract import IS_QUICK, deposit, extract

Array = np.ndarray[Any, Any]

MOST_RUNS = 32
"""Runs of ones that a mask of 62 bits may have, and one more."""


class Runs(NamedTuple):
    """A mask and the runs of ones in it, int64[n] each: the `bits` of each, and how far it `shifts` to the right when
    all are pushed together."""

    bits: Array
    shifts: Array
    mask: Any


@kernel
def room_for_runs():
    """Return room for the runs of any mask."""
    return Runs(np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64), np.int64(0))


@kernel
def find_runs(mask, room):
    """Return the runs of ones in a mask, which take the place of those found before in the same *room*."""
    bits, shifts, _ = room
    count = below = bit = 0
    while mask >> bit:
        while not mask >> bit & 1:
            bit += 1
        shifts[count] = bit - below
        bits[count] = 0
        while mask >> bit & 1:
            bits[count] |= 1 << bit
            bit += 1
            below += 1
        count += 1
    return Runs(bits[:count], shifts[:count], np.int64(mask))


@kernel
def rank_of(position, runs):
    """Return a position's bits under a mask, pushed together."""
    if IS_QUICK:
        return np.int64(extract(np.uint64(position), np.uint64(runs.mask)))
    rank = 0
    for run in range(len(runs.bits)):
        rank |= (position & runs.bits[run]) >> runs.shifts[run]
    return rank


@kernel
def spread(rank, runs):
    """Return the bits that a rank stands for."""
    if IS_QUICK:
        return np.int64(deposit(np.uint64(rank), np.uint64(runs.mask)))
    position = 0
    for run in range(len(runs.bits)):
        position |= rank << runs.shifts[run] & runs.bits[run]
    return position
