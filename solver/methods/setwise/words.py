"""Sets of positions as 64-bit words, and bits inserted into all ranks of a set or removed.

The position with rank r of a tier is bit r % 64 of word r // 64. Sets are sparse: words lie in groups of 64, and only
words that are not 0 are stored, one after another::

    rank       | number of the group | word in the group | bit in the word |
                 bits 12 and up        bits 6 to 11        bits 0 to 5

    occupied   uint64[groups + 2]    for each group, which of its 64 words are stored
    before     uint32[groups + 2]    for each group, the number of words stored for earlier groups
    words      uint64[n]             the stored words

So word j of group g, if `occupied[g]` has bit j, is at `before[g]` + the number of ones below bit j of `occupied[g]`.

A word of a plane has bits only where the set has positions. Packing drops the others: `pack_planes` extracts the bits
under the set's word, and `unpack_planes` deposits them again.
"""

import numpy as np

from retrograde.solver.rules.plain.tier_kernels import FIRST, GROUP, GROUPS, WORD, WORDS
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import (
    IS_QUICK,
    MOVES,
    deposit,
    deposit_by_moves,
    extract,
    extract_by_moves,
    find_moves,
)

WORD_BITS = 6
"""Bits of a rank that say which bit of a word it is."""
GROUP_BITS = 12
"""Bits of a rank below the number of its group: 6 for the bit in a word, 6 for the word in the group."""
AFTER_TIER = 2
"""Empty groups behind those of a tier. Kernels may read them, so that they need no check at the end of a tier."""
FEW_ONES = 6
"""Up to so many positions of a word, a loop over them is quicker than moves that serve all planes."""
ONE, LOW = np.uint64(1), np.uint64(0xFFFFFFFF)
NOTHING, EVERYTHING = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
ONES = np.array(
    [
        *(0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0),
        *(0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000),
    ],
    np.uint64,
)
"""For each bit of a rank below 6, the positions of a word in whose rank that bit is 1."""


@lean_kernel
def popcount(word):
    """Return the number of ones in a word."""
    return np.int64(word.bit_count())


@lean_kernel
def lowest(word):
    """Return the number of the lowest one bit. The word must not be 0."""
    return np.int64((~word & (word - ONE)).bit_count())


@lean_kernel
def highest(word):
    """Return the number of the highest one bit. The word must not be 0."""
    high = word >> np.uint64(32)
    # numba and Python both have `bit_length` of an int.
    return int(high).bit_length() + 31 if high else int(word & LOW).bit_length() - 1


@lean_kernel
def insert_bit(number, index, bit):
    """Return *number* with *bit* inserted below the bit at *index*.

    >>> bin(insert_bit(0b101, 1, 1))
    '0b1011'
    """
    low = number & ((1 << index) - 1)
    return low | (bit << index) | ((number >> index) << (index + 1))


@lean_kernel
def remove_bit(number, index):
    """Return *number* without the bit at *index*.

    >>> bin(remove_bit(0b1011, 1))
    '0b101'
    """
    return (number & ((1 << index) - 1)) | ((number >> (index + 1)) << index)


@lean_kernel
def spread_word(half, index, bit):
    """Return the word that 32 positions make when *bit* is inserted into their ranks at *index*, which is below 6.

    >>> bin(spread_word(np.uint64(0b101), 1, 1))  # ranks 0 and 10 in binary become 10 and 110
    '0b1000100'
    """
    if IS_QUICK:
        return deposit(half, ONES[index] if bit else ~ONES[index])
    # Cut runs of 32, 16, … positions in two, and move the upper parts up by half a run, until runs have 2**index.
    for step in range(WORD_BITS - 2, index - 1, -1):
        half = (half | (half << np.uint64(1 << step))) & ~ONES[step]
    return half << np.uint64(bit << index)


@lean_kernel
def gather_word(word, index, bit):
    """Return the 32 positions of a word whose rank has *bit* at *index*, with that bit removed from their ranks.

    >>> bin(gather_word(np.uint64(0b1000100), 1, 1))
    '0b101'
    """
    if IS_QUICK:  # the processor has an instruction that gathers bits, and it is quick
        return extract(word, ONES[index] if bit else ~ONES[index])
    # The wanted positions are runs of 2**index, each with an equal gap behind it. Join pairs of runs until one is left.
    half = (word >> np.uint64(bit << index)) & ~ONES[index]
    for step in range(index, WORD_BITS - 1):
        half = (half | (half >> np.uint64(1 << step))) & ~ONES[step + 1]
    return half


