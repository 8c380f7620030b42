"""The compiled loops over the words of a tier: which positions there are, and one step of retrograde analysis.

`men` and `board` are a Men and a Geometry (see formation.py); sets are uint64[words], all with one side to move. A
place in them is `pair * inner + rest`; *rest* says where all men but the last stand, whose squares are the bits of the
word. Those men are the outer ones, none to three (see words.py); there are so many as *inner* rests.

What is known of positions is told by bytes, one for each bit of a set: 0 nothing, a draw or no position, else one more
than the plies to mate, so that wins are even. What captures and promotions alone bring is there from the start. Of
later tiers 255 is no position.

Where a pawn may be captured en passant, the position is another one than that with the same men and without that right:
`passing` is a Passing (see passing.py) of the side that moves.
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
            apart = not outside & (BITS[own] | BITS[enemy]) and (outside != NOTHING or outer == 0)
            for man in range(outer):
                apart &= men.kinds[man] != PAWN or bool(PAWNS & BITS[men.rests.squares[rest, man]])
            if not apart:
                continue
            there = ~occupied & (PAWNS if men.kinds[outer] == PAWN else EVERYTHING)
            legal[place] = there & ~attack(men, board, side, enemy, rest, occupied, outer)
            checked[place] = legal[place] & attack(men, board, 1 - side, own, rest, occupied, outer)


@lean_kernel
def attack(men, board, side, king, rest, occupied, outer):
    """Return the squares of the last man with which a side attacks a king."""
    found = NOTHING
    for man in range(outer):
        if men.sides[man] == side:
            line = men.rests.squares[rest, man] << 6 | king
            if board.reaches[line] >> (men.kinds[man] + 8 * side) & 1 and not board.between[line] & occupied:
                found |= ~board.between[line]
    if men.sides[outer] == side:
        found |= attackers(BITS[king], ~occupied, men.kinds[outer], side)
    return found


@lean_kernel
def lead_to(men, board, side, passing, reached, found):
    """Add to a set from where a side's moves within the tier lead to the positions *reached*, in which nothing is to be
    captured en passant."""
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
            if men.sides[outer] == side:
                row = passing.rows[outer]
                if row >= 0:
                    found[place] |= pawns_behind(word, word & ~passing.passable[row, place], ~occupied, side)
                else:
                    found[place] |= origins(word, ~occupied, men.kinds[outer], side)
            for way in range(8):
                entry = np.int64(men.walks[side, pair, way])
                if entry >= 0:
                    symmetry = entry & 7
                    carried = turned_word(word, symmetry) if symmetry else word
                    beside = np.int64(men.rests.turned[symmetry, rest])
                    found[(entry >> 4) * inner + beside] |= carried
                    if entry & 8:
                        beside = np.int64(men.rests.turned[4, beside])
                        found[(entry >> 4) * inner + beside] |= transposed(carried)
            for man in range(outer):
                if men.sides[man] != side:
                    continue
                square = men.rests.squares[rest, man]
                after = men.rests.more[men.rests.less[rest, man]]
                base = place - rest
                kind = men.kinds[man]
                if kind == PAWN:
                    back = 16 * side - 8
                    origin = square + back
                    bits = word & ~BITS[origin]
                    if not occupied & BITS[origin] and bits:
                        found[base + after[origin]] |= bits
                        twice = origin + back
                        if square >> 3 == (3 if side == 0 else 4) and not occupied & BITS[twice]:
                            row = passing.rows[man]
                            if row >= 0:
                                bits &= ~passing.passable[row, place]
                            found[base + after[twice]] |= bits & ~BITS[twice]
                    continue
                for way in range(FIRST[kind], LAST[kind]):
                    bits = word
                    origin = board.steps[square << 4 | way]
                    while origin >= 0 and not occupied & BITS[origin]:
                        bits &= ~BITS[origin]
                        if bits == NOTHING:
                            break
                        found[base + after[origin]] |= bits
                        origin = board.steps[origin << 4 | way] if kind < KNIGHT else -1


@lean_kernel
def take_out(men, board, side, passing, open_, found):
    """Take out of a set the positions from which a side's move within the tier leads to an *open* one; those in which a
    pawn may be captured en passant are open as *passing* says."""
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
    """Return the positions of a word from which no move of a side within the tier leads to an *open* position."""
    occupied = royal | men.rests.bits[rest]
    for man in range(outer):
        if men.sides[man] != side:
            continue
        square = men.rests.squares[rest, man]
        after = men.rests.more[men.rests.less[rest, man]]
        base = place - rest
        kind = men.kinds[man]
        if kind == PAWN:
            forward = 8 - 16 * side
            target = square + forward
            if not occupied & BITS[target]:
                free = ~BITS[target]
                word &= ~(open_[base + after[target]] & free)
                twice = target + forward
                if square >> 3 == (1 if side == 0 else 6) and not occupied & BITS[twice]:
                    there = open_[base + after[twice]]
                    row = passing.rows[man]
                    if row >= 0:
                        there = there & ~passing.passable[row, base + after[twice]]
                        there |= passing.open[row, base + after[twice]]
                    word &= ~(there & free & ~BITS[twice])
            continue
        for way in range(FIRST[kind], LAST[kind]):
            free = EVERYTHING
            target = board.steps[square << 4 | way]
            while target >= 0 and not occupied & BITS[target]:
                free &= ~BITS[target]
                word &= ~(open_[base + after[target]] & free)
                if word == NOTHING:
                    return word
                target = board.steps[target << 4 | way] if kind < KNIGHT else -1
    if men.sides[outer] == side:
        row = passing.rows[outer]
        if row >= 0:
            twice = open_[place] & ~passing.passable[row, place] | passing.open[row, place]
            word &= ~pawns_behind(open_[place], twice, ~occupied, side)
        else:
            word &= ~origins(open_[place], ~occupied, men.kinds[outer], side)
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
    """Keep of a set what is *open* as well."""
    for place in range(len(found)):
        found[place] &= open_[place]


@lean_kernel
def decide(candidates, open_, new, known, code):
    """Decide the candidates that are still *open*: note their code, take them out of there, and make them the *new*
    ones; no candidates are left. Returns how many there are."""
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
    """Add the positions whose captures and promotions bring a code to *candidates* and to a set with *more* of them.

    *due* uint8[words] has the least of the codes of its kind, even or odd, that are still to come, 255 for none.
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
            elif code < here < after and (here ^ code) & 1 == 0:
                after = here
        due[place] = after
        more[place] |= word
        candidates[place] |= word


