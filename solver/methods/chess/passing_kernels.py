"""Compiled loops over positions in which a pawn may be captured en passant: find them and decide them."""

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.solver.methods.chess.kernels import WORTHS, code_at, code_brought
from retrograde.solver.methods.chess.words import BITS, EVERYTHING, NOTHING, lowest
from retrograde.solver.runtime.kernel import lean_kernel


@lean_kernel
def beside(square):
    """Return the neighbouring squares on the same rank."""
    found = NOTHING
    if square & 7:
        found |= BITS[square - 1]
    if square & 7 < 7:
        found |= BITS[square + 1]
    return found


@lean_kernel
def find_passed(men, board, man, legal, later, starts, with_pawns, orders, squares, passable, spots, parents, codes):
    """List the legal positions in which one pawn, *man*, has just moved two squares and may be captured en passant.

    Marks them in *passable*. Writes the index of each (*spots*), of the position before (*parents*), and the code that
    the best capture en passant brings (*codes*). For *later* and the arguments after it see `kernels.leave`; *squares*
    int64[3] is a buffer. Returns the number of positions.
    """
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    side = men.sides[man]
    # The rank after a double step, counted from 0, and one step back.
    rank, back = (3, -8) if side == 0 else (4, 8)
    # The man's square are six bits of the position's index; these many bits are below them.
    low = 6 * (outer - man)
    count = 0
    for place in range(len(legal)):
        pair, rest = place // inner, place % inner
        passable[place] = NOTHING
        for other in range(outer):
            squares[other] = men.rests.squares[rest, other]
        # Step 1: skip words in which the pawn is not on that rank.
        if man < outer and squares[man] >> 3 != rank:
            continue
        word = NOTHING  # where the last man may stand
        # Step 2: some enemy pawn must stand beside it. `word` collects the squares of the last man with which one does.
        for other in range(outer + 1):
            if men.kinds[other] == PAWN and men.sides[other] != side:
                if man == outer:
                    word |= beside(squares[other]) if squares[other] >> 3 == rank else NOTHING
                elif other == outer:
                    word |= beside(squares[man])
                elif beside(squares[man]) & BITS[squares[other]]:
                    word = EVERYTHING
        word &= legal[place]
        # Step 3: for each such position, the two squares behind the pawn must be empty.
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
            # Step 4: the best capture. The captor takes the square behind the pawn.
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
            # Step 5: write the item. The predecessor has the pawn two squares back.
            spot = place << 6 | last
            passable[place] |= BITS[last]
            spots[count] = spot
            parents[count] = spot + (2 * back << low)
            codes[count] = code_brought(worth)
            count += 1
    return count


@lean_kernel
def lose_passed(spots, codes, stuck, values, code, lost, found):
    """Decide the items that are lost by now. Write their indices to *found*, and return how many.

    An item is lost if its capture loses within *code*, and the position without the capture is in *lost* (just now) or
    *stuck* (before).
    """
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
    """Decide the items that are won by this code. Write their indices to *found*, and return how many.

    An item is won if its capture brings this code, or if the position without the capture is in *won*. Its bit in
    *opened* is cleared.
    """
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
    """Add the *count* positions listed in *found* to a set; *places* has the index of each item's bit."""
    for i in range(count):
        spot = places[found[i]]
        into[spot >> 6] |= BITS[spot & 63]
