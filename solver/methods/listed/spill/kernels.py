"""The compiled loops over lists in scratch, block by block: packed, unpacked, and held against sorted numbers.

A block of sorted positions lies there as the gaps between them, in planes of bytes: the lowest byte of each gap, one
after another, then the next byte of each, as many as the greatest gap has. The first gap is 0.
"""

import numpy as np

from retrograde.solver.runtime.kernel import kernel


@kernel
def greatest_gap(positions):
    """Return the greatest gap between sorted positions."""
    gap = 0
    for i in range(1, len(positions)):
        gap = max(gap, positions[i] - positions[i - 1])
    return gap


@kernel
def to_planes(positions, planes):
    """Write the gaps between sorted positions."""
    before = positions[0]
    for i in range(len(positions)):
        gap = positions[i] - before
        before = positions[i]
        for plane in range(planes.shape[0]):
            planes[plane, i] = gap & 255
            gap >>= 8


@kernel
def from_planes(first, planes, out):
    """Write the positions of which the first one and the gaps are given."""
    position = first
    for i in range(len(out)):
        gap = np.int64(0)
        for plane in range(planes.shape[0]):
            gap |= np.int64(planes[plane, i]) << 8 * plane
        position += gap
        out[i] = position


@kernel
def places_of(numbers, positions, base, places):
    """Write where sorted *numbers* are among sorted *positions*, counted from *base*; -1 for what is nowhere."""
    low = 0
    for i in range(len(numbers)):
        number = numbers[i]
        step = 1
        high = low
        while high < len(positions) and positions[high] < number:
            low = high + 1
            high += step
            step *= 2
        high = min(high, len(positions))
        while low < high:
            middle = (low + high) >> 1
            if positions[middle] < number:
                low = middle + 1
            else:
                high = middle
        places[i] = base + low if low < len(positions) and positions[low] == number else -1


@kernel
def unique(numbers):
    """Move the distinct ones of sorted numbers to the front, and return how many there are."""
    end = min(1, len(numbers))
    for i in range(1, len(numbers)):
        if numbers[i] != numbers[end - 1]:
            numbers[end] = numbers[i]
            end += 1
    return end
