"""The compiled loops over sorted lists, packed and unpacked. None knows a game.

A list is cut into blocks of BLOCK positions. In memory, and in scratch files, it lies as ::

    | first position of each block, int64 | where each block ends in the gaps | gaps, as varints |

A gap says, for each position but the first of a block, how much its rank is above the one before. A varint has seven
bits to a byte, lowest first, the highest bit set where more follow. A rank is what a position has under the *mask*, the
bits that vary in its tier, pushed together (see values/bits.py). Lists of steps (see `steps.py`) hold a code behind
each gap, and one for the first of a block as well.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, rank_of, room_for_runs, spread

Array = np.ndarray[Any, Any]

BLOCK = 1 << 10
"""Positions in a block of a list."""
MOST_BYTES = 14
"""Bytes that a list takes at most for each position: two words for a block, a gap, and a code of a step."""


class Buffer(NamedTuple):
    """Room for lists: the same memory as `words`, int64, and as `bytes`, uint8."""

    words: Array
    bytes: Array


class Arena(NamedTuple):
    """Lists loaded one after another, as `words` and as `bytes`, and a `table` that has a row for each list."""

    words: Array
    bytes: Array
    table: Array


WHERE, COUNT, MASK, MOVE, ASCENDS, FROM, TO, LOADED = range(8)
"""Columns of the table of an arena: where in the bytes the list is; how many items it has; the bits that may vary; the
move to make, or -1 for all; 1 where the children by that move must ascend, because only part of the list may be looked
at; from which of its blocks to which, exclusive, that is."""

AT, SIZE, LENGTH, VARYING, FIRST, LAST, FIRST_CODE, LAST_CODE, MADE = range(9)
"""Columns of the table of lists made: where in the bytes the list is, and how many it takes; how many items it has; the
bits that vary; the first and the last position; and of steps the first and the last code."""


@kernel
def write_varint(number, out, at):
    """Write a number below 2**63 and return where the next may stand."""
    while number >= 128:
        out[at] = number & 127 | 128
        number >>= 7
        at += 1
    out[at] = number
    return at + 1


@kernel
def read_varint(written, at):
    """Return a number, and where the next stands."""
    byte = np.int64(written[at])
    at += 1
    number = byte & 127
    shift = 7
    while byte >= 128:
        byte = np.int64(written[at])
        at += 1
        number |= (byte & 127) << shift
        shift += 7
    return number, at


@kernel
def pack(positions, codes, mask, buffer, at):
    """Write a list, of steps if there are codes, at a place that eight divides; return where the next may stand."""
    words, out = buffer
    runs = find_runs(mask, room_for_runs())
    count = len(positions)
    blocks = (count + BLOCK - 1) // BLOCK
    firsts = at >> 3
    begin = at + 16 * blocks
    end = begin
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
    while end & 7:
        out[end] = 0
        end += 1
    return end


@kernel
def pack_lists(numbers, ends, buffer, made):
    """Write lists of positions that lie one after another, and fill a row of *made*, zeros so far, for each."""
    at = begin = 0
    no_codes = np.empty(0, np.uint16)
    for k in range(len(ends)):
        end = ends[k]
        if end > begin:
            varying = 0
            for i in range(begin, end):
                varying |= numbers[i] ^ numbers[begin]
            stop = pack(numbers[begin:end], no_codes, varying, buffer, at)
            made[k, AT], made[k, SIZE], made[k, LENGTH], made[k, VARYING] = at, stop - at, end - begin, varying
            made[k, FIRST], made[k, LAST] = numbers[begin], numbers[end - 1]
            at = stop
        begin = end
    return at


@kernel
def blocks_of(arena, row):
    """Return how many blocks a loaded list has."""
    return (arena.table[row, COUNT] + BLOCK - 1) // BLOCK


@kernel
def unpack(arena, row, block, runs, out):
    """Write the positions of one block of a loaded list, whose mask has these runs; return how many there are."""
    words, written, table = arena
    blocks = blocks_of(arena, row)
    count = min(BLOCK, table[row, COUNT] - block * BLOCK)
    firsts = table[row, WHERE] >> 3
    first = words[firsts + block]
    at = table[row, WHERE] + 16 * blocks + (words[firsts + blocks + block - 1] if block else 0)
    rank = rank_of(first, runs)
    out[0] = rank
    for i in range(1, count):
        gap, at = read_varint(written, at)
        rank += gap
        out[i] = rank
    others = first & ~table[row, MASK]
    for i in range(count):
        out[i] = others | spread(out[i], runs)
    return count


@kernel
def unpack_lists(arena, out):
    """Write the positions of all loaded lists, one after another."""
    room = room_for_runs()
    end = 0
    for row in range(len(arena.table)):
        runs = find_runs(arena.table[row, MASK], room)
        for block in range(blocks_of(arena, row)):
            end += unpack(arena, row, block, runs, out[end:])


@kernel
def unpack_steps(arena, row, starts, codes, end):
    """Write the first positions and codes of all steps of a loaded list, from a place on; return where they end."""
    words, written, table = arena
    runs = find_runs(table[row, MASK], room_for_runs())
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
