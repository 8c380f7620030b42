"""The compiled loops that write the values of a tier as steps for the database.

A step is a position and the code of its outcome, which holds up to the next step (see streamed/steps.py). Only
canonical positions count: those that come before all their images.
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.backward_kernels import NONE, WINNER, WaveValues
from retrograde.solver.methods.setwise.forward_kernels import (
    ALL,
    ALL_CANONICAL,
    CANONICAL,
    COUNTS,
    IMAGE_ROWS,
    NONE_CANONICAL,
    SOME_CANONICAL,
    Symmetry,
    add_to_tally,
    canonical_among,
    count_canonical,
    symmetry_of,
)
from retrograde.solver.methods.setwise.words import NOTHING, ONE, ONES, WORD_BITS, highest, lowest, popcount
from retrograde.solver.methods.streamed.lists import AT, FIRST, FIRST_CODE, LAST, LAST_CODE, describe, pack
from retrograde.solver.methods.streamed.steps import round_down
from retrograde.solver.rules.plain.tier_kernels import BASE, GROUP, GROUPS, IMAGE_PAIRS, MASK, WORD, WORDS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import Runs, find_runs, make_runs_buffer, spread


class TierValues(NamedTuple):
    """A tier, the values of its wave, how its positions compare to their images, and the runs of its mask.

    `in_word`, int64[64], has the bits of a position for each value of the lowest six bits of its rank.
    """

    tier: Array
    wave: WaveValues
    symmetry: Symmetry
    runs: Runs
    in_word: Array


class StepBuffer(NamedTuple):
    """Workspace for the steps of a tier: `starts` int64[n] and `codes` uint16[n]."""

    starts: Array
    codes: Array


@kernel
def make_steps(rules, wave, codes, steps, buffer, rows, tally):
    """Write the canonical positions of some tiers as steps to *buffer*; return how many such positions there are.

    *wave* are WaveValues, *steps* is a StepBuffer. A row of *rows* describes the list of each tier (streamed/lists.py).
    *codes* maps worths to codes, and *tally* counts positions by code.
    """
    values, pairs = np.empty(len(rules.imaging.nodes), np.int64), np.empty((IMAGE_ROWS, IMAGE_PAIRS), np.int64)
    runs_buffer, in_word = make_runs_buffer(), np.empty(1 << WORD_BITS, np.int64)
    at = stored = 0
    for k in range(len(wave.sets.tiers)):
        row, tier = rows[k], wave.sets.tiers[k]
        counts = np.zeros((len(codes), COUNTS), np.int64)
        # Step 1: Find out whether all positions of the tier are canonical, some, or none.
        symmetry = symmetry_of(rules.imaging, tier, values, pairs)
        share = symmetry.share
        tier_values = TierValues(tier, wave, symmetry, find_runs(tier[MASK], runs_buffer), in_word)
        # Step 2: Write the steps of the canonical positions and pack them into the buffer.
        row[AT] = at
        if share != NONE_CANONICAL and tier[WORDS] > 0:
            for rank in range(1 << WORD_BITS):
                in_word[rank] = spread(rank, tier_values.runs)
            mask = varying_bits(tier_values)
            count, first, last = write_steps(tier_values, mask, codes, rules.decided == WINNER, steps, counts)
            if count:
                stop = pack(steps.starts[:count], steps.codes, mask, buffer, at)
                describe(row, at, stop - at, count, mask)
                row[FIRST], row[LAST] = first, last
                row[FIRST_CODE], row[LAST_CODE] = steps.codes[0], steps.codes[count - 1]
                at = stop
        # Step 3: Count all positions by worth. Of two tiers that are images of one another, only the canonical one is
        # counted, twice.
        if share == ALL_CANONICAL:
            counts[:, ALL] = counts[:, CANONICAL]
        elif share == SOME_CANONICAL or symmetry.images != 1:
            count_worths(wave, tier, counts)
        times = 2 if symmetry.images == 1 and share == ALL_CANONICAL else 1
        for worth in range(len(counts)):
            if counts[worth, ALL]:  # others may have codes beyond the tally
                add_to_tally(tally[codes[worth]], counts[worth], times, tier, tier_values.runs)
                stored += counts[worth, CANONICAL]
    return stored


@lean_kernel
def count_worths(wave, tier, counts):
    """Add the positions of a tier to the column ALL of *counts*, int64[2**planes, COUNTS], in the row of their worth.

    *wave* are WaveValues, *tier* is a row of its table of tiers. The worth of a position is the number whose bit p is
    its bit in plane p.
    """
    for word in range(tier[WORD], tier[WORD] + tier[WORDS]):
        remaining = wave.sets.words[word]
        while remaining:
            # All positions of the word that have the same worth are counted at once.
            same, worth = equal_to_lowest(remaining, wave.planes, word)
            counts[worth, ALL] += popcount(same)
            remaining &= ~same


@lean_kernel
def equal_to_lowest(positions, planes, word):
    """Return (those of some positions of a word that have the same worth as the lowest of them, that worth).

    *word* is the word's index in the planes.
    """
    j = np.uint64(lowest(positions))
    same, worth = positions, np.int64(0)
    for plane in range(len(planes)):
        bit = (planes[plane, word] >> j) & ONE
        worth |= np.int64(bit) << plane
        same &= planes[plane, word] if bit else ~planes[plane, word]
    return same, worth


@lean_kernel
def varying_bits(tier_values):
    """Return a mask of the bits in which the canonical positions of a tier differ."""
    tier, wave, symmetry, runs, _ = tier_values
    ones = zeros = low = 0
    any_word = NOTHING
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = wave.sets.occupied[tier[GROUP] + group]
        while occupied:
            number = (group << WORD_BITS) | lowest(occupied)
            occupied &= occupied - ONE
            positions = canonical_among(wave.sets.words[word], symmetry, number)
            word += 1
            # For the upper bits of a rank: which are 1 in the number of some word, and which are 0. For the lower six:
            # all words together.
            if positions:
                ones |= number
                zeros |= ~number
                any_word |= positions
    # A bit varies if it is 1 in one rank and 0 in another.
    for bit in range(WORD_BITS):
        if any_word & ONES[bit] and any_word & ~ONES[bit]:
            low |= 1 << bit
    return spread(low | ((ones & zeros) << WORD_BITS), runs)


@lean_kernel
def write_steps(tier_values, mask, codes, misere, steps, counts):
    """Write the steps of a tier's canonical positions; return (number of steps, first position, last position).

    Positions that win in one get no step: readers find them by the rules. (In misère play no position wins in one, and
    the greatest worth means lost in one.) Both positions are NONE if no step is written. *mask* has the bits in which
    the tier's positions differ, and *codes* the code in the file of each worth. *counts*, int64[2**planes, COUNTS],
    gets the canonical positions by worth.
    """
    tier, wave, symmetry, runs, in_word = tier_values
    planes = wave.planes
    count = last_worth = 0
    first = last = np.int64(NONE)
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        occupied = wave.sets.occupied[tier[GROUP] + group]
        while occupied:
            # Step 1: Take the canonical positions of a word, and leave out those that win in one (all planes are 1).
            number = (group << WORD_BITS) | lowest(occupied)
            occupied &= occupied - ONE
            remaining = canonical_among(wave.sets.words[word], symmetry, number)
            won = NOTHING if misere else remaining
            for plane in range(len(planes)):
                won &= planes[plane, word]
            remaining &= ~won
            count_canonical(won, number, counts[len(counts) - 1])
            # Step 2: Go through the word in runs of equal worth, and begin a step wherever the worth changes.
            word_bits = tier[BASE] | spread(number << WORD_BITS, runs) if remaining else 0
            while remaining:
                same, worth = equal_to_lowest(remaining, planes, word)
                start, others = lowest(remaining), remaining & ~same
                if worth != last_worth or first < 0:
                    position = word_bits | in_word[start]
                    if first < 0:
                        first = steps.starts[count] = position
                    else:
                        steps.starts[count] = round_down(position, last, mask)
                    steps.codes[count] = codes[worth]
                    last_worth = worth
                    count += 1
                if others:
                    same &= (others & ~(others - ONE)) - ONE  # cut the run before the first position with another worth
                last = word_bits | in_word[highest(same)]
                remaining &= ~same
                count_canonical(same, number, counts[worth])
            word += 1
    return count, first, last
