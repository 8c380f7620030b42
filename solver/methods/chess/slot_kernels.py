"""The compiled loops between slots, as chess numbers positions, and the codes of positions as they lie in words.

Codes are those of `kernels`: 0 a draw, of later tiers EMPTY no position, else one more than the plies to mate.
"""

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.solver.runtime.kernel import lean_kernel

EMPTY = 255
STORED, POSITIONS, FIRST = range(3)
"""Columns of counts: slots, the positions they stand for, and the first slot."""


@lean_kernel
def choose(number, like):
    """Return in how many ways so many like men stand on the first squares, *number* of them."""
    if like == 1:
        return number
    if like == 2:
        return number * (number - 1) // 2
    return number * (number - 1) * (number - 2) // 6


@lean_kernel
def slot_within(kinds, ways, squares):
    """Return the number of a slot among those with kings on the same squares; -1 for men who cannot stand so.

    *ways* says of each man in how many ways his group stands, 1 if he is like the man before. Squares of like men are
    put in order.
    """
    like = 0
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
    for man in range(len(kinds)):
        like = like + 1 if ways[man] == 1 else 1
        slot = slot * ways[man] + choose(squares[man] - 8 * (kinds[man] == PAWN), like)
    return slot


@lean_kernel
def expand(board, pairs, scores, table, kinds, ways, kept, order, turn, exchanged, with_pawns, legal, codes, squares):
    """Write the codes of a tier's positions with one side to move, its men told apart and in another order.

    A score's code is `table[score]`; *legal* are those positions as bits in words. For *kept* see
    `formation.Arrangement`, for *turn*, *exchanged* and *order* `formation.Later`; *pairs* int64[pairs, 2] are the
    squares of the kings, *squares* int64[3] is room.
    """
    count = len(kinds)
    inner = 1 << 6 * count
    for pair in range(len(pairs)):
        white, black = pairs[pair, 0], pairs[pair, 1]
        if exchanged:
            white, black = black ^ 56, white ^ 56
        entry = int(board.kings[with_pawns << 12 | white << 6 | black])
        begin = (turn * len(pairs) + (entry >> 4)) * len(kept)
        for rest in range(inner):
            place = pair * inner + rest
            codes[place] = EMPTY
            if not legal[place >> 6] >> np.uint64(place & 63) & np.uint64(1):
                continue
            for man in range(count):
                square = rest >> 6 * (count - 1 - order[man]) & 63
                squares[man] = board.turned[entry & 7, square ^ 56 if exchanged else square]
            slot = slot_within(kinds, ways, squares)
            if entry & 8 and kept[slot] == 0:
                for man in range(count):
                    squares[man] = board.turned[4, squares[man]]
                slot = slot_within(kinds, ways, squares)
            codes[place] = table[scores[begin + slot]]


@lean_kernel
def collect(known, legal, diagonal, places, kept, inner, table, empty, each, begin, scores, counts):
    """Write the scores of the slots with one side to move, and count them by code: int64[codes, 3].

    *legal* are the positions as bits in words; *places* and *kept* are an Arrangement; *diagonal* says of pairs of
    kings that both are on the diagonal. A code's score is `table[code]`, that of no position *empty*. A slot stands for
    *each* so many positions, or half of them where the position is its own mirror image. *begin* is the first slot.
    """
    size = len(places)
    for pair in range(len(diagonal)):
        for spot in range(size):
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
