"""The compiled loops of Syzygy's tables: positions put in their order, and what cells may say filled in.

A *cell* of a position is `worth << 8 | plies`, uint16, ANY where nobody asks for it. Worths are 0 to 4: a loss, one
that the fifty-move rule makes a draw, a draw, a win that it makes one, a win; plies are those to zeroing. Where a
capture brings as much as the position is worth, AT_MOST is added: readers look at captures themselves, and take the
better of that and of what the table says.
"""

import numpy as np

from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.methods.chess.slot_kernels import EMPTY
from retrograde.solver.methods.chess.words import BITS
from retrograde.solver.runtime.kernel import lean_kernel

ANY = EMPTY
AT_MOST = 0x800
WORTH, PLIES = 0x700, 0xFF
LOSS, BLESSED, DRAWN, CURSED, WIN = range(5)
"""Worths, by whether the fifty-move rule makes a draw of a loss or of a win."""


@lean_kernel
def note_captures(cells, known, saved):
    """Add AT_MOST to the cells of positions in which the best capture brings what they are worth.

    What captures bring is as `boards.kernels.leave` writes it: codes, uint8[64 * words], one more than the plies, and
    where the best is a draw a bit of *saved*.
    """
    late = PATIENCE + 1
    for place in range(len(saved)):
        for square in range(64):
            spot = place << 6 | square
            code, best = known[spot], np.int64(-1)
            if code:
                if code & 1:
                    best = np.int64(BLESSED if code > late else LOSS)
                else:
                    best = np.int64(CURSED if code > late else WIN)
            elif saved[place] & BITS[square]:
                best = np.int64(DRAWN)
            if best >= 0 and cells[spot] != ANY and best == cells[spot] >> 8:
                cells[spot] |= np.uint16(AT_MOST)


@lean_kernel
def to_bits(ones, words):
    """Write which positions have a 1, uint8, as bits in words."""
    for place in range(len(words)):
        word = np.uint64(0)
        for square in range(64):
            if ones[place << 6 | square] == 1:
                word |= BITS[square]
        words[place] = word


@lean_kernel
def put_in_order(cells, kings, turned, with_pawns, where, first, digits, combined, begin, found, room):
    """Write the cells of positions in the order of a table, from number *begin* on; *cells* are in words, as
    `boards.formation` has them.

    *first* uint8[ways, men] are the squares of the first group, *combined* uint8[ways, 3] those of the other groups,
    one after another, on free squares. A row of *digits*, int64[groups, 5], has what a group's number is multiplied
    with, how many there are, where in *combined* they begin, how many men, and 8 for pawns, else 0. *where* says which
    of the men in order are the kings, White's first, and those in words. *room* int64[16].
    """
    lead = first.shape[1]
    for spot in range(len(found)):
        number = begin + spot
        count = lead
        row = number // digits[0, 0] % digits[0, 1]
        for man in range(lead):
            room[man] = first[row, man]
        for group in range(1, len(digits)):
            row = digits[group, 2] + number // digits[group, 0] % digits[group, 1]
            for man in range(digits[group, 3]):
                square = combined[row, man] + digits[group, 4]
                # room[8:] are the squares before in ascending order
                if man == 0:
                    for other in range(count):
                        place = other
                        while place > 0 and room[8 + place - 1] > room[other]:
                            room[8 + place] = room[8 + place - 1]
                            place -= 1
                        room[8 + place] = room[other]
                for other in range(count):
                    square += room[8 + other] <= square
                room[count + man] = square
            count += digits[group, 3]
        entry = np.int64(kings[with_pawns << 12 | room[where[0]] << 6 | room[where[1]]])
        if entry < 0:
            found[spot] = ANY
            continue
        there = entry >> 4
        for man in range(2, len(where)):
            there = there << 6 | turned[entry & 7, room[where[man]]]
        found[spot] = cells[there]


@lean_kernel
def is_exact(cell):
    """Tell whether a table must say what a cell is worth."""
    return cell < AT_MOST and cell != ANY


@lean_kernel
def count_worths(cells, counts):
    """Add to int64[5] of how many cells each worth must be told."""
    for spot in range(len(cells)):
        if is_exact(cells[spot]):
            counts[cells[spot] >> 8] += 1


