"""Tiers that are images of one another: of two one is kept; the other, its *twin*, is made of it where it is needed.

A mirror is a game's only image, where that has the bits of the position at other places, and its own image is the
position again. It takes a tier to one with the same positions in another order: bits of the rank change places::

    columns 1 2 3     0 1 1 | 1 0 | 1     lowest bit first
    columns 3 2 1     1 | 1 0 | 0 1 1     the positions of one word are in up to 64 words of the twin

That rules are the same in the mirror is not taken for granted: of each tier the links, and what ends the game, are held
against those of its twin.
"""

from typing import Any

import numpy as np

from retrograde.solver.methods.setwise.words import AFTER_TIER, GROUP_BITS, NOTHING, ONE, WORD_BITS, lowest, popcount
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.rules.plain.tier_kernels import BASE, GROUP, GROUPS, MASK, WORD, WORDS
from retrograde.solver.runtime.kernel import kernel, lean_kernel

Array = np.ndarray[Any, Any]

MOST_TABLES = -(-LANES // WORD_BITS)


class Lopsided(Exception):
    """Rules that declare a mirror are not seen to be the same in it."""


def in_mirror(mirror: Array, positions: Array) -> Array:
    """Return the images of some positions, or of sets of bits; raise Lopsided where some bits are in none."""
    images = np.zeros_like(positions)
    for bit, place in enumerate(mirror.tolist()):
        ones = positions >> bit & 1
        if place < LANES:
            images |= ones << place
        elif ones.any():
            raise Lopsided
    return images


def find_twins(mirror: Array, tiers: Array) -> Array:
    """Return for each tier of a wave the row of its image; raise Lopsided where that is not among them."""
    bases, masks = tiers[:, BASE], tiers[:, MASK]
    image_bases, image_masks = in_mirror(mirror, bases), in_mirror(mirror, masks)
    own, others = np.lexsort((masks, bases)), np.lexsort((image_masks, image_bases))
    if not (np.array_equal(bases[own], image_bases[others]) and np.array_equal(masks[own], image_masks[others])):
        raise Lopsided
    twins = np.empty(len(tiers), np.int64)
    twins[others] = own
    return twins


def expect_same_links(mirror: Array, twins_before: Array, twins: Array, links: Array) -> None:
    """Raise Lopsided where the links of a wave, rows of where from, where to and the bits that all children share, are
    not the same in the mirror."""
    images = np.c_[twins_before[links[:, 0]], twins[links[:, 1]], in_mirror(mirror, links[:, 2])]
    if not np.array_equal(links[np.lexsort(links.T)], images[np.lexsort(images.T)]):
        raise Lopsided


@lean_kernel
def ranks_in(mask, mirror, turned, other, tables):
    """Write what the bits of the ranks of a tier, by its mask, come to in one with another mask, which is of its images
    if it is *turned*; six bits at a time: `tables`, int64[MOST_TABLES, 64]."""
    tables[:] = 0
    rank = 0
    for bit in range(LANES):
        if mask >> bit & 1:
            place = mirror[bit] if turned else bit
            one = 1 << popcount(np.uint64(other & (1 << place) - 1))
            table, at = divmod(rank, WORD_BITS)
            for number in range(1 << WORD_BITS):
                tables[table, number] |= (number >> at & 1) * one
            rank += 1


@lean_kernel
def first_rank(tables, word):
    """Return what the rank of the first position of a word comes to, by the number of the word in the tier."""
    rank, table = np.int64(0), 1
    while word:
        rank |= tables[table, word & 63]
        word >>= WORD_BITS
        table += 1
    return rank


@kernel
def find_turned_words(mirror, kept, of, sets, turned):
    """Note where the twins have words, those rows of *sets* that are *turned*, of the tiers of *kept* in the rows that
    *of* says; and in their table how many these are."""
    tables = np.empty((MOST_TABLES, 1 << WORD_BITS), np.int64)
    inside = tables[0]
    own_tiers, own_occupied, _, words = kept
    tiers, occupied, before, _ = sets
    for row in turned:
        tier, twin = own_tiers[of[row]], tiers[row]
        ranks_in(tier[MASK], mirror, True, twin[MASK], tables)
        start, end = twin[GROUP], twin[GROUP] + twin[GROUPS] + AFTER_TIER
        for group in range(start, end):
            occupied[group] = NOTHING
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
        twin[WORDS] = 0
        for group in range(start, end):
            before[group] = twin[WORDS]
            twin[WORDS] += popcount(occupied[group])


@kernel
def turn_words(mirror, kept, of, sets, turned):
    """Write the words of the twins; arguments as above."""
    tables = np.empty((MOST_TABLES, 1 << WORD_BITS), np.int64)
    inside = tables[0]
    own_tiers, own_occupied, _, own_words = kept
    tiers, occupied, before, words = sets
    for row in turned:
        tier, twin = own_tiers[of[row]], tiers[row]
        ranks_in(tier[MASK], mirror, True, twin[MASK], tables)
        word, start, first_word = tier[WORD], twin[GROUP], twin[WORD]
        words[first_word : first_word + twin[WORDS]] = NOTHING
        for group in range(tier[GROUPS]):
            left = own_occupied[tier[GROUP] + group]
            while left:
                first = first_rank(tables, group << WORD_BITS | lowest(left))
                left &= left - ONE
                positions = own_words[word]
                while positions:
                    rank = first | inside[lowest(positions)]
                    positions &= positions - ONE
                    there = occupied[start + (rank >> GROUP_BITS)]
                    to = first_word + np.int64(before[start + (rank >> GROUP_BITS)])
                    to += popcount(there & ((ONE << np.uint64(rank >> WORD_BITS & 63)) - ONE))
                    words[to] |= ONE << np.uint64(rank & 63)
                word += 1
