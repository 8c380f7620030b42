"""Compiled loops over the words of a tier: legal positions, captures, and one step of retrograde analysis.

`men` and `board` are a Men and a Geometry (see `formation.py`). A set is uint64[words], of positions with one side to
move:

    index    = pair * inner + rest         index of a word: the kings, and the outer men (all men but the last)
    position = index << 6 | square         index of a position: a bit of the word, by the square of the last man

`inner` is the number of rests, `outer` the number of outer men, none to three (see `words.py`). An example: KRK, with
White to move. There are no outer men, so word 17 has the 64 squares of the rook for pair 17 of the kings.

`board.steps[square << 4 | direction]` is the next square in a direction, -1 off the board. Men whose kind is below
KNIGHT slide; the others make a single step.

A byte for each position has its code, in the array `ply_codes`: 0 for a draw, no position, or nothing known yet; else
one more than the plies to mate, so that wins are even and losses odd. At first `ply_codes` has the results of captures
and promotions alone. In the codes of later tiers 255 is no position.

A position in which a pawn may be captured en passant is another one than the position with the same men and without
that right. `capturable` is the CapturablePawns (see `en_passant.py`) of the side that moves. `later` is a LaterCodes.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.chess.men import KNIGHT, PAWN
from retrograde.solver.methods.chess.words import (
    BITS,
    EVERYTHING,
    FIRST,
    LAST,
    NOTHING,
    ONE,
    PAWNS,
    attackers,
    lowest,
    origins,
    pawns_behind,
    transpose,
    turn_word,
)
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel

NO_POSITION = np.uint8(255)
"""In the codes of later tiers: no position. In `next_wins` and `next_losses`, the least codes still to come: none."""
INVERSE = np.array([0, 1, 2, 3, 4, 6, 5, 7])
"""The symmetry that undoes each symmetry of the board."""
TRANSPOSE = 4
"""The symmetry that exchanges files and ranks."""


@lean_kernel
def forward_of(side):
    """Return by how many squares a side's pawns step forward: 8 for White, -8 for Black."""
    return 8 - 16 * side


@lean_kernel
def attacks(board, origin, target, kind, side):
    """Return 1 if a man on *origin* attacks *target* on an empty board, else 0. `board.reaches` has a bit for each kind
    and side."""
    return board.reaches[origin << 6 | target] >> (kind + 8 * side) & 1


@lean_kernel
def find_legal(men, board, side, legal, checked):
    """Write the legal positions with a *side* to move, and those in which it is in check, as sets."""
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    for pair in range(len(men.squares)):
        own, enemy = men.squares[pair, side], men.squares[pair, 1 - side]
        for rest in range(inner):
            index = pair * inner + rest
            legal[index] = checked[index] = NOTHING
            outer_men = men.rests.bits[rest]
            occupied = outer_men | BITS[own] | BITS[enemy]
            # Step 1: Skip rests with two men on a square (the bits are 0), a man on a king, or a pawn on the first or
            # last rank.
            possible = not (outer_men & (BITS[own] | BITS[enemy])) and (outer_men != NOTHING or outer == 0)
            for man in range(outer):
                possible &= men.kinds[man] != PAWN or bool(PAWNS & BITS[men.rests.squares[rest, man]])
            if not possible:
                continue
            # Step 2: The last man stands on a free square; the side not to move must not be in check.
            squares = ~occupied & (PAWNS if men.kinds[outer] == PAWN else EVERYTHING)
            legal[index] = squares & ~squares_of_check(men, board, side, enemy, rest, occupied, outer)
            checked[index] = legal[index] & squares_of_check(men, board, 1 - side, own, rest, occupied, outer)


@lean_kernel
def squares_of_check(men, board, side, king, rest, occupied, outer):
    """Return the squares of the last man with which *side* attacks the enemy king, who is on the square *king*. An
    outer man on a line with the king attacks him wherever the last man does not stand in between."""
    found = NOTHING
    for man in range(outer):
        if men.sides[man] == side:
            origin = men.rests.squares[rest, man]
            between = board.between[origin << 6 | king]
            if attacks(board, origin, king, men.kinds[man], side) and not between & occupied:
                found |= ~between
    if men.sides[outer] == side:
        found |= attackers(BITS[king], ~occupied, men.kinds[outer], side)
    return found