@lean_kernel
def fill_worths(cells, counts, values):
    """Write what a table says who wins, uint8: the worth, or where it need not be told that of the nearest cells where
    it must, of those before or behind: the one that more cells have."""
    last, spot = np.int64(-1), 0
    while spot < len(cells):
        if is_exact(cells[spot]):
            last = np.int64(cells[spot] >> 8)
            values[spot] = last
            spot += 1
            continue
        end, least = spot, np.int64(WIN)
        while end < len(cells) and not is_exact(cells[end]):
            if cells[end] != ANY:
                least = min(least, np.int64((cells[end] & WORTH) >> 8))
            end += 1
        following = np.int64(cells[end] >> 8) if end < len(cells) else np.int64(-1)
        best = last
        if following >= 0 and (last < 0 or last > least or (following <= least and counts[following] > counts[last])):
            best = following
        if best < 0 or best > least:
            best = min(least, max(best, np.int64(LOSS)))
        for place in range(spot, end):
            values[place] = best
        spot = end


@lean_kernel
def leave_out(cells, quiet):
    """Let cells be ANY of which readers do not ask for the distance: those of draws, and of what is won by a capture or
    a move of a pawn, in 1 or 101. *quiet* are those from which other moves may do so, too, as bits in words."""
    for spot in range(len(cells)):
        worth, plies = (cells[spot] & WORTH) >> 8, cells[spot] & PLIES
        at_once = plies == (1 if worth == WIN else PATIENCE + 1) and worth >= CURSED
        if worth == DRAWN or (at_once and not quiet[spot >> 6] & BITS[spot & 63]):
            cells[spot] = ANY


@lean_kernel
def distance_told(cell, halved):
    """Return what a table of distances says of a cell, before it has a number; -1 where it need not say anything.

    *halved*, int64[5], is 1 for the worths whose distances are told in moves, 0 for those told in plies.
    """
    if cell == ANY:
        return np.int64(-1)
    worth, plies = np.int64((cell & WORTH) >> 8), np.int64(cell & PLIES)
    before = PATIENCE + 1 if worth in (CURSED, BLESSED) else 1
    return max(plies - before, np.int64(0)) >> halved[worth]


@lean_kernel
def count_distances(cells, halved, counts):
    """Add to int64[5, 256] how often each distance is told, by worth."""
    for spot in range(len(cells)):
        told = distance_told(cells[spot], halved)
        if told >= 0:
            counts[(cells[spot] & WORTH) >> 8, told] += 1


@lean_kernel
def fill_distances(cells, halved, numbers, values):
    """Write what a table says of distances: their *numbers*, uint8[5, 256], or where none need be told the lower one of
    those before and behind, which is more frequent."""
    last, spot = np.int64(-1), 0
    while spot < len(cells):
        told = distance_told(cells[spot], halved)
        if told >= 0:
            last = np.int64(numbers[(cells[spot] & WORTH) >> 8, told])
            values[spot] = last
            spot += 1
            continue
        end = spot
        while end < len(cells) and distance_told(cells[end], halved) < 0:
            end += 1
        best = last
        if end < len(cells):
            following = np.int64(numbers[(cells[end] & WORTH) >> 8, distance_told(cells[end], halved)])
            best = following if last < 0 else min(last, following)
        for place in range(spot, end):
            values[place] = max(best, np.int64(0))
        spot = end


# Pairs of symbols


@lean_kernel
def count_pairs(symbols, lengths, counts):
    """Add to int32[n, n] how often one symbol stands behind another, where together they say no more than 256 values;
    of three alike the first two are a pair."""
    spot = 1
    while spot < len(symbols):
        left, right = symbols[spot - 1], symbols[spot]
        if lengths[left] + lengths[right] <= 256:
            counts[left, right] += 1
        if left == right and spot + 1 < len(symbols) and symbols[spot + 1] == left:
            spot += 1
        spot += 1


@lean_kernel
def join_pairs(symbols, joined):
    """Write a symbol for each pair that has one, uint16[n, n], in place; return how many are left."""
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
def cut_blocks(symbols, bits, lengths, room, firsts, sizes):
    """Cut symbols into blocks of *room* bits and of 65,536 values at most; write where each begins, and how many values
    it has; return how many blocks."""
    blocks, used, values = 0, 0, 0
    firsts[0] = 0
    for spot in range(len(symbols)):
        symbol = symbols[spot]
        if used + bits[symbol] > room or values + lengths[symbol] > 65536:
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
def write_blocks(symbols, bits, codes, firsts, room, data):
    """Write the codes of symbols into blocks of so many bytes, the highest bit first; *data* uint8, 0."""
    for block in range(len(firsts) - 1):
        at = block * room * 8
        for spot in range(firsts[block], firsts[block + 1]):
            symbol = symbols[spot]
            for bit in range(bits[symbol] - 1, -1, -1):
                if codes[symbol] >> bit & 1:
                    data[at >> 3] |= np.uint8(128 >> (at & 7))
                at += 1
