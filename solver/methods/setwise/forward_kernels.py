"""The compiled loops that find positions: fill the tiers of a wave from the tiers of the wave before.

The central kernel is `forward`. A child tier is the union over its links of the parent's set, with one bit inserted
into all ranks. Where that bit falls decides how a word is copied::

    place of the bit          what happens to a stored word of the parent
    NO_PLACE                  copied to the same rank: the move changes shared bits only
    12 and up                 copied to the same word of another group: only the group number changes
    6 to 11                   copied to another word: each group of the parent becomes two
    0 to 5                    spread over two words: each half becomes 64 ranks, 32 of which are possible
    MANY                      several bits are inserted: each position is moved on its own
"""

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
from retrograde.solver.values.bits import find_runs, make_runs_buffer, rank_of, spread

Array = np.ndarray[Any, Any]

FROM, PLACE, BIT, SHARED, LINK = range(5)
"""Columns of the table of links into a tier.

FROM: the row of the parent tier. PLACE: the bit position in the rank at which the move inserts a bit, or NO_PLACE, or
MANY. BIT: the bit inserted. SHARED: the bits that all children have in common.
"""
NO_PLACE, MANY = -1, -2
"""Values of PLACE: the move inserts no bit into the rank; or it inserts several."""
UNLIKE = -2
"""Returned by `forward`: the game does not end in the same positions in a tier and in its mirror image."""
TIED, OPEN = int(TIE), int(UNDECIDED)
"""Primitive values that a tier's other positions may have, besides the value of decided games."""
MOST_IMAGES = 16
"""Images of a position that the kernels can compare."""
NO_SHARE, SOME_SHARE, ALL_SHARE = range(3)
"""How many positions of a tier are canonical (come before all their images): none, some, or all."""
PART = 6
"""Lines are filtered once for 2**PART groups, by the upper bits of the group number."""


class Sets(NamedTuple):
    """The positions of a wave: a table of `tiers`, int64[k, TIER], and their sets (see words.py)."""

    tiers: Array
    occupied: Array
    before: Array
    words: Array


