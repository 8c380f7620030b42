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

from retrograde.games.contract.game import WIN
from retrograde.solver.methods.setwise.forward_kernels import BIT, BIT_AT, MANY, NO_BIT, SHARED, Sets
from retrograde.solver.methods.setwise.mirror import MOST_TABLES, first_rank, write_rank_tables
from retrograde.solver.methods.setwise.words import (
    GROUP_BITS,
    NOTHING,
    ONE,
    WORD_BITS,
    gather_word,
    insert_bit,
    lowest,
    popcount,
)
from retrograde.solver.rules.plain.tier_kernels import GROUP, GROUPS, MASK, WORD, WORDS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.bits import extract

MOST_PLANES = 6
"""Planes at most. Six planes can count 62 plies."""
WINNER = int(WIN)
"""The primitive value of decided games in misère play."""
BLOCK_WORDS = 192
"""Words that a block collects before it is worked on. The last group may add up to 63 more."""
STRIDE = BLOCK_WORDS + 64 + 8
"""Length of a row of a block. Not a power of two: the planes of a word would then compete for the same cache lines."""
TO = 0
"""Column of a table of links out of a tier: the row of the child tier, or NONE if all children are lost. The others are
as in forward_kernels.py."""
NONE = -1
MIRRORED = -3
"""Value of BIT_AT: the child tier is not stored, but its mirror image is; look children up there."""


class WaveValues(NamedTuple):
    """The sets of some tiers of a wave, and their planes, uint64[planes, words + 1]."""

    sets: Sets
    planes: Array


class WordBlock(NamedTuple):
    """Workspace for some words of a tier, at most BLOCK_WORDS + 63, that are worked on at once.

    `sizes` has the number of groups in the block, and of words. `groups` lists group numbers, and `starts` the index of
    each group's first word in the block. `child` holds the planes of one child of each position, `least` the least
    worth so far, and `less` marks where the child is less.
    """

    sizes: Array
    groups: Array
    starts: Array
    child: Array
    least: Array
    less: Array


@kernel
def compute_planes(rules, values, links, starts, values_after):
    """Write the planes of some tiers, in *values*, from those of the next wave (both WaveValues). The links out of tier
    k are `links[starts[k]:starts[k + 1]]`."""
    block = WordBlock(
        np.zeros(2, np.int64), np.empty(STRIDE, np.int64), np.empty(STRIDE, np.int64),
        np.empty((MOST_PLANES, STRIDE), np.uint64), np.empty((MOST_PLANES, STRIDE), np.uint64),
        np.empty(STRIDE, np.uint64),
    )  # fmt: skip
    for k in range(len(values.sets.tiers)):
        tier, out = values.sets.tiers[k], links[starts[k] : starts[k + 1]]
        # Step 1: Prepare tables for links whose children are looked up one by one. If the tier has no links, or one of
        # them leads to a finished game, every position has a child that is lost: all win in one. (In misère play
        # `links_out` leaves out finished games; a tier without links has none but finished children, and all its
        # positions lose in one.)
        if len(out) and (out[:, TO] == NONE).any():
            out = out[:0]
        lookup = new_lookup(out, values_after)
        prepare_lookup(out, rules.mirror, tier, values_after, lookup)
        # Step 2: Compute the planes, block by block.
        group, word = 0, tier[WORD]
        while group < tier[GROUPS]:
            group = collect_groups(values.sets, tier, group, block)
            if block.sizes[1]:
                find_best_worths(values.sets, tier, out, values_after, rules.decided == WINNER, lookup, block)
                pass_up(block, len(values_after.planes), values, word)
                word += block.sizes[1]


@lean_kernel
def collect_groups(sets, tier, group, block):
    """Write to *block* the groups of a tier from *group* on, until they have BLOCK_WORDS words; return the next
    group."""
    groups = words = 0
    while group < tier[GROUPS] and words < BLOCK_WORDS:
        occupied = sets.occupied[tier[GROUP] + group]
        if occupied:
            block.groups[groups], block.starts[groups] = group, words
            groups += 1
            words += popcount(occupied)
        group += 1
    block.sizes[0], block.sizes[1] = groups, words
    return group


@lean_kernel
def find_best_worths(sets, tier, links, values_after, misere, lookup, block):
    """Write the best worth over all children of a block to `block.least`; without links, all children are lost."""
    words, plane_count = block.sizes[1], len(values_after.planes)
    if not len(links):
        for plane in range(plane_count):
            block.least[plane, :words] = NOTHING
    # The first link writes to `least`, the others to `child`.
    for link in range(len(links)):
        planes = block.child if link else block.least
        if needs_lookup(links[link]):
            look_up_children(sets, tier, block, values_after.sets, links[link], lookup, link, planes)
        else:
            gather(sets, tier, block, values_after, links[link], planes)
        if link:
            keep_best(block, words, plane_count, misere)