# Moves within the tier


@lean_kernel
def add_predecessors(men, board, side, capturable, reached, found):
    """Add to *found* the predecessors of the positions *reached*, by a *side*'s moves within the tier.

    Nothing can be captured en passant in *reached*. So a double step does not lead there if it would give that right.
    *found* may get bits of illegal positions; callers mask them.
    """
    outer = len(men.kinds) - 1
    inner = len(men.rests.bits)
    for pair in range(len(men.squares)):
        kings = BITS[men.squares[pair, 0]] | BITS[men.squares[pair, 1]]
        base = pair * inner
        for rest in range(inner):
            index = base + rest
            word = reached[index]
            if word == NOTHING:
                continue
            occupied = kings | men.rests.bits[rest]
            # Case 1: The last man moved. His origins are bits of the same word.
            if men.sides[outer] == side:
                row = capturable.rows[outer]
                if row >= 0:
                    found[index] |= pawns_behind(word, word & ~capturable.passable[row, index], ~occupied, side)
                else:
                    found[index] |= origins(word, ~occupied, men.kinds[outer], side)
            # Case 2: The king moved. The word goes to another pair of kings.
            add_king_predecessors(men, side, pair, rest, word, found)
            # Case 3: An outer man moved. The word goes to another rest; the square of the last man stays.
            for man in range(outer):
                if men.sides[man] != side:
                    continue
                square, kind = men.rests.squares[rest, man], men.kinds[man]
                rest_by_square = men.rests.more[men.rests.less[rest, man]]  # the new rest for each square of this man
                if kind == PAWN:
                    row, twice = capturable.rows[man], word
                    if row >= 0:
                        # After this double step the pawn may be captured en passant: that is another position.
                        twice &= ~capturable.passable[row, index]
                    add_pawn_predecessors(rest_by_square, side, square, word, twice, occupied, found, base)
                else:
                    add_piece_predecessors(rest_by_square, board.steps, kind, square, word, occupied, found, base)


@lean_kernel
def add_king_predecessors(men, side, pair, rest, word, found):
    """Add the positions one move of a side's king before *word*, turned so that their pair of kings is canonical.

    An entry of `king_moves` is 16 * the number of the pair + 8 if both kings are on the diagonal + the symmetry.
    """
    inner = len(men.rests.bits)
    for direction in range(8):
        entry = np.int64(men.king_moves[side, pair, direction])
        if entry >= 0:
            symmetry = entry & 7
            turned_word = turn_word(word, symmetry) if symmetry else word
            turned_rest = np.int64(men.rests.turned[symmetry, rest])
            found[(entry >> 4) * inner + turned_rest] |= turned_word
            # Both kings on the diagonal: the mirror image is a position of its own, with the same pair of kings.
            if entry & 8:
                mirror_rest = np.int64(men.rests.turned[TRANSPOSE, turned_rest])
                found[(entry >> 4) * inner + mirror_rest] |= transpose(turned_word)


@lean_kernel
def add_pawn_predecessors(rest_by_square, side, square, word, twice, occupied, found, base):
    """Add to *found* the positions before an outer pawn's step to *square*.

    *word* has the positions that a single step may have led to, as squares of the last man; *twice* has those that a
    double step may have led to. *rest_by_square* has the rest for each square of this pawn. Words of these kings begin
    at *base*.
    """
    back = -forward_of(side)
    origin = square + back
    free = ~BITS[origin]  # the squares on which the last man does not block the step
    if occupied & BITS[origin] or not word & free:
        return
    found[base + rest_by_square[origin]] |= word & free
    # Two squares back from the fourth rank, if both squares are empty, of the last man too.
    second = origin + back
    if square >> 3 == (3 if side == 0 else 4) and not occupied & BITS[second]:
        found[base + rest_by_square[second]] |= twice & free & ~BITS[second]