@kernel
def forward(ending, decided, imaging, mirror, parents, children, links, starts, tally):
    """Fill the tiers of a wave from those of the wave before; return the number of words written.

    *children* and *parents* are `Sets`. Tier k of the children is filled by `links[starts[k]:starts[k + 1]]`, and the
    tiers are written one after another. *decided* is the primitive value of decided games, and *ending* says which
    positions have it. *tally* (see streamed/steps.py) counts positions by primitive value, including those of
    mirror images that are not filled.

    If there is a *mirror*, only one of two mirror-image tiers is filled; the other has no groups. The
    kernel checks that the game ends in mirrored positions of both. Returns UNCLEAR if the rules are not plain, and
    UNLIKE if the two tiers end differently.
    """
    values = np.empty(max(len(ending.nodes), len(imaging.nodes)), np.int64)
    cubes, twin_cubes = np.empty((MOST_CUBES, 2), np.int64), np.empty((MOST_CUBES, 2), np.int64)
    pairs = np.empty((MOST_IMAGES, IMAGE_PAIRS), np.int64)
    lines = Lines(
        np.empty(MOST_CUBES, np.int64), np.empty(MOST_CUBES, np.int64), np.empty(MOST_CUBES, np.uint64),
        np.empty(MOST_CUBES, np.uint64), np.empty(MOST_CUBES, np.int64),
    )  # fmt: skip
    # Local names: taking an array out of a tuple in a loop counts a reference, which costs more than the work on it.
    tiers, occupied_words, before, words = children
    parent_tiers, parent_occupied, parent_before, parent_words = parents
    line_group, line_ones, line_words, line_inside, line_active = lines
    found, over = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
    room = make_runs_buffer()
    end = positions = 0
    for k in range(len(starts) - 1):
        tier = tiers[k]
        # Step 1: Evaluate the rules for this tier. `cubes[:count]` says when the game is over with the value `decided`;
        # all other positions have the primitive value `value`.
        images = pairs_of(imaging, tier[BASE], tier[MASK], values, pairs)
        count, value = ends_of(ending, decided, tier[BASE], tier[MASK], values, cubes)
        if images == UNCLEAR or (value != OPEN and value != TIED and value != decided):
            return UNCLEAR
        share = share_of(pairs, images)
        # Step 2: If only the mirror image of this tier is filled, check that the game ends in mirrored positions of
        # both.
        if len(mirror) and share == NO_SHARE:
            base, mask = image_of(tier[BASE], mirror), image_of(tier[MASK], mirror)
            twin_count, twin_value = ends_of(ending, decided, base, mask, values, twin_cubes)
            if twin_value != value or not same_in_mirror(
                cubes[:count], tier[MASK], twin_cubes[:twin_count], mask, mirror, room
            ):
                return UNLIKE
        # Each position stands for its mirror image as well, if that is in the other tier.
        times = 2 if len(mirror) and share == ALL_SHARE else 1
        # Step 3: Start the tier at the end of those written so far. `lost` counts positions that are over, `left` those
        # that are not; `…_kept` count canonical ones, and `first_…` are ranks.
        prepare_lines(cubes[:count], lines)
        tier[VALUE] = value
        tier[WORD] = end
        first, groups = tier[GROUP], tier[GROUPS]
        runs = find_runs(tier[MASK], room)
        active = lost = lost_kept = first_lost = left = left_kept = first_left = 0
        # Step 4: Fill the tier, one group of 4,096 ranks after another.
        for group in range(groups):
            if group & (1 << PART) - 1 == 0:
                active = lines_in(lines, count, group >> PART)
            # Step 4a: Collect the group's 64 words in `found`; `touched` has a bit for each word that is not 0.
            touched = NOTHING
            for link in range(starts[k], starts[k + 1]):
                place = links[link, PLACE]
                # Case: several bits are inserted. Move each position on its own.
                if place == MANY:
                    shared = links[link, SHARED]
                    touched |= pull_one_by_one(parents, links[link, FROM], shared, tier[MASK], group, found)
                    continue
                row, bit, source = links[link, FROM], links[link, BIT], group
                # Case: the bit is in the group number. Half of the groups get nothing; the others come from one parent
                # group.
                if place >= GROUP_BITS:
                    if group >> place - GROUP_BITS & 1 != bit:
                        continue
                    source = without_bit(group, place - GROUP_BITS)
                # Case: the bit is below the group number. Each parent group becomes two child groups, so this one is
                # half of it.
                elif place != NO_PLACE:
                    source >>= 1
                # `there`: the stored words of the parent group. `word`: where the first of them is.
                at = parent_tiers[row, GROUP] + source
                there = parent_occupied[at]
                if not there:
                    continue
                word = parent_tiers[row, WORD] + np.int64(parent_before[at])
                # Words keep their number in the group.
                if place == NO_PLACE or place >= GROUP_BITS:
                    touched |= there
                    while there:
                        found[lowest(there)] |= parent_words[word]
                        there &= there - ONE
                        word += 1
                    continue
                # An odd group comes from the upper 32 words of the parent group.
                if group & 1:
                    word += popcount(there & LOW)
                    there >>= np.uint64(32)
                there &= LOW
                # Case: the bit is in the number of the word. Words are copied whole.
                if place >= WORD_BITS:
                    while there:
                        j = with_bit(lowest(there), place - WORD_BITS, bit)
                        there &= there - ONE
                        found[j] |= parent_words[word]
                        touched |= ONE << np.uint64(j)
                        word += 1
                    continue
                # Case: the bit is inside the word. Each word becomes two, of 32 possible positions each.
                while there:
                    j = 2 * lowest(there)
                    there &= there - ONE
                    found[j] |= spread_word(parent_words[word] & LOW, place, bit)
                    found[j + 1] |= spread_word(parent_words[word] >> np.uint64(32), place, bit)
                    touched |= np.uint64(3) << np.uint64(j)
                    word += 1
            # Step 4b: Mark positions in which the game is over. A line that matches this group ends the game at the
            # same positions (`inside`) of some of its words.
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
            # Step 4c: Split each word into positions that are over and those that are not. Store the latter.
            while touched:
                j = lowest(touched)
                touched &= touched - ONE
                # If all other positions are decided as well, the whole word is over.
                ended = found[j] & (EVERYTHING if value == decided else over[j])
                live = found[j] & ~ended
                found[j] = over[j] = NOTHING
                number = group << WORD_BITS | j
                if ended:
                    lost += popcount(ended)
                    # Count canonical positions and remember the first of them.
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
                    # All live positions are stored, canonical or not: their children may be canonical.
                    words[end] = live
                    end += 1
                    occupied |= ONE << np.uint64(j)
            occupied_words[first + group] = occupied
        # Step 5: Record the sizes of the tier, add its counts to the tally, and close it with empty groups.
        tier[WORDS], tier[FIRST], tier[COUNT] = end - tier[WORD], positions, left
        positions += left
        count_in(tally, decided, times * lost, lost_kept, first_lost, tier, runs)
        count_in(tally, value, times * left, left_kept, first_left, tier, runs)
        for group in range(groups, groups + AFTER_TIER):
            occupied_words[first + group] = NOTHING
            before[first + group] = tier[WORDS]
    return end


class Lines(NamedTuple):
    """The cubes of a tier, prepared for `forward`.

    A cube, or *line*, is a set of rank bits and the values they must have. For each cube, `group` and `group_ones` are
    the bits of the group number and their values. `words` are the words of a matching group that it touches, and
    `inside` the positions within such a word. `active` lists the cubes that can match in the current part of the tier.
    """

    group: Array
    group_ones: Array
    words: Array
    inside: Array
    active: Array


