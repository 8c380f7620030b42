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

Positions of several words, int64[n, words], have the words of the first position of each block. In place of a gap they
have, for each word, its exclusive or with that of the position before, as a varint. Their mask is 0, and not used.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer, rank_of, read_varint, spread, write_varint

BLOCK = 1 << 10
"""Positions in a block of a list."""
MOST_BYTES = 14
"""The most bytes of a list for each position: an int64 for the start and one for the end of a block, a gap, and a
code. Each further word of a position takes MOST_WORD_BYTES more."""
MOST_WORD_BYTES = 9


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
LAST: the first and the last position. FIRST_CODE and LAST_CODE: of steps, the first and the last code. If positions
have several words, FIRST and LAST take as many columns each, and later columns move on.
"""

# Entries of arrays of positions, int64[n] or int64[n, words]


def words_of(positions: Array) -> int:
    """Return the number of words of the positions in an array."""
    return 1 if positions.ndim == 1 else positions.shape[1]


def copy_words(positions: Array, i: Any, words: Array, at: Any) -> None:
    """Copy the words of a position to an array of one dimension, from index *at* on."""
    words[at : at + words_of(positions)] = positions[i]


def fill(positions: Array, i: Any, number: int) -> None:
    """Write the same number to all words of an entry."""
    positions[i] = number


def first_rank(positions: Array, i: int, runs: Any) -> int:
    """Return the rank of a position, from which `write_gap` counts; 0 for several words, which have none."""
    return rank_of(positions[i], runs) if positions.ndim == 1 else 0


def write_gap(positions: Array, i: int, before: int, runs: Any, out: Array, end: int) -> tuple[int, int]:
    """Write how a position differs from the one before, whose rank is *before*; return (its rank, the new end)."""
    if positions.ndim == 1:
        rank = rank_of(positions[i], runs)
        return rank, write_varint(rank - before, out, end)
    for word in range(positions.shape[1]):
        end = write_varint(positions[i, word] ^ positions[i - 1, word], out, end)
    return 0, end


def varying_bits(numbers: Array, begin: Any, end: Any) -> int:
    """Return the bits in which positions of a range differ; 0 for several words."""
    return int(np.bitwise_or.reduce(numbers[begin:end] ^ numbers[begin])) if numbers.ndim == 1 else 0


@overload(words_of)
def compiled_words_of(positions):
    return (lambda positions: 1) if positions.ndim == 1 else lambda positions: positions.shape[1]


@overload(copy_words)
def compiled_copy_words(positions, i, words, at):
    """Return the code of `copy_words` for positions of one word or of several."""

    def copy_int(positions, i, words, at):
        words[at] = positions[i]

    def copy_row(positions, i, words, at):
        for word in range(positions.shape[1]):
            words[at + word] = positions[i, word]

    return copy_int if positions.ndim == 1 else copy_row


@overload(fill)
def compiled_fill(positions, i, number):
    """Return the code of `fill` for positions of one word or of several."""

    def fill_int(positions, i, number):
        positions[i] = number

    def fill_row(positions, i, number):
        for word in range(positions.shape[1]):
            positions[i, word] = number

    return fill_int if positions.ndim == 1 else fill_row


@overload(first_rank)
def compiled_first_rank(positions, i, runs):
    if positions.ndim == 1:
        return lambda positions, i, runs: rank_of(positions[i], runs)
    return lambda positions, i, runs: np.int64(0)


@overload(write_gap)
def compiled_write_gap(positions, i, before, runs, out, end):
    """Return the code of `write_gap`: a difference of ranks for positions of one word, else an exclusive or of each
    word."""

    def write_gap_of_rank(positions, i, before, runs, out, end):
        rank = rank_of(positions[i], runs)
        return rank, write_varint(rank - before, out, end)

    def write_words(positions, i, before, runs, out, end):
        for word in range(positions.shape[1]):
            end = write_varint(positions[i, word] ^ positions[i - 1, word], out, end)
        return before, end

    return write_gap_of_rank if positions.ndim == 1 else write_words


@overload(varying_bits)
def compiled_varying_bits(numbers, begin, end):
    """Return the code of `varying_bits`, which is 0 for positions of several words."""

    def varying_bits_of_ints(numbers, begin, end):
        varying = ZERO
        for i in range(begin, end):
            varying |= numbers[i] ^ numbers[begin]
        return varying

    return varying_bits_of_ints if numbers.ndim == 1 else lambda numbers, begin, end: ZERO


# Writing


@kernel
def pack(positions, codes, mask, words, at):
    """Write a list into *words* at offset *at*, a multiple of 8 bytes; return the next such offset behind it. Positions
    differ only in the bits of *mask*. If *codes* is not empty, it is a list of steps."""
    out = words.view(np.uint8)
    runs = find_runs(mask, make_runs_buffer())
    count, width = len(positions), words_of(positions)
    # `firsts` and `ends`: indices of the tables of blocks. `begin`: offset of the gaps.
    blocks = (count + BLOCK - 1) // BLOCK
    firsts = at >> 3
    ends = firsts + width * blocks
    begin = (ends + blocks) << 3
    end = begin
    # Write one block after another: its first position, then a gap for each of the others.
    for block in range(blocks):
        low, high = block * BLOCK, min((block + 1) * BLOCK, count)
        copy_words(positions, low, words, firsts + width * block)
        before = first_rank(positions, low, runs)
        if len(codes):
            end = write_varint(np.int64(codes[low]), out, end)
        for i in range(low + 1, high):
            before, end = write_gap(positions, i, before, runs, out, end)
            if len(codes):
                end = write_varint(np.int64(codes[i]), out, end)
        words[ends + block] = end - begin
    # Fill up with zeros to a multiple of 8 bytes.
    while end & 7:
        out[end] = 0
        end += 1
    return end


@kernel
def describe(row, at, size, length, varying):
    """Fill in the first four columns of a row about a written list; the columns of positions and codes stay."""
    row[AT], row[SIZE], row[LENGTH], row[VARYING] = at, size, length, varying


@kernel
def pack_lists(numbers, codes, ends, words, rows):
    """Pack lists that lie one after another in *numbers* into *words*; return how many bytes they take. List k ends at
    `ends[k]`. Positions have *codes* unless these are empty. *rows* comes in as zeros; a row describes each list that
    is not empty."""
    at = begin = ZERO
    for k in range(len(ends)):
        end = ends[k]
        if end > begin:
            varying = varying_bits(numbers, begin, end)
            stop = pack(numbers[begin:end], codes[begin:end], varying, words, at)
            describe(rows[k], at, stop - at, end - begin, varying)
            copy_words(numbers, begin, rows[k], FIRST)
            copy_words(numbers, end - 1, rows[k], FIRST + words_of(numbers))
            at = stop
        begin = end
    return at


# Reading


@kernel
def blocks_of(arena, row):
    """Return the number of blocks of a loaded list."""
    return (arena.table[row, COUNT] + BLOCK - 1) // BLOCK


def unpack(arena: Arena, row: int, block: int, runs: Any, out: Array) -> int:
    """Write the positions of one block of a loaded list to *out*; return how many there are. *runs* are those of the
    list's mask."""
    if out.ndim > 1:
        return int(unpack_rows(arena, row, block, out, np.empty(0, np.uint16)))
    return int(unpack_ints(arena, row, block, runs, out))


