"""Compiled loops over sorted lists of positions of several words, like those in kernels.py, and a radix sort.

A list is int64[n, words], a row for each position. Rows are compared word by word, the first word first.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import POSITION_BITS, POSITION_LIMIT
from retrograde.solver.methods.listed.spill.kernels import stretch_of
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

DIGIT_BITS = 11
"""Bits that a pass of the radix sort sorts by. Its counters take 16 kB, so that they stay in a core's cache."""
DIGITS = 1 << DIGIT_BITS


@kernel
def compare(left, i, right, j):
    """Return -1, 0 or 1: row i of *left* is less than, equal to or greater than row j of *right*."""
    for word in range(left.shape[1]):
        if left[i, word] != right[j, word]:
            return -1 if left[i, word] < right[j, word] else 1
    return 0


@kernel
def copy_row(source, i, target, j):
    """Copy row i of *source* to row j of *target*."""
    for word in range(source.shape[1]):
        target[j, word] = source[i, word]


@kernel
def sort_by_digit(rows, word, shift, out):
    """Write rows to *out*, sorted by DIGIT_BITS bits of a word; rows with the same digit stay in their order."""
    ends = np.zeros(DIGITS + 1, np.int64)
    for i in range(len(rows)):
        ends[((rows[i, word] >> shift) & (DIGITS - 1)) + 1] += 1
    for digit in range(DIGITS):
        ends[digit + 1] += ends[digit]
    # `ends[digit]` is now where the rows with that digit begin; each row that is written moves it on.
    for i in range(len(rows)):
        digit = (rows[i, word] >> shift) & (DIGITS - 1)
        copy_row(rows, i, out, ends[digit])
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
def unique(rows):
    """Move the distinct rows of a sorted list to its front; return their count."""
    count = 0
    for i in range(len(rows)):
        if i == 0 or compare(rows, i, rows, count - 1):
            copy_row(rows, i, rows, count)
            count += 1
    return count


@kernel
def find_row(rows, low, high, others, j, hint):
    """Return the index of row j of *others*, or of the first greater one, in sorted *rows*; gallops as `find` does."""
    hint = min(max(hint, low), high)
    step = 1
    # Step 1: gallop forwards or backwards until *low* and *high* enclose the row.
    if hint < high and compare(rows, hint, others, j) < 0:
        low = hint + 1
        while low + step <= high and compare(rows, low + step - 1, others, j) < 0:
            low += step
            step *= 2
        high = min(high, low + step - 1)
    else:
        high = hint
        while high - step >= low and compare(rows, high - step, others, j) >= 0:
            high -= step
            step *= 2
        low = max(low, high - step + 1)
    # Step 2: bisect.
    while low < high:
        middle = (low + high) >> 1
        if compare(rows, middle, others, j) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def indices_of(rows, others, base, indices):
    """Write the index of each of sorted *rows* among sorted *others*, plus *base*; -1 if not found."""
    hint = 0
    for i in range(len(rows)):
        hint = find_row(others, hint, len(others), rows, i, hint)
        there = hint < len(others) and not compare(others, hint, rows, i)
        indices[i] = base + hint if there else -1


@kernel
def from_planes(first, planes, out):
    """Write the rows that begin with *first* and have the changes in byte *planes* (see lists.py)."""
    bytes_a_word = planes.shape[0] // len(first)
    for i in range(len(out)):
        for word in range(len(first)):
            changes = np.int64(0)
            for plane in range(bytes_a_word):
                changes |= np.int64(planes[word * bytes_a_word + plane, i]) << 8 * plane
            out[i, word] = (out[i - 1, word] if i else first[word]) ^ changes


@kernel
def subtract(rows, known):
    """Move those sorted distinct rows that are not in sorted *known* to the front; return their count."""
    count = hint = 0
    for i in range(len(rows)):
        hint = find_row(known, 0, len(known), rows, i, hint)
        if hint == len(known) or compare(known, hint, rows, i):
            copy_row(rows, i, rows, count)
            count += 1
    return count


