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
    if IS_QUICK:
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
def copy_groups(content, sets, begin, end, group):
    """Copy `occupied` of some tiers from a chunk into *sets*, from *group* on; return the next free group.

    The tiers are rows *begin* to *end* of the table `sets.tiers`. Their column GROUP has the first group in the chunk,
    and becomes the first one in *sets*. Also fills in `before`. *content* is the chunk, uint64[n], which begins with
    `occupied`.
    """
    tiers, occupied, before, _ = sets
    for row in range(begin, end):
        group_in_chunk = tiers[row, GROUP]
        tiers[row, GROUP] = group
        words = 0
        for k in range(tiers[row, GROUPS] + AFTER_TIER):
            occupied[group + k] = content[group_in_chunk + k]
            before[group + k] = words
            words += popcount(occupied[group + k])
        group += tiers[row, GROUPS] + AFTER_TIER
    return group


@lean_kernel
def copy_words(content, head, sets, begin, end, word):
    """Copy the words of some tiers from a chunk into *sets*, from *word* on; return the next free word. *head* is the
    number of groups in the chunk, which come before its words. Also sets the column WORD."""
    tiers, _, _, words = sets
    for row in range(begin, end):
        from_word = head + tiers[row, WORD]
        tiers[row, WORD] = word
        for k in range(tiers[row, WORDS]):
            words[word + k] = content[from_word + k]
        word += tiers[row, WORDS]
    return word


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
def unpack_planes(content, count, tiers, sets, begin, planes):
    """Write to *planes* the *count* planes of some tiers that `pack_planes` packed into *content*, a chunk.

    *tiers* are their rows in the chunk's table. In the table of *sets* these tiers are the rows from *begin* on.
    """
    stride, moves = len(content) // count, np.empty(MOVES, np.uint64)
    set_tiers, _, _, words = sets
    for k in range(len(tiers)):
        first = set_tiers[begin + k, WORD]
        bit = tiers[k, FIRST]
        # FIRST counts positions from the beginning of the chunk, so it is the tier's first bit in each plane.
        for word in range(first, first + set_tiers[begin + k, WORDS]):
            i, shift = bit >> 6, np.uint64(bit & 63)
            rest_shift, set_word = np.uint64(63) - shift, words[word]
            positions = popcount(set_word)
            by_moves = not IS_QUICK and positions > FEW_ONES
            if by_moves:
                find_moves(set_word, moves)
            for plane in range(count):
                # 64 bits from `bit` on, from two words. A shift by 1 and one by `63 - shift`: one by 64 is undefined.
                bits = (content[i] >> shift) | ((content[i + 1] << ONE) << rest_shift)
                planes[plane, word] = deposit_by_moves(bits, set_word, moves) if by_moves else deposit(bits, set_word)
                i += stride
            bit += positions
