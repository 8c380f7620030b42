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
    """Write to *codes* those of a later tier's positions with one side to move, in the layout of the tier before.

    *kings* int64[pairs]: the index into `board.kings` for each pair there. *numbers* int32[16, inner]: see
    `slots.slot_numbers`. *items* has a number for each slot with this side to move: its score, or its row of a legend.
    An item's code is `table[item]`; *legal* are the legal positions, as a set.
    """
    slots_a_pair, inner = len(items) // len(kings), numbers.shape[1]
    for pair in range(len(kings)):
        entry = np.int64(board.kings[kings[pair]])  # 16 * the pair's number there + how the board is turned
        first_item = (entry >> 4) * slots_a_pair
        for placement in range(inner):
            index = pair * inner + placement
            codes[index] = NO_POSITION
            if has_position(legal, index):
                codes[index] = table[items[first_item + numbers[entry & 15, placement]]]


@lean_kernel
def collect_scores(ply_codes, legal, layout, score_of_code, empty, first_slot, scores, counts):
    """Write the scores of the slots with one side to move to *scores*; add to *counts* int64[codes, 3] (STORED, …).

    *ply_codes* uint8[positions] has the code of each position, by its bit index, and *legal* uint64[words] the set of
    legal positions; *layout* says at which bit index each slot is. A slot without a legal position gets the score
    *empty*. *score_of_code* has the score of each code. *first_slot* is the number in the tier of slot 0 of *scores*.
    """
    slots_a_pair = len(layout.indices)
    for pair in range(len(layout.diagonal)):
        for inner_slot in range(slots_a_pair):
            index = pair * layout.inner + layout.indices[inner_slot]
            slot = pair * slots_a_pair + inner_slot
            scores[slot] = empty
            # Empty slots: illegal positions, and the larger of two mirror images.
            mirror_class = layout.mirror_classes[inner_slot]
            if not has_position(legal, index) or (layout.diagonal[pair] and mirror_class == LARGER_IMAGE):
                continue
            code = ply_codes[index]
            scores[slot] = score_of_code[code]
            if counts[code, STORED] == 0:
                counts[code, FIRST] = first_slot + slot
            counts[code, STORED] += 1
            # A position that is its own mirror image has half as many images.
            is_own_image = layout.diagonal[pair] and mirror_class == OWN_IMAGE
            counts[code, POSITIONS] += layout.images // 2 if is_own_image else layout.images
