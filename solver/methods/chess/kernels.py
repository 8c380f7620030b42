"""Compiled loops over the words of a tier: legal positions, captures, and one step of retrograde analysis.

`men` and `board` are a Men and a Geometry (see `formation.py`). A set is uint64[words], of positions with one side to
move:

    place = pair * inner + rest          index of a word: the kings, and the outer men (all men but the last)
    spot  = place << 6 | square          index of a position: a bit of the word, by the square of the last man

`inner` is the number of rests, `outer` the number of outer men, none to three (see `words.py`).

A byte for each position has its code, in the array `known`: 0 for a draw, no position, or nothing known yet; else one
more than the plies to mate, so that wins are even and losses odd. From the start `known` has what captures and
promotions alone bring. In the codes of later tiers 255 is no position.

A position in which a pawn may be captured en passant is another one than the position with the same men and without
that right. `passing` is a Passing (see `passing.py`) of the side that moves.
"""

import numpy as np

from retrograde.games.chess.men import KNIGHT, PAWN
from retrograde.solver.methods.chess.words import (
    BITS,
    EVERYTHING,
    FIRST,
    LAST,
    NOTHING,
    PAWNS,
    attackers,
    lowest,
    origins,
    pawns_behind,
    transposed,
    turned_word,
)
from retrograde.solver.runtime.kernel import lean_kernel

# In the codes of later tiers; in `wins_due` and `losses_due`, which have the least code still to come, it means none.
NO_POSITION = np.uint8(255)
INVERSE = np.array([0, 1, 2, 3, 4, 6, 5, 7])
"""The symmetry that undoes each symmetry of the board."""


@lean_kernel
def lay_out(men, board, side, legal, checked):
    """Find the legal positions with a *side* to move, and those in which it is in check."""
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    for pair in range(len(men.squares)):
        own, enemy = men.squares[pair, side], men.squares[pair, 1 - side]
        for rest in range(inner):
            place = pair * inner + rest
            legal[place] = checked[place] = NOTHING
            outside = men.rests.bits[rest]
            occupied = outside | BITS[own] | BITS[enemy]
            # Step 1: skip rests that share squares with each other or with a king (their bits are 0), or have a pawn on
            # the first or last rank.
            apart = not outside & (BITS[own] | BITS[enemy]) and (outside != NOTHING or outer == 0)
            for man in range(outer):
                apart &= men.kinds[man] != PAWN or bool(PAWNS & BITS[men.rests.squares[rest, man]])
            if not apart:
                continue
            # Step 2: the last man stands on a free square; the side not to move must not be in check.
            there = ~occupied & (PAWNS if men.kinds[outer] == PAWN else EVERYTHING)
            legal[place] = there & ~attack(men, board, side, enemy, rest, occupied, outer)
            checked[place] = legal[place] & attack(men, board, 1 - side, own, rest, occupied, outer)


@lean_kernel
def attack(men, board, side, king, rest, occupied, outer):
    """Return the squares of the last man with which a side attacks a king.

    An outer man on a line with the king attacks him wherever the last man does not stand in between.
    """
    found = NOTHING
    for man in range(outer):
        if men.sides[man] == side:
            # Bit `kind + 8 * side` of `board.reaches` says whether such a man attacks along the line.
            line = men.rests.squares[rest, man] << 6 | king
            if board.reaches[line] >> (men.kinds[man] + 8 * side) & 1 and not board.between[line] & occupied:
                found |= ~board.between[line]
    if men.sides[outer] == side:
        found |= attackers(BITS[king], ~occupied, men.kinds[outer], side)
    return found