@lean_kernel
def prepare_lines(cubes, lines):
    """Split the cubes of a tier into conditions on group, word and bit (see `Lines`)."""
    for k in range(len(cubes)):
        bits, ones = cubes[k, 0], cubes[k, 1]
        lines.group[k], lines.group_ones[k] = bits >> GROUP_BITS, ones >> GROUP_BITS
        lines.words[k] = positions_with(bits >> WORD_BITS & 63, ones >> WORD_BITS & 63)
        lines.inside[k] = positions_with(bits & 63, ones & 63)


@lean_kernel
def positions_with(bits, ones):
    """Return the numbers below 64, as a set, in which the given *bits* have the values in *ones*."""
    found = EVERYTHING
    for bit in range(WORD_BITS):
        if bits >> bit & 1:
            found &= ones_of(bit, 0) if ones >> bit & 1 else ~ones_of(bit, 0)
    return found


@lean_kernel
def lines_in(lines, count, part):
    """List the cubes that can match in groups with the upper bits *part*; return how many."""
    active = 0
    for k in range(count):
        if lines.group[k] >> PART & part == lines.group_ones[k] >> PART:
            lines.active[active] = k
            active += 1
    return active


@lean_kernel
def image_of(position, mirror):
    """Return the mirror image of a position, or of a set of bits."""
    image = 0
    for bit in range(LANES):
        if position >> bit & 1:
            image |= 1 << mirror[bit]
    return image


@kernel
def same_in_mirror(cubes, mask, twin_cubes, twin_mask, mirror, room):
    """Return whether the cubes of a tier mirror those of the other tier, in any order.

    Both arrays of cubes are overwritten: ranks become bits of positions.
    """
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
    """Return whether each of the cubes is also in *others*."""
    for k in range(len(cubes)):
        other = 0
        while other < len(others) and not (others[other, 0] == cubes[k, 0] and others[other, 1] == cubes[k, 1]):
            other += 1
        if other == len(others):
            return False
    return True


@kernel
def pull_one_by_one(parents, row, shared, mask, group, found):
    """Move the positions of a parent tier into a group one at a time; return the words touched.

    For moves that insert several bits into the rank. Parent row *row* is scanned whole, and children in other groups
    are skipped, so the cost is positions × groups (`MOST_ONE_BY_ONE` in waves.py limits it).
    """
    tier = parents.tiers[row]
    before, after = find_runs(tier[MASK], make_runs_buffer()), find_runs(mask, make_runs_buffer())
    touched = NOTHING
    word = tier[WORD]
    for number in range(tier[GROUPS]):
        left = parents.occupied[tier[GROUP] + number]
        while left:
            inside = parents.words[word]
            while inside:
                # Parent rank → position bits → bits of the child → child rank.
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
    """Return ALL_SHARE, NO_SHARE or SOME_SHARE: how many positions of a tier are canonical.

    *pairs* is the result of `pairs_of` for that many *images*. SOME_SHARE means that `canonical` must look at each
    word.
    """
    share = ALL_SHARE
    for image in range(images):
        if pairs[image, 0] or pairs[image, 1] == SAME:
            share = SOME_SHARE
        elif pairs[image, 1] == GREATER:
            return NO_SHARE
    return share


@lean_kernel
def canonical(some, pairs, images, number):
    """Return the positions of a word that come before all their images or equal them.

    *some* is the word, and *number* its number in the tier. Positions and images are compared bit by bit from the
    highest bit, 64 at a time.
    """
    for image in range(images):
        equal = EVERYTHING
        for k in range(2, 2 + pairs[image, 0], 2):
            mine, other = of_side(pairs[image, k], number), of_side(pairs[image, k + 1], number)
            # Equal so far, and here the position has a 1 and the image a 0: the image comes first.
            some &= ~(equal & mine & ~other)
            equal &= ~(mine ^ other)
            if equal == NOTHING:
                break
        # All compared bits are equal; the shared bits decide.
        if pairs[image, 1] == GREATER:
            some &= ~equal
    return some


@lean_kernel
def count_in(tally, value, positions, stored, first, tier, runs):
    """Add positions of a tier to the tally row of a primitive value.

    *positions* counts all, *stored* the canonical ones, and *first* is the rank of the first of these. The tally keeps
    the first position of the lowest tier.
    """
    tally[value, POSITIONS] += positions
    if stored:
        if tally[value, STORED] == 0 or tier[NUMBER] < tally[value, FIRST_TIER]:
            tally[value, FIRST_TIER] = tier[NUMBER]
            tally[value, FIRST_POSITION] = tier[BASE] | spread(first, runs)
        tally[value, STORED] += stored


@lean_kernel
def of_side(side, number):
    """Return the positions of a word in which one side of a pair is 1.

    *side* is encoded as in `pairs_of`: twice the rank bit, or 2 × LANES for a constant 0, plus 1 for the complement.
    """
    ones = NOTHING if side >> 1 == LANES else ones_of(side >> 1, number)
    return ~ones if side & 1 else ones
