"""Encodes blocks of records in a compiled loop.

It does the same as `encoding.encode_group`, several times as fast and without the GIL, so that the writer's threads run
in parallel.

Within a block, a *mask* has the bits in which neighbouring positions differ. A position's bits under the mask, pushed
together, are its *rank* (see `bits.py`). A *gap* is the difference between consecutive ranks. It is stored in byte
planes: the lowest byte of all gaps, then the next byte of all gaps, and so on.
"""

import numpy as np

from retrograde.databases.encoding import to_planes
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer, rank_of


def encode_group(
    positions: Array, rows: Array, begins: Array, length: int, outcome_size: int, gap_size: int
) -> tuple[Array, Array, Array]:
    """Return (masks int64[blocks], outcome planes, gap planes) of blocks of *length* records.

    Planes are uint8[blocks, size, length]; *outcome_size* and *gap_size* are the bytes of an outcome and of a gap.
    *rows* are the records' rows of the legend, *begins* the indices at which tiers begin.
    """
    blocks = -(-len(positions) // length)
    masks = np.empty(blocks, np.int64)
    gaps = np.zeros((blocks, gap_size, length), np.uint8)
    if encode_gaps(positions, begins, length, masks, gaps):
        raise ValueError("positions do not ascend within their tier")
    return masks, to_planes(rows, outcome_size, length), gaps


@kernel
def encode_gaps(positions, begins, length, masks, planes):
    """Write the masks of blocks and the byte planes of their gaps. Return 1 if positions do not ascend, else 0.

    *planes* must be zero before. *begins* are the indices at which tiers begin, ascending.
    """
    buffer = make_runs_buffer()
    next_tier = 0  # the first tier that begins at this block or later
    for block in range(len(masks)):
        low, high = block * length, min((block + 1) * length, len(positions))
        # Step 1: the mask, by comparing each position with the one before, except at the beginning of a tier.
        tier = next_tier
        mask = 0
        for i in range(low, high):
            if tier < len(begins) and begins[tier] == i:
                tier += 1
            elif i > low:
                mask |= positions[i] ^ positions[i - 1]
        masks[block] = mask
        # Step 2: the gaps between ranks, again except at the beginning of a tier, where the gap stays 0.
        runs = find_runs(mask, buffer)
        last_rank = 0
        for i in range(low, high):
            rank = rank_of(positions[i], runs)
            if next_tier < len(begins) and begins[next_tier] == i:
                next_tier += 1
            elif i > low:
                gap = rank - last_rank
                # Positions must ascend strictly, and so must ranks.
                if gap <= 0:
                    return 1
                # Byte by byte, the lowest first.
                plane = 0
                while gap:
                    planes[block, plane, i - low] = gap & 255
                    gap >>= 8
                    plane += 1
            last_rank = rank
    return 0
