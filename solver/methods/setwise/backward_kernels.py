"""The compiled loops that compute values: the planes of a tier from the planes of the next wave.

The value of a position is a number, its *worth*. A greater number is better for the player to move. With `count`
planes the greatest number is 2**count - 1, and half of 2**count is a tie::

    0         lost          1, 2, …   lost in 2, 4, … plies       half   a tie       …, greatest   won in …, 3, 1 plies

Plane p holds bit p of the worths: a word of plane p has bit p of 64 positions. All words of a plane are one row.

A position takes the worth of its child with the least worth, seen by the other player and one ply later (`pass_up`).
Children in which the game is over are not stored. Their planes read as 0, which means lost.

In misère play a finished game is won, not lost. The numbers keep their order but change their meaning: the greater the
number, the worse. So the child with the greatest worth counts, and `pass_up` stays the same::

    0         won           1, 2, …   won in 2, 4, … plies        half   a tie       …, greatest   lost in …, 3, 1 plies
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.forward_kernels import (
    BIT,
    MANY,
    MOST_IMAGES,
    NO_PLACE,
    NO_SHARE,
    PLACE,
    SHARED,
    SOME_SHARE,
    share_of,
)
from retrograde.solver.methods.setwise.twins import MOST_TABLES, first_rank, ranks_in
from retrograde.solver.methods.setwise.words import (
    GROUP_BITS,
    NOTHING,
    ONE,
    WORD_BITS,
    gathered_word,
    lowest,
    popcount,
    with_bit,
)
from retrograde.solver.rules.plain.tier_kernels import BASE, GROUP, GROUPS, IMAGE_PAIRS, MASK, WORD, WORDS, pairs_of
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.extract import extract

Array = np.ndarray[Any, Any]

MOST_PLANES = 6
"""Planes at most. Six planes can count 62 plies."""
TOGETHER = 192
"""Words that a batch collects before it is worked on. The last group may add up to 63 more."""
STRIDE = TOGETHER + 64 + 8
"""Length of a row of a batch. Not a power of two: the planes of a word would then compete for the same cache lines."""
TO = 0
"""Column of a table of links out of a tier: the row of the child tier, or NONE if all children are lost.

