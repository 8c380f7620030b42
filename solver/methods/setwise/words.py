"""Sets of positions as 64-bit words, and bits inserted into all ranks of a set or removed.

The position with rank r of a tier is bit r % 64 of word r // 64. Sets are sparse: words lie in groups of 64, and only
words that are not 0 are stored, one after another::

    rank       | number of the group | word in the group | bit in the word |
                 bits 12 and up        bits 6 to 11        bits 0 to 5

    occupied   uint64[groups + 2]    for each group, which of its 64 words are stored
    before     uint32[groups + 2]    for each group, the number of words stored for earlier groups
    words      uint64[n]             the stored words

So word j of group g, if `occupied[g]` has bit j, is at `before[g]` + the number of ones below bit j of `occupied[g]`.
"""

import numpy as np

from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.values.bits import deposit, extract

WORD_BITS = 6
"""Bits of a rank that say which bit of a word it is."""
GROUP_BITS = 12
"""Bits of a rank below the number of its group: 6 for the bit in a word, 6 for the word in the group."""
AFTER_TIER = 2
"""Empty groups behind those of a tier. Kernels may read them, so that they need no check at the end of a tier."""
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
def with_bit(number, place, bit):
    """Return *number* with *bit* inserted at bit position *place*. Higher bits move up by one.

    >>> bin(with_bit(0b101, 1, 1))
    '0b1011'
    """
    low = number & ((1 << place) - 1)
    return low | bit << place | number >> place << place + 1


@lean_kernel
def without_bit(number, place):
    """Return *number* without the bit at bit position *place*. Higher bits move down by one.

    >>> bin(without_bit(0b1011, 1))
    '0b101'
    """
    return number & ((1 << place) - 1) | number >> place + 1 << place


@lean_kernel
def spread_word(half, place, bit):
    """Return the word that 32 positions make when *bit* is inserted into their ranks at *place*, which is below 6.

    >>> bin(spread_word(np.uint64(0b101), 1, 1))  # ranks 0 and 10 in binary become 10 and 110
    '0b1000100'
    """
    return deposit(half, ONES[place] if bit else ~ONES[place])


@lean_kernel
def gathered_word(word, place, bit):
    """Return the 32 positions of a word whose rank has *bit* at *place*, with that bit removed from their ranks.

    >>> bin(gathered_word(np.uint64(0b1000100), 1, 1))
    '0b101'
    """
    return extract(word, ONES[place] if bit else ~ONES[place])


@lean_kernel
def ones_of(place, word):
    """Return the positions of a word in whose rank the bit at *place* is 1. *word* is its number in the tier."""
    if place < WORD_BITS:
        return ONES[place]
    return EVERYTHING if word >> place - WORD_BITS & 1 else NOTHING
