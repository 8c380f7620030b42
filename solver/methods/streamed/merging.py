"""Compiled loops that sort and merge lists of numbers. They are independent of the game."""

import numpy as np

from retrograde.solver.runtime.kernel import kernel


@kernel
def sort(numbers, buffer):
    """Sort non-negative numbers in place by radix sort, one byte at a time. *buffer* is a buffer of equal length.

    Bytes that are equal in all numbers are skipped.
    """
    count = len(numbers)
    # Case: few numbers. Insertion sort is cheaper than the 256 counters of a radix pass.
    if count < 64:
        for i in range(1, count):
            number = numbers[i]
            j = i
            while j and numbers[j - 1] > number:
                numbers[j] = numbers[j - 1]
                j -= 1
            numbers[j] = number
        return
    # Step 1: find the bits in which the numbers differ.
    varying = 0
    for number in numbers:
        varying |= number ^ numbers[0]
    # Step 2: for each byte that varies, a stable counting sort from `source` to `target`, lowest byte first.
    tally = np.empty(256, np.int64)
    source, target = numbers, buffer
    moved = False
    for shift in range(0, 64, 8):
        if not varying >> shift & 255:
            continue
        for byte in range(256):
            tally[byte] = 0
        for i in range(count):
            tally[source[i] >> shift & 255] += 1
        # Turn counts into the position where each byte value begins.
        end = 0
        for byte in range(256):
            end, tally[byte] = end + tally[byte], end
        for i in range(count):
            byte = source[i] >> shift & 255
            target[tally[byte]] = source[i]
            tally[byte] += 1
        source, target = target, source
        moved = not moved
    # Step 3: after an odd number of passes the result is in the buffer; copy it back.
    if moved:
        for i in range(count):
            numbers[i] = buffer[i]


@kernel
def merge_two(left, right, out):
    """Merge two sorted lists, numbers in both only once; return the length of the result."""
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
def merge(numbers, buffer, bounds, runs):
    """Merge consecutive sorted runs of *numbers* into one; return the length of the result.

    Run k goes from `bounds[k]` to `bounds[k + 1]`. The result is in *numbers*; *buffer* is a buffer; *bounds* is
    overwritten.
    """
    moved = False
    # Each pass merges runs in pairs from one buffer into the other and halves their number.
    while runs > 1:
        source, target = (buffer, numbers) if moved else (numbers, buffer)
        end = 0
        merged = 0
        for run in range(0, runs - 1, 2):
            low, middle, high = bounds[run], bounds[run + 1], bounds[run + 2]
            begin = end
            end += merge_two(source[low:middle], source[middle:high], target[end:])
            bounds[merged] = begin
            merged += 1
        # An odd run has no partner: copy it.
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
    # After an odd number of passes the result is in the buffer; copy it back.
    count = bounds[1] if runs else 0
    if moved:
        for i in range(count):
            numbers[i] = buffer[i]
    return count


@kernel
def merge_lists(numbers, buffer, bounds, runs, ends):
    """Merge the runs of each list into one strictly ascending list, and close the gaps between lists.

    *bounds* has the ends of all runs, one after another. *runs* has, for each list, where its runs end in *bounds*.
    Writes to *ends* where each merged list ends in *numbers*.
    """
    end = begin = first = 0
    marks = np.empty(len(bounds) + 1, np.int64)
    for k in range(len(runs)):
        # Bounds of this list's runs, counted from where the list begins.
        marks[0] = 0
        for run in range(first, runs[k]):
            marks[run - first + 1] = bounds[run] - begin
        stop = bounds[runs[k] - 1] if runs[k] > first else begin
        count = merge(numbers[begin:stop], buffer, marks, runs[k] - first)
        # Move the list to the front and drop duplicates.
        before = np.int64(-1)
        for i in range(begin, begin + count):
            number = numbers[i]
            numbers[end] = number
            end += number != before
            before = number
        ends[k] = end
        begin = stop
        first = runs[k]
