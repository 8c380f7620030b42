"""The compiled loops that write the values of a tier as steps for the database.

A step is a position and the code of its outcome, which holds up to the next step (see streamed/steps.py). Only
canonical positions count: those that come before all their images.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.backward_kernels import NONE, WINNER, WaveValues, equal_to_lowest
from retrograde.solver.methods.setwise.forward_kernels import (
    ALL_CANONICAL,
    MOST_IMAGES,
    NONE_CANONICAL,
    SOME_CANONICAL,
    Symmetry,
    canonical,
    symmetry_of,
)
from retrograde.solver.methods.setwise.words import NOTHING, ONE, ONES, WORD_BITS, highest, lowest, popcount
from retrograde.solver.methods.streamed.lists import AT, FIRST, FIRST_CODE, LAST, LAST_CODE, LENGTH, SIZE, VARYING, pack
from retrograde.solver.methods.streamed.steps import FIRST_POSITION, FIRST_TIER, POSITIONS, STORED, rounded
from retrograde.solver.rules.plain.tier_kernels import BASE, GROUP, GROUPS, IMAGE_PAIRS, MASK, NUMBER, WORD, WORDS
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import Runs, find_runs, room_for_runs, spread

Array = np.ndarray[Any, Any]


class TierValues(NamedTuple):
    """A tier, the values of its wave, how its positions compare to their images, and the runs of its mask."""

    tier: Array
    wave: WaveValues
    symmetry: Symmetry
    runs: Runs


class StepBuffer(NamedTuple):
    """Workspace for the steps of a tier: `starts` int64[n] and `codes` uint16[n]."""

    starts: Array
    codes: Array


@kernel
def make_steps(rules, wave, codes, steps, buffer, made, tally, worths):
    """Write the canonical positions of some tiers as steps to *buffer*; return how many such positions there are.

    *wave* are WaveValues, *steps* is a StepBuffer. Each tier gets a row of *made*. *codes* maps worths to codes, and
    *tally* counts positions by code. For tiers in which some or no positions are canonical, *worths*, int64[tiers,
    2**planes], has the counts of all positions from `compute_planes`; for the others `write_steps` fills it.
    """
    values, pairs = np.empty(len(rules.imaging.nodes), np.int64), np.empty((MOST_IMAGES, IMAGE_PAIRS), np.int64)
    runs_buffer = room_for_runs()
    at = stored = 0
    for k in range(len(wave.sets.tiers)):
        row, tier, own = made[k], wave.sets.tiers[k], worths[k]
        row[AT] = at
        # Step 1: Find out whether all positions of the tier are canonical, some, or none.
        symmetry = symmetry_of(rules.imaging, tier, values, pairs)
        this = TierValues(tier, wave, symmetry, find_runs(tier[MASK], runs_buffer))
        has_canonical = symmetry.share != NONE_CANONICAL and tier[WORDS] > 0
        # Step 2: Write the steps of the canonical positions and pack them into the buffer.
        if has_canonical:
            row[VARYING] = mask = varying(this)
            count, first, last = write_steps(this, mask, codes, own, rules.decided == WINNER, steps)
            if count:
                stop = pack(steps.starts[:count], steps.codes, mask, buffer, at)
                row[SIZE], row[LENGTH], row[FIRST], row[LAST] = stop - at, count, first, last
                row[FIRST_CODE], row[LAST_CODE] = steps.codes[0], steps.codes[count - 1]
                at = stop
        # Step 3: Count all positions by code. With one image and all positions canonical, the images are in another
        # tier, which counted nothing: these count twice.
        times = 2 if symmetry.images == 1 and symmetry.share == ALL_CANONICAL else 1
        for worth in range(len(own)):
            if own[worth]:  # others may have codes beyond the tally
                tally[codes[worth], POSITIONS] += times * own[worth]
        # Step 4: Count canonical positions by code, and find the first of each in the lowest tier.
        if has_canonical:
            if symmetry.share == SOME_CANONICAL:
                own = canonical_worths(this)
            stored += tally_canonical(this, own, codes, tally)
    return stored


@lean_kernel
def tally_canonical(this, worths, codes, tally):
    """Add the canonical positions of a tier, counted by worth, to the tally. Return how many there are."""
    tier, stored = this.tier, 0
    for worth in range(len(worths)):
        if worths[worth]:
            row = tally[codes[worth]]
            stored += worths[worth]
            if row[STORED] == 0 or tier[NUMBER] < row[FIRST_TIER]:
                row[FIRST_TIER] = tier[NUMBER]
                row[FIRST_POSITION] = tier[BASE] | spread(first_of(this, worth), this.runs)
            row[STORED] += worths[worth]
    return stored


@kernel
def canonical_worths(this):
    """Return the number of canonical positions of a tier by worth, int64[2**planes]."""
    tier, wave, symmetry, _ = this
    planes, words = wave.planes, wave.sets.words
    own = np.zeros(1 << len(planes), np.int64)
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = wave.sets.occupied[tier[GROUP] + group]
        while occupied:
            remaining = canonical(words[word], symmetry, group << WORD_BITS | lowest(occupied))
            occupied &= occupied - ONE
            while remaining:
                same, worth = equal_to_lowest(remaining, planes, word)
                own[worth] += popcount(same)
                remaining &= ~same
            word += 1
    return own


@lean_kernel
def first_of(this, worth):
    """Return the rank of the first canonical position of a tier with a given worth; NONE if there is none."""
    tier, wave, symmetry, _ = this
    word, planes = tier[WORD], wave.planes
    for group in range(tier[GROUPS]):
        occupied = wave.sets.occupied[tier[GROUP] + group]
        while occupied:
            number = group << WORD_BITS | lowest(occupied)
            occupied &= occupied - ONE
            found = canonical(wave.sets.words[word], symmetry, number)
            for plane in range(len(planes)):
                found &= planes[plane, word] if worth >> plane & 1 else ~planes[plane, word]
            if found:
                return number << WORD_BITS | lowest(found)
            word += 1
    return NONE


@lean_kernel
def varying(this):
    """Return the bits in which the canonical positions of a tier differ."""
    tier, wave, symmetry, runs = this
    ones = zeros = low = 0
    inside = NOTHING
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = wave.sets.occupied[tier[GROUP] + group]
        while occupied:
            number = group << WORD_BITS | lowest(occupied)
            occupied &= occupied - ONE
            own = canonical(wave.sets.words[word], symmetry, number)
            word += 1
            # For bits above the word: in which numbers of words they are one, in which zero. For bits inside: all
            # positions together.
            if own:
                ones |= number
                zeros |= ~number
                inside |= own
    # A bit varies if it is one in some rank and zero in another.
    for bit in range(WORD_BITS):
        if inside & ONES[bit] and inside & ~ONES[bit]:
            low |= 1 << bit
    return spread(low | (ones & zeros) << WORD_BITS, runs)


@lean_kernel
def write_steps(this, mask, codes, worths, misere, steps):
    """Write the steps of a tier's canonical positions; return (number of steps, first position, last position).

    Positions that win in one get no step: readers find them by the rules. (In misère play no position wins in one, and
    the greatest worth means lost in one.) If all positions are canonical, *worths* counts them. Both positions are NONE
    if no step is written.
    """
    tier, wave, symmetry, runs = this
    planes, all_canonical = wave.planes, symmetry.share == ALL_CANONICAL
    count = code = 0
    first = last = np.int64(NONE)
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = wave.sets.occupied[tier[GROUP] + group]
        while occupied:
            # Step 1: Take the canonical positions of a word, and leave out those that win in one (all planes are 1).
            number = group << WORD_BITS | lowest(occupied)
            occupied &= occupied - ONE
            remaining = canonical(wave.sets.words[word], symmetry, number)
            won = NOTHING if misere else remaining
            for plane in range(len(planes)):
                won &= planes[plane, word]
            remaining &= ~won
            if all_canonical:
                worths[-1] += popcount(won)
            # Step 2: Go through the word in runs of equal worth, and begin a step wherever the worth changes.
            while remaining:
                same, worth = equal_to_lowest(remaining, planes, word)
                start, others = lowest(remaining), remaining & ~same
                if worth != code or first < 0:
                    position = tier[BASE] | spread(number << WORD_BITS | start, runs)
                    if first < 0:
                        first = steps.starts[count] = position
                    else:
                        steps.starts[count] = rounded(position, last, mask)
                    steps.codes[count], code = codes[worth], worth
                    count += 1
                if others:
                    same &= (others & ~(others - ONE)) - ONE  # cut the run before the first position with another worth
                last = tier[BASE] | spread(number << WORD_BITS | highest(same), runs)
                remaining &= ~same
                if all_canonical:
                    worths[worth] += popcount(same)
            word += 1
    return count, first, last