@lean_kernel
def ones_at(index, word):
    """Return the positions of a word in whose rank the bit at *index* is 1. *word* is its number in the tier."""
    if index < WORD_BITS:
        return ONES[index]
    return EVERYTHING if (word >> (index - WORD_BITS)) & 1 else NOTHING


# Copies of tiers, and planes packed to one bit a position


@lean_kernel
def copy_groups(content, tiers, sets, rows):
    """Copy `occupied` of some tiers from a chunk into *sets*, and fill in `before`.

    *content* is the chunk, uint64[n], which begins with `occupied`. *tiers* are their rows in the chunk's table, and
    *rows* are the numbers of those in the table of *sets*, whose column GROUP says where the groups belong.
    """
    set_tiers, occupied, before, _ = sets
    for i in range(len(rows)):
        from_group, group = tiers[i, GROUP], set_tiers[rows[i], GROUP]
        words = 0
        for k in range(tiers[i, GROUPS] + AFTER_TIER):
            occupied[group + k] = content[from_group + k]
            before[group + k] = words
            words += popcount(occupied[group + k])


@lean_kernel
def copy_words(chunk_words, tiers, sets, rows):
    """Copy the words of some tiers from those of a chunk into *sets*, as `copy_groups` copies their groups."""
    set_tiers, _, _, words = sets
    for i in range(len(rows)):
        from_word, word = tiers[i, WORD], set_tiers[rows[i], WORD]
        for k in range(tiers[i, WORDS]):
            words[word + k] = chunk_words[from_word + k]


@kernel
def pack_planes(words, planes, begin, end, count, out):
    """Pack *count* planes of words *begin* to *end* into *out*, uint64[count × n], n words for each plane.

    Of each plane only the bits of positions in the set, *words*, are packed, one after another.
    """
    stride, moves = len(out) // count, np.empty(MOVES, np.uint64)
    out[:] = NOTHING
    # In all planes, `filled` bits of output word i are taken. What does not fit begins the next one.
    i = filled = 0
    for word in range(begin, end):
        set_word, positions = words[word], popcount(words[word])
        by_moves = not IS_QUICK and positions > FEW_ONES
        if by_moves:
            find_moves(set_word, moves)
        for plane in range(count):
            bits = planes[plane, word]
            packed = extract_by_moves(bits, set_word, moves) if by_moves else extract(bits, set_word)
            at = plane * stride + i
            out[at] |= packed << np.uint64(filled)
            if filled + positions >= 64:
                out[at + 1] = (packed >> ONE) >> np.uint64(63 - filled)  # two shifts: one by 64 is undefined
        filled += positions
        if filled >= 64:
            i, filled = i + 1, filled - 64


@kernel
def unpack_planes(content, count, tiers, chunk_words, begins, planes):
    """Write to *planes* the *count* planes of some tiers that `pack_planes` packed into *content*, a chunk.

    *tiers* are their rows in the chunk's table, and *chunk_words* the words of its sets. The planes of tier k begin at
    `planes[:, begins[k]]`.
    """
    stride, moves = len(content) // count, np.empty(MOVES, np.uint64)
    for k in range(len(tiers)):
        first, distance = tiers[k, WORD], begins[k] - tiers[k, WORD]
        bit = tiers[k, FIRST]  # counts positions from the beginning of the chunk: the tier's first bit in each plane
        for word in range(first, first + tiers[k, WORDS]):
            i, shift = bit >> 6, np.uint64(bit & 63)
            rest_shift, set_word = np.uint64(63) - shift, chunk_words[word]
            positions = popcount(set_word)
            by_moves = not IS_QUICK and positions > FEW_ONES
            if by_moves:
                find_moves(set_word, moves)
            for plane in range(count):
                # 64 bits from `bit` on, from two words. A shift by 1 and one by `63 - shift`: one by 64 is undefined.
                bits = (content[i] >> shift) | ((content[i + 1] << ONE) << rest_shift)
                unpacked = deposit_by_moves(bits, set_word, moves) if by_moves else deposit(bits, set_word)
                planes[plane, word + distance] = unpacked
                i += stride
            bit += positions