@lean_kernel
def gather(sets, tier, block, values_after, link, out):
    """Write the planes of the children by one link, for all words of a block, to *out*; 0 where a child is not stored.
    The cases are those of `collect_group`, in reverse. *values_after* are WaveValues."""
    bit_index, bit = link[BIT_AT], link[BIT]
    child, planes_after, count_after = values_after.sets.tiers[link[TO]], values_after.planes, len(values_after.planes)
    _, occupied, _, _ = sets
    _, occupied_after, before_after, _ = values_after.sets
    groups, starts = block.groups, block.starts
    own_group, child_group, child_word = tier[GROUP], child[GROUP], child[WORD]
    for i in range(block.sizes[0]):
        group, column = groups[i], starts[i]
        remaining = occupied[own_group + group]
        # Case: the bit is in the group number, or there is none. Words keep their number in the group.
        if bit_index == NO_BIT or bit_index >= GROUP_BITS:
            source = child_group + (group if bit_index == NO_BIT else insert_bit(group, bit_index - GROUP_BITS, bit))
            stored = occupied_after[source]
            first = child_word + np.int64(before_after[source])
            while remaining:
                own_bit = remaining & ~(remaining - ONE)
                remaining ^= own_bit
                if_stored = NOTHING - np.uint64((stored & own_bit) != NOTHING)  # all ones or 0, without a branch
                word = first + popcount(stored & (own_bit - ONE))
                for plane in range(count_after):
                    out[plane, column] = planes_after[plane, word] & if_stored
                column += 1
            continue
        # Otherwise the group becomes two child groups. `first` and `second` are where their words begin.
        low, high = occupied_after[child_group + 2 * group], occupied_after[child_group + 2 * group + 1]
        first = child_word + np.int64(before_after[child_group + 2 * group])
        second = first + popcount(low)
        while remaining:
            j = lowest(remaining)
            remaining &= remaining - ONE
            # The number of the child's word among the 128 of both groups. If the bit is inside the word, the child's
            # words are this one and the next.
            number = insert_bit(j, bit_index - WORD_BITS, bit) if bit_index >= WORD_BITS else 2 * j
            stored, word = (high, second) if number >> WORD_BITS else (low, first)
            shift = np.uint64(number & 63)
            word += popcount(stored & ((ONE << shift) - ONE))
            stored >>= shift
            if_stored = NOTHING - (stored & ONE)
            # Case: the bit is in the number of the word. Words are copied whole.
            if bit_index >= WORD_BITS:
                for plane in range(count_after):
                    out[plane, column] = planes_after[plane, word] & if_stored
            # Case: the bit is inside the word. Each of two child words gives 32 of the 64 positions.
            else:
                next_word = word + np.int64(stored & ONE)
                if_next_stored = NOTHING - ((stored >> ONE) & ONE)
                for plane in range(count_after):
                    lower = gather_word(planes_after[plane, word] & if_stored, bit_index, bit)
                    upper = gather_word(planes_after[plane, next_word] & if_next_stored, bit_index, bit)
                    out[plane, column] = lower | (upper << np.uint64(32))
            column += 1


@lean_kernel
def needs_lookup(link):
    """Return whether the children by a link are looked up one by one: it inserts several bits, or the child tier is
    MIRRORED."""
    return link[BIT_AT] == MANY or link[BIT_AT] == MIRRORED


class ChildLookup(NamedTuple):
    """Tables for links whose children are looked up one by one.

    `planes` has copies of the child tiers' planes, with the `count` planes of one word next to each other. Those of a
    link begin at `begins[link]`. `tables` map ranks to child ranks (see `write_rank_tables` in mirror.py). `children`,
    int64[64, 4], is a workspace for the children of one word: index of the first plane in `planes`, bit there, 1 if
    stored, and bit in the own word.
    """

    begins: Array
    tables: Array
    planes: Array
    count: Any
    children: Array


@kernel
def new_lookup(links, values_after):
    """Return an empty ChildLookup of the right size for the links out of a tier."""
    count = len(values_after.planes)
    begins, size = np.zeros(len(links), np.int64), 0
    for link in range(len(links)):
        begins[link] = size
        if needs_lookup(links[link]):
            size += values_after.sets.tiers[links[link, TO], WORDS] * count
    tables = np.empty((len(links), MOST_TABLES, 1 << WORD_BITS), np.int64)
    planes = np.zeros(size + count, np.uint64)  # children that are not stored read one word past the end
    return ChildLookup(begins, tables, planes, count, np.empty((64, 4), np.int64))


@lean_kernel
def prepare_lookup(links, mirror, tier, values_after, lookup):
    """Fill *lookup* for those links out of a tier that need it. *mirror* has the mirror image of each bit.

    Call it once for the links of a tier: their column SHARED changes from bits of a position to bits of a child's rank.
    """
    begins, tables, planes, count, _ = lookup
    for link in range(len(links)):
        if needs_lookup(links[link]):
            child, i = values_after.sets.tiers[links[link, TO]], begins[link]
            write_rank_tables(tier[MASK], mirror, links[link, BIT_AT] == MIRRORED, child[MASK], tables[link])
            links[link, SHARED] = extract(np.uint64(links[link, SHARED]), np.uint64(child[MASK]))
            for word in range(child[WORD], child[WORD] + child[WORDS]):
                for plane in range(count):
                    planes[i] = values_after.planes[plane, word]
                    i += 1


