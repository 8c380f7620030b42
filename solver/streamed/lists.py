"""The compiled loops over sorted lists, packed and unpacked, sorted and merged; and over steps. None knows a game.

A list is cut into blocks of BLOCK positions. In memory, and in scratch files, it lies as ::

    | first position of each block, int64 | where each block ends in the octets | octets |

and the octets hold, for each position but the first of a block, how much its rank is above the one before: seven bits
to an octet, lowest first, the highest bit set where more follow. A rank is what a position has under the *mask*, the
bits that vary in its tier, pushed together. Lists of steps (see `streaming.py`) hold a code behind each gap, and one
for the first of a block as well.

Many lists lie one after another in an arena, an array of octets that is seen as one of words, too. Tables of int64 say
where; their columns have names below.
"""

import numpy as np

from retrograde.solver.outcomes.encode import MOST_RUNS, find_runs
from retrograde.solver.outcomes.score import DRAW_CLASS, LOSE_CLASS, WIN_CLASS
from retrograde.solver.outcomes.score_kernels import pass_up
from retrograde.solver.work.kernel import kernel

BLOCK = 1 << 10
"""Positions in a block of a list."""
MOST_OCTETS = 14
"""Octets that a list takes at most for each position: two words for a block, a gap, and a code of a step."""
BITS = 14
"""Bits for the plies of a score."""
WIN_IN_ONE = 1 << 2 | WIN_CLASS
"""The code of a WIN in one ply, which needs no step in a database."""

WHERE, COUNT, MASK, MOVE, ASCENDS, FROM, TO, COLUMNS = range(8)
"""Columns of the table of loaded lists: where in the octets the list is; how many positions it has; the bits that may
vary; the move to make, or -1 for all; 1 where the children by that move must ascend, because only part of the list may
be looked at; from which of its blocks to which, exclusive, that is."""

AT, SIZE, KEPT, VARYING, FIRST, FINAL, ROWS = range(7)
"""Columns of the table of lists made: where in the octets the list is, and how many it takes; how many positions it
has; the bits that vary; the first and the last position."""


# Packing


@kernel
def pack_number(number, octets, at):
    """Write a number below 2**63 and return where the next may stand."""
    while number >= 128:
        octets[at] = number & 127 | 128
        number >>= 7
        at += 1
    octets[at] = number
    return at + 1


@kernel
def rank_of(position, runs, bits, shifts):
    """Return a position's bits under a mask, given as runs of ones, pushed together."""
    rank = 0
    for run in range(runs):
        rank |= (position & bits[run]) >> shifts[run]
    return rank


@kernel
def pack(positions, codes, mask, words, octets, at):
    """Write a list, of steps if there are codes, at a place that eight divides; return where the next may stand."""
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    runs = find_runs(mask, bits, shifts)
    count = len(positions)
    blocks = (count + BLOCK - 1) // BLOCK
    firsts = at >> 3
    begin = at + 16 * blocks
    end = begin
    for block in range(blocks):
        low, high = block * BLOCK, min((block + 1) * BLOCK, count)
        words[firsts + block] = positions[low]
        before = rank_of(positions[low], runs, bits, shifts)
        if len(codes):
            end = pack_number(np.int64(codes[low]), octets, end)
        for i in range(low + 1, high):
            rank = rank_of(positions[i], runs, bits, shifts)
            end = pack_number(rank - before, octets, end)
            if len(codes):
                end = pack_number(np.int64(codes[i]), octets, end)
            before = rank
        words[firsts + blocks + block] = end - begin
    while end & 7:
        octets[end] = 0
        end += 1
    return end


@kernel
def pack_lists(found, ends, words, octets, rows):
    """Write lists of positions that lie one after another, and say in *rows* where each is."""
    at = begin = 0
    nothing = np.empty(0, np.uint16)
    for k in range(len(ends)):
        end = ends[k]
        if end > begin:
            varying = 0
            for i in range(begin, end):
                varying |= found[i] ^ found[begin]
            stop = pack(found[begin:end], nothing, varying, words, octets, at)
            rows[k, AT], rows[k, SIZE], rows[k, KEPT], rows[k, VARYING] = at, stop - at, end - begin, varying
            rows[k, FIRST], rows[k, FINAL] = found[begin], found[end - 1]
            at = stop
        else:
            for column in range(ROWS):
                rows[k, column] = 0
        begin = end
    return at


