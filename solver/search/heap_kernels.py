"""The compiled loops of nim-sequences; see `nim_sequence.py`."""

import numpy as np

from retrograde.games.contract.heap_code import NOTHING, ONE, TWO, UNEQUAL
from retrograde.solver.runtime.kernel import kernel


@kernel
def extend_nimbers(values, begin, code, stop, progress):
    """Write the nimbers of heaps from *begin* on; return how many are known at the end, or when stopped.

    *values* int32[n] has the nimbers below *begin*. *code* is the game's (see `games/contract/heap_code.py`). The first
    item of *progress* shows other threads how many are known.
    """
    # seen[x] is the last heap with a move to the nimber x. Its length is a power of two above twice the greatest
    # nimber, so that the xor of any two is below it.
    size = 16
    while size <= 2 * values[:begin].max():
        size *= 2
    seen = np.zeros(size, np.int32)
    for heap in range(begin, len(values)):
        if stop[0]:
            return heap
        # Step 1: mark the nimber of what each move leaves. Two heaps add up to the xor of their nimbers.
        for taken in range(min(len(code), heap + 1)):
            digit, left = code[taken], heap - taken
            if digit & NOTHING and left == 0:
                seen[0] = heap
            if digit & ONE and left > 0 and taken > 0:
                seen[values[left]] = heap
            # The smaller of two heaps has at most half of what is left; less than half if sizes must be unequal.
            largest = 0
            if digit & TWO:
                largest = left // 2
            elif digit & UNEQUAL:
                largest = (left - 1) // 2
            for smaller in range(1, largest + 1):
                seen[values[smaller] ^ values[left - smaller]] = heap
        # Step 2: the nimber is the least that is not marked.
        nimber = 0
        while nimber < len(seen) and seen[nimber] == heap:
            nimber += 1
        values[heap] = nimber
        progress[0] = heap + 1
        while size <= 2 * nimber:
            size *= 2
        if size > len(seen):
            seen = np.zeros(size, np.int32)
    return len(values)


@kernel
def count_repeated(values):
    """Return int64[n]: how many values from each index on are equal to those from the beginning on (Z-function). Index
    0 has 0. So [1, 2, 1, 2, 3] gives [0, 0, 2, 0, 0]."""
    count = len(values)
    lengths = np.zeros(count, np.int64)
    begin = end = 0  # the values from begin to end - 1 are equal to those from the beginning on
    for i in range(1, count):
        length = min(lengths[i - begin], end - i) if i < end else 0
        while i + length < count and values[length] == values[i + length]:
            length += 1
        lengths[i] = length
        if i + length > end:
            begin, end = i, i + length
    return lengths
