"""The compiled loops over steps: made from scores, packed, loaded and looked up. None knows a game.

A step is a position from which on, in ascending order, the outcome is another one, and the code of that outcome.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.streamed.lists import (
    AT,
    FIRST,
    FIRST_CODE,
    LAST,
    LAST_CODE,
    LENGTH,
    SIZE,
    VARYING,
    Buffer,
    pack,
    unpack_steps,
)
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, rank_of, room_for_runs
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, WIN_CLASS
from retrograde.solver.values.score_kernels import pass_up

Array = np.ndarray[Any, Any]

BITS = 14
"""Bits for the plies of a score."""
WIN_IN_ONE = 1 << 2 | WIN_CLASS
"""The code of a WIN in one ply, which needs no step in a database."""
BEYOND = 1 << 62
"""What no position reaches."""


class Steps(NamedTuple):
    """The steps of tiers, one tier after another: their first positions `starts` int64[n]; what they are worth one ply
    earlier, `passed` uint16[n]; an index of them, `buckets` int32[n]; and a row for each tier of `spans`, int64[k, 4].

    Before the steps of a tier comes one, from -1, that is worth nothing, and behind them one that no position reaches.
    """

    starts: Array
    passed: Array
    buckets: Array
    spans: Array


BEGIN, END, BASE, SHIFT, SPANS = range(5)
"""Columns of `Steps.spans`: where the steps of a tier begin and end; and the first bucket of the index, where positions
that are equal but for so many lowest bits make a bucket. A bucket's entry, at the place in `buckets` of the tier's
first step and so on, is the last step that begins in a bucket before."""


class Scored(NamedTuple):
    """Positions of lists, one list after another: the `positions` int64[n], their `scores` uint16[n], and how many are
    equal to each by symmetry, `sizes` int64[n]."""

    positions: Array
    scores: Array
    sizes: Array


class Making(NamedTuple):
    """What steps are made in and written to: room for a list of them, `starts` int64[n] and `codes` uint16[n]; buffers
    for those `of_all` positions, and for those `kept` in the database; and a row for either list, `made` int64[k, 2,
    MADE]."""

    starts: Array
    codes: Array
    of_all: Buffer
    kept: Buffer
    made: Array


ITEMS, TIER, TIER_MASK, SCORED = range(4)
"""Columns of the table of scored lists: how many positions one has, its tier, and the mask of that."""
STORED, POSITIONS, FIRST_TIER, FIRST_POSITION, TALLIED = range(5)
"""Columns of a tally, in which every code, or primitive value, has a row: how many positions there are, how many with
those equal by symmetry, and the tier and the number of the first."""


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


# Looking up


@kernel
def load_steps(arena, rows, steps):
    """Unpack the steps of tiers: row k of *rows* has the first and the last list, exclusive, of tier k."""
    starts, passed, _, spans = steps
    end = 0
    for k in range(len(rows)):
        spans[k, BEGIN] = end
        starts[end] = -1
        passed[end] = 0
        end += 1
        for row in range(rows[k, 0], rows[k, 1]):
            low = end
            end = unpack_steps(arena, row, starts, passed, end)
            for i in range(low, end):
                passed[i] = pass_up(score_of(np.int64(passed[i])), BITS)
        spans[k, END] = end
        starts[end] = BEYOND
        index_steps(steps, k)
        end += 1


@kernel
def index_steps(steps, k):
    """Write the index of the steps of tier k."""
    starts, _, buckets, spans = steps
    begin, end = spans[k, BEGIN], spans[k, END]
    spans[k, BASE] = spans[k, SHIFT] = 0
    if end - begin < 2:
        return
    reach = starts[end - 1] - starts[begin + 1]
    shift = 0
    while (reach >> shift) + 2 >= end - begin and shift < 62:
        shift += 1
    base = starts[begin + 1] >> shift
    spans[k, BASE], spans[k, SHIFT] = base, shift
    step = begin
    for bucket in range((starts[end - 1] >> shift) - base + 1):
        while step + 1 < end and (starts[step + 1] >> shift) - base < bucket:
            step += 1
        buckets[begin + bucket] = step


@kernel
def find_step(steps, k, position):
    """Return the last of the steps of tier k that begins at a position or before."""
    starts, _, buckets, spans = steps
    low, high, base, shift = spans[k, BEGIN], spans[k, END], spans[k, BASE], spans[k, SHIFT]
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


# Making


@kernel
def count_in(tally, row, tier, position, size):
    """Count a position of a tier, with so many equal to it by symmetry, in a row of a tally."""
    lower = tier == tally[row, FIRST_TIER] and position < tally[row, FIRST_POSITION]
    if tally[row, STORED] == 0 or tier < tally[row, FIRST_TIER] or lower:
        tally[row, FIRST_TIER] = tier
        tally[row, FIRST_POSITION] = position
    tally[row, STORED] += 1
    tally[row, POSITIONS] += size


@kernel
def make_steps(scored, lists, tally, making):
    """Write scored lists as two lists of steps each, and count their codes, which take the place of their scores.

    The first is of all positions, for the tiers before; the second, for the database, leaves out those that win in one,
    and begins each step where most lowest bits are zero. (Cut in four, it takes five times as long to compile.)
    """
    positions, codes, sizes = scored
    begin = 0
    places = np.zeros(2, np.int64)
    for k in range(len(lists)):
        end, tier, mask = begin + lists[k, ITEMS], lists[k, TIER], lists[k, TIER_MASK]
        for i in range(begin, end):
            code = codes[i] = code_of(np.int64(codes[i]))
            count_in(tally, code, tier, positions[i], sizes[i])
        for which in range(2):
            count = 0
            first = last = last_code = np.int64(-1)
            for i in range(begin, end):
                code = np.int64(codes[i])
                if which == 1 and code == WIN_IN_ONE:
                    continue
                position = positions[i]
                if code != last_code:
                    starts_at = rounded(position, last, mask) if which == 1 and last >= 0 else position
                    making.starts[count], making.codes[count] = starts_at, code
                    count += 1
                    last_code = code
                    if last < 0:
                        first = position
                last = position
            at = stop = places[which]
            if count:
                stop = pack(making.starts[:count], making.codes, mask, making.kept if which else making.of_all, at)
            row = making.made[k, which]
            row[AT], row[SIZE], row[LENGTH], row[VARYING], row[FIRST], row[LAST] = (
                at,
                stop - at,
                count,
                mask,
                first,
                last,
            )
            row[FIRST_CODE], row[LAST_CODE] = making.codes[0], making.codes[max(count - 1, 0)]
            places[which] = stop
        begin = end


@kernel
def rounded(position, before, mask):
    """Return the position with most of its lowest bits under the mask zero that is still above *before*."""
    highest = 1 << int(position ^ before).bit_length() - 1
    return position & ~(mask & highest - 1)


# For the database


@kernel
def unpack_ranks(arena, about, ranks, codes):
    """Write the ranks and codes of the steps of all loaded lists, those in one tier joined; return where they end.

    A row of *about* has the mask of the tier, the last position of the tier before the list, or -1, and 1 where the
    first step of the list is to be left out, because it only goes on the one before.
    """
    room = room_for_runs()
    end = 0
    for row in range(len(arena.table)):
        begin = end
        end = unpack_steps(arena, row, ranks, codes, end)
        mask, before, joins = about[row, 0], about[row, 1], about[row, 2]
        if joins:
            for i in range(begin + 1, end):
                ranks[i - 1] = ranks[i]
                codes[i - 1] = codes[i]
            end -= 1
        elif before >= 0:
            ranks[begin] = rounded(ranks[begin], before, mask)
        runs = find_runs(mask, room)
        for i in range(begin, end):
            ranks[i] = rank_of(ranks[i], runs)
    return end
