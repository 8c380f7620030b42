"""The compiled loops that find positions: fill the tiers of a wave from the tiers of the wave before.

The central kernel is `fill_sets`. A child tier is the union over its links of the parent's set, with one bit inserted
into all ranks. Where that bit falls decides how a word is copied::

    position of the bit       what happens to a stored word of the parent
    NO_BIT                    copied to the same rank: the move changes shared bits only
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
    insert_bit,
    lowest,
    ones_at,
    popcount,
    remove_bit,
    spread_word,
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
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import deposit, extract, find_runs, make_runs_buffer, spread

FROM, BIT_AT, BIT, SHARED, LINK = range(5)
"""Columns of the table of links into a tier.

FROM: the row of the parent tier. BIT_AT: where in the rank the move inserts a bit, or NO_BIT, or MANY. BIT: the bit
inserted, 0 or 1. SHARED: the bits that all children have in common. LINK is the number of columns.
"""
NO_BIT, MANY = -1, -2
"""Values of BIT_AT: the move inserts no bit into the rank; or it inserts several."""
UNLIKE = -2
"""Returned by `fill_sets`: the game does not end in the same positions in a tier and in its mirror image."""
TIED, OPEN = int(TIE), int(UNDECIDED)
"""Primitive values that a tier's other positions may have, besides the value of decided games."""
IMAGE_ROWS = 16
"""Images of a position that the kernels can compare."""
NONE_CANONICAL, SOME_CANONICAL, ALL_CANONICAL = range(3)
"""How many positions of a tier are canonical (come before all their images): none, some, or all."""
SUBSET_BITS = 6
"""Cubes are filtered once for 2**SUBSET_BITS groups, by the upper bits of the group number."""
LIVE, OVER = range(2)
"""Rows of the counts of a tier: positions in which the game goes on, and those in which it is over."""
ALL, CANONICAL, FIRST_CANONICAL, COUNTS = range(4)
"""Columns of the counts of a tier: all positions, canonical ones, the rank of the first of these; COUNTS columns."""


class Sets(NamedTuple):
    """The positions of a wave: a table of `tiers`, int64[k, TIER], and their sets (see words.py)."""

    tiers: Array
    occupied: Array
    before: Array
    words: Array


class Symmetry(NamedTuple):
    """How the positions of a tier compare to their images.

    `images` is the number of images, UNCLEAR if the rules are not plain. `pairs` has a row for each (see `pairs_of`).
    `share` says how many positions are canonical: NONE_CANONICAL, SOME_CANONICAL or ALL_CANONICAL.
    """

    pairs: Array
    images: Any
    share: Any


class Cubes(NamedTuple):
    """The cubes of a tier, prepared for `mark_over`. The game is over in each position that matches a cube.

    A cube is a set of rank bits and the values they must have. Its bits from GROUP_BITS up are a condition on the
    number of the group: `number & group == group_ones`. `words` are the words of such a group that match the bits 6 to
    11, and `inside` the positions of a word that match the bits below. `active` lists the cubes that can match in the
    current part of the tier.
    """

    group: Array
    group_ones: Array
    words: Array
    inside: Array
    active: Array


class GroupBuffer(NamedTuple):
    """The 64 words of a group: the positions `reached`, and where the game is `over`. `counts` int64[2, COUNTS] counts
    the positions of the tier."""

    reached: Array
    over: Array
    counts: Array