@lean_kernel
def add_piece_predecessors(rest_by_square, steps, kind, square, word, occupied, found, base):
    """Add to *found* the positions from which an outer man's move to *square* gives a position of *word*.

    *occupied* has the kings and the outer men. The words of positions with these kings begin at *base* in *found*.
    (`words.py` says what words and outer men are.)
    """
    for direction in range(FIRST[kind], LAST[kind]):
        bits = word
        origin = steps[square << 4 | direction]
        # Slide back until an outer man or king blocks. Clear the bits of positions whose last man stands on a passed
        # square: that man blocks as well.
        while origin >= 0 and not occupied & BITS[origin]:
            bits &= ~BITS[origin]
            if bits == NOTHING:
                break
            found[base + rest_by_square[origin]] |= bits
            origin = steps[origin << 4 | direction] if kind < KNIGHT else -1


@lean_kernel
def remove_escapes(men, board, side, capturable, open_, found):
    """Remove from *found* the positions from which *side* has a move, within the tier, to an *open* position.

    Open are positions that the other side has not won yet. `capturable.open` has those with en passant."""
    inner = len(men.rests.bits)
    for pair in range(len(men.squares)):
        for rest in range(inner):
            index = pair * inner + rest
            if found[index] != NOTHING:
                found[index] = without_escape(men, board, side, capturable, open_, found[index], pair, rest)


@lean_kernel
def without_escape(men, board, side, capturable, open_, word, pair, rest):
    """Return the positions of a word without a move within the tier to an *open* position.

    *word* has the squares of the last man for the kings of *pair* and the outer men of *rest*. *open_* uint64[words] is
    the set that the other side has to move in.
    """
    outer, inner = len(men.kinds) - 1, len(men.rests.bits)
    index = pair * inner + rest
    occupied = men.rests.bits[rest] | BITS[men.squares[pair, 0]] | BITS[men.squares[pair, 1]]
    # Case 1: An outer man moves. Compare with the word of the new rest.
    for man in range(outer):
        if men.sides[man] != side:
            continue
        square = men.rests.squares[rest, man]
        # `rest_by_square` has the new rest for each square of this man; words of these kings begin at `first_index`.
        rest_by_square = men.rests.more[men.rests.less[rest, man]]
        first_index = index - rest
        kind = men.kinds[man]
        if kind == PAWN:
            # Pawns: one step forward, and two from the second rank.
            target = square + forward_of(side)
            if not occupied & BITS[target]:
                free = ~BITS[target]
                word &= ~(open_[first_index + rest_by_square[target]] & free)
                two_ahead = target + forward_of(side)
                if square >> 3 == (1 if side == 0 else 6) and not occupied & BITS[two_ahead]:
                    open_after = open_after_double_step(capturable, man, open_, first_index + rest_by_square[two_ahead])
                    word &= ~(open_after & free & ~BITS[two_ahead])
            continue
        # `free` are the squares of the last man that do not block the slide.
        for direction in range(FIRST[kind], LAST[kind]):
            free = EVERYTHING
            target = board.steps[square << 4 | direction]
            while target >= 0 and not occupied & BITS[target]:
                free &= ~BITS[target]
                word &= ~(open_[first_index + rest_by_square[target]] & free)
                if word == NOTHING:
                    return word
                target = board.steps[target << 4 | direction] if kind < KNIGHT else -1
    # Case 2: The last man moves. Origins of open positions are bits of the same word.
    if men.sides[outer] == side:
        if capturable.rows[outer] >= 0:
            open_after = open_after_double_step(capturable, outer, open_, index)
            word &= ~pawns_behind(open_[index], open_after, ~occupied, side)
        else:
            word &= ~origins(open_[index], ~occupied, men.kinds[outer], side)
    # Case 3: The king moves. Turn the word of the new pair of kings back. Of two mirror images one is enough here, as
    # both are in the set.
    for direction in range(8):
        entry = np.int64(men.king_moves[side, pair, direction])
        if entry >= 0 and word:
            symmetry = entry & 7
            open_after = open_[(entry >> 4) * inner + men.rests.turned[symmetry, rest]]
            word &= ~(turn_word(open_after, INVERSE[symmetry]) if symmetry else open_after)
    return word


