"""Compiled loops of Syzygy tables: put positions in order, choose the values that may be any, compress.

A *cell* is the value of a position, uint16:

    bit 11      10 … 8    7 … 0
    AT_MOST     worth     plies to zeroing           ANY: no position, or no reader looks at its value

Worths are 0 to 4: loss, blessed loss (a draw by the fifty-move rule), draw, cursed win (the same), win.

AT_MOST marks a position in which a capture brings as much as the position is worth. Readers search captures themselves
and take the better of that and of the table. So the table may have any value that is not better, whichever compresses
best.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.methods.chess.kernels import NO_POSITION
from retrograde.solver.methods.chess.words import BITS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import inlined_kernel, lean_kernel

ANY = NO_POSITION
AT_MOST = 0x800
WORTH, PLIES = 0x700, 0xFF
LOSS, BLESSED, DRAWN, CURSED, WIN = range(5)
"""Worths; a blessed loss and a cursed win are draws by the fifty-move rule."""


@lean_kernel
def mark_captures(cells, ply_codes, saved):
    """Add AT_MOST to the cells of positions in which the best capture brings what they are worth.

    *ply_codes* and *saved* are the DepartureResults of captures: odd codes are losses and even ones wins, one more than
    the plies; 0 is a draw if *saved* has the position, else no capture."""
    late = PATIENCE + 1  # a greater code is beyond the fifty-move rule
    for index in range(len(saved)):
        for square in range(64):
            spot = index << 6 | square
            code, best = ply_codes[spot], np.int64(-1)
            if code:
                if code & 1:
                    best = np.int64(BLESSED if code > late else LOSS)
                else:
                    best = np.int64(CURSED if code > late else WIN)
            elif saved[index] & BITS[square]:
                best = np.int64(DRAWN)
            if best >= 0 and cells[spot] != ANY and best == cells[spot] >> 8:
                cells[spot] |= np.uint16(AT_MOST)


@lean_kernel
def to_bits(ones, words):
    """Write the positions that have a 1 in *ones*, uint8, as a set."""
    for index in range(len(words)):
        word = np.uint64(0)
        for square in range(64):
            if ones[index << 6 | square] == 1:
                word |= BITS[square]
        words[index] = word


class SubTableLayout(NamedTuple):
    """The order of a table's positions, and where its men are.

    `with_pawns`: whether there are pawns. `where` int64[men]: the index among the table's men of the kings, White's
    first, and of the men of the formation. `squares` uint8[numbers, 3]: the squares of each group's men by its digit,
    group after group. Those of the first group are on the board, the others are counted on the squares that the groups
    before leave free. `digits` int64[groups, DIGIT]: a row for each group. `loops` int64[groups]: the groups in the
    order in which their digits are counted on, the innermost loop first.
    """

    with_pawns: Any
    where: Array
    squares: Array
    digits: Array
    loops: Array


FACTOR, NUMBERS, BEGIN, MEN, BEFORE, LOWEST, DIGIT = range(7)
"""Columns of `SubTableLayout.digits`, and their number, DIGIT.

