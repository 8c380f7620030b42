"""The compiled loops over steps: written from scores, packed, loaded and looked up. They are the same for all games.

A step is a position and the code of an outcome. The outcome holds for all positions from there up to the next step. A
code is the remoteness in plies, times four, plus the class of the value: a win in 5 plies is `5 << 2 | WIN_CLASS`. A
*score* has the same content in an order in which the greater is the better (see values/score.py).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from retrograde.solver.methods.listed.spill.kernels import is_at_most
from retrograde.solver.methods.streamed.lists import (
    FIRST,
    FIRST_CODE,
    LAST,
    LAST_CODE,
    copy_words,
    describe,
    fill,
    pack,
    unpack_steps,
)
from retrograde.solver.rules.positions import position_in, put
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer, rank_of
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, WIN_CLASS
from retrograde.solver.values.score_kernels import pass_up

BITS = 14
"""Bits for the plies of a score."""
WIN_IN_ONE = (1 << 2) | WIN_CLASS
"""The code of a win in one ply. Databases have no steps for it."""
BEYOND = 1 << 62
"""Greater than any position."""


class LoadedSteps(NamedTuple):
    """The loaded steps of some tiers, one tier after another.

    `starts`, int64[n] or int64[n, words], are their positions. `passed`, uint16[n], are their scores as seen by the
    parent, one ply earlier. `buckets`, int32[n], is an index, and `tiers`, int64[k, TIER_COLUMNS], has a row for each
    tier. Each tier begins with a step at position -1 with score 0 (no score), and ends with one at BEYOND. Of several
    words, all are -1, or BEYOND.
    """

    starts: Array
    passed: Array
    buckets: Array
    tiers: Array


BEGIN, END, BASE, SHIFT, WORD, TIER_COLUMNS = range(6)
"""Columns of `LoadedSteps.tiers`. TIER_COLUMNS is their number.

BEGIN and END: the tier's steps. BASE and SHIFT: the index. Positions with the same `position >> SHIFT` are a bucket,
and BASE is the first bucket. Entry `buckets[BEGIN + b]` is the last step that begins before bucket BASE + b. If
positions have several words, buckets go by the first WORD that differs between the first step and the last one.
"""


class ScoredLists(NamedTuple):
    """The scored positions of some lists, one list after another. `positions` int64[n] or int64[n, words], their
    `scores` uint16[n], and `sizes` int64[n]: how many positions equal each by symmetry."""

    positions: Array
    scores: Array
    sizes: Array


class StepBuffers(NamedTuple):
    """Workspace and buffers of `make_steps`.

    `starts` int64[n] and `codes` uint16[n] hold the steps of one list. `for_parents` gets the packed steps of all
    positions, `for_database` those for the database. `rows`, int64[k, 2, columns of a list], has a row for either.
    """

    starts: Array
    codes: Array
    for_parents: Array
    for_database: Array
    rows: Array


FOR_PARENTS, FOR_DATABASE = range(2)
"""Indices of the two lists of steps of a list of positions."""
ITEMS, TIER, TIER_MASK = range(3)
"""Columns of the table of scored lists: number of positions, tier, and mask of the tier."""
STORED, POSITIONS, FIRST_TIER, FIRST_POSITION, TALLIED = range(5)
"""Columns of a tally, which has a row for each code or primitive value.

