"""Compiled loops for positions of several words alone: a radix sort, and packing them into ints (see packing.py)."""

import numpy as np

from retrograde.games.contract.game import POSITION_BITS, POSITION_LIMIT
from retrograde.solver.runtime.kernel import kernel

DIGIT_BITS = 11
"""Bits that a pass of the radix sort sorts by. Its counters take 16 kB, so that they stay in a core's cache."""
DIGITS = 1 << DIGIT_BITS
WORD, LOW_BIT, MASK, SHIFT = range(4)
"""Columns of `Packing.runs`."""


@kernel
def sort_by_digit(rows, word, shift, out):
    """Write rows to *out*, sorted by the DIGIT_BITS bits of a word from bit *shift* on. Rows with the same digit stay
    in their order."""
    ends = np.zeros(DIGITS + 1, np.int64)
    for i in range(len(rows)):
        ends[((rows[i, word] >> shift) & (DIGITS - 1)) + 1] += 1
    for digit in range(DIGITS):
        ends[digit + 1] += ends[digit]
    # `ends[digit]` is now where the rows with that digit begin; each row that is written moves it on.
    for i in range(len(rows)):
        digit = (rows[i, word] >> shift) & (DIGITS - 1)
        for word_of_row in range(rows.shape[1]):
            out[ends[digit], word_of_row] = rows[i, word_of_row]
        ends[digit] += 1


@kernel
def sort(rows, spare):
    """Return the rows sorted, in *rows* or in *spare*, which is as large. The other one has arbitrary contents. Sorts
    by the lowest digit of the last word first. Bits that are the same in all rows are skipped."""
    for word in range(rows.shape[1] - 1, -1, -1):
        varying = np.int64(0)
        for i in range(len(rows)):
            varying |= rows[i, word] ^ rows[0, word]
        shift = 0
        while shift < POSITION_BITS and varying >> shift:  # machine code takes a shift modulo 64
            if (varying >> shift) & 1:
                sort_by_digit(rows, word, shift, spare)
                rows, spare = spare, rows
                shift += DIGIT_BITS
            else:
                shift += 1
    return rows


@kernel
def gather(columns, children, tiers, out, child_tiers):
    """Copy the children of each row of a matrix to *out*, and their tiers to *child_tiers*; leave out missing moves.
    Return (how many there are, whether all are in one tier)."""
    count, one_tier = 0, True
    for row in range(children.shape[0]):
        for i in range(columns):
            if children[row, i, 0] >= 0:
                for word in range(children.shape[2]):
                    out[count, word] = children[row, i, word]
                child_tiers[count] = tiers[row, i]
                one_tier &= child_tiers[count] == child_tiers[0]
                count += 1
    return count, one_tier


# Positions packed into ints (see packing.py)


@kernel
def differing_bits(rows, bits):
    """Write to *bits*, for each word, the bits in which some position differs from the first one."""
    for i in range(len(rows)):
        for word in range(rows.shape[1]):
            bits[word] |= rows[i, word] ^ rows[0, word]


@kernel
def pack(rows, packing, keys):
    """Write each position, a row, to *keys* as a Packing says."""
    runs = packing.runs
    for i in range(len(rows)):
        key = np.int64(0)
        for k in range(len(runs)):
            key |= ((rows[i, runs[k, WORD]] >> runs[k, LOW_BIT]) & runs[k, MASK]) << runs[k, SHIFT]
        keys[i] = key


@kernel
def unpack(keys, packing, rows):
    """Write to *rows* the positions that are packed in *keys*. Bits that a packing leaves out become 0."""
    runs, base = packing.runs, packing.base
    for i in range(len(keys)):
        for word in range(len(base)):
            rows[i, word] = base[word]
        for k in range(len(runs)):
            rows[i, runs[k, WORD]] |= ((keys[i] >> runs[k, SHIFT]) & runs[k, MASK]) << runs[k, LOW_BIT]


@kernel
def pack_children(columns, children, packing, keys):
    """Write the children of a block to *keys* as a Packing says. No child is -1. A child that differs from all packed
    positions in other bits is POSITION_LIMIT."""
    runs, covered, base = packing
    for row in range(children.shape[0]):
        for i in range(columns):
            if children[row, i, 0] < 0:
                keys[row, i] = -1
                continue
            key, fits = np.int64(0), True
            for word in range(len(base)):
                fits &= (children[row, i, word] & ~covered[word]) == base[word]
            for k in range(len(runs)):
                key |= ((children[row, i, runs[k, WORD]] >> runs[k, LOW_BIT]) & runs[k, MASK]) << runs[k, SHIFT]
            keys[row, i] = key if fits else POSITION_LIMIT
