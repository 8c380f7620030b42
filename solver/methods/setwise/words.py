"""Sets of positions as words of 64, and what putting a bit into all ranks of a set, or taking it out, does to them.

Position number r of a tier, by rank, is bit r % 64 of word r // 64. Words lie in groups of 64, of which only those that
are not 0 are kept, one after another::

    occupied   uint64[groups + 2]    for each group, which of its words are not 0
    before     uint32[groups + 2]    how many words lie before those of a group
    words      uint64[n]
"""

import numpy as np

from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.values.extract import deposit, extract

WORD_BITS = 6
GROUP_BITS = 12
"""Bits of a rank below the number of its group."""
AFTER_TIER = 2
"""Groups behind those of a tier, which are empty."""
ONE, LOW = np.uint64(1), np.uint64(0xFFFFFFFF)
NOTHING, EVERYTHING = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
ONES = np.array(
    [
        *(0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0),
        *(0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000),
    ],
    np.uint64,
)
"""The positions of a word in whose rank a bit is 1, by bit."""


@lean_kernel
def popcount(word):
    """Return how many ones a word has."""
    return np.int64(word.bit_count())


@lean_kernel
def lowest(word):
    """Return the number of the lowest one in a word that is not 0."""
    return np.int64((~word & (word - ONE)).bit_count())


@lean_kernel
def highest(word):
    """Return the number of the highest one in a word that is not 0."""
    high = word >> np.uint64(32)
    return int(high).bit_length() + 31 if high else int(word & LOW).bit_length() - 1  # of numbers that are ints to all


@lean_kernel
def with_bit(number, place, bit):
    """Return a number with a bit put in at a place.

    >>> bin(with_bit(0b101, 1, 1))
    '0b1011'
    """
    low = number & ((1 << place) - 1)
    return low | bit << place | number >> place << place + 1


@lean_kernel
def without_bit(number, place):
    """Return a number with the bit at a place taken out.

    >>> bin(without_bit(0b1011, 1))
    '0b101'
    """
    return number & ((1 << place) - 1) | number >> place + 1 << place


@lean_kernel
def spread_word(half, place, bit):
    """Return the word that becomes of 32 positions when a bit is put into their ranks at a place below 6."""
    return deposit(half, ONES[place] if bit else ~ONES[place])


@lean_kernel
def gathered_word(word, place, bit):
    """Return the 32 positions of a word in whose rank a bit has a value, with that bit taken out."""
    return extract(word, ONES[place] if bit else ~ONES[place])


@lean_kernel
def ones_of(place, word):
    """Return the positions of a word, by its number in the tier, in whose rank the bit at a place is 1."""
    if place < WORD_BITS:
        return ONES[place]
    return EVERYTHING if word >> place - WORD_BITS & 1 else NOTHING
