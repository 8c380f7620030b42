"""Compiled loops that translate between slots, as chess numbers positions, and codes in the layout of words.

Codes are those of `kernels.py`: 0 for a draw, EMPTY for no position (in later tiers), else one more than the plies to
mate.
"""

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.solver.runtime.kernel import lean_kernel

EMPTY = 255
STORED, POSITIONS, FIRST = range(3)
"""Columns of counts: slots, the positions they stand for, and the first slot."""


@lean_kernel
def choose(number, like):
    """Return the number of placements of *like* equal men (one to three) on the first *number* squares."""
    if like == 1:
        return number
    if like == 2:
        return number * (number - 1) // 2
    return number * (number - 1) * (number - 2) // 6


@lean_kernel
def slot_within(kinds, ways, squares):
    """Return the number of a slot among those with the same kings; -1 if the men cannot stand so.

    *ways* has the number of placements of each man's group, 1 for a man like the one before him. Sorts the squares of
    like men in *squares*. The number of each group's placement is in the combinatorial number system, as in
    `Numbering.index` of chess.
    """
    like = 0
    # Step 1: sort the squares of like men by insertion, and reject placements that are not legal.
    for man in range(len(kinds)):
        like = like + 1 if ways[man] == 1 else 1
        for before in range(man):
            if squares[before] == squares[man]:
                return -1
        if kinds[man] == PAWN and not 8 <= squares[man] < 56:
            return -1
        spot = man
        while spot > man - like + 1 and squares[spot - 1] > squares[spot]:
            squares[spot - 1], squares[spot] = squares[spot], squares[spot - 1]
            spot -= 1
    slot = 0
    # Step 2: a group's number is a sum of binomials; groups are digits of the slot.
    for man in range(len(kinds)):
        like = like + 1 if ways[man] == 1 else 1
        slot = slot * ways[man] + choose(squares[man] - 8 * (kinds[man] == PAWN), like)
    return slot


@lean_kernel
def expand(board, pairs, scores, table, kinds, ways, kept, order, turn, exchanged, with_pawns, legal, codes, squares):
    """Write the codes of a later tier's positions with one side to move, in the order of the tier before.

    There men are told apart and in another order. A score's code is `table[score]`; *legal* are the legal positions, as
    a set. For *kept* see `formation.Arrangement`, for *turn*, *exchanged* and *order* `formation.Later`. *pairs*
    int64[pairs, 2] are the squares of the kings; *squares* int64[3] is a buffer.
    """
    count = len(kinds)
    inner = 1 << 6 * count
    for pair in range(len(pairs)):
        white, black = pairs[pair, 0], pairs[pair, 1]
        # Exchanged sides: the board is turned upside down (square ^ 56), and the kings change places.
        if exchanged:
            white, black = black ^ 56, white ^ 56
        entry = int(board.kings[with_pawns << 12 | white << 6 | black])
        begin = (turn * len(pairs) + (entry >> 4)) * len(kept)
        # For each legal position find the slot: turn the men as the kings are turned, then number them.
        for rest in range(inner):
            place = pair * inner + rest
            codes[place] = EMPTY
            if not legal[place >> 6] >> np.uint64(place & 63) & np.uint64(1):
                continue
            for man in range(count):
                square = rest >> 6 * (count - 1 - order[man]) & 63
                squares[man] = board.turned[entry & 7, square ^ 56 if exchanged else square]
            slot = slot_within(kinds, ways, squares)
            # Both kings on the diagonal, and this is the larger mirror image: its slot is empty, so take the other.
            if entry & 8 and kept[slot] == 0:
                for man in range(count):
                    squares[man] = board.turned[4, squares[man]]
                slot = slot_within(kinds, ways, squares)
            codes[place] = table[scores[begin + slot]]


@lean_kernel
def collect(known, legal, diagonal, places, kept, inner, table, empty, each, begin, scores, counts):
    """Write the scores of the slots with one side to move, and count them by code, int64[codes, 3].

    *known* has the codes and *legal* the legal positions. *places* and *kept* are an Arrangement; *diagonal* says of
    each pair of kings whether both are on the diagonal. A code's score is `table[code]`; *empty* is that of no
    position. A slot stands for *each* positions, or half as many if the position is its own mirror image. *begin* is
    the first slot.
    """
    size = len(places)
    for pair in range(len(diagonal)):
        for spot in range(size):
            # Empty slots: illegal positions, and the larger of two mirror images.
            place = pair * inner + places[spot]
            scores[pair * size + spot] = empty
            if not legal[place >> 6] >> np.uint64(place & 63) & np.uint64(1) or (diagonal[pair] and kept[spot] == 0):
                continue
            code = known[place]
            scores[pair * size + spot] = table[code]
            if counts[code, STORED] == 0:
                counts[code, FIRST] = begin + pair * size + spot
            counts[code, STORED] += 1
            counts[code, POSITIONS] += each >> (1 if diagonal[pair] and kept[spot] == 2 else 0)