@lean_kernel
def forget(known, open_):
    """Take back what captures and promotions alone would have brought to positions that are lost by none."""
    for place in range(len(open_)):
        word = open_[place]
        while word:
            spot = place << 6 | lowest(word)
            if known[spot] & 1:
                known[spot] = 0
            word &= word - np.uint64(1)


# Captures and promotions

DRAWN = 256
"""What a draw is worth, among the worths of moves: above all losses, the later the better, and below all wins."""
WON = 1000
"""What a win is worth, but for its plies."""


def worth_of(code: int) -> int:
    """Return what a child's code is worth to its parent; 0 where it is no position, and the move not legal."""
    if code == NO_POSITION:
        return 0
    if code == 0:
        return DRAWN
    return WON - code if code & 1 else code


WORTHS = np.array([worth_of(code) for code in range(256)])
"""By the code of a child, what it is worth to its parent."""


@lean_kernel
def code_brought(worth):
    """Return the code that a position has by a move of some worth alone; 0 for a draw, and where there is none."""
    if worth > DRAWN:
        return WON - worth + 1
    return worth + 1 if 0 < worth < DRAWN else 0


@lean_kernel
def code_at(later, start, with_pawns, order, board, white, black, squares):
    """Return the code of a position of a later tier: of the men in *order*, which ends at -1, their squares."""
    entry = np.int64(board.kings[with_pawns << 12 | white << 6 | black])
    if entry < 0:
        return NO_POSITION
    place = entry >> 4
    for man in order:
        if man < 0:
            break
        place = place << 6 | board.turned[entry & 7, squares[man]]
    return later[start + place]


