"""Compiled loops that translate between slots, as chess numbers positions, and codes in the layout of words.

Codes are those of `kernels.py`: 0 for a draw, NO_POSITION for no position (in later tiers), else one more than the
plies to mate.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.chess.kernels import NO_POSITION
from retrograde.solver.methods.chess.words import ONE
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel

STORED, POSITIONS, FIRST = range(3)
"""Columns of counts: slots, the positions they stand for, and the first slot."""
LARGER_IMAGE, OWN_IMAGE = 0, 2
"""Entries of `Arrangement.mirror_classes`: the larger of two mirror images; a position that is its own."""


class SlotLayout(NamedTuple):
    """Where the slots of a tier are in the layout of words.

    `indices` and `mirror_classes`: see `formation.Arrangement`. `diagonal` bool[pairs]: whether both kings are on the
    diagonal. `inner`: positions for each pair. `images`: positions that a slot stands for; half as many if the position
    is its own mirror image.
    """

    indices: Array
    mirror_classes: Array
    diagonal: Array
    inner: Any
    images: Any


@lean_kernel
def has_position(positions, index):
    """Return 1 if a set has the position with this bit index, else 0."""
    return positions[index >> 6] >> np.uint64(index & 63) & ONE


@lean_kernel
def write_codes(board, kings, numbers, items, table, legal, codes):
    """Write the codes of a later tier's positions with one side to move, in the layout of the tier before.

    *kings* int64[pairs]: the row of `board.kings` for each pair there. *numbers* int32[16, inner]: see
    `slots.slot_numbers`. *items* has a number for each slot with this side to move: its score, or its row of a legend.
    An item's code is `table[item]`; *legal* are the legal positions, as a set.
    """
    size, inner = len(items) // len(kings), numbers.shape[1]
    for pair in range(len(kings)):
        entry = np.int64(board.kings[kings[pair]])
        begin = (entry >> 4) * size
        for rest in range(inner):
            index = pair * inner + rest
            codes[index] = NO_POSITION
            if has_position(legal, index):
                codes[index] = table[items[begin + numbers[entry & 15, rest]]]


@lean_kernel
def collect_scores(known, legal, layout, table, empty, begin, scores, counts):
    """Write the scores of the slots with one side to move to *scores*; add to *counts* int64[codes, 3] (STORED, …).

    *known* has the codes of positions in the order of *layout*. A code's score is `table[code]`; a slot that has no
    *legal* position gets the score *empty*. *begin* is the number of the first slot.
    """
    size = len(layout.indices)
    for pair in range(len(layout.diagonal)):
        for spot in range(size):
            index = pair * layout.inner + layout.indices[spot]
            slot = pair * size + spot
            scores[slot] = empty
            # Empty slots: illegal positions, and the larger of two mirror images.
            mirror_class = layout.mirror_classes[spot]
            if not has_position(legal, index) or (layout.diagonal[pair] and mirror_class == LARGER_IMAGE):
                continue
            code = known[index]
            scores[slot] = table[code]
            if counts[code, STORED] == 0:
                counts[code, FIRST] = begin + slot
            counts[code, STORED] += 1
            counts[code, POSITIONS] += layout.images >> (layout.diagonal[pair] and mirror_class == OWN_IMAGE)