@lean_kernel
def open_after_double_step(capturable, man, open_, index):
    """Return the positions of a word that are open after a double step of the pawn *man*. If he may then be captured en
    passant, `capturable.open` says whether the position is open, else *open_*."""
    row = capturable.rows[man]
    if row < 0:
        return open_[index]
    return (open_[index] & ~capturable.passable[row, index]) | capturable.open[row, index]


# Decided positions


@lean_kernel
def decide(candidates, open_, new, ply_codes, code):
    """Decide the candidates that are still in *open_*, and return how many there are. Write their *code* to
    *ply_codes*, remove them from *open_*, make them the set *new*, and clear *candidates*."""
    count = 0
    for index in range(len(candidates)):
        word = candidates[index] & open_[index]
        candidates[index] = NOTHING
        new[index] = word
        if word != NOTHING:
            open_[index] ^= word
            while word:
                ply_codes[index << 6 | lowest(word)] = code
                word &= word - ONE
                count += 1
    return count


@lean_kernel
def add_due(ply_codes, due, code, also, candidates):
    """Add the positions whose captures and promotions bring this *code* to two sets, *candidates* and *also*.

    For losses, *also* is the set of positions that may be decided as losses; for wins it is *candidates* again. *due*
    uint8[words] has for each word the least code of the same parity (even for wins, odd for losses) that has not been
    added yet, NO_POSITION for none; it is updated.
    """
    now = np.uint8(code)
    for index in range(len(due)):
        if due[index] != now:
            continue
        word = NOTHING
        next_code = NO_POSITION
        codes = ply_codes[index << 6 : (index << 6) + 64]
        for square in range(64):
            word |= np.uint64(codes[square] == now) << np.uint64(square)
        # The next code of the same parity. No branch, so that the compiler takes many squares at once.
        for square in range(64):
            square_code = codes[square]
            is_later = (square_code > now) & ((square_code ^ now) & np.uint8(1) == 0)
            next_code = min(next_code, square_code if is_later else NO_POSITION)
        due[index] = next_code
        also[index] |= word
        candidates[index] |= word


@lean_kernel
def clear_losses(ply_codes, unlost):
    """Set to 0 the codes of losses in *unlost*, positions never decided as losses. All their captures and promotions
    lose, but another move does not."""
    for index in range(len(unlost)):
        word = unlost[index]
        while word:
            position = index << 6 | lowest(word)
            if ply_codes[position] & 1:
                ply_codes[position] = 0
            word &= word - ONE


# Captures and promotions

DRAWN = 256
"""The worth of a move that leads to a draw. Worths order moves: 0 is no legal move, then losses (the later the better),
DRAWN, wins (the sooner the better)."""
WON = 1000
"""The worth of a win is this number less the plies."""


def worth_of(code: int) -> int:
    """Return the worth for the mover of a child with this code; 0 if the move is not legal.

    >>> worth_of(0) == DRAWN, worth_of(4), worth_of(3) == WON - 3
    (True, 4, True)
    """
    if code == NO_POSITION:
        return 0
    if code == 0:
        return DRAWN
    return WON - code if code & 1 else code  # an odd code is a loss of the child, and so a win of the mover


WORTHS = np.array([worth_of(code) for code in range(256)])
"""The worth of a move by the code of the child."""


@lean_kernel
def code_of_worth(worth):
    """Return the code of a position whose best move has this worth; 0 for a draw or no move."""
    if worth > DRAWN:
        return WON - worth + 1
    return worth + 1 if 0 < worth < DRAWN else 0  # a lost child's worth is its code; the loss takes one ply more


class LaterCodes(NamedTuple):
    """The codes of all later tiers that captures and promotions lead to.

    `codes` uint8[n] has one tier after another. The codes after a capture of man `captured` (-1 for none) and a
    promotion `change` begin at `starts[captured + 1, change]`; `change` is 0 for none, else `4 * pawn + kind + 1`.
    `with_pawns` says whether pawns remain. `orders` has the indices of the men that remain, in that tier's order, and
    ends with -1.
    """

    codes: Array
    starts: Array
    with_pawns: Array
    orders: Array


class DepartureResults(NamedTuple):
    """The results of the best capture or promotion of each position with one side to move, in `ply_codes`
    uint8[positions]. Sets: in `saved` some such move does not lose, in `delayed` there are such moves and all lose."""

    ply_codes: Array
    saved: Array
    delayed: Array


