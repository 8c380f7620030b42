"""Compiled loops over positions in which a pawn may be captured en passant: find them and decide them."""

from typing import NamedTuple

from retrograde.games.chess.men import PAWN
from retrograde.solver.methods.chess.kernels import WORTHS, code_at, code_of_worth, forward_of
from retrograde.solver.methods.chess.words import BITS, EVERYTHING, NOTHING, ONE, lowest
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel


class DoubleSteps(NamedTuple):
    """The positions after the double step of one pawn, each of them an item; the other side is to move.

    `positions` and `parents` int64[items]: the item's position, and the one before the double step, as bit indices in a
    set. `codes` uint8[items]: the code that the best capture en passant brings, as in `kernels`. `values`
    uint16[items]: the code of a decided item, 0 for others. `stuck` bool[items]: whether the position without the
    capture is lost, or has no move.
    """

    positions: Array
    parents: Array
    codes: Array
    values: Array
    stuck: Array


@lean_kernel
def neighbours(square):
    """Return the one or two squares beside a square, on the same rank, as a set.

    >>> [hex(neighbours(square)) for square in (24, 27)]  # a4: b4; d4: c4 and e4
    ['0x2000000', '0x14000000']
    """
    found = NOTHING
    if square & 7:
        found |= BITS[square - 1]
    if square & 7 < 7:
        found |= BITS[square + 1]
    return found


@lean_kernel
def find_double_steps(men, board, man, legal, later, passable, items, squares):
    """List the legal positions in which one pawn, *man*, has just moved two squares and may be captured en passant.

    Marks them in *passable*, writes positions, parents and codes of *items*, and returns how many. *later* is a
    LaterCodes; *squares* int64[4] is a buffer.
    """
    outer, inner = len(men.kinds) - 1, len(men.rests.bits)  # the last man's index; words for each pair of kings
    side = men.sides[man]
    rank = 3 if side == 0 else 4  # the rank after a double step, counted from 0
    back = -forward_of(side)
    # The man's square is six bits of the position's index; this many bits are below them.
    low_bits = 6 * (outer - man)
    count = 0
    for index in range(len(legal)):
        pair, rest = index // inner, index % inner
        passable[index] = NOTHING
        for other in range(outer):
            squares[other] = men.rests.squares[rest, other]
        # Step 1: Find the squares of the last man with which an enemy pawn stands beside the pawn.
        word = legal[index] & beside_pawn(men, man, rank, squares)
        # Step 2: For each such position, the two squares behind the pawn must be empty.
        white, black = men.squares[pair, 0], men.squares[pair, 1]
        outside = men.rests.bits[rest] | BITS[white] | BITS[black]
        while word:
            last = lowest(word)
            word &= word - ONE
            squares[outer] = last
            pawn = squares[man]
            behind = pawn + back
            if (outside | BITS[last]) & (BITS[behind] | BITS[behind + back]):
                continue
            # Step 3: Find the best capture. The captor takes the square behind the pawn.
            worth = 0
            for other in range(outer + 1):
                origin = squares[other]
                if men.kinds[other] == PAWN and men.sides[other] != side and neighbours(pawn) & BITS[origin]:
                    squares[other] = behind
                    worth = max(worth, WORTHS[code_at(board, later, man, 0, squares, white, black)])
                    squares[other] = origin
            if worth == 0:
                continue  # the king would be in check
            # Step 4: Write the item. The predecessor has the pawn two squares back.
            position = index << 6 | last
            add_position(passable, position)
            items.positions[count] = position
            items.parents[count] = position + ((2 * back) << low_bits)
            items.codes[count] = code_of_worth(worth)
            count += 1
    return count


@lean_kernel
def beside_pawn(men, man, rank, squares):
    """Return a set: the squares for the last man at which *man* stands on *rank*, with an enemy pawn on a neighbouring
    square.

    *squares* has the squares of all other men, the *outer* ones. If the last man does not matter, the set has all 64
    squares or none.
    """
    outer = len(men.kinds) - 1
    if man < outer and squares[man] >> 3 != rank:
        return NOTHING
    found = NOTHING
    for other in range(outer + 1):
        if men.kinds[other] == PAWN and men.sides[other] != men.sides[man]:
            # Either pawn may be the last man, whose squares are sought.
            if man == outer:
                found |= neighbours(squares[other]) if squares[other] >> 3 == rank else NOTHING
            elif other == outer:
                found |= neighbours(squares[man])
            elif neighbours(squares[man]) & BITS[squares[other]]:
                return EVERYTHING
    return found


@lean_kernel
def decide_losses(items, code, lost, parents):
    """Give *code* to the items that are lost now, add their parents to a set, and return how many there are.

    An item is lost if its capture loses by a code up to *code*, and the position without the capture is in *lost* (just
    now) or was stuck before.
    """
    count = 0
    for i in range(len(items.positions)):
        if not items.stuck[i] and lost[items.positions[i] >> 6] & BITS[items.positions[i] & 63]:
            items.stuck[i] = True
        if items.stuck[i] and items.values[i] == 0 and items.codes[i] & 1 and items.codes[i] <= code:
            items.values[i] = code
            add_position(parents, items.parents[i])
            count += 1
    return count


@lean_kernel
def decide_wins(items, code, won, open_, parents):
    """Give *code* to the items that are won now, add their parents to a set, and return how many there are.

    An item is won if its capture brings this code, an even one, or if the position without the capture is in *won*. Its
    bit in *open_* is cleared.
    """
    count = 0
    for i in range(len(items.positions)):
        position = items.positions[i]
        by_capture = items.codes[i] == code and code & 1 == 0
        if items.values[i] == 0 and (by_capture or won[position >> 6] & BITS[position & 63]):
            items.values[i] = code
            open_[position >> 6] &= ~BITS[position & 63]
            add_position(parents, items.parents[i])
            count += 1
    return count


@lean_kernel
def add_position(words, position):
    """Add a position to a set, by the index of its bit."""
    words[position >> 6] |= BITS[position & 63]


@lean_kernel
def add_positions(words, positions):
    """Add positions to a set, by the indices of their bits."""
    for position in positions:
        add_position(words, position)