@lean_kernel
def look_up_children(sets, tier, block, sets_after, link, lookup, number, out):
    """Like `gather`, for a link that inserts several bits or leads to a mirror image: looks up each child. *number* is
    the link's number among those of the tier. *sets_after* are the sets of the wave after."""
    child, shared = sets_after.tiers[link[TO]], link[SHARED]
    begin, tables, planes, children = lookup.begins[number], lookup.tables[number], lookup.planes, lookup.children
    _, occupied, before, words = sets
    _, occupied_after, before_after, _ = sets_after
    child_group = child[GROUP]
    for i in range(block.sizes[0]):
        column, group = block.starts[i], block.groups[i]
        remaining = occupied[tier[GROUP] + group]
        word = tier[WORD] + np.int64(before[tier[GROUP] + group])
        while remaining:
            # Map the upper bits of the rank once for all positions of the word.
            first = shared | first_rank(tables, (group << WORD_BITS) | lowest(remaining))
            remaining &= remaining - ONE
            inside = words[word]
            count = 0
            # Step 1: Find where each child is. No branch, so that the processor waits for distant memory in parallel.
            while inside:
                own_bit = lowest(inside)
                inside &= inside - ONE
                rank = first | tables[0, own_bit]
                stored = occupied_after[child_group + (rank >> GROUP_BITS)]
                shift = np.uint64((rank >> WORD_BITS) & 63)
                word_after = np.int64(before_after[child_group + (rank >> GROUP_BITS)])
                word_after += popcount(stored & ((ONE << shift) - ONE))
                children[count, 0], children[count, 1] = begin + word_after * lookup.count, rank & 63
                children[count, 2], children[count, 3] = (stored >> shift) & ONE, own_bit
                count += 1
            # Step 2: Fetch the bits, one plane after another.
            for plane in range(lookup.count):
                bits = NOTHING
                for k in range(count):
                    bit = (planes[children[k, 0] + plane] >> np.uint64(children[k, 1])) & np.uint64(children[k, 2])
                    bits |= bit << np.uint64(children[k, 3])
                out[plane, column] = bits
            word += 1
            column += 1


@lean_kernel
def keep_best(block, words, count, misere):
    """Replace the best worth so far by the child's where that is better: lower, or in misère play greater. The numbers
    are compared for 64 positions at a time, from the lowest plane up: a higher plane overrides a lower one."""
    # Step 1: `less` becomes 1 where the child is better, which means that *a* < *b*.
    less = block.less[:words]
    a, b = (block.least, block.child) if misere else (block.child, block.least)
    for t in range(words):
        less[t] = ~a[0, t] & b[0, t]
    for plane in range(1, count):
        a_plane, b_plane = a[plane], b[plane]
        for t in range(words):
            less[t] = (~a_plane[t] & b_plane[t]) | (~(a_plane[t] ^ b_plane[t]) & less[t])
    # Step 2: Take the child's bits there.
    for plane in range(count):
        child, least = block.child[plane], block.least[plane]
        for t in range(words):
            least[t] ^= (least[t] ^ child[t]) & less[t]


@lean_kernel
def pass_up(block, count_after, values, word):
    """Write the worths of a block as the player to move sees them to *values*, from *word* on.

    `block.least` uint64[planes, words] has the least worth among the children. Plane p has bit p of the worths of 64
    positions in each word. There are *count_after* planes. `block.child` and `block.less` serve as workspace.

    A child with worth c < half gives its parent the complement of c: lost in 2c becomes won in 2c + 1. A child with c ≥
    half gives -c, which is the complement plus 1: won becomes lost one ply later, and a tie stays a tie. So each plane
    is complemented, and a carry that begins with c's highest bit is added. With two planes::

        child     00 lost in 0    01 lost in 2    10 a tie    11 won in 1
        parent    11 won in 1     10              10 a tie    01 lost in 2

    If the parent has one more plane (`count` > *count_after*), the two highest planes are computed so that ties move to
    the new half.
    """
    words, planes, count, word_count = values.sets.words, values.planes, len(values.planes), block.sizes[1]
    top, below_top, carry = block.least[count_after - 1], block.child[0], block.less
    # `below_top` marks a one below the highest plane. With the highest plane set as well, the worth exceeds a tie.
    for t in range(word_count):
        below_top[t] = NOTHING
        carry[t] = top[t]
    for plane in range(count_after - 1):
        least = block.least[plane]
        for t in range(word_count):
            below_top[t] |= least[t]
    for plane in range(count):
        least = block.least[min(plane, count_after - 1)]  # beyond the planes of the child: the highest again
        out = planes[plane]
        # Case: the parent has one more plane. Here a tie (`top` alone) counts as 0, so that the carry moves it up.
        if plane == count_after - 1 and count > count_after:
            # Complement, add the carry, and clear bits outside the set.
            for t in range(word_count):
                bits = ~(top[t] & below_top[t])
                out[word + t] = (bits ^ carry[t]) & words[word + t]
                carry[t] &= bits
        else:
            for t in range(word_count):
                bits = ~least[t]
                out[word + t] = (bits ^ carry[t]) & words[word + t]
                carry[t] &= bits
