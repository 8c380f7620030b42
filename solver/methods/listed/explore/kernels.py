"""The compiled loops over sorted lists: children gathered, known ones left out, and where in the lists others are. None
knows a game."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]


class Lists(NamedTuple):
    """Positions sorted tier by tier: tier k, of number `tiers[k]`, has those from `starts[k]` to `starts[k + 1]`."""

    tiers: Array
    starts: Array
    positions: Array


SAMPLE_BITS = 6
"""Of so many positions, as a power of two, an index has one: games leave most leading bits out, and crowd at others."""
SAMPLE = 1 << SAMPLE_BITS


class Index(NamedTuple):
    """Where in each tier positions of certain leading bits begin: `position >> shifts[k]`, from `bases[k]` on, has its
    entry in `begins[offsets[k]:offsets[k + 1]]`, which counts from where the tier begins, and so has the one after the
    last. `samples` are some of all positions, the first one and every 64th from there.
    """

    shifts: Array
    bases: Array
    offsets: Array
    begins: Array
    samples: Array


@kernel
def gather(columns, children, tiers, runs, out):
    """Copy the children of each row to *out*, row after row, without the gaps.

    Row k of *runs* becomes: where row k ends in *out*; its tier; 1 where all of it is of that tier, else 0; and the
    greatest child.
    """
    end = 0
    for row in range(children.shape[0]):
        begin = end
        tier = greatest = -1
        plain = True
        for i in range(columns):
            child = children[row, i]
            if child >= 0:
                greatest = max(greatest, child)
                if end == begin:
                    tier = tiers[row, i]
                plain &= tiers[row, i] == tier
                out[end] = child
                end += 1
        runs[row, 0] = end
        runs[row, 1] = tier
        runs[row, 2] = plain
        runs[row, 3] = greatest


@kernel
def subtract(numbers, known):
    """Move those of sorted distinct *numbers* that are not in sorted *known* to the front, and return how many."""
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
    """Merge two sorted lists that have nothing in common."""
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
def find(numbers, low, high, number, hint):
    """Return where *number* is, or would be, in sorted *numbers* from *low* to *high*, galloping from *hint*."""
    hint = min(max(hint, low), high)
    step = 1
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
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def disorder(columns, children, unsorted):
    """Write for each row whether its children are not in ascending order."""
    for row in range(children.shape[0]):
        unsorted[row] = False
        for i in range(1, columns):
            if children[row, i] < children[row, i - 1]:
                unsorted[row] = True
                break


@kernel
def index_of(positions, starts, index):
    """Fill the `begins` of an index, which comes in as zeros."""
    shifts, bases, offsets, begins, _ = index
    for k in range(len(shifts)):
        low, high = starts[k], starts[k + 1]
        key = 0
        for place in range(low, high):
            own = (np.int64(positions[place]) >> shifts[k]) - bases[k]
            while key < own:
                key += 1
                begins[offsets[k] + key] = place - low
        while key < offsets[k + 1] - offsets[k] - 1:
            key += 1
            begins[offsets[k] + key] = high - low


@kernel
def begin_look_up(columns, children, child_tiers, lists, index, search):
    """Write to *search* the children of a row that may be somewhere: column, child, from which place on it must be, and
    among how many. Return how many such children there are. The *index* has a part for each tier."""
    tiers, starts, _ = lists
    shifts, bases, offsets, begins, _ = index
    tier = k = count = 0
    looked_up = known = False
    for i in range(columns):
        child = children[i]
        if child < 0:
            continue
        if child_tiers[i] != tier or not looked_up:
            tier = child_tiers[i]
            looked_up = True
            k = find(tiers, 0, len(tiers), tier, 0)
            known = k < len(tiers) and tiers[k] == tier
        if known:
            key = (child >> shifts[k]) - bases[k]
            if 0 <= key < offsets[k + 1] - offsets[k] - 1:
                begin = np.int64(begins[offsets[k] + key])
                search[0, count] = i
                search[1, count] = child
                search[2, count] = starts[k] + begin
                search[3, count] = np.int64(begins[offsets[k] + key + 1]) - begin
                count += search[3, count] > 0
    return count


@kernel
def halve(keys, children, lows, counts):
    """Bring stretches of sorted keys, each from `lows[i]` on, down to the last key that is not greater than a child, or
    to the first one; all in turns, so that they wait for memory together."""
    most = 1
    for count in counts:
        most = max(most, count)
    while most > 1:
        for i in range(len(counts)):
            half = counts[i] >> 1
            lows[i] += half if keys[lows[i] + half] <= children[i] else 0
            counts[i] -= half
        most -= most >> 1


@kernel
def look_up(positions, samples, search, places):
    """Write where each child of a *search* is; those that are nowhere are left as they are.

    They are looked for among the samples, and then among the positions from one sample to the next.
    """
    columns, children, lows, counts, firsts, numbers = search
    for i in range(len(counts)):
        firsts[i] = max(0, ((lows[i] + SAMPLE - 1) >> SAMPLE_BITS) - 1)
        numbers[i] = ((lows[i] + counts[i] - 1) >> SAMPLE_BITS) - firsts[i] + 1
    halve(samples, children, firsts, numbers)
    for i in range(len(counts)):
        begin, end = firsts[i] << SAMPLE_BITS, lows[i] + counts[i]
        lows[i] = max(lows[i], begin)
        counts[i] = min(end, begin + SAMPLE) - lows[i]
    halve(positions, children, lows, counts)
    for i in range(len(counts)):
        if positions[lows[i]] == children[i]:
            places[columns[i]] = lows[i]


@kernel
def locate(columns, matrix, unsorted, lists, index, places):
    """Write where each child is among the positions of *lists*; -1 for no child.

    Children of a sorted row are found from one to the next, those of an *unsorted* one by the *index*, which has a part
    for each tier. Returns how many children are nowhere.
    """
    children, child_tiers = matrix.children, matrix.tiers
    tiers, starts, positions = lists
    search = np.empty((6, columns), np.int64)
    missing = 0
    for row in range(children.shape[0]):
        if unsorted[row]:
            for i in range(columns):
                places[row, i] = -1
            count = begin_look_up(columns, children[row], child_tiers[row], lists, index, search)
            look_up(positions, index.samples, search[:, :count], places[row])
            for i in range(columns):
                missing += children[row, i] >= 0 and places[row, i] < 0
            continue
        tier = low = high = hint = 0
        looked_up = False
        for i in range(columns):
            child = children[row, i]
            if child < 0:
                places[row, i] = -1
                continue
            if child_tiers[row, i] != tier or not looked_up:
                tier = child_tiers[row, i]
                looked_up = True
                k = find(tiers, 0, len(tiers), tier, 0)
                if k < len(tiers) and tiers[k] == tier:
                    low, high, hint = starts[k], starts[k + 1], starts[k]
                else:
                    low, high, hint = 0, 0, 0
            hint = find(positions, low, high, child, hint)
            place = hint if hint < high and positions[hint] == child else -1
            places[row, i] = place
            missing += place < 0
    return missing