@overload(unpack)
def compiled_unpack(arena, row, block, runs, out):
    if out.ndim > 1:
        return lambda arena, row, block, runs, out: unpack_rows(arena, row, block, out, np.empty(0, np.uint16))
    return lambda arena, row, block, runs, out: unpack_ints(arena, row, block, runs, out)


@kernel
def unpack_rows(arena, row, block, out, codes):
    """Write the positions of several words in one block of a loaded list to *out*; return how many there are. If it is
    a list of steps, *codes* gets their codes; otherwise it is empty."""
    words, table = arena
    written = words.view(np.uint8)
    blocks, width = blocks_of(arena, row), out.shape[1]
    # `firsts` and `ends`: indices of the tables of blocks. `at`: offset of this block's gaps, in bytes.
    firsts = table[row, WHERE] >> 3
    ends = firsts + width * blocks
    at = ((ends + blocks) << 3) + (words[ends + block - 1] if block else 0)
    count = min(BLOCK, table[row, COUNT] - block * BLOCK)
    for i in range(count):
        for word in range(width):
            if i:
                difference, at = read_varint(written, at)
                out[i, word] = out[i - 1, word] ^ difference
            else:
                out[i, word] = words[firsts + width * block + word]
        if len(codes):
            codes[i], at = read_varint(written, at)
    return count


@kernel
def unpack_ints(arena, row, block, runs, out):
    """Write the positions of one word in one block of a loaded list to *out*; return how many there are."""
    words, table = arena
    written = words.view(np.uint8)
    blocks = blocks_of(arena, row)
    count = min(BLOCK, table[row, COUNT] - block * BLOCK)
    firsts = table[row, WHERE] >> 3
    first = words[firsts + block]
    # The gaps begin behind two tables of 8 bytes a block; the second says where each block ends.
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


def unpack_steps(arena: Arena, row: int, starts: Array, codes: Array, end: Any) -> Any:
    """Write the positions and codes of a loaded list of steps, from index *end* on; return the new end."""
    unpack_all = unpack_steps_of_ints if starts.ndim == 1 else unpack_steps_of_rows
    return int(unpack_all(arena, row, starts, codes, end))


@overload(unpack_steps)
def compiled_unpack_steps(arena, row, starts, codes, end):
    if starts.ndim > 1:
        return lambda arena, row, starts, codes, end: unpack_steps_of_rows(arena, row, starts, codes, end)
    return lambda arena, row, starts, codes, end: unpack_steps_of_ints(arena, row, starts, codes, end)


@kernel
def unpack_steps_of_rows(arena, row, starts, codes, end):
    """Do what `unpack_steps` does, for positions of several words."""
    for block in range(blocks_of(arena, row)):
        end += unpack_rows(arena, row, block, starts[end:], codes[end:])
    return end


@kernel
def unpack_steps_of_ints(arena, row, starts, codes, end):
    """Do what `unpack_steps` does, for positions of one word."""
    words, table = arena
    written = words.view(np.uint8)
    runs = find_runs(table[row, MASK], make_runs_buffer())
    blocks = blocks_of(arena, row)
    at = table[row, WHERE] + 16 * blocks  # behind the two tables of blocks
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
    """Drop repeated numbers from sorted lists in *numbers*, which end at *ends*; close the gaps, update the ends.

    >>> numbers, ends = np.array([3, 5, 5, 2, 9]), np.array([3, 5])
    >>> drop_duplicates(numbers, ends)
    >>> numbers[: ends[-1]], ends
    (array([3, 5, 2, 9]), array([2, 4]))
    """
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