@kernel
def fill_sets(rules, parents, children, links, starts, tally):
    """Fill the tiers of a wave from those of the wave before; return the number of words written.

    *rules* are the programs of the game (see rules/plain/rules.py), *children* and *parents* are `Sets`. Tier k of the
    children is filled by `links[starts[k]:starts[k + 1]]`, and the tiers are written one after another. *tally* (see
    streamed/steps.py) counts positions by primitive value, including those of mirror images that are not filled.

    Returns UNCLEAR if the rules are not plain. If only one of two mirror-image tiers is filled, returns UNLIKE if the
    game does not end in mirrored positions of both.
    """
    values = np.empty(max(len(rules.ending.nodes), len(rules.imaging.nodes)), np.int64)
    cubes, pairs = np.empty((MOST_CUBES, 2), np.int64), np.empty((IMAGE_ROWS, IMAGE_PAIRS), np.int64)
    prepared = Cubes(
        np.empty(MOST_CUBES, np.int64), np.empty(MOST_CUBES, np.int64), np.empty(MOST_CUBES, np.uint64),
        np.empty(MOST_CUBES, np.uint64), np.empty(MOST_CUBES, np.int64),
    )  # fmt: skip
    buffer = GroupBuffer(np.zeros(64, np.uint64), np.zeros(64, np.uint64), np.zeros((2, COUNTS), np.int64))
    runs_buffer = make_runs_buffer()
    end = positions = 0
    for k in range(len(starts) - 1):
        tier = children.tiers[k]
        # Step 1: Evaluate the rules for this tier. `cubes[:count]` says when the game is over with the value `decided`;
        # all other positions have the primitive value `value`.
        symmetry = symmetry_of(rules.imaging, tier, values, pairs)
        count, value = ends_of(rules.ending, rules.decided, tier[BASE], tier[MASK], values, cubes)
        if symmetry.images == UNCLEAR or (value != OPEN and value != TIED and value != rules.decided):
            return UNCLEAR
        # Step 2: If only the mirror image of this tier is filled, check that the game ends in mirrored positions.
        is_image = len(rules.mirror) > 0 and symmetry.share == NONE_CANONICAL
        if is_image and not ends_mirrored(rules, tier, cubes[:count], value, values):
            return UNLIKE
        # If all other positions are decided as well, the game is over everywhere: a cube without conditions says so.
        if value == rules.decided:
            cubes[0], count = 0, 1
        # Step 3: Fill the tier, behind those written so far.
        prepare_cubes(cubes[:count], prepared)
        tier[VALUE], tier[WORD] = value, end
        buffer.counts[:] = 0
        tier_links = links[starts[k] : starts[k + 1]]
        end = fill_tier(parents, children, tier, tier_links, symmetry, prepared, count, buffer)
        # Step 4: Record the sizes of the tier, and add its counts to the tally. Each position stands for its mirror
        # image as well, if that is in the other tier.
        live, over = buffer.counts[LIVE], buffer.counts[OVER]
        tier[WORDS], tier[FIRST], tier[COUNT] = end - tier[WORD], positions, live[ALL]
        positions += live[ALL]
        times = 2 if len(rules.mirror) and symmetry.share == ALL_CANONICAL else 1
        runs = find_runs(tier[MASK], runs_buffer)
        add_to_tally(tally[rules.decided], over, times, tier, runs)
        add_to_tally(tally[value], live, times, tier, runs)
    return end


@kernel
def symmetry_of(imaging, tier, values, pairs):
    """Return the Symmetry of a tier; *values* and *pairs* are buffers, the latter part of the result."""
    images = pairs_of(imaging, tier[BASE], tier[MASK], values, pairs)
    share = ALL_CANONICAL
    for image in range(images):
        if share != NONE_CANONICAL:
            if pairs[image, 0] or pairs[image, 1] == SAME:
                share = SOME_CANONICAL
            elif pairs[image, 1] == GREATER:
                share = NONE_CANONICAL
    return Symmetry(pairs, images, share)


@kernel
def ends_mirrored(rules, tier, cubes, value, values):
    """Return whether the game ends in mirrored positions in a tier and in its mirror image. *cubes* and *value* say
    where it ends in the tier (see `ends_of`). The cubes are overwritten; *values* is a buffer."""
    image_cubes = np.empty((MOST_CUBES, 2), np.int64)
    base, mask = image_of(tier[BASE], rules.mirror), image_of(tier[MASK], rules.mirror)
    count, image_value = ends_of(rules.ending, rules.decided, base, mask, values, image_cubes)
    return image_value == value and same_in_mirror(cubes, tier[MASK], image_cubes[:count], mask, rules.mirror)


