"""Blocks of records encoded by a compiled loop: what `encoding.encode_group` does, several times as fast, without the
GIL; so that the writer's threads work side by side.
"""

from typing import Any

import numpy as np

from retrograde.databases.encoding import to_planes
from retrograde.solver.work.kernel import kernel

Array = np.ndarray[Any, Any]

MOST_RUNS = 32
"""Runs of ones that a mask of 62 bits may have, and one more."""


def encode_group(
    positions: Array, rows: Array, begins: Array, length: int, outcome_size: int, gap_size: int
) -> tuple[Array, Array, Array]:
    """Return the masks of consecutive blocks, the planes of their outcomes, and those of their gaps."""
    blocks = -(-len(positions) // length)
    masks = np.empty(blocks, np.int64)
    gaps = np.zeros((blocks, gap_size, length), np.uint8)
    if encode_gaps(positions, begins, length, masks, gaps):
        raise ValueError("positions do not ascend within their tier")
    return masks, to_planes(rows, outcome_size, length), gaps


@kernel
def encode_gaps(positions, begins, length, masks, planes):
    """Write the mask of each block, and the planes, zeros so far, of the gaps; return 1 where positions do not ascend.

    Tiers begin at the indices *begins*, ascending.
    """
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    next_begin = 0
    for block in range(len(masks)):
        low, high = block * length, min((block + 1) * length, len(positions))
        begin = next_begin
        mask = 0
        for i in range(low, high):
            if begin < len(begins) and begins[begin] == i:
                begin += 1
            elif i > low:
                mask |= positions[i] ^ positions[i - 1]
        masks[block] = mask
        runs = find_runs(mask, bits, shifts)
        before = 0
        for i in range(low, high):
            rank = 0
            for run in range(runs):
                rank |= (positions[i] & bits[run]) >> shifts[run]
            if next_begin < len(begins) and begins[next_begin] == i:
                next_begin += 1
            elif i > low:
                gap = rank - before
                if gap <= 0:
                    return 1
                plane = 0
                while gap:
                    planes[block, plane, i - low] = gap & 255
                    gap >>= 8
                    plane += 1
            before = rank
    return 0


@kernel
def find_runs(mask, bits, shifts):
    """Write each run of ones in a mask, and how far it moves right when all are pushed together; return how many."""
    runs = below = bit = 0
    while mask >> bit:
        while not mask >> bit & 1:
            bit += 1
        shifts[runs] = bit - below
        bits[runs] = 0
        while mask >> bit & 1:
            bits[runs] |= 1 << bit
            bit += 1
            below += 1
        runs += 1
    return runs
