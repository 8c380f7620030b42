"""The compiled loops back: what the positions of a tier are worth from what those of the next tiers are.

The worth of a position is a number, the greater the better for who is to move; half of the greatest and one is a tie::

    0         lost          1, 2, …   lost in 2, 4, … plies       half   a tie       …, greatest   won in …, 3, 1 plies

Bit p of the numbers of a word's positions is *plane* p, a word; a plane of all words lies in one row. A position
is worth what the child is worth that is worth least, seen from the other side and one ply later. A child that is not
there is lost.

In misère play a child that is not there is won, and what is won and what is lost change places: the greater the number,
the worse. So it is the child with the greatest number that counts, and what is passed up is the same::

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
"""As many as 62 plies need."""
TOGETHER = 192
"""Words that are worked on at once, and up to 63 more."""
STRIDE = TOGETHER + 64 + 8
"""Not a power of two: planes of the same word would lie in the same place of the cache."""
TO = 0
"""Column of a table of links out of a tier: the row of the next tier, or NONE where all children are lost. (The others
are as in forward_kernels.py.)"""
NONE = -1
TURNED = -3
"""In the place of a bit that is put in: the next tier is the twin of the one to which the link would lead."""


class Batch(NamedTuple):
    """Room for words worked on at once: the numbers of their groups, and the place of the first word of each; the
    planes of a child and the least so far, and where the child is less."""

    groups: Array
    starts: Array
    child: Array
    least: Array
    less: Array


@kernel
def room_for_batch():
    """Return room for words worked on at once."""
    return Batch(
        np.empty(STRIDE, np.int64), np.empty(STRIDE, np.int64), np.empty((MOST_PLANES, STRIDE), np.uint64),
        np.empty((MOST_PLANES, STRIDE), np.uint64), np.empty(STRIDE, np.uint64),
    )  # fmt: skip


@kernel
def backward(imaging, misere, mirror, sets, links, starts, after, planes_after, planes, tallies):
    """Write the planes of some tiers from those of tiers of the wave after; count worths in *tallies*, but for tiers
    of which all positions are canonical: these are counted as their steps are made.

    Of two tiers that are images of one another only those of the canonical one are counted, which alone is written if
    there is a *mirror*.

    The links out of tier k are those from *starts[k]* to *starts[k + 1]*.
    """
    count_after, count = len(planes_after), len(planes)
    batch = room_for_batch()
    values, pairs = np.empty(len(imaging.nodes), np.int64), np.empty((MOST_IMAGES, IMAGE_PAIRS), np.int64)
    for k in range(len(sets.tiers)):
        tier = sets.tiers[k]
        own = links[starts[k] : starts[k + 1]]
        lost = len(own) == 0
        for link in range(len(own)):
            lost |= own[link, TO] == NONE
        ones = room_for_ones(own[:0] if lost else own, after, count_after)
        prepare_one_by_one(own[: len(ones.begins)], mirror, tier, after, planes_after, count_after, ones)
        group, word = 0, tier[WORD]
        while group < tier[GROUPS]:
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
            pass_up(batch, filled, count_after, count, sets.words, planes, word)
            word += filled
        images = pairs_of(imaging, tier[BASE], tier[MASK], values, pairs)
        share = share_of(pairs, images)
        if share == SOME_SHARE or (share == NO_SHARE and images != 1):  # of one image, its tier has as many
            tally_worths(sets.words, tier[WORD], word, planes, count, tallies[k])


@lean_kernel
def gather(sets, tier, batch, some, after, link, planes_after, count_after, into):
    """Write the planes of the children by a link, for all words of a batch."""
    place, bit = link[PLACE], link[BIT]
    child = after.tiers[link[TO]]
    _, occupied, _, _ = sets
    _, occupied_after, before_after, _ = after
    groups, starts = batch.groups, batch.starts
    own_group, child_group, child_word = tier[GROUP], child[GROUP], child[WORD]
    for at in range(some):
        group, t = groups[at], starts[at]
        left = occupied[own_group + group]
        if place == NO_PLACE or place >= GROUP_BITS:
            source = child_group + (group if place == NO_PLACE else with_bit(group, place - GROUP_BITS, bit))
            there = occupied_after[source]
            first = child_word + np.int64(before_after[source])
            while left:
                own = left & ~(left - ONE)
                left ^= own
                is_there = NOTHING - np.uint64(there & own != NOTHING)  # all ones or none: without a branch
                word = first + popcount(there & (own - ONE))
                for plane in range(count_after):
                    into[plane, t] = planes_after[plane, word] & is_there
                t += 1
            continue
        low, high = occupied_after[child_group + 2 * group], occupied_after[child_group + 2 * group + 1]
        first = child_word + np.int64(before_after[child_group + 2 * group])
        second = first + popcount(low)
        while left:
            j = lowest(left)
            left &= left - ONE
            number = with_bit(j, place - WORD_BITS, bit) if place >= WORD_BITS else 2 * j
            there, word = (high, second) if number >> WORD_BITS else (low, first)
            shift = np.uint64(number & 63)
            word += popcount(there & ((ONE << shift) - ONE))
            there >>= shift
            is_there = NOTHING - (there & ONE)
            if place >= WORD_BITS:
                for plane in range(count_after):
                    into[plane, t] = planes_after[plane, word] & is_there
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
    """Tell whether the children by a link are looked up one by one: it puts several bits into ranks, or is TURNED."""
    return link[PLACE] == MANY or link[PLACE] == TURNED


class OneByOne(NamedTuple):
    """Of each link by which children are looked up one by one: where in `beside` the planes of the next tier begin,
    those of a word side by side; and `tables` of what ranks come to (see twins.py). And room for the children of a
    word, int64[64, 4]: where their planes are, at which bit, whether they are there, and which bit they become."""

    begins: Array
    tables: Array
    beside: Array
    looks: Array


@kernel
def room_for_ones(links, after, count_after):
    """Return room for children that are looked up one by one."""
    begins, size = np.zeros(len(links), np.int64), 0
    for link in range(len(links)):
        begins[link] = size
        if one_by_one(links[link]):
            size += after.tiers[links[link, TO], WORDS] * count_after
    tables = np.empty((len(links), MOST_TABLES, 1 << WORD_BITS), np.int64)
    beside = np.zeros(size + count_after, np.uint64)  # a word more is looked at where there is none
    return OneByOne(begins, tables, beside, np.empty((64, 4), np.int64))


@lean_kernel
def prepare_one_by_one(links, mirror, tier, after, planes_after, count_after, ones):
    """Make ready what `gather_one_by_one` looks at; of links SHARED is from now on what ranks of children share."""
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
    """Do the same by a link that puts several bits into the ranks, or leads to the twin of a tier."""
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
            first = shared | first_rank(tables, group << WORD_BITS | lowest(left))
            left &= left - ONE
            inside = words[word]
            count = 0
            while inside:  # without a branch, so that what is looked up far away is waited for together
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
    """Take the planes of a child where it has a lower number than the least so far, or a higher one in misère play."""
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
    """Write what the least is worth to the one who moves there, from a word on."""
    top, some, carry = batch.least[count_after - 1], batch.child[0], batch.less
    for t in range(filled):
        some[t] = NOTHING
        carry[t] = top[t]
    for plane in range(count_after - 1):
        least = batch.least[plane]
        for t in range(filled):
            some[t] |= least[t]
    for plane in range(count):
        least = batch.least[min(plane, count_after - 1)]  # the highest says that it is more than a tie
        out = planes[plane]
        if plane == count_after - 1 and count > count_after:
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
    """Count how many positions of some words are worth what."""
    for word in range(begin, end):
        left = words[word]
        while left:
            same, worth = like_lowest(left, planes, word, count)
            tally[worth] += popcount(same)
            left &= ~same


@lean_kernel
def like_lowest(left, planes, word, count):
    """Return those of some positions of a word that are worth the same as the lowest, and what that is."""
    j = np.uint64(lowest(left))
    same, worth = left, np.int64(0)
    for plane in range(count):
        one = planes[plane, word] >> j & ONE
        worth |= np.int64(one) << plane
        same &= planes[plane, word] if one else ~planes[plane, word]
    return same, worth