class Placement(NamedTuple):
    """What the positions of a word share: the side to move, the squares of the kings, and occupied squares."""

    side: Any
    white_king: Any
    black_king: Any
    occupied: Any


@lean_kernel
def code_at(board, later, captured, change, squares, white, black):
    """Return the code of the position of a later tier after a move, NO_POSITION if the kings are too close.

    *captured* and *change* say which move it is (see LaterCodes). *squares* are the squares of all men after it, by
    their indices in this tier; *white* and *black* those of the kings."""
    entry = np.int64(board.kings[later.with_pawns[captured + 1, change] << 12 | white << 6 | black])
    if entry < 0:
        return NO_POSITION
    # The index is built as in `formation.py`: the pair of kings, then six bits for the square of each man, turned as
    # the kings are.
    position = entry >> 4
    for man in later.orders[captured + 1, change]:
        if man < 0:
            break
        position = position << 6 | board.turned[entry & 7, squares[man]]
    return later.codes[later.starts[captured + 1, change] + position]


@lean_kernel
def best_child_worth(board, later, captured, man, promotes, placement, squares):
    """Return the worth of a move of *man* to `squares[man]`; if he *promotes*, that of the best promotion."""
    best = 0
    first_change, changes = (4 * man + 1, 4) if promotes else (0, 1)  # see LaterCodes
    for change in range(first_change, first_change + changes):
        code = code_at(board, later, captured, change, squares, placement.white_king, placement.black_king)
        best = max(best, WORTHS[code])
    return best


@lean_kernel
def find_departures(men, board, side, legal, later, found, worths, squares):
    """Write to *found*, a DepartureResults, the best capture or promotion of each legal position with *side* to move.

    *worths* int64[64] and *squares* int64[4] are buffers: the best worth so far by the square of the last man, and the
    squares of all men.
    """
    outer, inner = len(men.kinds) - 1, len(men.rests.bits)
    for index in range(len(legal)):
        pair, rest = index // inner, index % inner
        word = legal[index]
        worths[:] = 0
        if word != NOTHING:
            white, black = men.squares[pair, 0], men.squares[pair, 1]
            placement = Placement(side, white, black, men.rests.bits[rest] | BITS[white] | BITS[black])
            for man in range(outer):
                squares[man] = men.rests.squares[rest, man]
            # Step 1: Captures by the king, then by other men, with or without promotion.
            for victim in range(outer + 1):
                if men.sides[victim] != side:
                    add_captures_by_king(board, later, placement, word, victim, worths, squares, outer)
                    for man in range(outer + 1):
                        if men.sides[man] == side:
                            move = man, victim
                            add_captures_by_man(men.kinds, board, later, placement, word, move, worths, squares)
            # Step 2: Promotions without capture.
            for man in range(outer + 1):
                if men.sides[man] == side and men.kinds[man] == PAWN:
                    add_promotions(board, later, placement, word, man, worths, squares, outer)
        # Step 3: The worths of all 64 squares become codes and sets.
        saved = delayed = NOTHING
        for square in range(64):
            worth = worths[square]
            if worth >= DRAWN:
                saved |= BITS[square]
            elif worth:
                delayed |= BITS[square]
            found.ply_codes[index << 6 | square] = code_of_worth(worth)
        found.saved[index], found.delayed[index] = saved, delayed


@lean_kernel
def add_captures_by_king(board, later, placement, word, victim, worths, squares, outer):
    """Raise the worths of a word, by square of the last man, to those of captures by the king. He takes man *victim*
    on a neighbouring square."""
    own_king, enemy_king = placement.white_king, placement.black_king
    if placement.side:
        own_king, enemy_king = enemy_king, own_king
    for direction in range(8):
        target = board.steps[own_king << 4 | direction]
        if target < 0 or (victim < outer and squares[victim] != target):
            continue
        # If the last man is the victim, only his square is possible.
        bits = word if victim < outer else word & BITS[target]
        white, black = (target, enemy_king) if placement.side == 0 else (enemy_king, target)
        while bits:
            square = lowest(bits)
            bits &= bits - ONE
            squares[outer] = square
            worths[square] = max(worths[square], WORTHS[code_at(board, later, victim, 0, squares, white, black)])