@lean_kernel
def lead_to(men, board, side, passing, reached, found):
    """Add to *found* the predecessors of the positions *reached*, by a side's moves within the tier.

    In *reached* nothing may be captured en passant: positions after a double step that have that right are left out.
    *found* may get bits of illegal positions; callers mask them.
    """
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    for pair in range(len(men.squares)):
        royal = BITS[men.squares[pair, 0]] | BITS[men.squares[pair, 1]]
        for rest in range(inner):
            place = pair * inner + rest
            word = reached[place]
            if word == NOTHING:
                continue
            occupied = royal | men.rests.bits[rest]
            # Case 1: the last man moved. His origins are bits of the same word.
            if men.sides[outer] == side:
                row = passing.rows[outer]
                if row >= 0:
                    found[place] |= pawns_behind(word, word & ~passing.passable[row, place], ~occupied, side)
                else:
                    found[place] |= origins(word, ~occupied, men.kinds[outer], side)
            # Case 2: the king moved. The word goes to another pair of kings, turned by the symmetry that makes it
            # canonical.
            for way in range(8):
                entry = np.int64(men.walks[side, pair, way])
                if entry >= 0:
                    symmetry = entry & 7
                    carried = turned_word(word, symmetry) if symmetry else word
                    beside = np.int64(men.rests.turned[symmetry, rest])
                    found[(entry >> 4) * inner + beside] |= carried
                    # Both kings on the diagonal: the mirror image is a position of its own, in the same block.
                    if entry & 8:
                        beside = np.int64(men.rests.turned[4, beside])
                        found[(entry >> 4) * inner + beside] |= transposed(carried)
            # Case 3: an outer man moved. The word goes to another rest; the square of the last man stays.
            for man in range(outer):
                if men.sides[man] != side:
                    continue
                square = men.rests.squares[rest, man]
                after = men.rests.more[men.rests.less[rest, man]]
                base = place - rest
                kind = men.kinds[man]
                if kind == PAWN:
                    # Pawns go back one square, and two from the fourth rank if both squares are empty, of the last man
                    # too.
                    back = 16 * side - 8
                    origin = square + back
                    bits = word & ~BITS[origin]
                    if not occupied & BITS[origin] and bits:
                        found[base + after[origin]] |= bits
                        twice = origin + back
                        if square >> 3 == (3 if side == 0 else 4) and not occupied & BITS[twice]:
                            row = passing.rows[man]
                            if row >= 0:
                                # After this double step the pawn may be captured en passant: that is another position.
                                bits &= ~passing.passable[row, place]
                            found[base + after[twice]] |= bits & ~BITS[twice]
                    continue
                for way in range(FIRST[kind], LAST[kind]):
                    bits = word
                    origin = board.steps[square << 4 | way]
                    # Slide back until an outer man or king blocks. Positions with the last man on a passed square drop
                    # out.
                    while origin >= 0 and not occupied & BITS[origin]:
                        bits &= ~BITS[origin]
                        if bits == NOTHING:
                            break
                        found[base + after[origin]] |= bits
                        origin = board.steps[origin << 4 | way] if kind < KNIGHT else -1


@lean_kernel
def take_out(men, board, side, passing, open_, found):
    """Remove from *found* the positions from which a side has a move within the tier to an *open* position.

    Positions after a double step in which the pawn may be captured en passant are open as *passing* says.
    """
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    for pair in range(len(men.squares)):
        royal = BITS[men.squares[pair, 0]] | BITS[men.squares[pair, 1]]
        for rest in range(inner):
            place = pair * inner + rest
            if found[place] != NOTHING:
                word = found[place]
                found[place] = closed(men, board, side, passing, open_, word, place, pair, rest, royal, outer, inner)


