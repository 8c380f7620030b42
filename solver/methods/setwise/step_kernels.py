"""The compiled loops that write the values of a tier as steps for the database.

A step is a position and the code of its outcome, which holds up to the next step (see streamed/steps.py). Only
canonical positions count: those that come before all their images.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.backward_kernels import NONE, like_lowest
from retrograde.solver.methods.setwise.forward_kernels import (
    ALL_SHARE,
    MOST_IMAGES,
    NO_SHARE,
    SOME_SHARE,
    canonical,
    share_of,
)
from retrograde.solver.methods.setwise.words import NOTHING, ONE, ONES, WORD_BITS, highest, lowest, popcount
from retrograde.solver.methods.streamed.lists import AT, FIRST, FIRST_CODE, LAST, LAST_CODE, LENGTH, SIZE, VARYING, pack
from retrograde.solver.methods.streamed.steps import FIRST_POSITION, FIRST_TIER, POSITIONS, STORED, rounded
from retrograde.solver.rules.plain.tier_kernels import (
    BASE,
    GROUP,
    GROUPS,
    IMAGE_PAIRS,
    MASK,
    NUMBER,
    WORD,
    WORDS,
    pairs_of,
)
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer, spread

Array = np.ndarray[Any, Any]


class StepRoom(NamedTuple):
    """Workspace for the steps of a tier: `starts` int64[n] and `codes` uint16[n]."""

    starts: Array
    codes: Array


@kernel
def make_steps(imaging, misere, sets, planes, codes, room, buffer, made, tally, worths):
    """Write the canonical positions of some tiers as steps to *buffer*; return how many such positions there are.

    Each tier gets a row of *made*. *codes* maps worths to codes, and *room* holds the steps of a tier. *tally* counts
    positions by code. For tiers in which some or no positions are canonical, *worths*, int64[tiers, 2**count], has the
    counts of all positions from `backward`; for the others `steps_of` fills it.
    """
    count = len(planes)
    values, pairs = np.empty(len(imaging.nodes), np.int64), np.empty((MOST_IMAGES, IMAGE_PAIRS), np.int64)
    runs_room = make_runs_buffer()
    at = kept = 0
    for k in range(len(sets.tiers)):
        tier = sets.tiers[k]
        # Step 1: Find out whether all positions of the tier are canonical, some, or none.
        images = pairs_of(imaging, tier[BASE], tier[MASK], values, pairs)
        share = share_of(pairs, images)
        row = made[k]
        row[AT] = at
        own = worths[k]
        # Step 2: Write the steps of the canonical positions and pack them into the buffer.
        if share != NO_SHARE and tier[WORDS]:
            runs = find_runs(tier[MASK], runs_room)
            row[VARYING] = mask = varying(sets, tier, share, pairs, images, runs)
            steps, first, last = steps_of(
                sets, tier, planes, count, mask, runs, share, pairs, images, codes, own, misere, room
            )
            if steps:
                stop = pack(room.starts[:steps], room.codes, mask, buffer, at)
                row[SIZE], row[LENGTH], row[FIRST], row[LAST] = stop - at, steps, first, last
                row[FIRST_CODE], row[LAST_CODE] = room.codes[0], room.codes[steps - 1]
                at = stop
        # Step 3: Count all positions by code. With one image and all positions canonical, the images are in another
        # tier, which counted nothing: these count twice.
        times = 2 if images == 1 and share == ALL_SHARE else 1
        for worth in range(1 << count):
            if own[worth]:  # others may have codes beyond the tally
                tally[codes[worth], POSITIONS] += times * own[worth]
        # Step 4: Count canonical positions by code, and find the first of each in the lowest tier.
        if share == NO_SHARE or not tier[WORDS]:
            continue
        if share == SOME_SHARE:
            own = canonical_worths(sets, tier, planes, count, pairs, images)
        for worth in range(1 << count):
            if own[worth]:
                code = codes[worth]
                kept += own[worth]
                if tally[code, STORED] == 0 or tier[NUMBER] < tally[code, FIRST_TIER]:
                    first = first_of(sets, tier, planes, count, share, pairs, images, worth)
                    tally[code, FIRST_TIER] = tier[NUMBER]
                    tally[code, FIRST_POSITION] = tier[BASE] | spread(first, runs)
                tally[code, STORED] += own[worth]
    return kept


@kernel
def canonical_worths(sets, tier, planes, count, pairs, images):
    """Return the number of canonical positions of a tier by worth, int64[2**count]."""
    own = np.zeros(1 << count, np.int64)
    word = tier[WORD]
    _, occupied_words, _, words = sets
    for group in range(tier[GROUPS]):
        occupied = occupied_words[tier[GROUP] + group]
        while occupied:
            left = canonical(words[word], pairs, images, group << WORD_BITS | lowest(occupied))
            occupied &= occupied - ONE
            while left:
                same, worth = like_lowest(left, planes, word, count)
                own[worth] += popcount(same)
                left &= ~same
            word += 1
    return own


@lean_kernel
def first_of(sets, tier, planes, count, share, pairs, images, worth):
    """Return the rank of the first canonical position of a tier with a given worth; NONE if there is none."""
    word = tier[WORD]
    _, occupied_words, _, words = sets
    for group in range(tier[GROUPS]):
        occupied = occupied_words[tier[GROUP] + group]
        while occupied:
            number = group << WORD_BITS | lowest(occupied)
            occupied &= occupied - ONE
            left = words[word]
            if share == SOME_SHARE:
                left = canonical(left, pairs, images, number)
            for plane in range(count):
                left &= planes[plane, word] if worth >> plane & 1 else ~planes[plane, word]
            if left:
                return number << WORD_BITS | lowest(left)
            word += 1
    return NONE


@lean_kernel
def varying(sets, tier, share, pairs, images, runs):
    """Return the bits in which the canonical positions of a tier differ."""
    ones = zeros = low = 0
    inside = NOTHING
    _, occupied_words, _, words = sets
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = occupied_words[tier[GROUP] + group]
        while occupied:
            number = group << WORD_BITS | lowest(occupied)
            occupied &= occupied - ONE
            kept = words[word]
            if share == SOME_SHARE:
                kept = canonical(kept, pairs, images, number)
            word += 1
            # For bits above the word: in which numbers of words they are one, in which zero. For bits inside: all
            # positions together.
            if kept:
                ones |= number
                zeros |= ~number
                inside |= kept
    # A bit varies if it is one in some rank and zero in another.
    for bit in range(WORD_BITS):
        if inside & ONES[bit] and inside & ~ONES[bit]:
            low |= 1 << bit
    return spread(low | (ones & zeros) << WORD_BITS, runs)


@lean_kernel
def steps_of(sets, tier, planes, count, mask, runs, share, pairs, images, codes, worths, misere, room):
    """Write the steps of a tier's canonical positions; return (number of steps, first position, last position).

    Positions that win in one get no step: readers find them by the rules. (In misère play nobody wins in one, and the
    greatest worth means lost in one.) If all positions are canonical, *worths* counts them. The positions are NONE if
    there are none.
    """
    steps = code = 0
    first = last = np.int64(NONE)
    starts, step_codes = room
    _, occupied_words, _, words = sets
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = occupied_words[tier[GROUP] + group]
        while occupied:
            # Step 1: Take the canonical positions of a word, and leave out those that win in one (all planes are 1).
            number = group << WORD_BITS | lowest(occupied)
            occupied &= occupied - ONE
            left = words[word]
            if share == SOME_SHARE:
                left = canonical(left, pairs, images, number)
            won = NOTHING if misere else left
            for plane in range(count):
                won &= planes[plane, word]
            left &= ~won
            if share == ALL_SHARE:
                worths[-1] += popcount(won)
            # Step 2: Go through the word in runs of equal worth, and begin a step wherever the worth changes.
            while left:
                same, worth = like_lowest(left, planes, word, count)
                lowest_left, others = lowest(left), left & ~same
                if worth != code or first < 0:
                    position = tier[BASE] | spread(number << WORD_BITS | lowest_left, runs)
                    if first < 0:
                        first = starts[steps] = position
                    else:
                        starts[steps] = rounded(position, last, mask)
                    step_codes[steps], code = codes[worth], worth
                    steps += 1
                if others:
                    same &= (others & ~(others - ONE)) - ONE  # cut the run before the first position with another worth
                last = tier[BASE] | spread(number << WORD_BITS | highest(same), runs)
                left &= ~same
                if share == ALL_SHARE:
                    worths[worth] += popcount(same)
            word += 1
    return steps, first, last