@lean_kernel
def fill_tier(parents, children, tier, links, symmetry, cubes, count, buffer):
    """Fill a tier, one group of 4,096 ranks after another; return the end of its words. The game is over in positions
    that match one of the first *count* *cubes*."""
    first, end, active = tier[GROUP], tier[WORD], 0
    for group in range(tier[GROUPS]):
        if group & ((1 << SUBSET_BITS) - 1) == 0:
            active = select_cubes(cubes, count, group >> SUBSET_BITS)
        children.before[first + group] = end - tier[WORD]
        children.occupied[first + group] = NOTHING
        # Step 1: Collect the group's 64 words. `touched` has a bit for each word that is not 0.
        touched = NOTHING
        for link in range(len(links)):
            touched |= collect_group(parents, links[link], tier[MASK], group, buffer.reached)
        # Step 2: Mark positions in which the game is over, and store the others.
        if touched:
            mark_over(cubes, active, group, touched, buffer.over)
            end = store_group(children, first, group, touched, symmetry, buffer, end)
    # Step 3: Close the tier with empty groups.
    for group in range(first + tier[GROUPS], first + tier[GROUPS] + AFTER_TIER):
        children.occupied[group] = NOTHING
        children.before[group] = end - tier[WORD]
    return end


@lean_kernel
def collect_group(parents, link, mask, group, reached):
    """Add to *reached*, uint64[64], the positions of a child tier's group that a link leads to.

    Returns the set of words that may have changed. *mask* is that of the child tier.
    """
    bit_index, bit, parent, source = link[BIT_AT], link[BIT], parents.tiers[link[FROM]], group
    # Case: several bits are inserted. Move each position on its own.
    if bit_index == MANY:
        return move_one_by_one(parents, parent, link[SHARED], mask, group, reached)
    # Case: the bit is in the group number. Half of the groups get nothing; the others come from one parent group.
    if bit_index >= GROUP_BITS:
        if (group >> (bit_index - GROUP_BITS)) & 1 != bit:
            return NOTHING
        source = remove_bit(group, bit_index - GROUP_BITS)
    # Case: the bit is below the group number. Each parent group becomes two child groups, so this one is half of it.
    elif bit_index != NO_BIT:
        source >>= 1
    # The parent group's set of stored words, and the index of the first of them.
    stored = parents.occupied[parent[GROUP] + source]
    if not stored:
        return NOTHING
    word = parent[WORD] + np.int64(parents.before[parent[GROUP] + source])
    if bit_index == NO_BIT or bit_index >= GROUP_BITS:
        return copy_same_words(parents.words, word, stored, reached)
    # An odd group comes from the upper 32 words of the parent group.
    if group & 1:
        word += popcount(stored & LOW)
        stored >>= np.uint64(32)
    if bit_index >= WORD_BITS:
        return copy_other_words(parents.words, word, stored & LOW, bit_index - WORD_BITS, bit, reached)
    return spread_words(parents.words, word, stored & LOW, bit_index, bit, reached)


@lean_kernel
def copy_same_words(words, word, stored, reached):
    """Add words to *reached* under the numbers in the set *stored*, and return this set.

    The lowest number has `words[word]`, the next one `words[word + 1]`, and so on.
    """
    touched = stored
    while stored:
        reached[lowest(stored)] |= words[word]
        stored &= stored - ONE
        word += 1
    return touched


@lean_kernel
def copy_other_words(words, word, stored, bit_index, bit, reached):
    """Copy words as `copy_same_words` does, but to the numbers into which *bit* is inserted at *bit_index*."""
    touched = NOTHING
    while stored:
        j = insert_bit(lowest(stored), bit_index, bit)
        stored &= stored - ONE
        reached[j] |= words[word]
        touched |= ONE << np.uint64(j)
        word += 1
    return touched


@lean_kernel
def spread_words(words, word, stored, bit_index, bit, reached):
    """Copy words to *reached* as `copy_same_words` does, but insert *bit* at *bit_index*, inside a word. Word j becomes
    the words 2j and 2j + 1, which have 32 possible positions each."""
    touched = NOTHING
    while stored:
        j = 2 * lowest(stored)
        stored &= stored - ONE
        reached[j] |= spread_word(words[word] & LOW, bit_index, bit)
        reached[j + 1] |= spread_word(words[word] >> np.uint64(32), bit_index, bit)
        touched |= np.uint64(3) << np.uint64(j)
        word += 1
    return touched