The other columns are as in forward_kernels.py.
"""
NONE = -1
TURNED = -3
"""Value of PLACE: the child tier is not stored, but its mirror image is; look children up there."""


class Batch(NamedTuple):
    """Workspace for some words of a tier, at most TOGETHER + 63, that are worked on at once.

    `groups` lists group numbers, and `starts` the index of each group's first word in the batch. `child` holds the
    planes of one child of each position, `least` the least worth so far, and `less` marks where the child is less.
    """

    groups: Array
    starts: Array
    child: Array
    least: Array
    less: Array


@kernel
def room_for_batch():
    """Return an empty batch."""
    return Batch(
        np.empty(STRIDE, np.int64), np.empty(STRIDE, np.int64), np.empty((MOST_PLANES, STRIDE), np.uint64),
        np.empty((MOST_PLANES, STRIDE), np.uint64), np.empty(STRIDE, np.uint64),
    )  # fmt: skip


@kernel
def backward(imaging, misere, mirror, sets, links, starts, after, planes_after, planes, tallies):
    """Write the planes of some tiers from those of the wave after, and count worths in *tallies*.

    *sets* are the tiers, *after* the wave after; each has its planes. The links out of tier k are
    `links[starts[k]:starts[k + 1]]`. If there is a *mirror*, only one of two mirror-image tiers is stored and written.

    Tiers in which all positions are canonical are not counted here: `steps_of` counts them as it writes their steps.
    Of two tiers that are images of one another, only those of the canonical one are counted.
    """
    count_after, count = len(planes_after), len(planes)
    batch = room_for_batch()
    values, pairs = np.empty(len(imaging.nodes), np.int64), np.empty((MOST_IMAGES, IMAGE_PAIRS), np.int64)
    for k in range(len(sets.tiers)):
        tier = sets.tiers[k]
        # Step 1: Look at the links. If the tier has none, or one of them leads to a finished game, every position has a
        # child that is lost: all win in one. (In misère play `links_out` leaves out finished games; a tier without
        # links has none but finished children, and all its positions lose in one.)
        own = links[starts[k] : starts[k + 1]]
        lost = len(own) == 0
        for link in range(len(own)):
            lost |= own[link, TO] == NONE
        # Step 2: Prepare tables for links whose children are looked up one by one.
        ones = room_for_ones(own[:0] if lost else own, after, count_after)
        prepare_one_by_one(own[: len(ones.begins)], mirror, tier, after, planes_after, count_after, ones)
        group, word = 0, tier[WORD]
        while group < tier[GROUPS]:
            # Step 3: Collect groups until a batch has TOGETHER words.
            some = filled = 0
            while group < tier[GROUPS] and filled < TOGETHER:
                occupied = sets.occupied[tier[GROUP] + group]
                if occupied:
                    batch.groups[some], batch.starts[some] = group, filled
                    some += 1
                    filled += popcount(occupied)
                group += 1
            if not filled:
                continue
            # Step 4: Take the least worth over all children. The first link writes to `least`, the others to `child`.
            if lost:
                for plane in range(count_after):
                    batch.least[plane, :filled] = NOTHING
            else:
                for link in range(len(own)):
                    row = own[link]
                    into = batch.child if link else batch.least
                    if one_by_one(row):
                        gather_one_by_one(sets, tier, batch, some, after, own, link, ones, count_after, into)
                    else:
                        gather(sets, tier, batch, some, after, row, planes_after, count_after, into)
                    if link:
                        keep_best(batch, filled, count_after, misere)
            # Step 5: Convert to the worth for the player to move here, and store it.
            pass_up(batch, filled, count_after, count, sets.words, planes, word)
            word += filled
        # Step 6: Count worths here if only some positions are canonical, or none. With a single image, its tier has
        # equal counts and stands for both.
        images = pairs_of(imaging, tier[BASE], tier[MASK], values, pairs)
        share = share_of(pairs, images)
        if share == SOME_SHARE or (share == NO_SHARE and images != 1):
            tally_worths(sets.words, tier[WORD], word, planes, count, tallies[k])


@lean_kernel
def gather(sets, tier, batch, some, after, link, planes_after, count_after, into):
    """Write the planes of the children by one link, for all words of a batch, to *into*.

    *some* is the number of groups in the batch. Where a child is not stored, its planes become 0. The cases are those
    of `forward`, in reverse.
    """
    place, bit = link[PLACE], link[BIT]
    child = after.tiers[link[TO]]
    _, occupied, _, _ = sets
    _, occupied_after, before_after, _ = after
    groups, starts = batch.groups, batch.starts
    own_group, child_group, child_word = tier[GROUP], child[GROUP], child[WORD]
    for at in range(some):
        group, t = groups[at], starts[at]
        left = occupied[own_group + group]
        # Case: the bit is in the group number, or there is none. Words keep their number in the group.
        if place == NO_PLACE or place >= GROUP_BITS:
            source = child_group + (group if place == NO_PLACE else with_bit(group, place - GROUP_BITS, bit))
            there = occupied_after[source]
            first = child_word + np.int64(before_after[source])
            while left:
                own = left & ~(left - ONE)
                left ^= own
                is_there = NOTHING - np.uint64(there & own != NOTHING)  # all ones or all zeros, without a branch
                word = first + popcount(there & (own - ONE))
                for plane in range(count_after):
                    into[plane, t] = planes_after[plane, word] & is_there
                t += 1
            continue
        # Otherwise the group becomes two child groups. `first` and `second` are where their words begin.
        low, high = occupied_after[child_group + 2 * group], occupied_after[child_group + 2 * group + 1]
        first = child_word + np.int64(before_after[child_group + 2 * group])
        second = first + popcount(low)
        while left:
            j = lowest(left)
            left &= left - ONE
            # The number of the child's word among the 128 of both groups. If the bit is inside the word, the child's
            # words are this one and the next.
            number = with_bit(j, place - WORD_BITS, bit) if place >= WORD_BITS else 2 * j
            there, word = (high, second) if number >> WORD_BITS else (low, first)
            shift = np.uint64(number & 63)
            word += popcount(there & ((ONE << shift) - ONE))
            there >>= shift
            is_there = NOTHING - (there & ONE)
            # Case: the bit is in the number of the word. Words are copied whole.
            if place >= WORD_BITS:
                for plane in range(count_after):
                    into[plane, t] = planes_after[plane, word] & is_there
            # Case: the bit is inside the word. Each of two child words gives 32 of the 64 positions.
            else:
                next_word = word + np.int64(there & ONE)
                is_next = NOTHING - (there >> ONE & ONE)
                for plane in range(count_after):
                    one = gathered_word(planes_after[plane, word] & is_there, place, bit)
                    other = gathered_word(planes_after[plane, next_word] & is_next, place, bit)
                    into[plane, t] = one | other << np.uint64(32)
            t += 1


@lean_kernel
def one_by_one(link):
    """Return whether the children by a link are looked up one by one.

    This is so if the link inserts several bits, or if it leads to a tier of which only the mirror image is stored.
    """
    return link[PLACE] == MANY or link[PLACE] == TURNED


class OneByOne(NamedTuple):
    """Tables for links whose children are looked up one by one.

    `beside` has copies of the child tiers' planes, with the planes of one word next to each other. A link's part
    begins at `begins[link]`. `tables` map ranks to child ranks (see `ranks_in` in twins.py). `looks`, int64[64, 4], is
    a workspace for the children of one word: index of the first plane in `beside`, bit there, 1 if stored, and bit in
    the own word.
    """

    begins: Array
    tables: Array
    beside: Array
    looks: Array


@kernel
def room_for_ones(links, after, count_after):
    """Return an empty `OneByOne` of the right size for some links."""
    begins, size = np.zeros(len(links), np.int64), 0
    for link in range(len(links)):
        begins[link] = size
        if one_by_one(links[link]):
            size += after.tiers[links[link, TO], WORDS] * count_after
    tables = np.empty((len(links), MOST_TABLES, 1 << WORD_BITS), np.int64)
    beside = np.zeros(size + count_after, np.uint64)  # children that are not stored read one word past the end
    return OneByOne(begins, tables, beside, np.empty((64, 4), np.int64))


@lean_kernel
def prepare_one_by_one(links, mirror, tier, after, planes_after, count_after, ones):
    """Fill *ones* for `gather_one_by_one`.

    From now on the SHARED column of these links holds the part of the child's rank that all children have in common.
    """
    begins, tables, beside, _ = ones
    for link in range(len(links)):
        if one_by_one(links[link]):
            child, at = after.tiers[links[link, TO]], begins[link]
            ranks_in(tier[MASK], mirror, links[link, PLACE] == TURNED, child[MASK], tables[link])
            links[link, SHARED] = extract(np.uint64(links[link, SHARED]), np.uint64(child[MASK]))
            for word in range(child[WORD], child[WORD] + child[WORDS]):
                for plane in range(count_after):
                    beside[at] = planes_after[plane, word]
                    at += 1


@lean_kernel
def gather_one_by_one(sets, tier, batch, some, after, links, link, ones, count_after, into):
    """Like `gather`, for a link that inserts several bits or leads to a mirror image: looks up each child."""
    child, shared = after.tiers[links[link, TO]], links[link, SHARED]
    begin, tables, beside, looks = ones.begins[link], ones.tables[link], ones.beside, ones.looks
    _, occupied, before, words = sets
    _, occupied_after, before_after, _ = after
    child_group = child[GROUP]
    for at in range(some):
        t, group = batch.starts[at], batch.groups[at]
        left = occupied[tier[GROUP] + group]
        word = tier[WORD] + np.int64(before[tier[GROUP] + group])
        while left:
            # Map the upper bits of the rank once for all positions of the word.
            first = shared | first_rank(tables, group << WORD_BITS | lowest(left))
            left &= left - ONE
            inside = words[word]
            count = 0
            # Step 1: Find where each child is. No branch, so that the processor waits for distant memory in parallel.
            while inside:
                place = lowest(inside)
                inside &= inside - ONE
                rank = first | tables[0, place]
                there = occupied_after[child_group + (rank >> GROUP_BITS)]
                shift = np.uint64(rank >> WORD_BITS & 63)
                found = np.int64(before_after[child_group + (rank >> GROUP_BITS)])
                found += popcount(there & ((ONE << shift) - ONE))
                looks[count, 0], looks[count, 1] = begin + found * count_after, rank & 63
                looks[count, 2], looks[count, 3] = there >> shift & ONE, place
                count += 1
            # Step 2: Fetch the bits, one plane after another.
            for plane in range(count_after):
                bits = NOTHING
                for k in range(count):
                    one = beside[looks[k, 0] + plane] >> np.uint64(looks[k, 1]) & np.uint64(looks[k, 2])
                    bits |= one << np.uint64(looks[k, 3])
                into[plane, t] = bits
            word += 1
            t += 1


@lean_kernel
def keep_best(batch, filled, count, misere):
    """Replace the best worth so far by the child's where that is better.

    Lower is better, except in misère play. The numbers are compared for 64 positions at a time, from the lowest plane
    up: a higher plane overrides a lower one.
    """
    less = batch.less[:filled]
    lower, higher = (batch.least, batch.child) if misere else (batch.child, batch.least)
    for t in range(filled):
        less[t] = ~lower[0, t] & higher[0, t]
    for plane in range(1, count):
        one, other = lower[plane], higher[plane]
        for t in range(filled):
            less[t] = (~one[t] & other[t]) | (~(one[t] ^ other[t]) & less[t])
    for plane in range(count):
        child, least = batch.child[plane], batch.least[plane]
        for t in range(filled):
            least[t] ^= (least[t] ^ child[t]) & less[t]


@lean_kernel
def pass_up(batch, filled, count_after, count, words, planes, word):
    """Write the worths of a batch as the player to move sees them, to *planes* from *word* on.

    A child with worth c < half gives its parent the complement of c: lost in 2c becomes won in 2c + 1. A child with c
    ≥ half gives -c, which is the complement plus 1: won becomes lost one ply later, and a tie stays a tie. So each
    plane is complemented, and a carry that begins with c's highest bit is added. If the parent has one more plane
    (*count* > *count_after*), the two highest planes are computed so that ties move to the new half.
    """
    top, some, carry = batch.least[count_after - 1], batch.child[0], batch.less
    # `some` marks a one below the highest plane. With the highest plane set as well, the worth is more than a tie.
    for t in range(filled):
        some[t] = NOTHING
        carry[t] = top[t]
    for plane in range(count_after - 1):
        least = batch.least[plane]
        for t in range(filled):
            some[t] |= least[t]
    for plane in range(count):
        least = batch.least[min(plane, count_after - 1)]  # beyond the planes of the child: the highest again
        out = planes[plane]
        # Case: the parent has one more plane. Here a tie (`top` alone) counts as 0, so that the carry moves it up.
        if plane == count_after - 1 and count > count_after:
            # Complement, add the carry, and clear bits outside the set.
            for t in range(filled):
                bits = ~(top[t] & some[t])
                out[word + t] = (bits ^ carry[t]) & words[word + t]
                carry[t] &= bits
        else:
            for t in range(filled):
                bits = ~least[t]
                out[word + t] = (bits ^ carry[t]) & words[word + t]
                carry[t] &= bits


@lean_kernel
def tally_worths(words, begin, end, planes, count, tally):
    """Count the worths of the positions in words *begin* to *end*."""
    for word in range(begin, end):
        left = words[word]
        while left:
            same, worth = like_lowest(left, planes, word, count)
            tally[worth] += popcount(same)
            left &= ~same


@lean_kernel
def like_lowest(left, planes, word, count):
    """Return the positions of a word with the same worth as the lowest one, and that worth."""
    j = np.uint64(lowest(left))
    same, worth = left, np.int64(0)
    for plane in range(count):
        one = planes[plane, word] >> j & ONE
        worth |= np.int64(one) << plane
        same &= planes[plane, word] if one else ~planes[plane, word]
    return same, worth