A position's number in the table is the sum of each group's digit times its FACTOR. NUMBERS: how many values the digit
has. BEGIN: where the group's rows in `squares` begin. MEN: its number of men. BEFORE: the men of the groups before.
LOWEST: the square that counts as 0, 8 for the second group of pawns.
"""
MAN, TAKEN, BUFFER = 8, 16, 64
"""The buffer of `sort_cells` begins with the digit of each group. From MAN on it has the squares of all men; from TAKEN
on, eight numbers for each group: the squares of the groups before, in ascending order. BUFFER is its length."""


@lean_kernel
def sort_cells(cells, board, layout, begin, found, buffer):
    """Write to *found* the cells of positions in the order of a table, from number *begin* on. *cells* are in the
    layout of words (see `formation.py`). *buffer* is int64[BUFFER].

    If *found* is shorter than the table, `layout.loops` must begin with the fastest digit, then the next, and so on.
    """
    digits, men = layout.digits, len(layout.where)
    for group in range(len(digits)):
        buffer[group] = begin // digits[group, FACTOR] % digits[group, NUMBERS]
    changed = 0  # the first group whose digit differs from that of the position before
    spot = 0
    for _ in range(len(found)):
        # Step 1: Find the squares of the men, from that group on: the squares of a group depend on those before it.
        for group in range(changed, len(digits)):
            place_group(layout, group, buffer)
        # Step 2: Find the cell as `kernels.code_at` of the chess solver finds a code.
        white, black = buffer[MAN + layout.where[0]], buffer[MAN + layout.where[1]]
        entry = np.int64(board.kings[layout.with_pawns << 12 | white << 6 | black])
        found[spot] = ANY
        if entry >= 0:
            position = entry >> 4  # the number of the pair of kings; the symmetry is below
            for man in range(2, men):
                position = position << 6 | board.turned[entry & 7, buffer[MAN + layout.where[man]]]
            found[spot] = cells[position]
        # Step 3: Count on the innermost digit, and the next one after its last value. `spot` follows the digits.
        changed = len(digits)
        for group in layout.loops:
            changed = min(changed, group)
            buffer[group] += 1
            spot += digits[group, FACTOR]
            if buffer[group] < digits[group, NUMBERS]:
                break
            spot -= digits[group, NUMBERS] * digits[group, FACTOR]
            buffer[group] = 0


@inlined_kernel
def place_group(layout, group, buffer):
    """Write the squares of a group's men, which its digit tells, to the buffer of `sort_cells`. Write the squares that
    are taken for the next group too."""
    digits = layout.digits
    men, before, taken = digits[group, MEN], digits[group, BEFORE], TAKEN + 8 * group
    row = digits[group, BEGIN] + buffer[group]
    # Step 1: Find the squares. They are counted on free squares, so skip those taken by the groups before.
    for man in range(men):
        square = layout.squares[row, man] + digits[group, LOWEST]
        for other in range(before):
            square += buffer[taken + other] <= square
        buffer[MAN + before + man] = square
    if group + 1 == len(digits):
        return
    # Step 2: Insert them into the taken squares, without a branch.
    after = taken + 8
    for other in range(before):
        buffer[after + other] = buffer[taken + other]
    for end in range(before, before + men):
        square = buffer[MAN + end]
        for other in range(after, after + end):
            lower = min(buffer[other], square)
            square = max(buffer[other], square)
            buffer[other] = lower
        buffer[after + end] = square


@lean_kernel
def is_exact(cell):
    """Return whether a table must have the exact worth of a cell."""
    return cell < AT_MOST and cell != ANY


@lean_kernel
def count_worths(cells, counts):
    """Add to *counts* int64[5] the number of exact cells of each worth."""
    for spot in range(len(cells)):
        if is_exact(cells[spot]):
            counts[cells[spot] >> 8] += 1


@lean_kernel
def fill_worths(cells, counts, values):
    """Write to *values* the worths that a table has, uint8. A cell that is not exact gets the worth of the exact cell
    before or after it, the more frequent of the two by *counts*. It must not be better than the cell is worth.

    >>> cells = np.array([WIN << 8, AT_MOST | DRAWN << 8, ANY, LOSS << 8], np.uint16)
    >>> values = np.zeros(4, np.uint8)
    >>> fill_worths(cells, np.array([5, 0, 0, 0, 1]), values)
    >>> values  # WIN is too good for the second cell
    array([4, 0, 0, 0], dtype=uint8)
    """
    before, spot = np.int64(-1), 0
    while spot < len(cells):
        if is_exact(cells[spot]):
            before = np.int64(cells[spot] >> 8)
            values[spot] = before
            spot += 1
            continue
        # A run of cells that are not exact: `most` is the greatest worth allowed in all of them.
        end, most = spot, np.int64(WIN)
        while end < len(cells) and not is_exact(cells[end]):
            if cells[end] != ANY:
                most = min(most, np.int64((cells[end] & WORTH) >> 8))
            end += 1
        # Candidates are the worths before and after the run, -1 at an end of the table. Take the one after it if the
        # one before is missing or too good, or if it is allowed and more frequent.
        after = np.int64(cells[end] >> 8) if end < len(cells) else np.int64(-1)
        value = before
        if after >= 0 and (before < 0 or before > most or (after <= most and counts[after] > counts[before])):
            value = after
        if value < 0 or value > most:
            # Neither is allowed: the best worth that is.
            value = min(most, max(value, np.int64(LOSS)))
        for index in range(spot, end):
            values[index] = value
        spot = end


@lean_kernel
def clear_unread(cells, quiet):
    """Set cells to ANY if readers never ask for their distance: draws, and wins by a zeroing move in 1 or 101 plies.
    *quiet* are the positions in which other moves may win as soon, as a set: they keep their cells. (A reader
    tries zeroing moves itself.)"""
    for spot in range(len(cells)):
        worth, plies = (cells[spot] & WORTH) >> 8, cells[spot] & PLIES
        at_once = worth >= CURSED and plies == (1 if worth == WIN else PATIENCE + 1)
        if worth == DRAWN or (at_once and not quiet[spot >> 6] & BITS[spot & 63]):
            cells[spot] = ANY


@lean_kernel
def stored_distance(cell, halved):
    """Return the distance that a table stores for a cell, counted from the least of its worth; -1 for ANY. *halved*
    int64[5] is 1 for worths whose distances are stored in moves, 0 for those stored in plies.

    >>> halved = np.array([1, 1, 0, 1, 1])
    >>> stored_distance(WIN << 8 | 9, halved), stored_distance(ANY, halved)
    (4, -1)
    """
    if cell == ANY:
        return np.int64(-1)
    worth, plies = np.int64((cell & WORTH) >> 8), np.int64(cell & PLIES)
    least = PATIENCE + 1 if worth in (CURSED, BLESSED) else 1
    # A mate, 0 plies, is stored as 1 ply is.
    return max(plies - least, np.int64(0)) >> halved[worth]


@lean_kernel
def count_distances(cells, halved, counts):
    """Add to *counts* int64[5, 256] how often each distance appears, by worth."""
    for spot in range(len(cells)):
        distance = stored_distance(cells[spot], halved)
        if distance >= 0:
            counts[(cells[spot] & WORTH) >> 8, distance] += 1


@lean_kernel
def fill_distances(cells, halved, numbers, values):
    """Write to *values* the number of each cell's distance, by *numbers* uint8[5, 256] (worth, distance). A cell ANY
    gets the lower number of the cells before and after it, because lower numbers are more frequent."""
    before, spot = np.int64(-1), 0
    while spot < len(cells):
        distance = stored_distance(cells[spot], halved)
        if distance >= 0:
            before = np.int64(numbers[(cells[spot] & WORTH) >> 8, distance])
            values[spot] = before
            spot += 1
            continue
        # A run of cells ANY.
        end = spot
        while end < len(cells) and stored_distance(cells[end], halved) < 0:
            end += 1
        value = before
        if end < len(cells):
            after = np.int64(numbers[(cells[end] & WORTH) >> 8, stored_distance(cells[end], halved)])
            value = after if before < 0 else min(before, after)
        for index in range(spot, end):
            values[index] = max(value, np.int64(0))
        spot = end


# Pairs of symbols

MOST_IN_SYMBOL, MOST_VALUES = 256, 1 << 16
"""Values that a symbol stands for, and values in a block, at most."""


@lean_kernel
def count_pairs(symbols, lengths, counts):
    """Add to *counts* int32[n, n] how often each pair of symbols appears; of three equal symbols the first two are a
    pair. Pairs that would stand for more than MOST_IN_SYMBOL values, by the *lengths* of symbols, do not count.

    >>> counts = np.zeros((2, 2), np.int32)
    >>> count_pairs(np.array([0, 1, 0, 1, 1], np.uint16), np.ones(2, np.int64), counts)
    >>> counts
    array([[0, 2],
           [1, 1]], dtype=int32)
    """
    spot = 1
    while spot < len(symbols):
        left, right = symbols[spot - 1], symbols[spot]
        if lengths[left] + lengths[right] <= MOST_IN_SYMBOL:
            counts[left, right] += 1
        if left == right and spot + 1 < len(symbols) and symbols[spot + 1] == left:
            spot += 1
        spot += 1


@lean_kernel
def join_pairs(symbols, joined):
    """Replace pairs by their symbols in *joined* uint16[n, n] (0 for none), in place. Return how many symbols
    remain.

    >>> symbols, joined = np.array([0, 1, 1, 0, 1], np.uint16), np.array([[0, 7], [0, 0]], np.uint16)
    >>> join_pairs(symbols, joined), symbols[:3]  # 7 stands for 0 and 1
    (3, array([7, 1, 7], dtype=uint16))
    """
    count, spot = 0, 0
    while spot < len(symbols):
        if spot + 1 < len(symbols):
            symbol = joined[symbols[spot], symbols[spot + 1]]
            if symbol:
                symbols[count] = symbol
                count += 1
                spot += 2
                continue
        symbols[count] = symbols[spot]
        count += 1
        spot += 1
    return count


@lean_kernel
def cut_blocks(symbols, bits, lengths, limit, firsts, sizes):
    """Cut symbols into blocks of at most *limit* bits and MOST_VALUES values. Return how many blocks.

    A symbol has `bits[symbol]` bits and stands for `lengths[symbol]` values. Write the index of each block's first
    symbol to *firsts*, followed by the number of symbols, and how many values each block stands for to *sizes*.
    """
    blocks, used, values = 0, 0, 0
    firsts[0] = 0
    for spot in range(len(symbols)):
        symbol = symbols[spot]
        if used + bits[symbol] > limit or values + lengths[symbol] > MOST_VALUES:
            sizes[blocks] = values
            blocks += 1
            firsts[blocks] = spot
            used, values = 0, 0
        used += bits[symbol]
        values += lengths[symbol]
    sizes[blocks] = values
    firsts[blocks + 1] = len(symbols)
    return blocks + 1


@lean_kernel
def write_blocks(symbols, bits, codes, firsts, size, data):
    """Write the codes of symbols into blocks of *size* bytes, the highest bit first. *data* uint8 must be 0."""
    for block in range(len(firsts) - 1):
        position = block * size * 8  # in bits
        for spot in range(firsts[block], firsts[block + 1]):
            symbol = symbols[spot]
            for bit in range(bits[symbol] - 1, -1, -1):
                if codes[symbol] >> bit & 1:
                    data[position >> 3] |= np.uint8(128 >> (position & 7))
                position += 1
