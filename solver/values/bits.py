"""Masks, compiled: pushes the bits of a position that vary together to a rank, and spreads a rank again.

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
"""One more than the most runs of ones in a mask of 62 bits."""


class Runs(NamedTuple):
    """A mask and the runs of ones in it, int64[n] each.

    `bits` are the bits of a run, `shifts` how far it moves to the right when all runs are pushed together.
    """

    bits: Array
    shifts: Array
    mask: Any


@kernel
def make_runs_buffer():
    """Return a buffer for the runs of any mask."""
    return Runs(np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64), np.int64(0))


@kernel
def find_runs(mask, buffer):
    """Return the runs of ones in a mask, written to the *buffer* over those found before."""
    bits, shifts, _ = buffer
    count = below = bit = 0
    while mask >> bit:
        # Skip zeros: the next run moves to the right by all zeros below it.
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
    # One instruction of the processor (pext); otherwise run by run.
    if IS_QUICK:
        return np.int64(extract(np.uint64(position), np.uint64(runs.mask)))
    rank = 0
    for run in range(len(runs.bits)):
        rank |= (position & runs.bits[run]) >> runs.shifts[run]
    return rank


@kernel
def spread(rank, runs):
    """Return the position bits that a rank stands for: the inverse of `rank_of`."""
    # One instruction of the processor (pdep); otherwise run by run.
    if IS_QUICK:
        return np.int64(deposit(np.uint64(rank), np.uint64(runs.mask)))
    position = 0
    for run in range(len(runs.bits)):
        position |= rank << runs.shifts[run] & runs.bits[run]
    return position