@lean_kernel
def mark_over(cubes, active, group, touched, over):
    """Mark in the words *over* the positions of a group in which the game is over, for the words numbered *touched*. A
    cube that matches the group ends the game at the same positions of some words."""
    for k in range(active):
        cube = cubes.active[k]
        if (cubes.group[cube] & group) == cubes.group_ones[cube]:
            within, inside = touched & cubes.words[cube], cubes.inside[cube]
            while within:
                over[lowest(within)] |= inside
                within &= within - ONE


@lean_kernel
def store_group(children, first, group, touched, symmetry, buffer, end):
    """Split the words of a group into positions that are over and live ones: count both, and store the latter. Clears
    the buffer. *first* is the tier's first group. Returns the end of the words written."""
    occupied = NOTHING
    while touched:
        j = lowest(touched)
        touched &= touched - ONE
        ended = buffer.reached[j] & buffer.over[j]
        live = buffer.reached[j] & ~ended
        buffer.reached[j] = buffer.over[j] = NOTHING
        number = (group << WORD_BITS) | j
        if ended:
            count_positions(ended, number, symmetry, buffer.counts[OVER])
        # All live positions are stored, canonical or not: their children may be canonical.
        if live:
            count_positions(live, number, symmetry, buffer.counts[LIVE])
            children.words[end] = live
            end += 1
            occupied |= ONE << np.uint64(j)
    children.occupied[first + group] = occupied
    return end


@lean_kernel
def count_positions(positions, number, symmetry, counts):
    """Add the *positions* of word *number* to *counts*, a row of the counts of a tier."""
    counts[ALL] += popcount(positions)
    count_canonical(canonical_among(positions, symmetry, number), number, counts)


@lean_kernel
def count_canonical(positions, number, counts):
    """Add canonical positions of word *number* to *counts*. Call it for the words of a tier in ascending order."""
    if positions and not counts[CANONICAL]:
        counts[FIRST_CANONICAL] = (number << WORD_BITS) | lowest(positions)
    counts[CANONICAL] += popcount(positions)


@lean_kernel
def prepare_cubes(cubes, prepared):
    """Write the cubes of a tier, rows of (rank bits, the values they must have), as conditions to *prepared*."""
    for k in range(len(cubes)):
        bits, ones = cubes[k, 0], cubes[k, 1]
        prepared.group[k], prepared.group_ones[k] = bits >> GROUP_BITS, ones >> GROUP_BITS
        prepared.words[k] = numbers_with((bits >> WORD_BITS) & 63, (ones >> WORD_BITS) & 63)
        prepared.inside[k] = numbers_with(bits & 63, ones & 63)


@lean_kernel
def numbers_with(bits, ones):
    """Return the numbers below 64, as a set, in which the given *bits* have the values in *ones*.

    >>> bin(numbers_with(0b111100, 0b000100))  # 4, 5, 6 and 7
    '0b11110000'
    """
    numbers = EVERYTHING
    for bit in range(WORD_BITS):
        if (bits >> bit) & 1:
            numbers &= ones_at(bit, 0) if (ones >> bit) & 1 else ~ones_at(bit, 0)
    return numbers


@lean_kernel
def select_cubes(cubes, count, upper):
    """List the cubes that can match in groups with these upper bits; return how many."""
    active = 0
    for k in range(count):
        if (cubes.group[k] >> SUBSET_BITS) & upper == (cubes.group_ones[k] >> SUBSET_BITS):
            cubes.active[active] = k
            active += 1
    return active


@lean_kernel
def image_of(position, mirror):
    """Return the mirror image of a position; bit b of the position is bit `mirror[b]` of the image."""
    image = 0
    for bit in range(LANES):
        if (position >> bit) & 1:
            image |= 1 << mirror[bit]
    return image