STORED: number of stored positions. POSITIONS: the same with symmetric ones. FIRST_TIER and FIRST_POSITION: the first
position, in the lowest tier. Each further word of a position has a further column.
"""


@kernel
def code_of(score):
    """Return the code of a score.

    >>> from retrograde.games.contract.game import LOSE, WIN
    >>> from retrograde.solver.values.score import encode
    >>> code_of(encode(LOSE, 4, BITS)), code_of(encode(WIN, 3, BITS))  # 4 * plies + class
    (16, 15)
    """
    score_class, plies = score >> BITS, score & ((1 << BITS) - 1)
    if score_class == DRAW_CLASS:
        return np.int64(score_class)
    # A score counts plies down for wins, so that a quicker win is greater.
    return ((plies if score_class == LOSE_CLASS else (1 << BITS) - 1 - plies) << 2) | score_class


@kernel
def score_of(code):
    """Return the score of a code."""
    score_class, plies = code & 3, code >> 2
    if score_class == DRAW_CLASS:
        return np.int64(score_class) << BITS
    return (np.int64(score_class) << BITS) | (plies if score_class == LOSE_CLASS else (1 << BITS) - 1 - plies)


# Looking up


def word_at(positions: Array, i: int, word: int) -> Any:
    """Return a word of an entry of an array of positions; the entry itself if that is an int."""
    return positions[i] if positions.ndim == 1 else positions[i, word]


def word_of(position: Any, word: int) -> Any:
    """Return a word of a position; the position itself if that is an int."""
    return position[word] if isinstance(position, tuple) else position


def first_difference(positions: Array, i: int, j: int) -> int:
    """Return the index of the first word in which two entries differ, of the last word if none does; 0 for ints."""
    return 0 if positions.ndim == 1 else int((positions[i, :-1] == positions[j, :-1]).cumprod().sum())


@overload(word_at)
def compiled_word_at(positions, i, word):
    return (
        (lambda positions, i, word: positions[i])
        if positions.ndim == 1
        else lambda positions, i, word: positions[i, word]
    )


@overload(word_of)
def compiled_word_of(position, word):
    is_tuple = isinstance(position, types.BaseTuple)
    return (lambda position, word: position[word]) if is_tuple else lambda position, word: position


@overload(first_difference)
def compiled_first_difference(positions, i, j):
    """Return the code of `first_difference` for positions of one word or of several."""

    def first_word(positions, i, j):
        word = 0
        while word < positions.shape[1] - 1 and positions[i, word] == positions[j, word]:
            word += 1
        return word

    return first_word if positions.ndim > 1 else lambda positions, i, j: 0


@kernel
def load_steps(arena, rows, steps):
    """Unpack the steps of some tiers into *steps*. Two steps more mark the begin and the end of each tier.

    *arena* has packed lists of steps: of tier k those from `rows[k, 0]` up to `rows[k, 1]`, the latter excluded.
    """
    starts, passed, _, tiers = steps
    end = ZERO
    for k in range(len(rows)):
        # The step at -1 catches positions before the first step. Its score 0 means: not found.
        tiers[k, BEGIN] = end
        fill(starts, end, -1)
        passed[end] = 0
        end += 1
        # `unpack_steps` writes codes into *passed*; turn each into the score that the parent gets.
        for row in range(rows[k, 0], rows[k, 1]):
            low = end
            end = unpack_steps(arena, row, starts, passed, end)
            for i in range(low, end):
                passed[i] = pass_up(score_of(np.int64(passed[i])), BITS)
        # The step at BEYOND ends the tier; END is its index.
        tiers[k, END] = end
        fill(starts, end, BEYOND)
        index_steps(steps, k)
        end += 1


@kernel
def index_steps(steps, k):
    """Write the index of the steps of tier k (see SHIFT). Tiers that only have the step at -1 need none."""
    starts, _, buckets, tiers = steps
    begin, end = tiers[k, BEGIN], tiers[k, END]
    tiers[k, BASE] = tiers[k, SHIFT] = tiers[k, WORD] = 0
    if end - begin < 2:
        return
    # Choose buckets so wide that there are fewer of them than steps.
    word = first_difference(starts, begin + 1, end - 1)
    first, last = word_at(starts, begin + 1, word), word_at(starts, end - 1, word)
    shift = 0
    while ((last - first) >> shift) + 2 >= end - begin and shift < 62:
        shift += 1
    base = first >> shift
    tiers[k, BASE], tiers[k, SHIFT], tiers[k, WORD] = base, shift, word
    # For each bucket, find the last step before it.
    step = begin
    for bucket in range((last >> shift) - base + 1):
        while step + 1 < end and (word_at(starts, step + 1, word) >> shift) - base < bucket:
            step += 1
        buckets[begin + bucket] = step


@kernel
def find_step(steps, k, position):
    """Return the index, in the arrays of *steps*, of the last step of tier k at or before a position.

    *steps* is a LoadedSteps. The step at -1 is found for a position before the tier's first step.
    """
    starts, _, buckets, tiers = steps
    low, high, base, shift, word = tiers[k, BEGIN], tiers[k, END], tiers[k, BASE], tiers[k, SHIFT], tiers[k, WORD]
    if high - low < 2 or not is_at_most(starts, low + 1, position):
        return low
    if is_at_most(starts, high - 1, position):
        return high - 1
    # Step 1: Narrow the range by the index. The step begins at or after the last one before this bucket, and not after
    # the last one before the next bucket.
    bucket = (word_of(position, word) >> shift) - base
    last_bucket = (word_at(starts, high - 1, word) >> shift) - base
    begin = low
    if bucket < last_bucket:
        high = buckets[begin + bucket + 1] + 1
    low = buckets[begin + bucket]
    # Step 2: Search by bisection. The step is at *low* or later, and before *high*.
    while high - low > 1:
        middle = (low + high) >> 1
        if is_at_most(starts, middle, position):
            low = middle
        else:
            high = middle
    return low


# Writing


def is_lower(tally: Array, row: int, position: Any) -> bool:
    """Return whether a position is less than the first one in a row of a tally."""
    first = tally[row, FIRST_POSITION:].tolist()
    return tuple(first) > position if isinstance(position, tuple) else first[0] > position


@overload(is_lower)
def compiled_is_lower(tally, row, position):
    """Return the code of `is_lower` for positions that are ints or tuples."""
    if not isinstance(position, types.BaseTuple):
        return lambda tally, row, position: position < tally[row, FIRST_POSITION]

    def is_tuple_lower(tally, row, position):
        for word in range(len(position)):
            if position[word] != tally[row, FIRST_POSITION + word]:
                return position[word] < tally[row, FIRST_POSITION + word]
        return False

    return is_tuple_lower


@kernel
def count_in(tally, row, tier, position, size):
    """Count a position in a row of a tally. *size* is the number of positions equal to it by symmetry."""
    lower = tier == tally[row, FIRST_TIER] and is_lower(tally, row, position)
    if tally[row, STORED] == 0 or tier < tally[row, FIRST_TIER] or lower:
        tally[row, FIRST_TIER] = tier
        put(tally[row], FIRST_POSITION, position)
    tally[row, STORED] += 1
    tally[row, POSITIONS] += size


@kernel
def make_steps(scored, lists, tally, buffers):
    """Write scored lists as steps, twice, to *buffers* (StepBuffers), and count their codes in *tally*. Codes replace
    scores in *scored*.

    The first list of steps has all positions, for the wave before. The second, for the database, leaves out positions
    that win in one, and moves each step to a number with as many zero bits at the end as possible (otherwise steps take
    16 to 20 % more space, see benchmarks/README.md). (Splitting this kernel in four makes compilation take five times
    as long.)
    """
    positions, codes, sizes = scored  # codes are scores until step 1 converts them
    begin = 0
    offsets = np.zeros(2, np.int64)
    for k in range(len(lists)):
        end, tier, mask = begin + lists[k, ITEMS], lists[k, TIER], lists[k, TIER_MASK]
        # Step 1: Convert scores to codes and count them.
        for i in range(begin, end):
            code = codes[i] = code_of(np.int64(codes[i]))
            count_in(tally, code, tier, positions[i], sizes[i])
        # Step 2: Write the steps, first for all positions, then for the database.
        for which in (FOR_PARENTS, FOR_DATABASE):
            count = 0
            first = last = last_code = np.int64(-1)
            for i in range(begin, end):
                code = np.int64(codes[i])
                if which == FOR_DATABASE and code == WIN_IN_ONE:
                    continue
                position = positions[i]
                # The outcome changes here. A step may begin anywhere after the last position, which is -1 at first.
                if code != last_code:
                    start = round_down(position, last, mask) if which == FOR_DATABASE and last >= 0 else position
                    buffers.starts[count], buffers.codes[count] = start, code
                    count += 1
                    last_code = code
                    if last < 0:
                        first = position
                last = position
            # Step 3: Pack the list and describe it in a row.
            at = stop = offsets[which]
            if count:
                packed = buffers.for_database if which == FOR_DATABASE else buffers.for_parents
                stop = pack(buffers.starts[:count], buffers.codes, mask, packed, at)
            row = buffers.rows[k, which]
            describe(row, at, stop - at, count, mask)
            row[FIRST], row[LAST] = first, last
            row[FIRST_CODE], row[LAST_CODE] = buffers.codes[0], buffers.codes[max(count - 1, 0)]
            offsets[which] = stop
        begin = end


@kernel
def make_steps_of_rows(game, scored, lists, tally, buffers):
    """Do what `make_steps` does, for positions of several words. For the database, each position is a step of its
    own."""
    positions, codes, sizes = scored  # codes are scores until step 1 converts them
    begin = at = database_at = ZERO
    for k in range(len(lists)):
        end, tier = begin + lists[k, ITEMS], lists[k, TIER]
        # Step 1: Convert scores to codes, count them, and note where they change.
        count = 0
        for i in range(begin, end):
            code = codes[i] = code_of(np.int64(codes[i]))
            count_in(tally, code, tier, position_in(game, positions, i), sizes[i])
            if count == 0 or code != buffers.codes[count - 1]:
                put(buffers.starts, count, position_in(game, positions, i))
                buffers.codes[count] = code
                count += 1
        # Step 2: Pack the steps, then all positions with their codes.
        stop = pack(buffers.starts[:count], buffers.codes[:count], ZERO, buffers.for_parents, at)
        describe(buffers.rows[k, FOR_PARENTS], at, stop - at, count, ZERO)
        database_stop = pack(positions[begin:end], codes[begin:end], ZERO, buffers.for_database, database_at)
        describe(buffers.rows[k, FOR_DATABASE], database_at, database_stop - database_at, end - begin, ZERO)
        for which in (FOR_PARENTS, FOR_DATABASE):
            copy_words(positions, begin, buffers.rows[k, which], FIRST)
            copy_words(positions, end - 1, buffers.rows[k, which], FIRST + positions.shape[1])
        at, database_at, begin = stop, database_stop, end


@kernel
def round_down(position, before, mask):
    """Clear as many of the lowest bits of *position* under the mask as leave it above *before*.

    >>> bin(round_down(0b101101, 0b100110, 0b111111))
    '0b101000'
    """
    # The highest bit in which the two differ: position has a 1 there, before a 0.
    highest = 1 << (int(position ^ before).bit_length() - 1)
    return position & ~(mask & (highest - 1))


# For the database


@kernel
def unpack_ranks(arena, list_info, ranks, codes):
    """Write the ranks and codes of all loaded lists of steps, as the database has them; return how many steps.

    Lists of the same tier are joined. A row of *list_info* has the tier's mask; the last position of the list before in
    the same tier, or -1; and whether to leave out the first step, because it only continues the outcome before.
    """
    runs_buffer = make_runs_buffer()
    end = ZERO
    for row in range(len(arena.table)):
        begin = end
        end = unpack_steps(arena, row, ranks, codes, end)
        mask, before, joins = list_info[row, 0], list_info[row, 1], list_info[row, 2]
        # Case: the first step continues the list before. Remove it.
        if joins:
            for i in range(begin + 1, end):
                ranks[i - 1] = ranks[i]
                codes[i - 1] = codes[i]
            end -= 1
        # Case: the tier has an earlier list. Move the first step down, as within a list.
        elif before >= 0:
            ranks[begin] = round_down(ranks[begin], before, mask)
        runs = find_runs(mask, runs_buffer)
        for i in range(begin, end):
            ranks[i] = rank_of(ranks[i], runs)
    return end