@lean_kernel
def closed(men, board, side, passing, open_, word, place, pair, rest, royal, outer, inner):
    """Return the positions of a word without a move within the tier to an *open* position.

    It returns early if none is left.
    """
    occupied = royal | men.rests.bits[rest]
    # Case 1: an outer man moves. Compare with the word of the new rest.
    for man in range(outer):
        if men.sides[man] != side:
            continue
        square = men.rests.squares[rest, man]
        after = men.rests.more[men.rests.less[rest, man]]
        base = place - rest
        kind = men.kinds[man]
        if kind == PAWN:
            # Pawns: one step forward, and two from the second rank.
            forward = 8 - 16 * side
            target = square + forward
            if not occupied & BITS[target]:
                free = ~BITS[target]
                word &= ~(open_[base + after[target]] & free)
                twice = target + forward
                if square >> 3 == (1 if side == 0 else 6) and not occupied & BITS[twice]:
                    # Where the pawn may then be captured en passant, the list of such positions says whether it is
                    # open.
                    there = open_[base + after[twice]]
                    row = passing.rows[man]
                    if row >= 0:
                        there = there & ~passing.passable[row, base + after[twice]]
                        there |= passing.open[row, base + after[twice]]
                    word &= ~(there & free & ~BITS[twice])
            continue
        # `free` are the squares of the last man that do not block the slide.
        for way in range(FIRST[kind], LAST[kind]):
            free = EVERYTHING
            target = board.steps[square << 4 | way]
            while target >= 0 and not occupied & BITS[target]:
                free &= ~BITS[target]
                word &= ~(open_[base + after[target]] & free)
                if word == NOTHING:
                    return word
                target = board.steps[target << 4 | way] if kind < KNIGHT else -1
    # Case 2: the last man moves. Origins of open positions are bits of the same word.
    if men.sides[outer] == side:
        row = passing.rows[outer]
        if row >= 0:
            twice = open_[place] & ~passing.passable[row, place] | passing.open[row, place]
            word &= ~pawns_behind(open_[place], twice, ~occupied, side)
        else:
            word &= ~origins(open_[place], ~occupied, men.kinds[outer], side)
    # Case 3: the king moves. Turn the word of the new pair of kings back. Of two mirror images one is enough here, as
    # both are in the set.
    for way in range(8):
        entry = np.int64(men.walks[side, pair, way])
        if entry >= 0 and word:
            symmetry = entry & 7
            there = open_[(entry >> 4) * inner + men.rests.turned[symmetry, rest]]
            word &= ~(turned_word(there, INVERSE[symmetry]) if symmetry else there)
    return word


# What is decided


@lean_kernel
def keep_common(found, open_):
    """Remove from *found* what is not *open*."""
    for place in range(len(found)):
        found[place] &= open_[place]


@lean_kernel
def decide(candidates, open_, new, known, code):
    """Decide the candidates that are still *open*. Return how many there are.

    Writes their *code* to *known*, removes them from *open_*, makes them the *new* set, and clears *candidates*.
    """
    count = 0
    for place in range(len(candidates)):
        word = candidates[place] & open_[place]
        candidates[place] = NOTHING
        new[place] = word
        if word != NOTHING:
            open_[place] ^= word
            while word:
                known[place << 6 | lowest(word)] = code
                word &= word - np.uint64(1)
                count += 1
    return count


@lean_kernel
def fall_due(known, due, code, more, candidates):
    """Add positions whose captures and promotions bring this *code* to *candidates* and to *more*.

    *due* uint8[words] has for each word the least code still to come, of wins (even) or of losses (odd), 255 for none;
    it is updated.
    """
    for place in range(len(due)):
        if due[place] != code:
            continue
        word = NOTHING
        after = NO_POSITION
        for square in range(64):
            here = known[place << 6 | square]
            if here == code:
                word |= BITS[square]
            # The next code of the same parity.
            elif code < here < after and (here ^ code) & 1 == 0:
                after = here
        due[place] = after
        more[place] |= word
        candidates[place] |= word


@lean_kernel
def forget(known, open_):
    """Clear the codes of losses in positions that turned out not to be lost.

    All their captures and promotions lose, but another move does not: *open_* are the positions never decided as
    losses.
    """
    for place in range(len(open_)):
        word = open_[place]
        while word:
            spot = place << 6 | lowest(word)
            if known[spot] & 1:
                known[spot] = 0
            word &= word - np.uint64(1)


# Captures and promotions

DRAWN = 256
"""The worth of a move that leads to a draw. Worths order moves: 0 is no legal move, then losses (the later the better),
DRAWN, wins (the sooner the better)."""
WON = 1000
"""The worth of a win is this number less the plies."""


def worth_of(code: int) -> int:
    """Return the worth for the mover of a child with this code; 0 if the move is not legal."""
    if code == NO_POSITION:
        return 0
    if code == 0:
        return DRAWN
    return WON - code if code & 1 else code


