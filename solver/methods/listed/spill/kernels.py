"""Compiled loops over blocks of lists on disk: pack, unpack, look up.

A block of sorted positions is stored as the gaps between them, in byte planes, which compress well:

    plane 0   | lowest byte of gap 0 | of gap 1 | …      gap 0 is 0
    plane 1   | next byte of gap 0   | of gap 1 | …      as many planes as the greatest gap has bytes
"""

import numpy as np

from retrograde.solver.runtime.kernel import kernel


@kernel
def greatest_gap(positions):
    """Return the greatest gap between consecutive sorted positions."""
    gap = 0
    for i in range(1, len(positions)):
        gap = max(gap, positions[i] - positions[i - 1])
    return gap


@kernel
def to_planes(positions, planes):
    """Write the gaps between sorted positions, byte by byte, to *planes*."""
    before = positions[0]
    for i in range(len(positions)):
        gap = positions[i] - before
        before = positions[i]
        for plane in range(planes.shape[0]):
            planes[plane, i] = gap & 255
            gap >>= 8


@kernel
def from_planes(first, planes, out):
    """Write the positions that begin with *first* and have the gaps in *planes*."""
    position = first
    for i in range(len(out)):
        gap = np.int64(0)
        for plane in range(planes.shape[0]):
            gap |= np.int64(planes[plane, i]) << 8 * plane
        position += gap
        out[i] = position


@kernel
def places_of(numbers, positions, base, places):
    """Write the index of each of sorted *numbers* among sorted *positions*, plus *base*; -1 if not found."""
    low = 0
    for i in range(len(numbers)):
        number = numbers[i]
        step = 1
        high = low
        # Step 1: gallop from the last hit, in steps of 1, 2, 4 …
        while high < len(positions) and positions[high] < number:
            low = high + 1
            high += step
            step *= 2
        high = min(high, len(positions))
        # Step 2: bisect within the last step.
        while low < high:
            middle = (low + high) >> 1
            if positions[middle] < number:
                low = middle + 1
            else:
                high = middle
        places[i] = base + low if low < len(positions) and positions[low] == number else -1


@kernel
def unique(numbers):
    """Move the distinct ones of sorted numbers to the front; return their count."""
    end = min(1, len(numbers))
    for i in range(1, len(numbers)):
        if numbers[i] != numbers[end - 1]:
            numbers[end] = numbers[i]
            end += 1
    return end