@lean_kernel
def leave(men, board, side, legal, later, starts, with_pawns, orders, known, saved, delayed, worths, squares):
    """Look at all captures and promotions of the legal positions with a *side* to move.

    *later* are the codes of later tiers, one after another: where a tier begins that one of the men, or nobody, is not
    in, and in which a pawn has become something else or none has, is `starts[captured + 1, change]`, with change 0 or
    `4 * pawn + kind + 1`; *with_pawns* says whether there are any left, and *orders* in which order men are there.
    Writes codes to *known*, and to *saved* and *delayed* which positions have such a move that is no loss, and which
    have such moves, all of them losses. *worths* int64[64] and *squares* int64[4] are room.
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
                for way in range(8):  # the king captures
                    target = board.steps[king << 4 | way]
                    if target < 0 or (victim < outer and squares[victim] != target):
                        continue
                    white, black = (target, enemy) if side == 0 else (enemy, target)
                    entry = np.int64(board.kings[with_pawns[victim + 1, 0] << 12 | white << 6 | black])
                    if entry < 0:
                        continue
                    there = entry >> 4
                    for man in range(outer):
                        if man != victim:
                            there = there << 6 | board.turned[entry & 7, squares[man]]
                    begin = starts[victim + 1, 0]  # of whole words, where the last man is left
                    there += begin >> 6 if victim < outer else begin
                    bits = word if victim < outer else word & BITS[target]
                    while bits:
                        square = lowest(bits)
                        bits &= bits - np.uint64(1)
                        spot = there << 6 | board.turned[entry & 7, square] if victim < outer else there
                        worths[square] = max(worths[square], WORTHS[later[spot]])
                for man in range(count):
                    if men.sides[man] != side:
                        continue
                    kind = men.kinds[man]
                    if man == outer:
                        bits = word & attackers(BITS[squares[victim]], ~occupied, kind, side)
                    elif victim == outer:
                        bits = word & around(board, squares[man], kind, side, occupied)
                    else:
                        line = squares[man] << 6 | squares[victim]
                        if not board.reaches[line] >> (kind + 8 * side) & 1 or board.between[line] & occupied:
                            continue
                        bits = word & ~board.between[line]
                    found = 0
                    while bits:
                        square = lowest(bits)
                        bits &= bits - np.uint64(1)
                        if man < outer or found == 0:  # whence the last man has come makes no difference
                            squares[outer] = square
                            origin, target = squares[man], squares[victim]
                            squares[man] = target
                            found = 0
                            promotes = kind == PAWN and target >> 3 == last
                            for change in range(4 * man + 1 if promotes else 0, 4 * man + 5 if promotes else 1):
                                start, pawns = starts[victim + 1, change], with_pawns[victim + 1, change]
                                order = orders[victim + 1, change]
                                code = code_at(later, start, pawns, order, board, white_king, black_king, squares)
                                found = max(found, WORTHS[code])
                            squares[man] = origin
                            if found == 0 and man == outer:
                                break  # the move is not legal, wherever it begins
                        worths[square] = max(worths[square], found)
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
            worth = worths[square]
            if worth >= DRAWN:
                saved[place] |= BITS[square]
            elif worth:
                delayed[place] |= BITS[square]
            known[place << 6 | square] = code_brought(worth)


@lean_kernel
def around(board, square, kind, side, occupied):
    """Return what a man attacks from a square."""
    found = NOTHING
    if kind == PAWN:
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
    """Write for each word the least even code, and the least odd one, that captures and promotions bring, 255 for none;
    return the greatest of all, 0 for none."""
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
