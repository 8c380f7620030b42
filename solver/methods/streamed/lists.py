"""The compiled loops that pack and unpack sorted lists. They are the same for all games.

A list is cut into blocks of BLOCK positions. In memory and in scratch files it lies as ::

    | first position of each block, int64 | where each block ends in the gaps | gaps, as varints |

A gap is the difference between a position's rank and the rank before it. The first position of a block has none. A
varint is an integer in as few bytes as it needs (see values/bits.py). A rank is the bits of a
position under the *mask*, the bits that vary in its tier, packed together (see values/bits.py). Lists of steps (see
`steps.py`) have a code behind each gap, and one for the first position of a block::

    ranks      5     6     9    300        first position of the block: the one with rank 5
    gaps       –     1     3    291
    varints    –    01    03    A3 02      291 = 0x23 + 2 × 128
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer, rank_of, read_varint, spread, write_varint

BLOCK = 1 << 10
"""Positions in a block of a list."""
MOST_BYTES = 14
"""The most bytes of a list for each position: an int64 for the start and one for the end of a block, a gap, and a
code."""


class Arena(NamedTuple):
    """Loaded lists, one after another, as `words`, int64[n], and a `table` of the lists."""

    words: Array
    table: Array


WHERE, COUNT, MASK, MOVE, ASCENDS, FROM, TO, ARENA_COLUMNS = range(8)
"""Columns of the table of an arena. ARENA_COLUMNS is their number.

WHERE: the list's offset in bytes. COUNT: its number of items. MASK: the bits that may vary. MOVE: the move to make, or
-1 for all. ASCENDS: 1 if the children by that move must ascend, because only part of the list is read. FROM and TO:
the blocks to be read, from FROM up to but not including TO.
"""

AT, SIZE, LENGTH, VARYING, FIRST, LAST, FIRST_CODE, LAST_CODE, LIST_COLUMNS = range(9)
"""Columns of a table of written lists. LIST_COLUMNS is their number.

AT and SIZE: the list's offset and length in bytes. LENGTH: its number of items. VARYING: the bits that vary. FIRST and
LAST: the first and the last position. FIRST_CODE and LAST_CODE: of steps, the first and the last code.
"""


@kernel
def pack(positions, codes, mask, words, at):
    """Write a list into *words* at offset *at*, a multiple of 8 bytes; return the next such offset behind it. If
    *codes* is not empty, it is a list of steps."""
    out = words.view(np.uint8)
    runs = find_runs(mask, make_runs_buffer())
    count = len(positions)
    # `firsts`: index of the table of blocks, two int64 for each. `begin`: offset of the gaps.
    blocks = (count + BLOCK - 1) // BLOCK
    firsts = at >> 3
    begin = at + 16 * blocks
    end = begin
    # Write one block after another: its first position, then a gap for each of the others.
    for block in range(blocks):
        low, high = block * BLOCK, min((block + 1) * BLOCK, count)
        words[firsts + block] = positions[low]
        before = rank_of(positions[low], runs)
        if len(codes):
            end = write_varint(np.int64(codes[low]), out, end)
        for i in range(low + 1, high):
            rank = rank_of(positions[i], runs)
            end = write_varint(rank - before, out, end)
            if len(codes):
                end = write_varint(np.int64(codes[i]), out, end)
            before = rank
        words[firsts + blocks + block] = end - begin
    # Fill up with zeros to a multiple of 8 bytes.
    while end & 7:
        out[end] = 0
        end += 1
    return end


@kernel
def describe(row, at, size, length, varying, first, last):
    """Describe a list in a row of a table of written lists."""
    row[AT], row[SIZE], row[LENGTH], row[VARYING], row[FIRST], row[LAST] = at, size, length, varying, first, last


@kernel
def pack_lists(numbers, ends, words, rows):
    """Write lists that lie one after another in *numbers*, and describe each in *rows*. Return the end, in bytes. List
    k ends at `ends[k]`. *rows* are zeros before, and stay so for empty lists."""
    at = begin = ZERO
    no_codes = np.empty(0, np.uint16)
    for k in range(len(ends)):
        end = ends[k]
        if end > begin:
            varying = ZERO
            for i in range(begin, end):
                varying |= numbers[i] ^ numbers[begin]
            stop = pack(numbers[begin:end], no_codes, varying, words, at)
            describe(rows[k], at, stop - at, end - begin, varying, numbers[begin], numbers[end - 1])
            at = stop
        begin = end
    return at


@kernel
def blocks_of(arena, row):
    """Return the number of blocks of a loaded list."""
    return (arena.table[row, COUNT] + BLOCK - 1) // BLOCK


@kernel
def unpack(arena, row, block, runs, out):
    """Write the positions of one block of a loaded list to *out*; return how many there are. *runs* are those of the
    list's mask."""
    words, table = arena
    written = words.view(np.uint8)
    blocks = blocks_of(arena, row)
    count = min(BLOCK, table[row, COUNT] - block * BLOCK)
    firsts = table[row, WHERE] >> 3
    first = words[firsts + block]
    at = table[row, WHERE] + 16 * blocks + (words[firsts + blocks + block - 1] if block else 0)
    # Step 1: Add up the gaps to get ranks.
    rank = rank_of(first, runs)
    out[0] = rank
    for i in range(1, count):
        gap, at = read_varint(written, at)
        rank += gap
        out[i] = rank
    # Step 2: Turn ranks into positions. Bits outside the mask are those of the first position.
    others = first & ~table[row, MASK]
    for i in range(count):
        out[i] = others | spread(out[i], runs)
    return count


@kernel
def unpack_lists(arena, out):
    """Write the positions of all loaded lists to *out*, one list after another."""
    runs_buffer = make_runs_buffer()
    end = 0
    for row in range(len(arena.table)):
        runs = find_runs(arena.table[row, MASK], runs_buffer)
        for block in range(blocks_of(arena, row)):
            end += unpack(arena, row, block, runs, out[end:])


@kernel
def unpack_steps(arena, row, starts, codes, end):
    """Write the positions and codes of a loaded list of steps, from index *end* on; return the new end."""
    words, table = arena
    written = words.view(np.uint8)
    runs = find_runs(table[row, MASK], make_runs_buffer())
    blocks = blocks_of(arena, row)
    at = table[row, WHERE] + 16 * blocks
    for block in range(blocks):
        first = words[(table[row, WHERE] >> 3) + block]
        others = first & ~table[row, MASK]
        rank = rank_of(first, runs)
        for i in range(min(BLOCK, table[row, COUNT] - block * BLOCK)):
            if i:
                gap, at = read_varint(written, at)
                rank += gap
            codes[end], at = read_varint(written, at)
            starts[end] = others | spread(rank, runs)
            end += 1
    return end


@kernel
def drop_duplicates(numbers, ends):
    """Make the sorted lists of *numbers*, which end at *ends*, strictly ascending, close the gaps, and update the
    ends."""
    end = begin = 0
    for k in range(len(ends)):
        before = np.int64(-1)
        for i in range(begin, ends[k]):
            number = numbers[i]
            numbers[end] = number
            end += number != before
            before = number
        begin = ends[k]
        ends[k] = end
