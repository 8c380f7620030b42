"""The compiled loops that sort and merge lists of numbers. None knows a game."""

import numpy as np

from retrograde.solver.runtime.kernel import kernel


@kernel
def sort(numbers, room):
    """Sort non-negative numbers, by one byte after another, of those in which they differ; *room* is as large."""
    count = len(numbers)
    if count < 64:
        for i in range(1, count):
            number = numbers[i]
            j = i
            while j and numbers[j - 1] > number:
                numbers[j] = numbers[j - 1]
                j -= 1
            numbers[j] = number
        return
    varying = 0
    for number in numbers:
        varying |= number ^ numbers[0]
    tally = np.empty(256, np.int64)
    source, target = numbers, room
    moved = False
    for shift in range(0, 64, 8):
        if not varying >> shift & 255:
            continue
        for byte in range(256):
            tally[byte] = 0
        for i in range(count):
            tally[source[i] >> shift & 255] += 1
        end = 0
        for byte in range(256):
            end, tally[byte] = end + tally[byte], end
        for i in range(count):
            byte = source[i] >> shift & 255
            target[tally[byte]] = source[i]
            tally[byte] += 1
        source, target = target, source
        moved = not moved
    if moved:
        for i in range(count):
            numbers[i] = room[i]


@kernel
def merge_two(left, right, out):
    """Merge sorted numbers, those in both only once; return how many come out."""
    i = j = end = 0
    while i < len(left) and j < len(right):
        a, b = left[i], right[j]
        out[end] = min(a, b)
        end += 1
        i += a <= b
        j += b <= a
    while i < len(left):
        out[end] = left[i]
        i += 1
        end += 1
    while j < len(right):
        out[end] = right[j]
        j += 1
        end += 1
    return end


@kernel
def merge(numbers, room, bounds, runs):
    """Merge consecutive sorted runs of numbers, run k from bounds[k] to bounds[k + 1]; return how many come out.

    They lie in *numbers*; the bounds are overwritten.
    """
    moved = False
    while runs > 1:
        source, target = (room, numbers) if moved else (numbers, room)
        end = 0
        merged = 0
        for run in range(0, runs - 1, 2):
            low, middle, high = bounds[run], bounds[run + 1], bounds[run + 2]
            begin = end
            end += merge_two(source[low:middle], source[middle:high], target[end:])
            bounds[merged] = begin
            merged += 1
        if runs & 1:
            low, high = bounds[runs - 1], bounds[runs]
            for i in range(low, high):
                target[end + i - low] = source[i]
            bounds[merged] = end
            merged += 1
            end += high - low
        bounds[merged] = end
        runs = merged
        moved = not moved
    count = bounds[1] if runs else 0
    if moved:
        for i in range(count):
            numbers[i] = room[i]
    return count


@kernel
def merge_lists(numbers, room, bounds, runs, ends):
    """Merge, for each of some lists, its runs into one that ascends strictly; move them together, and say where each
    ends.

    *bounds* holds the ends of all runs, one after another; *runs* where among them those of each list end.
    """
    end = begin = first = 0
    marks = np.empty(len(bounds) + 1, np.int64)
    for k in range(len(runs)):
        marks[0] = 0
        for run in range(first, runs[k]):
            marks[run - first + 1] = bounds[run] - begin
        stop = bounds[runs[k] - 1] if runs[k] > first else begin
        count = merge(numbers[begin:stop], room, marks, runs[k] - first)
        before = np.int64(-1)
        for i in range(begin, begin + count):
            number = numbers[i]
            numbers[end] = number
            end += number != before
            before = number
        ends[k] = end
        begin = stop
        first = runs[k]