WORTHS = np.array([worth_of(code) for code in range(256)])
"""The worth of a move by the code of the child."""


@lean_kernel
def code_brought(worth):
    """Return the code of a position whose best move has this worth; 0 for a draw or no move."""
    if worth > DRAWN:
        return WON - worth + 1
    return worth + 1 if 0 < worth < DRAWN else 0


@lean_kernel
def code_at(later, start, with_pawns, order, board, white, black, squares):
    """Return the code of a position of a later tier, NO_POSITION if its kings are too close.

    *order* has the indices of the men that remain, in that tier's order, and ends with -1; *squares* are their squares
    here.
    """
    entry = np.int64(board.kings[with_pawns << 12 | white << 6 | black])
    if entry < 0:
        return NO_POSITION
    # The index is built as in `formation.py`: the pair of kings, then six bits for the square of each man, turned as
    # the kings are.
    place = entry >> 4
    for man in order:
        if man < 0:
            break
        place = place << 6 | board.turned[entry & 7, squares[man]]
    return later[start + place]


@lean_kernel
def leave(men, board, side, legal, later, starts, with_pawns, orders, known, saved, delayed, worths, squares):
    """Find the best capture or promotion of each legal position with a *side* to move.

    *later* has the codes of later tiers, one after another. The codes after a capture of man `captured` (-1 for none)
    and a promotion `change` begin at `starts[captured + 1, change]`; `change` is 0 for none, else
    `4 * pawn + kind + 1`. *with_pawns* says whether pawns remain, *orders* in which order the men are there.

    Writes to *known* the code that the best of these moves brings. Sets in *saved* the positions with such a move that
    does not lose, in *delayed* those with such moves that all lose. *worths* int64[64] and *squares* int64[4] are
    buffers.

        for each word:  1. captures by the king      2. captures by other men, with or without promotion
                        3. promotions without capture      4. worths of all 64 squares become codes
    """
    count = len(men.kinds)
    outer = count - 1
    inner = len(men.rests.bits)
    last = 7 - 7 * side
    for place in range(len(legal)):
        pair, rest = place // inner, place % inner
        word = legal[place]
        saved[place] = delayed[place] = NOTHING
        for square in range(64):
            # `worths[square]` is the best worth so far with the last man on that square.
            worths[square] = 0
        if word != NOTHING:
            king, enemy = men.squares[pair, side], men.squares[pair, 1 - side]
            white_king, black_king = men.squares[pair, 0], men.squares[pair, 1]
            for man in range(outer):
                squares[man] = men.rests.squares[rest, man]
            outside = men.rests.bits[rest]
            occupied = outside | BITS[king] | BITS[enemy]
            for victim in range(count):
                if men.sides[victim] == side:
                    continue
                # Step 1: the king captures the victim on a neighbouring square.
                for way in range(8):
                    target = board.steps[king << 4 | way]
                    if target < 0 or (victim < outer and squares[victim] != target):
                        continue
                    white, black = (target, enemy) if side == 0 else (enemy, target)
                    entry = np.int64(board.kings[with_pawns[victim + 1, 0] << 12 | white << 6 | black])
                    if entry < 0:
                        continue
                    # Build the index of the child as `code_at` does, but without the last man, whose square varies
                    # below.
                    there = entry >> 4
                    for man in range(outer):
                        if man != victim:
                            there = there << 6 | board.turned[entry & 7, squares[man]]
                    begin = starts[victim + 1, 0]  # of whole words, where the last man is left
                    there += begin >> 6 if victim < outer else begin
                    # If the last man is the victim, only his square is possible.
                    bits = word if victim < outer else word & BITS[target]
                    while bits:
                        square = lowest(bits)
                        bits &= bits - np.uint64(1)
                        spot = there << 6 | board.turned[entry & 7, square] if victim < outer else there
                        worths[square] = max(worths[square], WORTHS[later[spot]])
                # Step 2: another man captures the victim. `bits` are the squares of the last man in which that move is
                # possible.
                for man in range(count):
                    if men.sides[man] != side:
                        continue
                    kind = men.kinds[man]
                    if man == outer:
                        # The last man captures: he may come from every square that attacks the victim.
                        bits = word & attackers(BITS[squares[victim]], ~occupied, kind, side)
                    elif victim == outer:
                        # The last man is captured: he may stand on every square that the captor attacks.
                        bits = word & around(board, squares[man], kind, side, occupied)
                    else:
                        # Neither: the last man must not stand in between.
                        line = squares[man] << 6 | squares[victim]
                        if not board.reaches[line] >> (kind + 8 * side) & 1 or board.between[line] & occupied:
                            continue
                        bits = word & ~board.between[line]
                    found = 0
                    while bits:
                        square = lowest(bits)
                        bits &= bits - np.uint64(1)
                        if man < outer or found == 0:  # the child is the same from every origin of the last man
                            squares[outer] = square
                            origin, target = squares[man], squares[victim]
                            squares[man] = target
                            found = 0
                            # A pawn that captures on the last rank promotes: `change` is one of four numbers.
                            promotes = kind == PAWN and target >> 3 == last
                            for change in range(4 * man + 1 if promotes else 0, 4 * man + 5 if promotes else 1):
                                start, pawns = starts[victim + 1, change], with_pawns[victim + 1, change]
                                order = orders[victim + 1, change]
                                code = code_at(later, start, pawns, order, board, white_king, black_king, squares)
                                found = max(found, WORTHS[code])
                            squares[man] = origin
                            if found == 0 and man == outer:
                                break  # the move is not legal from any origin
                        worths[square] = max(worths[square], found)
            # Step 3: a pawn steps to the last rank and promotes.
            for man in range(count):
                if men.sides[man] != side or men.kinds[man] != PAWN:
                    continue
                forward = 8 - 16 * side
                bits = word
                if man < outer:
                    if (squares[man] + forward) >> 3 != last or occupied & BITS[squares[man] + forward]:
                        continue
                    bits &= ~BITS[squares[man] + forward]
                while bits:
                    square = lowest(bits)
                    bits &= bits - np.uint64(1)
                    squares[outer] = square
                    origin = squares[man]
                    if (origin + forward) >> 3 != last or occupied & BITS[origin + forward]:
                        continue
                    squares[man] = origin + forward
                    for change in range(4 * man + 1, 4 * man + 5):
                        start, pawns, order = starts[0, change], with_pawns[0, change], orders[0, change]
                        code = code_at(later, start, pawns, order, board, white_king, black_king, squares)
                        worths[square] = max(worths[square], WORTHS[code])
                    squares[man] = origin
        for square in range(64):
            # Step 4: codes, and the sets of positions saved and delayed.
            worth = worths[square]
            if worth >= DRAWN:
                saved[place] |= BITS[square]
            elif worth:
                delayed[place] |= BITS[square]
            known[place << 6 | square] = code_brought(worth)