@kernel
def merge(left, right, out):
    """Merge two disjoint sorted lists into *out*."""
    i = j = 0
    for k in range(len(out)):
        if j == len(right) or (i < len(left) and compare(left, i, right, j) < 0):
            copy_row(left, i, out, k)
            i += 1
        else:
            copy_row(right, j, out, k)
            j += 1


@kernel
def gather(columns, children, tiers, out, child_tiers):
    """Copy the children of each row of a matrix to *out*, and their tiers to *child_tiers*; leave out missing moves.
    Return (how many there are, whether all are in one tier)."""
    count, plain = 0, True
    for row in range(children.shape[0]):
        for i in range(columns):
            if children[row, i, 0] >= 0:
                copy_row(children[row], i, out, count)
                child_tiers[count] = tiers[row, i]
                plain &= child_tiers[count] == child_tiers[0]
                count += 1
    return count, plain


@kernel
def locate(columns, matrix, lists, places, hinted):
    """Write the index of each child among *lists* to *places*, -1 for no child; return how many children are nowhere.
    Gallops from child to child, which is quick where the children of a row of the matrix ascend. If *hinted*, gallops
    from the index in *places*, which is negative for a child that is nowhere."""
    children, child_tiers = matrix.children, matrix.tiers
    tiers, starts, positions = lists
    missing = 0
    for row in range(children.shape[0]):
        tier = low = high = hint = 0
        looked_up = False
        for i in range(columns):
            near = places[row, i] if hinted else 0
            places[row, i] = -1
            if children[row, i, 0] < 0:
                continue
            if near < 0:
                missing += 1
                continue
            if child_tiers[row, i] != tier or not looked_up:
                tier = child_tiers[row, i]
                looked_up = True
                # Step 1: find the tier's list when the tier changes.
                low, high = stretch_of(tiers, starts, tier)
                hint = low
            # Step 2: gallop to the child.
            hint = find_row(positions, low, high, children[row], i, near if hinted else hint)
            if hint < high and not compare(positions, hint, children[row], i):
                places[row, i] = hint
            missing += places[row, i] < 0
    return missing


# Positions packed into ints (see packing.py)


@kernel
def differing_bits(rows, bits):
    """Write to *bits*, for each word, the bits in which some position differs from the first one."""
    for i in range(len(rows)):
        for word in range(rows.shape[1]):
            bits[word] |= rows[i, word] ^ rows[0, word]


@kernel
def pack(rows, packing, keys):
    """Write each position to *keys*, packed."""
    runs = packing.runs
    for i in range(len(rows)):
        key = np.int64(0)
        for k in range(len(runs)):
            key |= ((rows[i, runs[k, 0]] >> runs[k, 1]) & runs[k, 2]) << runs[k, 3]
        keys[i] = key


@kernel
def unpack(keys, packing, rows):
    """Write to *rows* the positions that are packed in *keys*. Bits that a packing leaves out become 0."""
    runs, base = packing.runs, packing.base
    for i in range(len(keys)):
        for word in range(len(base)):
            rows[i, word] = base[word]
        for k in range(len(runs)):
            rows[i, runs[k, 0]] |= ((keys[i] >> runs[k, 3]) & runs[k, 2]) << runs[k, 1]


@kernel
def pack_children(columns, children, packing, keys):
    """Write the children of a block to *keys*, packed: -1 for no child, POSITION_LIMIT for one that does not fit."""
    runs, covered, base = packing
    for row in range(children.shape[0]):
        for i in range(columns):
            if children[row, i, 0] < 0:
                keys[row, i] = -1
                continue
            key, fits = np.int64(0), True
            for word in range(len(base)):
                fits &= children[row, i, word] & ~covered[word] == base[word]
            for k in range(len(runs)):
                key |= ((children[row, i, runs[k, 0]] >> runs[k, 1]) & runs[k, 2]) << runs[k, 3]
            keys[row, i] = key if fits else POSITION_LIMIT