@kernel
def same_in_mirror(cubes, mask, image_cubes, image_mask, mirror):
    """Return whether the cubes of a tier mirror those of the other tier, in any order. Overwrites both.

    *cubes* and *image_cubes* int64[k, 2] have (rank bits, the values they must have). A rank numbers the positions that
    differ in the bits of the tier's *mask*. *mirror* has for each bit of a position the bit of its image.
    """
    # Turn ranks into bits of positions; mirror those of the first tier. Then both can be compared.
    runs = find_runs(mask, make_runs_buffer())
    for k in range(len(cubes)):
        for column in range(2):
            cubes[k, column] = image_of(spread(cubes[k, column], runs), mirror)
    runs = find_runs(image_mask, make_runs_buffer())
    for k in range(len(image_cubes)):
        for column in range(2):
            image_cubes[k, column] = spread(image_cubes[k, column], runs)
    return contains_all(image_cubes, cubes) and contains_all(cubes, image_cubes)


@lean_kernel
def contains_all(others, cubes):
    """Return whether *others* contains each of the cubes."""
    for k in range(len(cubes)):
        i = 0
        while i < len(others) and not (others[i, 0] == cubes[k, 0] and others[i, 1] == cubes[k, 1]):
            i += 1
        if i == len(others):
            return False
    return True


@lean_kernel
def move_one_by_one(parents, parent, shared, mask, group, reached):
    """Move the positions of a parent tier into a group one at a time; return the words touched.

    For moves that insert several bits into the rank. The parent tier is scanned whole, and children in other groups are
    skipped, so the cost is positions × groups (`MOST_ONE_BY_ONE` in tiers.py limits it).
    """
    parent_mask, child_mask = np.uint64(parent[MASK]), np.uint64(mask)
    touched = NOTHING
    word = parent[WORD]
    for number in range(parent[GROUPS]):
        stored = parents.occupied[parent[GROUP] + number]
        while stored:
            inside = parents.words[word]
            while inside:
                # Parent rank → position bits → bits of the child → child rank.
                rank = (((number << WORD_BITS) | lowest(stored)) << WORD_BITS) | lowest(inside)
                inside &= inside - ONE
                child = np.int64(extract(np.uint64(shared) | deposit(np.uint64(rank), parent_mask), child_mask))
                if child >> GROUP_BITS == group:
                    j = (child >> WORD_BITS) & 63
                    reached[j] |= ONE << np.uint64(child & 63)
                    touched |= ONE << np.uint64(j)
            stored &= stored - ONE
            word += 1
    return touched


@lean_kernel
def canonical_among(positions, symmetry, number):
    """Return those *positions* of word *number* that come before all their images or equal them. Positions and images
    are compared bit by bit from the highest bit, 64 at a time."""
    if symmetry.share != SOME_CANONICAL:
        return positions if symmetry.share == ALL_CANONICAL else NOTHING
    pairs = symmetry.pairs
    for image in range(symmetry.images):
        equal = EVERYTHING
        for k in range(2, 2 + pairs[image, 0], 2):
            own_ones, image_ones = ones_of_side(pairs[image, k], number), ones_of_side(pairs[image, k + 1], number)
            # Equal so far, and here the position has a 1 and the image a 0: the image comes first.
            positions &= ~(equal & own_ones & ~image_ones)
            equal &= ~(own_ones ^ image_ones)
            if equal == NOTHING:
                break
        # All compared bits are equal; the shared bits decide.
        if pairs[image, 1] == GREATER:
            positions &= ~equal
    return positions


@lean_kernel
def add_to_tally(row, counts, times, tier, runs):
    """Add the counts of a tier to a row of the tally, each position *times* times. The row keeps the first position of
    the lowest tier."""
    row[POSITIONS] += times * counts[ALL]
    if counts[CANONICAL]:
        if row[STORED] == 0 or tier[NUMBER] < row[FIRST_TIER]:
            row[FIRST_TIER] = tier[NUMBER]
            row[FIRST_POSITION] = tier[BASE] | spread(counts[FIRST_CANONICAL], runs)
        row[STORED] += counts[CANONICAL]


@lean_kernel
def ones_of_side(side, number):
    """Return the positions of word *number* in which one side of a pair is 1. *side* is encoded as in `pairs_of`: twice
    the rank bit, or 2 × LANES for a constant 0, plus 1 for the complement."""
    ones = NOTHING if side >> 1 == LANES else ones_at(side >> 1, number)
    return ~ones if side & 1 else ones
