"""Mirror-image tiers: one of two is stored, and the other is made from it when it is needed.

A mirror is a symmetry that gives each position exactly one image. It moves the bits of the position, and the image of
the image is the position itself. So it maps a tier to one with the same positions in another order, because bits of
the rank move::

    columns 1 2 3     0 1 1 | 1 0 | 1     lowest bit first
    columns 3 2 1     1 | 1 0 | 0 1 1     the positions of one word are in up to 64 words of the mirror image

The solver does not trust that the rules are symmetric. It checks for each tier that its links, and the positions in
which the game ends, mirror those of the other tier. If not, it raises Lopsided and stores all tiers.
"""

from typing import Any

import numpy as np

from retrograde.solver.methods.setwise.words import AFTER_TIER, GROUP_BITS, NOTHING, ONE, WORD_BITS, lowest, popcount
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.rules.plain.tier_kernels import BASE, GROUP, GROUPS, MASK, WORD, WORDS
from retrograde.solver.runtime.kernel import kernel, lean_kernel

Array = np.ndarray[Any, Any]

MOST_TABLES = -(-LANES // WORD_BITS)
"""Tables of six bits each that cover a rank of 64 bits."""


class Lopsided(Exception):
    """The rules declare a mirror, but are not symmetric in it."""


def in_mirror(mirror: Array, positions: Array) -> Array:
    """Return the mirror images of positions, or of sets of bits; raise Lopsided if a bit has no image."""
    images = np.zeros_like(positions)
    for bit, place in enumerate(mirror.tolist()):
        ones = positions >> bit & 1
        if place < LANES:
            images |= ones << place
        elif ones.any():
            raise Lopsided
    return images


def find_twins(mirror: Array, tiers: Array) -> Array:
    """Return for each tier of a wave the row of its mirror image; raise Lopsided if one is missing."""
    bases, masks = tiers[:, BASE], tiers[:, MASK]
    image_bases, image_masks = in_mirror(mirror, bases), in_mirror(mirror, masks)
    own, others = np.lexsort((masks, bases)), np.lexsort((image_masks, image_bases))
    if not (np.array_equal(bases[own], image_bases[others]) and np.array_equal(masks[own], image_masks[others])):
        raise Lopsided
    twins = np.empty(len(tiers), np.int64)
    twins[others] = own
    return twins


def expect_same_links(mirror: Array, twins_before: Array, twins: Array, links: Array) -> None:
    """Raise Lopsided unless the links into a wave are symmetric.

    Rows of *links* are (parent row, child row, bits that all children share).
    """
    images = np.c_[twins_before[links[:, 0]], twins[links[:, 1]], in_mirror(mirror, links[:, 2])]
    if not np.array_equal(links[np.lexsort(links.T)], images[np.lexsort(images.T)]):
        raise Lopsided


@lean_kernel
def ranks_in(mask, mirror, turned, other, tables):
    """Write tables that map ranks of a tier to ranks in another tier, six bits at a time: `tables`,
    int64[MOST_TABLES, 64].

    *mask* and *other* are the masks of the two tiers. If *turned*, the other tier has the mirror images of the
    positions. The rank of a position is the OR of one entry of each table.
    """
    tables[:] = 0
    rank = 0
    for bit in range(LANES):
        if mask >> bit & 1:
            # Bit number `rank` of the rank is the position's bit `bit`. In the other tier it is bit `place`, which has
            # the value `one` in ranks there.
            place = mirror[bit] if turned else bit
            one = 1 << popcount(np.uint64(other & (1 << place) - 1))
            table, at = divmod(rank, WORD_BITS)
            for number in range(1 << WORD_BITS):
                tables[table, number] |= (number >> at & 1) * one
            rank += 1


@lean_kernel
def first_rank(tables, word):
    """Return the rank in the other tier of the first position of a word, given the word's number in its tier."""
    rank, table = np.int64(0), 1
    while word:
        rank |= tables[table, word & 63]
        word >>= WORD_BITS
        table += 1
    return rank


@kernel
def find_turned_words(mirror, kept, of, sets, turned):
    """Find out which words mirrored tiers have, and how many.

    *turned* lists the rows of *sets* to be made. Row r is the mirror image of tier `of[r]` of *kept*. This kernel
    fills `occupied`, `before` and the column WORDS; `turn_words` then fills the words.
    """
    tables = np.empty((MOST_TABLES, 1 << WORD_BITS), np.int64)
    inside = tables[0]
    own_tiers, own_occupied, _, words = kept
    tiers, occupied, before, _ = sets
    for row in turned:
        tier, twin = own_tiers[of[row]], tiers[row]
        # Step 1: Prepare tables that map ranks, and clear the groups of the mirrored tier.
        ranks_in(tier[MASK], mirror, True, twin[MASK], tables)
        start, end = twin[GROUP], twin[GROUP] + twin[GROUPS] + AFTER_TIER
        for group in range(start, end):
            occupied[group] = NOTHING
        # Step 2: Mark the word of each position's image.
        word = tier[WORD]
        for group in range(tier[GROUPS]):
            left = own_occupied[tier[GROUP] + group]
            while left:
                first = first_rank(tables, group << WORD_BITS | lowest(left))
                left &= left - ONE
                positions = words[word]
                while positions:
                    rank = first | inside[lowest(positions)]
                    positions &= positions - ONE
                    occupied[start + (rank >> GROUP_BITS)] |= ONE << np.uint64(rank >> WORD_BITS & 63)
                word += 1
        # Step 3: Count the words before each group.
        twin[WORDS] = 0
        for group in range(start, end):
            before[group] = twin[WORDS]
            twin[WORDS] += popcount(occupied[group])


@kernel
def turn_words(mirror, kept, of, sets, turned):
    """Fill the words of mirrored tiers. The arguments are those of `find_turned_words`, which must run first."""
    tables = np.empty((MOST_TABLES, 1 << WORD_BITS), np.int64)
    inside = tables[0]
    own_tiers, own_occupied, _, own_words = kept
    tiers, occupied, before, words = sets
    for row in turned:
        tier, twin = own_tiers[of[row]], tiers[row]
        # Step 1: Prepare tables that map ranks, and clear the words.
        ranks_in(tier[MASK], mirror, True, twin[MASK], tables)
        word, start, first_word = tier[WORD], twin[GROUP], twin[WORD]
        words[first_word : first_word + twin[WORDS]] = NOTHING
        # Step 2: Set the bit of each position's image.
        for group in range(tier[GROUPS]):
            left = own_occupied[tier[GROUP] + group]
            while left:
                first = first_rank(tables, group << WORD_BITS | lowest(left))
                left &= left - ONE
                positions = own_words[word]
                while positions:
                    rank = first | inside[lowest(positions)]
                    positions &= positions - ONE
                    # The word's index: words before its group, plus stored words before it in the group.
                    there = occupied[start + (rank >> GROUP_BITS)]
                    to = first_word + np.int64(before[start + (rank >> GROUP_BITS)])
                    to += popcount(there & ((ONE << np.uint64(rank >> WORD_BITS & 63)) - ONE))
                    words[to] |= ONE << np.uint64(rank & 63)
                word += 1
