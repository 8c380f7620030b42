"""Compiled loops that translate between slots, as chess numbers positions, and codes in the layout of words.

Codes are those of `kernels.py`: 0 for a draw, NO_POSITION for no position (in later tiers), else one more than the
plies to mate.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.solver.methods.chess.kernels import DIAGONAL, NO_POSITION
from retrograde.solver.methods.chess.words import ONE
from retrograde.solver.runtime.kernel import lean_kernel

Array = np.ndarray[Any, Any]

STORED, POSITIONS, FIRST = range(3)
"""Columns of counts: slots, the positions they stand for, and the first slot."""
EMPTY_IMAGE, OWN_IMAGE = 0, 2
"""Entries of `Arrangement.mirror_classes`: the larger of two mirror images; a position that is its own."""


class LaterSlots(NamedTuple):
    """The slots of a later tier with one side to move, and how the tier before sees its positions.

    `kings` int64[pairs, 2]: the squares of the kings, by pair. `with_pawns`: whether there are pawns. For each man
    there, `kinds` and `placements`: see `slot_within`. `mirror_classes`: see `formation.Arrangement`. `order`, `turn`
    and `exchanged`: see `formation.LaterTier`.
    """

    kings: Array
    with_pawns: Any
    kinds: Array
    placements: Array
    mirror_classes: Array
    order: Array
    turn: Any
    exchanged: Any


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
    """Return whether a position is in a set."""
    return positions[index >> 6] >> np.uint64(index & 63) & ONE


@lean_kernel
def choose(number, like):
    """Return the number of placements of *like* equal men (one to three) on the first *number* squares."""
    if like == 1:
        return number
    if like == 2:
        return number * (number - 1) // 2
    return number * (number - 1) * (number - 2) // 6


@lean_kernel
def slot_within(kinds, placements, squares):
    """Return the number of a slot among those with the same kings; -1 if the men cannot stand so.

    *placements* has the number of placements of each man's group, 1 for a man like the one before him. Sorts the
    squares of like men in *squares*. The number of each group's placement is in the combinatorial number system, as in
    `Numbering.index` of chess.
    """
    like = 0
    # Step 1: Sort the squares of like men by insertion, and reject placements that are not legal.
    for man in range(len(kinds)):
        like = like + 1 if placements[man] == 1 else 1
        for before in range(man):
            if squares[before] == squares[man]:
                return -1
        if kinds[man] == PAWN and not 8 <= squares[man] < 56:
            return -1
        to = man
        while to > man - like + 1 and squares[to - 1] > squares[to]:
            squares[to - 1], squares[to] = squares[to], squares[to - 1]
            to -= 1
    slot = 0
    # Step 2: A group's number is a sum of binomials; groups are digits of the slot.
    for man in range(len(kinds)):
        like = like + 1 if placements[man] == 1 else 1
        slot = slot * placements[man] + choose(squares[man] - 8 * (kinds[man] == PAWN), like)
    return slot


@lean_kernel
def write_codes(board, slots, scores, table, legal, codes, squares):
    """Write the codes of a later tier's positions with one side to move, in the order of the tier before.

    There men are distinct and in another order. *slots* are its LaterSlots. A score's code is `table[score]`; *legal*
    are the legal positions, as a set. *squares* int64[3] is a buffer.
    """
    count = len(slots.kinds)
    inner = 1 << 6 * count
    pairs, size = len(slots.kings), len(slots.mirror_classes)
    for pair in range(pairs):
        white, black = slots.kings[pair, 0], slots.kings[pair, 1]
        # Exchanged sides: the board is turned upside down (square ^ 56), and the kings change places.
        if slots.exchanged:
            white, black = black ^ 56, white ^ 56
        entry = int(board.kings[slots.with_pawns << 12 | white << 6 | black])
        begin = (slots.turn * pairs + (entry >> 4)) * size
        # For each legal position find the slot: turn the men as the kings are turned, then number them.
        for rest in range(inner):
            index = pair * inner + rest
            codes[index] = NO_POSITION
            if not has_position(legal, index):
                continue
            for man in range(count):
                square = rest >> 6 * (count - 1 - slots.order[man]) & 63
                squares[man] = board.turned[entry & 7, square ^ 56 if slots.exchanged else square]
            slot = slot_within(slots.kinds, slots.placements, squares)
            # Both kings on the diagonal, and this is the larger mirror image: its slot is empty, so take the other.
            if entry & 8 and slots.mirror_classes[slot] == EMPTY_IMAGE:
                for man in range(count):
                    squares[man] = board.turned[DIAGONAL, squares[man]]
                slot = slot_within(slots.kinds, slots.placements, squares)
            codes[index] = table[scores[begin + slot]]


@lean_kernel
def collect_scores(known, legal, layout, table, empty, begin, scores, counts):
    """Write the scores of the slots with one side to move, and count them by code, int64[codes, 3].

    *known* has the codes and *legal* the legal positions; *layout* is a SlotLayout. A code's score is `table[code]`;
    *empty* is that of no position. *begin* is the first slot.
    """
    size = len(layout.indices)
    for pair in range(len(layout.diagonal)):
        for spot in range(size):
            index = pair * layout.inner + layout.indices[spot]
            slot = pair * size + spot
            scores[slot] = empty
            # Empty slots: illegal positions, and the larger of two mirror images.
            mirror_class = layout.mirror_classes[spot]
            if not has_position(legal, index) or (layout.diagonal[pair] and mirror_class == EMPTY_IMAGE):
                continue
            code = known[index]
            scores[slot] = table[code]
            if counts[code, STORED] == 0:
                counts[code, FIRST] = begin + slot
            counts[code, STORED] += 1
            counts[code, POSITIONS] += layout.images >> (layout.diagonal[pair] and mirror_class == OWN_IMAGE)