@lean_kernel
def add_captures_by_man(kinds, board, later, placement, word, move, worths, squares):
    """Raise the worths of a word, by square of the last man, to those of captures by one man of another. *move* is
    (captor, victim), two indices of men."""
    man, victim = move
    outer, side, kind = len(kinds) - 1, placement.side, kinds[man]
    # Step 1: Find the squares of the last man in which the capture is possible.
    if man == outer:
        # Case: the last man captures. He may come from every square that attacks the victim.
        bits = word & attackers(BITS[squares[victim]], ~placement.occupied, kind, side)
    elif victim == outer:
        # Case: the last man is captured. He may stand on every square that the captor attacks.
        bits = word & attacked_squares(board, squares[man], kind, side, placement.occupied)
    else:
        # Case: neither. The last man must not stand in between.
        between = board.between[squares[man] << 6 | squares[victim]]
        if not attacks(board, squares[man], squares[victim], kind, side) or between & placement.occupied:
            return
        bits = word & ~between
    # Step 2: Look up the children, and take the best promotion of a pawn that captures on the last rank.
    worth = 0
    while bits:
        square = lowest(bits)
        bits &= bits - ONE
        if man < outer or worth == 0:  # the child is the same from every origin of the last man
            squares[outer] = square
            origin, target = squares[man], squares[victim]
            squares[man] = target
            promotes = kind == PAWN and target >> 3 == 7 - 7 * side
            worth = best_child_worth(board, later, victim, man, promotes, placement, squares)
            squares[man] = origin
            if worth == 0 and man == outer:
                break  # the move is not legal from any origin
        worths[square] = max(worths[square], worth)


@lean_kernel
def add_promotions(board, later, placement, word, man, worths, squares, outer):
    """Raise the worths of a word, by square of the last man, to those of promotions of a pawn *man* without capture.

    The last man is number *outer*. Any other pawn has one target for the whole word.
    """
    forward, last_rank = forward_of(placement.side), 7 - 7 * placement.side
    bits = word
    if man < outer:
        target = squares[man] + forward
        if target >> 3 != last_rank or placement.occupied & BITS[target]:
            return
        bits &= ~BITS[target]  # the last man must not stand there
    while bits:
        square = lowest(bits)
        bits &= bits - ONE
        squares[outer] = square
        origin = squares[man]
        if (origin + forward) >> 3 == last_rank and not placement.occupied & BITS[origin + forward]:
            squares[man] = origin + forward
            worth = best_child_worth(board, later, -1, man, True, placement, squares)
            worths[square] = max(worths[square], worth)
            squares[man] = origin


@lean_kernel
def attacked_squares(board, square, kind, side, occupied):
    """Return the squares that a man attacks from a square, as a set; *occupied* squares end his lines."""
    found = NOTHING
    if kind == PAWN:
        # Directions 4 to 7 are the diagonals; `attacks` is true in the two in which this pawn captures.
        for direction in (4, 5, 6, 7):
            target = board.steps[square << 4 | direction]
            if target >= 0 and attacks(board, square, target, kind, side):
                found |= BITS[target]
        return found
    for direction in range(FIRST[kind], LAST[kind]):
        target = board.steps[square << 4 | direction]
        while target >= 0:
            found |= BITS[target]
            target = board.steps[target << 4 | direction] if kind < KNIGHT and not occupied & BITS[target] else -1
    return found


@lean_kernel
def find_least_codes(ply_codes, wins, losses):
    """Write each word's least even code to *wins* and least odd code to *losses*, NO_POSITION for none. Return the
    greatest code of all, 0 if there is none."""
    greatest = np.uint8(0)
    for index in range(len(wins)):
        wins[index] = losses[index] = NO_POSITION
        for square in range(64):
            code = ply_codes[index << 6 | square]
            if code:
                greatest = max(greatest, code)
                if code & 1:
                    losses[index] = min(losses[index], code)
                else:
                    wins[index] = min(wins[index], code)
    return greatest