@kernel
def unpack(words, octets, table, row, block, runs, bits, shifts, out):
    """Write the positions of one block of a loaded list, and return how many there are."""
    blocks = (table[row, COUNT] + BLOCK - 1) // BLOCK
    count = min(BLOCK, table[row, COUNT] - block * BLOCK)
    firsts = table[row, WHERE] >> 3
    first = words[firsts + block]
    at = table[row, WHERE] + 16 * blocks + (words[firsts + blocks + block - 1] if block else 0)
    rank = rank_of(first, runs, bits, shifts)
    out[0] = rank
    for i in range(1, count):
        octet = np.int64(octets[at])
        at += 1
        gap = octet & 127
        shift = 7
        while octet >= 128:
            octet = np.int64(octets[at])
            at += 1
            gap |= (octet & 127) << shift
            shift += 7
        rank += gap
        out[i] = rank
    others = first & ~table[row, MASK]
    for i in range(count):
        rank = out[i]
        position = others
        for run in range(runs):
            position |= rank << shifts[run] & bits[run]
        out[i] = position
    return count


@kernel
def unpack_list(words, octets, table, out):
    """Write the positions of all loaded lists, one after another."""
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    end = 0
    for row in range(len(table)):
        runs = find_runs(table[row, MASK], bits, shifts)
        for block in range((table[row, COUNT] + BLOCK - 1) // BLOCK):
            end += unpack(words, octets, table, row, block, runs, bits, shifts, out[end:])


@kernel
def unpack_steps(words, octets, table, row, starts, codes, at_step):
    """Write the first positions and codes of all steps of a loaded list, from a place on; return where they end."""
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    runs = find_runs(table[row, MASK], bits, shifts)
    blocks = (table[row, COUNT] + BLOCK - 1) // BLOCK
    at = table[row, WHERE] + 16 * blocks
    for block in range(blocks):
        count = min(BLOCK, table[row, COUNT] - block * BLOCK)
        first = words[(table[row, WHERE] >> 3) + block]
        others = first & ~table[row, MASK]
        rank = rank_of(first, runs, bits, shifts)
        for i in range(count):
            gap = shift = np.int64(0)
            octet = np.int64(128)
            while i and octet >= 128:
                octet = np.int64(octets[at])
                at += 1
                gap |= (octet & 127) << shift
                shift += 7
            rank += gap
            code = shift = np.int64(0)
            octet = np.int64(128)
            while octet >= 128:
                octet = np.int64(octets[at])
                at += 1
                code |= (octet & 127) << shift
                shift += 7
            position = others
            for run in range(runs):
                position |= rank << shifts[run] & bits[run]
            starts[at_step] = position
            codes[at_step] = code
            at_step += 1
    return at_step


# Sorting and merging


@kernel
def sort(numbers, room):
    """Sort non-negative numbers, by one octet after another, of those in which they differ; *room* is as large."""
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
        for octet in range(256):
            tally[octet] = 0
        for i in range(count):
            tally[source[i] >> shift & 255] += 1
        end = 0
        for octet in range(256):
            end, tally[octet] = end + tally[octet], end
        for i in range(count):
            octet = source[i] >> shift & 255
            target[tally[octet]] = source[i]
            tally[octet] += 1
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


# Steps


@kernel
def code_of(score):
    """Return the code of a score: its remoteness, and in the lowest two bits its class."""
    group, plies = score >> BITS, score & (1 << BITS) - 1
    if group == DRAW_CLASS:
        return np.int64(group)
    return (plies if group == LOSE_CLASS else (1 << BITS) - 1 - plies) << 2 | group


@kernel
def score_of(code):
    """Return the score that a code stands for."""
    group, plies = code & 3, code >> 2
    if group == DRAW_CLASS:
        return np.int64(group) << BITS
    return np.int64(group) << BITS | (plies if group == LOSE_CLASS else (1 << BITS) - 1 - plies)


@kernel
def load_steps(words, octets, lists, spans, children, starts, passed, buckets):
    """Unpack the steps of tiers into *starts* and, as what they are worth one ply earlier, into *passed*.

    Row k of *spans* has the first and the last row of *lists*, exclusive, for the steps of one tier; row k of
    *children* becomes where they begin and end. Before them all comes one, from -1, that is worth nothing,
    and behind them one that no position reaches.
    """
    end = 0
    for k in range(len(spans)):
        begin = end
        starts[end] = -1
        passed[end] = 0
        end += 1
        for row in range(spans[k, 0], spans[k, 1]):
            low = end
            end = unpack_steps(words, octets, lists, row, starts, passed, end)
            for i in range(low, end):
                passed[i] = pass_up(score_of(np.int64(passed[i])), BITS)
        children[k, 0], children[k, 1] = begin, end
        starts[end] = 1 << 62
        index_steps(starts, k, children, buckets)
        end += 1


@kernel
def index_steps(starts, k, children, buckets):
    """Write the index of the steps of a tier, row k of *children*: there the least position of a bucket, and the shift.

    Positions that are equal but for so many lowest bits make a bucket. A bucket's entry, at the place in *buckets* of
    the tier's first step and so on, is the last step that begins in a bucket before.
    """
    begin, end = children[k, 0], children[k, 1]
    children[k, 2] = children[k, 3] = 0
    if end - begin < 2:
        return
    span = starts[end - 1] - starts[begin + 1]
    shift = 0
    while (span >> shift) + 2 >= end - begin and shift < 62:
        shift += 1
    base = starts[begin + 1] >> shift
    children[k, 2], children[k, 3] = base, shift
    step = begin
    for bucket in range((starts[end - 1] >> shift) - base + 1):
        while step + 1 < end and (starts[step + 1] >> shift) - base < bucket:
            step += 1
        buckets[begin + bucket] = step


@kernel
def find_step(starts, children, k, buckets, position):
    """Return the last of the steps of a tier, row k of *children*, that begins at a position or before."""
    low, high, base, shift = children[k, 0], children[k, 1], children[k, 2], children[k, 3]
    if high - low < 2 or position < starts[low + 1]:
        return low
    if position >= starts[high - 1]:
        return high - 1
    bucket = low + (position >> shift) - base
    last = (starts[high - 1] >> shift) - base
    if bucket - low < last:
        high = buckets[bucket + 1] + 1
    low = buckets[bucket]
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@kernel
def make_steps(positions, scores, sizes, units, tally, steps, codes, words, octets, more_words, more_octets, rows):
    """Write the positions of lists, one after another, as two lists of steps each.

    *units* has for each list how many positions it has, its tier, and the mask of that. The first list of steps is of
    all positions, for the tiers before; the second, for the database, leaves out those that win in one, and begins each
    step where most lowest bits are zero. *tally* has a row for each code: how many positions, how many with the
    symmetric ones, and the tier and number of the first. A row of *rows* becomes: for either list where it is in its
    octets, how many it takes, and how many steps it has; and of the second the first and the last position that does
    not win in one, and the codes of those.
    """
    at = more_at = begin = 0
    for unit in range(len(units)):
        count, tier, mask = units[unit, 0], units[unit, 1], units[unit, 2]
        made = 0
        last_code = np.int64(-1)
        for i in range(begin, begin + count):
            code = code_of(np.int64(scores[i]))
            position = positions[i]
            if tally[code, 0] == 0 or tier < tally[code, 2] or (tier == tally[code, 2] and position < tally[code, 3]):
                tally[code, 2] = tier
                tally[code, 3] = position
            tally[code, 0] += 1
            tally[code, 1] += sizes[i]
            scores[i] = code
            if code != last_code:
                steps[made] = position
                codes[made] = code
                made += 1
                last_code = code
        stop = pack(steps[:made], codes, mask, words, octets, at)
        rows[unit, 0], rows[unit, 1], rows[unit, 2] = at, stop - at, made
        at = stop
        made = 0
        first_kept = last_kept = last_code = np.int64(-1)
        for i in range(begin, begin + count):
            code = np.int64(scores[i])
            if code != WIN_IN_ONE:
                position = positions[i]
                if code != last_code:
                    steps[made] = position if last_kept < 0 else rounded(position, last_kept, mask)
                    codes[made] = code
                    made += 1
                    last_code = code
                    if last_kept < 0:
                        first_kept = position
                last_kept = position
        stop = more_at
        if made:
            stop = pack(steps[:made], codes, mask, more_words, more_octets, more_at)
        rows[unit, 3], rows[unit, 4], rows[unit, 5] = more_at, stop - more_at, made
        rows[unit, 6], rows[unit, 7] = first_kept, last_kept
        rows[unit, 8], rows[unit, 9] = codes[0], codes[max(made - 1, 0)]
        more_at = stop
        begin += count


@kernel
def rounded(position, before, mask):
    """Return the position with most of its lowest bits under the mask zero that is still above *before*."""
    differ = position ^ before
    while differ & (differ - 1):
        differ &= differ - 1
    return position & ~(mask & (differ - 1))


@kernel
def unpack_ranks(words, octets, table, about, ranks, codes):
    """Write the ranks and codes of the steps of all loaded lists, those in one tier joined; return where they end.

    A row of *about* has the mask of the tier, the last position of the tier before the list, or -1, and 1 where the
    first step of the list is to be left out, because it only goes on the one before.
    """
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    end = 0
    for row in range(len(table)):
        begin = end
        end = unpack_steps(words, octets, table, row, ranks, codes, end)
        mask, before, joins = about[row, 0], about[row, 1], about[row, 2]
        if joins:
            for i in range(begin + 1, end):
                ranks[i - 1] = ranks[i]
                codes[i - 1] = codes[i]
            end -= 1
        elif before >= 0:
            ranks[begin] = rounded(ranks[begin], before, mask)
        runs = find_runs(mask, bits, shifts)
        for i in range(begin, end):
            ranks[i] = rank_of(ranks[i], runs, bits, shifts)
    return end
