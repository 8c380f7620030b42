"""The compiled loops forward: the undecided positions of a tier from those of the tiers before."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import TIE, UNDECIDED
from retrograde.solver.methods.setwise.words import (
    AFTER_TIER,
    EVERYTHING,
    GROUP_BITS,
    LOW,
    NOTHING,
    ONE,
    WORD_BITS,
    lowest,
    ones_of,
    popcount,
    spread_word,
    with_bit,
    without_bit,
)
from retrograde.solver.methods.streamed.steps import FIRST_POSITION, FIRST_TIER, POSITIONS, STORED
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.rules.plain.tier_kernels import (
    BASE,
    COUNT,
    FIRST,
    GREATER,
    GROUP,
    GROUPS,
    IMAGE_PAIRS,
    MASK,
    MOST_CUBES,
    NUMBER,
    SAME,
    UNCLEAR,
    VALUE,
    WORD,
    WORDS,
    ends_of,
    pairs_of,
)
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import find_runs, rank_of, room_for_runs, spread

Array = np.ndarray[Any, Any]

FROM, PLACE, BIT, SHARED, LINK = range(5)
"""Columns of a table of links into a tier: the row of the tier before; the place in the rank at which the move puts a
bit, NO_PLACE, or MANY; the bit; and the bits that all children share."""
NO_PLACE, MANY = -1, -2
UNLIKE = -2
"""What ends the game is not the same in the mirror."""
TIED, OPEN = int(TIE), int(UNDECIDED)
"""Primitive values that are known here, beside the one of games that are decided."""
MOST_IMAGES = 16
NO_SHARE, SOME_SHARE, ALL_SHARE = range(3)
PART = 6
"""Bits of a group's number below which the lines that end a game are looked through at once."""


class Sets(NamedTuple):
    """The positions of a wave: a table of `tiers`, int64[k, TIER], and their sets (see words.py)."""

    tiers: Array
    occupied: Array
    before: Array
    words: Array


