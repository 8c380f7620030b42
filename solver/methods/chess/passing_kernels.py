"""The compiled loops over positions in which a pawn may be captured en passant: which there are, and how they fare."""

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.solver.methods.chess.kernels import WORTHS, code_at, code_brought
from retrograde.solver.methods.chess.words import BITS, EVERYTHING, NOTHING, lowest
from retrograde.solver.runtime.kernel import lean_kernel


@lean_kernel
def beside(square):
    """Return the squares beside one, on its rank."""
    found = NOTHING
    if square & 7:
        found |= BITS[square - 1]
    if square & 7 < 7:
        found |= BITS[square + 1]
    return found


@lean_kernel
def find_passed(men, board, man, legal, later, starts, with_pawns, orders, squares, passable, spots, parents, codes):
    """Find the legal positions in which a man, a pawn that has just gone two steps, may be captured en passant.

    Marks them in *passable*, and writes of each which bit of that set it is, which one the position before, and the
    code that captures en passant alone bring (see `kernels.leave` for *later* and what goes with it). Returns how many
    there are; *squares* int64[3] is room.
    """
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    side = men.sides[man]
    rank, back = (3, -8) if side == 0 else (4, 8)
    low = 6 * (outer - man)
    count = 0
    for place in range(len(legal)):
        pair, rest = place // inner, place % inner
        passable[place] = NOTHING
        for other in range(outer):
            squares[other] = men.rests.squares[rest, other]
        if man < outer and squares[man] >> 3 != rank:
            continue
        word = NOTHING  # where the last man may stand
        for other in range(outer + 1):
            if men.kinds[other] == PAWN and men.sides[other] != side:
                if man == outer:
                    word |= beside(squares[other]) if squares[other] >> 3 == rank else NOTHING
                elif other == outer:
                    word |= beside(squares[man])
                elif beside(squares[man]) & BITS[squares[other]]:
                    word = EVERYTHING
        word &= legal[place]
        white, black = men.squares[pair, 0], men.squares[pair, 1]
        outside = men.rests.bits[rest] | BITS[white] | BITS[black]
        while word:
            last = lowest(word)
            word &= word - np.uint64(1)
            squares[outer] = last
            pawn = squares[man]
            beyond = pawn + back
            if (outside | BITS[last]) & (BITS[beyond] | BITS[beyond + back]):
                continue
            worth = 0
            for other in range(outer + 1):
                origin = squares[other]
                if men.kinds[other] == PAWN and men.sides[other] != side and beside(pawn) & BITS[origin]:
                    squares[other] = beyond
                    start, pawns, order = starts[man + 1, 0], with_pawns[man + 1, 0], orders[man + 1, 0]
                    code = code_at(later, start, pawns, order, board, white, black, squares)
                    worth = max(worth, WORTHS[code])
                    squares[other] = origin
            if worth == 0:
                continue  # the king would be in check
            spot = place << 6 | last
            passable[place] |= BITS[last]
            spots[count] = spot
            parents[count] = spot + (2 * back << low)
            codes[count] = code_brought(worth)
            count += 1
    return count


@lean_kernel
def lose_passed(spots, codes, stuck, values, code, lost, found):
    """Decide the positions that are lost by now, by their code and by the same without a capture en passant, *lost*
    just now or *stuck* before; write which to *found*, and return how many."""
    count = 0
    for i in range(len(spots)):
        spot = spots[i]
        if not stuck[i] and lost[spot >> 6] & BITS[spot & 63]:
            stuck[i] = True
        if stuck[i] and values[i] == 0 and codes[i] & 1 and codes[i] <= code:
            values[i] = code
            found[count] = i
            count += 1
    return count


@lean_kernel
def win_passed(spots, codes, values, code, won, row, opened, found):
    """Decide the positions that are won by a code, or as the same without a capture en passant; they are not open any
    more. Write which to *found*, and return how many."""
    count = 0
    for i in range(len(spots)):
        spot = spots[i]
        if values[i] == 0 and (codes[i] == code or won[spot >> 6] & BITS[spot & 63]):
            values[i] = code
            opened[row, spot >> 6] &= ~BITS[spot & 63]
            found[count] = i
            count += 1
    return count


@lean_kernel
def put(places, found, count, into):
    """Add some positions, by their numbers among all, to a set."""
    for i in range(count):
        spot = places[found[i]]
        into[spot >> 6] |= BITS[spot & 63]