@lean_kernel
def around(board, square, kind, side, occupied):
    """Return the squares that a man attacks from a square."""
    found = NOTHING
    if kind == PAWN:
        # The four diagonal ways; `reaches` leaves the two in which this pawn captures.
        for way in (4, 5, 6, 7):
            target = board.steps[square << 4 | way]
            if target >= 0 and board.reaches[square << 6 | target] >> (kind + 8 * side) & 1:
                found |= BITS[target]
        return found
    for way in range(FIRST[kind], LAST[kind]):
        target = board.steps[square << 4 | way]
        while target >= 0:
            found |= BITS[target]
            target = board.steps[target << 4 | way] if kind < KNIGHT and not occupied & BITS[target] else -1
    return found


@lean_kernel
def find_due(known, wins, losses):
    """Write the least even and the least odd code of each word, 255 for none. Return the greatest code.

    These are the codes that captures and promotions bring. If no move does, the greatest is 0.
    """
    greatest = np.uint8(0)
    for place in range(len(wins)):
        wins[place] = losses[place] = NO_POSITION
        for square in range(64):
            code = known[place << 6 | square]
            if code:
                greatest = max(greatest, code)
                if code & 1:
                    losses[place] = min(losses[place], code)
                else:
                    wins[place] = min(wins[place], code)
    return greatest