@kernel
def forward(ending, decided, imaging, mirror, parents, children, links, starts, tally):
    """Fill the *children*, tiers of the next wave one after another, tier k from those of *parents* that links from
    *starts[k]* to *starts[k + 1]* say; return how many words there are, UNCLEAR where the rules are not plain, UNLIKE
    where the game is over otherwise in a tier than in its twin.

    What *ending* decides is worth *decided*, a primitive value. Of twins, if there is a *mirror*, one is kept; the
    other is left as it is, without groups. Positions are counted by primitive value in *tally* (see streamed/steps.py),
    those of twins as well.
    """
    values = np.empty(max(len(ending.nodes), len(imaging.nodes)), np.int64)
    cubes, twin_cubes = np.empty((MOST_CUBES, 2), np.int64), np.empty((MOST_CUBES, 2), np.int64)
    pairs = np.empty((MOST_IMAGES, IMAGE_PAIRS), np.int64)
    lines = Lines(
        np.empty(MOST_CUBES, np.int64), np.empty(MOST_CUBES, np.int64), np.empty(MOST_CUBES, np.uint64),
        np.empty(MOST_CUBES, np.uint64), np.empty(MOST_CUBES, np.int64),
    )  # fmt: skip
    # arrays by names of their own: to take one out of a tuple counts a reference, which costs more than the work on it
    tiers, occupied_words, before, words = children
    parent_tiers, parent_occupied, parent_before, parent_words = parents
    line_group, line_ones, line_words, line_inside, line_active = lines
    found, over = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
    room = room_for_runs()
    end = positions = 0
    for k in range(len(starts) - 1):
        tier = tiers[k]
        images = pairs_of(imaging, tier[BASE], tier[MASK], values, pairs)
        count, value = ends_of(ending, decided, tier[BASE], tier[MASK], values, cubes)
        if images == UNCLEAR or (value != OPEN and value != TIED and value != decided):
            return UNCLEAR
        share = share_of(pairs, images)
        if len(mirror) and share == NO_SHARE:
            base, mask = image_of(tier[BASE], mirror), image_of(tier[MASK], mirror)
            twin_count, twin_value = ends_of(ending, decided, base, mask, values, twin_cubes)
            if twin_value != value or not same_in_mirror(
                cubes[:count], tier[MASK], twin_cubes[:twin_count], mask, mirror, room
            ):
                return UNLIKE
        times = 2 if len(mirror) and share == ALL_SHARE else 1
        prepare_lines(cubes[:count], lines)
        tier[VALUE] = value
        tier[WORD] = end
        first, groups = tier[GROUP], tier[GROUPS]
        runs = find_runs(tier[MASK], room)
        active = lost = lost_kept = first_lost = left = left_kept = first_left = 0
        for group in range(groups):
            if group & (1 << PART) - 1 == 0:
                active = lines_in(lines, count, group >> PART)
            touched = NOTHING
            for link in range(starts[k], starts[k + 1]):
                place = links[link, PLACE]
                if place == MANY:
                    shared = links[link, SHARED]
                    touched |= pull_one_by_one(parents, links[link, FROM], shared, tier[MASK], group, found)
                    continue
                row, bit, source = links[link, FROM], links[link, BIT], group
                if place >= GROUP_BITS:
                    if group >> place - GROUP_BITS & 1 != bit:
                        continue
                    source = without_bit(group, place - GROUP_BITS)
                elif place != NO_PLACE:
                    source >>= 1
                at = parent_tiers[row, GROUP] + source
                there = parent_occupied[at]
                if not there:
                    continue
                word = parent_tiers[row, WORD] + np.int64(parent_before[at])
                if place == NO_PLACE or place >= GROUP_BITS:
                    touched |= there
                    while there:
                        found[lowest(there)] |= parent_words[word]
                        there &= there - ONE
                        word += 1
                    continue
                if group & 1:
                    word += popcount(there & LOW)
                    there >>= np.uint64(32)
                there &= LOW
                if place >= WORD_BITS:
                    while there:
                        j = with_bit(lowest(there), place - WORD_BITS, bit)
                        there &= there - ONE
                        found[j] |= parent_words[word]
                        touched |= ONE << np.uint64(j)
                        word += 1
                    continue
                while there:
                    j = 2 * lowest(there)
                    there &= there - ONE
                    found[j] |= spread_word(parent_words[word] & LOW, place, bit)
                    found[j + 1] |= spread_word(parent_words[word] >> np.uint64(32), place, bit)
                    touched |= np.uint64(3) << np.uint64(j)
                    word += 1
            before[first + group] = end - tier[WORD]
            occupied = NOTHING
            if value != decided:
                for at in range(active):
                    line = line_active[at]
                    if line_group[line] & group == line_ones[line]:
                        within, inside = touched & line_words[line], line_inside[line]
                        while within:
                            over[lowest(within)] |= inside
                            within &= within - ONE
            while touched:
                j = lowest(touched)
                touched &= touched - ONE
                ended = found[j] & (EVERYTHING if value == decided else over[j])
                live = found[j] & ~ended
                found[j] = over[j] = NOTHING
                number = group << WORD_BITS | j
                if ended:
                    lost += popcount(ended)
                    if share == SOME_SHARE:
                        ended = canonical(ended, pairs, images, number)
                    elif share == NO_SHARE:
                        ended = NOTHING
                    if ended and not lost_kept:
                        first_lost = number << WORD_BITS | lowest(ended)
                    lost_kept += popcount(ended)
                if live:
                    left += popcount(live)
                    kept = NOTHING if share == NO_SHARE else live
                    if share == SOME_SHARE:
                        kept = canonical(live, pairs, images, number)
                    if kept and not left_kept:
                        first_left = number << WORD_BITS | lowest(kept)
                    left_kept += popcount(kept)
                    words[end] = live
                    end += 1
                    occupied |= ONE << np.uint64(j)
            occupied_words[first + group] = occupied
        tier[WORDS], tier[FIRST], tier[COUNT] = end - tier[WORD], positions, left
        positions += left
        count_in(tally, decided, times * lost, lost_kept, first_lost, tier, runs)
        count_in(tally, value, times * left, left_kept, first_left, tier, runs)
        for group in range(groups, groups + AFTER_TIER):
            occupied_words[first + group] = NOTHING
            before[first + group] = tier[WORDS]
    return end


class Lines(NamedTuple):
    """The cubes of a tier: bits of the number of a group, and what they are, the words in a group, and the positions in
    a word; and the numbers of those that matter where one is."""

    group: Array
    group_ones: Array
    words: Array
    inside: Array
    active: Array


@lean_kernel
def prepare_lines(cubes, lines):
    """Set out the cubes of a tier."""
    for k in range(len(cubes)):
        bits, ones = cubes[k, 0], cubes[k, 1]
        lines.group[k], lines.group_ones[k] = bits >> GROUP_BITS, ones >> GROUP_BITS
        lines.words[k] = positions_with(bits >> WORD_BITS & 63, ones >> WORD_BITS & 63)
        lines.inside[k] = positions_with(bits & 63, ones & 63)


