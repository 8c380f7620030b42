"""Compiled loops over sorted lists of ints: unpack blocks on disk, look up, subtract, merge, and drop duplicates."""

import numpy as np

from retrograde.solver.runtime.kernel import kernel


@kernel
def from_planes(first, planes, out):
    """Write the positions that begin with *first* and have the gaps in byte *planes* (see lists.py)."""
    position = first
    for i in range(len(out)):
        gap = np.int64(0)
        for plane in range(planes.shape[0]):
            gap |= np.int64(planes[plane, i]) << 8 * plane
        position += gap
        out[i] = position


@kernel
def find(numbers, low, high, number, hint):
    """Return the index of *number*, or of the first greater one, in sorted *numbers* from *low* to *high*. Gallops from
    *hint*: steps of 1, 2, 4 … until the number is passed, then bisection. Cheap if the hint is near."""
    hint = min(max(hint, low), high)
    step = 1
    # Step 1: gallop forwards or backwards until *low* and *high* enclose the number.
    if hint < high and numbers[hint] < number:
        low = hint + 1
        while low + step <= high and numbers[low + step - 1] < number:
            low += step
            step *= 2
        high = min(high, low + step - 1)
    else:
        high = hint
        while high - step >= low and numbers[high - step] >= number:
            high -= step
            step *= 2
        low = max(low, high - step + 1)
    # Step 2: bisect between them.
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def indices_of(numbers, positions, base, indices):
    """Write the index of each of sorted *numbers* among sorted *positions*, plus *base*; -1 if not found."""
    hint = 0
    for i in range(len(numbers)):
        hint = find(positions, hint, len(positions), numbers[i], hint)
        indices[i] = base + hint if hint < len(positions) and positions[hint] == numbers[i] else -1


@kernel
def unique(numbers):
    """Move the distinct ones of sorted numbers to the front; return their count."""
    end = min(1, len(numbers))
    for i in range(1, len(numbers)):
        if numbers[i] != numbers[end - 1]:
            numbers[end] = numbers[i]
            end += 1
    return end


@kernel
def subtract(numbers, known):
    """Move those sorted distinct *numbers* that are not in sorted *known* to the front; return their count."""
    end = 0
    hint = 0
    for number in numbers:
        hint = find(known, 0, len(known), number, hint)
        if hint == len(known) or known[hint] != number:
            numbers[end] = number
            end += 1
    return end


@kernel
def merge(left, right, out):
    """Merge two disjoint sorted lists into *out*."""
    i = j = 0
    for k in range(len(out)):
        if i == len(left) or j == len(right):
            break
        a, b = left[i], right[j]
        out[k] = min(a, b)
        i += a <= b
        j += a > b
    k = i + j
    for a in left[i:]:
        out[k] = a
        k += 1
    for b in right[j:]:
        out[k] = b
        k += 1


@kernel
def stretch_of(tiers, starts, tier):
    """Return where the list of a tier begins and ends among all positions; (0, 0) for an unknown tier."""
    k = find(tiers, 0, len(tiers), tier, 0)
    return (starts[k], starts[k + 1]) if k < len(tiers) and tiers[k] == tier else (0, 0)
