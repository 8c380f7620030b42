"""Compiled loops over sorted lists of positions: look up, subtract, merge, and drop duplicates.

A list is int64[n] or uint32[n] or, for positions of several words, int64[n, words], a row for each. Rows are compared
word by word, the first word first. The loops read and write entries by five functions that compile for either kind.
(Ints as rows of one word take four to seven times as long.) The loops are lean kernels, because a reference would be
counted for each row.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from retrograde.solver.rules.kernels import count_less
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel

# Entries


def is_none_at(positions: Array, i: int) -> bool:
    """Return whether entry i of an array stands for no position: a negative int, or a row that begins with one."""
    return bool((positions[i] if positions.ndim == 1 else positions[i, 0]) < 0)


def is_less(positions: Array, i: int, position: Any) -> bool:
    """Return whether entry i of a list is less than a position, which is an entry of a list itself."""
    return bool(positions[i] < position if positions.ndim == 1 else tuple(positions[i]) < tuple(position))


def is_at_most(positions: Array, i: int, position: Any) -> bool:
    """Return whether entry i of a list is less than a position, or equals it."""
    return bool(positions[i] <= position if positions.ndim == 1 else tuple(positions[i]) <= tuple(position))


def is_same(positions: Array, i: int, position: Any) -> bool:
    """Return whether entry i of a list equals a position."""
    return bool(np.all(positions[i] == position))


def write(positions: Array, i: int, position: Any) -> None:
    """Write a position as entry i of a list."""
    positions[i] = position


@overload(is_none_at)
def compiled_is_none_at(positions, i):
    return (lambda positions, i: positions[i] < 0) if positions.ndim == 1 else lambda positions, i: positions[i, 0] < 0


def compare_rows(if_equal):
    """Return a compiled comparison: whether row i is less than a position, or *if_equal* if they are equal."""

    def is_row_less(positions, i, position):
        for word in range(len(position)):
            if positions[i, word] != position[word]:
                return positions[i, word] < position[word]
        return if_equal

    return is_row_less


@overload(is_less)
def compiled_is_less(positions, i, position):
    return (lambda positions, i, position: positions[i] < position) if positions.ndim == 1 else compare_rows(False)


@overload(is_at_most)
def compiled_is_at_most(positions, i, position):
    return (lambda positions, i, position: positions[i] <= position) if positions.ndim == 1 else compare_rows(True)


@overload(is_same)
def compiled_is_same(positions, i, position):
    """Return the code of `is_same` for positions of one word or of several."""
    if positions.ndim == 1:
        return lambda positions, i, position: positions[i] == position

    def is_same_row(positions, i, position):
        same = True
        for word in range(len(position)):
            same &= positions[i, word] == position[word]
        return same

    return is_same_row


@overload(write)
def compiled_write(positions, i, position):
    """Return the code of `write` for positions of one word or of several."""

    def write_int(positions, i, position):
        positions[i] = position

    def write_row(positions, i, position):
        for word in range(len(position)):
            positions[i, word] = position[word]

    return write_int if positions.ndim == 1 else write_row


# Loops


@lean_kernel
def find(positions, low, high, position, hint):
    """Return the index of a position, or of the first greater one, in sorted *positions* from *low* to *high*.
    Gallops from *hint*: steps of 1, 2, 4 … until the position is passed, then bisection. Cheap if the hint is near."""
    hint = min(max(hint, low), high)
    step = 1
    # Step 1: gallop forwards or backwards until *low* and *high* enclose the position.
    if hint < high and is_less(positions, hint, position):
        low = hint + 1
        while low + step <= high and is_less(positions, low + step - 1, position):
            low += step
            step *= 2
        high = min(high, low + step - 1)
    else:
        high = hint
        while high - step >= low and not is_less(positions, high - step, position):
            high -= step
            step *= 2
        low = max(low, high - step + 1)
    # Step 2: bisect between them.
    while low < high:
        middle = (low + high) >> 1
        if is_less(positions, middle, position):
            low = middle + 1
        else:
            high = middle
    return low


@lean_kernel
def indices_of(positions, others, base, indices):
    """Write the index of each of sorted *positions* among sorted *others*, plus *base*; -1 if not found."""
    hint = 0
    for i in range(len(positions)):
        hint = find(others, hint, len(others), positions[i], hint)
        indices[i] = base + hint if hint < len(others) and is_same(others, hint, positions[i]) else -1


@lean_kernel
def unique(positions):
    """Move the distinct ones of sorted positions to the front; return their count.

    >>> positions = np.array([2, 2, 5, 7, 7])
    >>> unique(positions), positions[:3]
    (3, array([2, 5, 7]))
    """
    count = min(1, len(positions))
    for i in range(1, len(positions)):
        if not is_same(positions, i, positions[count - 1]):
            write(positions, count, positions[i])
            count += 1
    return count


@lean_kernel
def subtract(positions, known):
    """Move those sorted distinct positions that are not in sorted *known* to the front; return their count.

    >>> positions = np.array([2, 5, 7, 9])
    >>> subtract(positions, np.array([1, 5, 9])), positions[:2]
    (2, array([2, 7]))
    """
    count = hint = 0
    for i in range(len(positions)):
        hint = find(known, 0, len(known), positions[i], hint)
        if hint == len(known) or not is_same(known, hint, positions[i]):
            write(positions, count, positions[i])
            count += 1
    return count


@lean_kernel
def merge(left, right, out):
    """Merge two disjoint sorted lists into *out*."""
    i = j = 0
    while i < len(left) and j < len(right):
        is_left = is_less(left, i, right[j])
        if is_left:
            write(out, i + j, left[i])
        else:
            write(out, i + j, right[j])
        i += is_left
        j += not is_left
    for k in range(i, len(left)):
        write(out, k + j, left[k])
    for k in range(j, len(right)):
        write(out, i + k, right[k])


@kernel
def bounds_of_tier(tiers, starts, tier):
    """Return the first index of a tier's positions and the one after its last; (0, 0) for an unknown tier."""
    k = count_less(tiers, tier)
    return (starts[k], starts[k + 1]) if k < len(tiers) and tiers[k] == tier else (0, 0)


# Blocks on disk (see lists.py)


@lean_kernel
def decode_planes(first, planes, is_xor, out):
    """Write to *out* the ints that begin with *first* and have the gaps in byte *planes* (see lists.py). If *is_xor*,
    a gap is the exclusive or with the int before, otherwise the difference from it.

    >>> out = np.zeros(2, np.int64)
    >>> decode_planes(7, np.array([[3, 0], [0, 1]], np.uint8), False, out)
    >>> out  # 7 + 3, and 10 + 256
    array([ 10, 266])
    """
    number = first
    for i in range(len(out)):
        gap = np.int64(0)
        for plane in range(planes.shape[0]):
            gap |= np.int64(planes[plane, i]) << (8 * plane)
        number = number ^ gap if is_xor else number + gap
        out[i] = number