@lean_kernel
def positions_with(bits, ones):
    """Return which of the numbers below 64 have some bits as they should be."""
    found = EVERYTHING
    for bit in range(WORD_BITS):
        if bits >> bit & 1:
            found &= ones_of(bit, 0) if ones >> bit & 1 else ~ones_of(bit, 0)
    return found


@lean_kernel
def lines_in(lines, count, part):
    """Note the cubes that groups of a part may be in; return how many there are."""
    active = 0
    for k in range(count):
        if lines.group[k] >> PART & part == lines.group_ones[k] >> PART:
            lines.active[active] = k
            active += 1
    return active


@lean_kernel
def image_of(position, mirror):
    """Return the image of a position, or of a set of bits."""
    image = 0
    for bit in range(LANES):
        if position >> bit & 1:
            image |= 1 << mirror[bit]
    return image


@kernel
def same_in_mirror(cubes, mask, twin_cubes, twin_mask, mirror, room):
    """Tell whether the cubes of a tier are the images of those of its twin, in whatever order."""
    runs = find_runs(mask, room)
    for k in range(len(cubes)):
        for column in range(2):
            cubes[k, column] = image_of(spread(cubes[k, column], runs), mirror)
    runs = find_runs(twin_mask, room)
    for k in range(len(twin_cubes)):
        for column in range(2):
            twin_cubes[k, column] = spread(twin_cubes[k, column], runs)
    return all_among(cubes, twin_cubes) and all_among(twin_cubes, cubes)


@lean_kernel
def all_among(cubes, others):
    """Tell whether all cubes are among some others."""
    for k in range(len(cubes)):
        other = 0
        while other < len(others) and not (others[other, 0] == cubes[k, 0] and others[other, 1] == cubes[k, 1]):
            other += 1
        if other == len(others):
            return False
    return True


@kernel
def pull_one_by_one(parents, row, shared, mask, group, found):
    """Add the children of a tier in which several bits are put into the ranks; return which words are touched."""
    tier = parents.tiers[row]
    before, after = find_runs(tier[MASK], room_for_runs()), find_runs(mask, room_for_runs())
    touched = NOTHING
    word = tier[WORD]
    for number in range(tier[GROUPS]):
        left = parents.occupied[tier[GROUP] + number]
        while left:
            inside = parents.words[word]
            while inside:
                rank = (number << WORD_BITS | lowest(left)) << WORD_BITS | lowest(inside)
                inside &= inside - ONE
                child = rank_of(shared | spread(rank, before), after)
                if child >> GROUP_BITS == group:
                    j = child >> WORD_BITS & 63
                    found[j] |= ONE << np.uint64(child & 63)
                    touched |= ONE << np.uint64(j)
            left &= left - ONE
            word += 1
    return touched


@lean_kernel
def share_of(pairs, images):
    """Return whether all positions of a tier come before their images, none, or SOME_SHARE, which each decides."""
    share = ALL_SHARE
    for image in range(images):
        if pairs[image, 0] or pairs[image, 1] == SAME:
            share = SOME_SHARE
        elif pairs[image, 1] == GREATER:
            return NO_SHARE
    return share


@lean_kernel
def canonical(some, pairs, images, number):
    """Return which of some positions of a word, by its number, come before all their images, or are the same."""
    for image in range(images):
        equal = EVERYTHING
        for k in range(2, 2 + pairs[image, 0], 2):
            mine, other = of_side(pairs[image, k], number), of_side(pairs[image, k + 1], number)
            some &= ~(equal & mine & ~other)
            equal &= ~(mine ^ other)
            if equal == NOTHING:
                break
        if pairs[image, 1] == GREATER:
            some &= ~equal
    return some


@lean_kernel
def count_in(tally, value, positions, stored, first, tier, runs):
    """Count positions of a tier with a primitive value, all and the canonical ones, of which the first has a rank."""
    tally[value, POSITIONS] += positions
    if stored:
        if tally[value, STORED] == 0 or tier[NUMBER] < tally[value, FIRST_TIER]:
            tally[value, FIRST_TIER] = tier[NUMBER]
            tally[value, FIRST_POSITION] = tier[BASE] | spread(first, runs)
        tally[value, STORED] += stored


@lean_kernel
def of_side(side, number):
    """Return in which positions of a word a bit, as a row of pairs has it, is 1."""
    ones = NOTHING if side >> 1 == LANES else ones_of(side >> 1, number)
    return ~ones if side & 1 else ones
