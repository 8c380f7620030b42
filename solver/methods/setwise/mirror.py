"""Mirror-image tiers: one of two is stored, and the other is made from it when it is needed.

A mirror is a symmetry that gives each position exactly one image. It moves the bits of the position, and the image of
the image is the position itself. So it maps a tier to one with the same positions in another order, because bits of
the rank move::

    columns 1 2 3     0 1 1 | 1 0 | 1     lowest bit first
    columns 3 2 1     1 | 1 0 | 0 1 1     the positions of one word are in up to 64 words of the mirror image

The solver does not trust that the rules are symmetric. It checks for each tier that its links, and the positions in
which the game ends, mirror those of the other tier. If not, it raises NotSymmetric and stores all tiers.
"""

import numpy as np

from retrograde.solver.methods.setwise.words import AFTER_TIER, GROUP_BITS, NOTHING, ONE, WORD_BITS, lowest, popcount
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.rules.plain.tier_kernels import BASE, GROUP, GROUPS, MASK, WORD, WORDS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel

MOST_TABLES = -(-LANES // WORD_BITS)
"""Tables of six bits each that cover a rank of 64 bits."""


class NotSymmetric(Exception):
    """The rules declare a mirror, but are not symmetric in it."""


def mirror_images(mirror: Array, positions: Array) -> Array:
    """Return the mirror images of positions, or of sets of bits; raise NotSymmetric if a bit has no image."""
    images = np.zeros_like(positions)
    for bit, image_bit in enumerate(mirror.tolist()):
        ones = (positions >> bit) & 1
        if image_bit < LANES:
            images |= ones << image_bit
        elif ones.any():
            raise NotSymmetric
    return images


def image_rows(mirror: Array, tiers: Array) -> Array:
    """Return for each tier of a wave the row of its mirror image; raise NotSymmetric if one is missing."""
    bases, masks = tiers[:, BASE], tiers[:, MASK]
    image_bases, image_masks = mirror_images(mirror, bases), mirror_images(mirror, masks)
    # Sort the tiers, and their images: the same tiers must come in both orders.
    order, image_order = np.lexsort((masks, bases)), np.lexsort((image_masks, image_bases))
    if not (
        np.array_equal(bases[order], image_bases[image_order])
        and np.array_equal(masks[order], image_masks[image_order])
    ):
        raise NotSymmetric
    rows = np.empty(len(tiers), np.int64)
    rows[image_order] = order
    return rows


def check_links(mirror: Array, rows_before: Array, rows: Array, links: Array) -> None:
    """Raise NotSymmetric unless the links into a wave are symmetric. *rows_before* and *rows* are the `image_rows` of
    both waves. Rows of *links* are (parent row, child row, bits that all children share)."""
    images = np.c_[rows_before[links[:, 0]], rows[links[:, 1]], mirror_images(mirror, links[:, 2])]
    if not np.array_equal(links[np.lexsort(links.T)], images[np.lexsort(images.T)]):
        raise NotSymmetric


@lean_kernel
def write_rank_tables(mask, mirror, mirrored, other, tables):
    """Write *tables*, int64[MOST_TABLES, 64], that map ranks of a tier to ranks in another tier, six bits at a time.

    *mask* and *other* are the masks of the two tiers. If *mirrored*, the other tier has the mirror images of the
    positions. The rank of a position is the OR of one entry of each table.
    """
    tables[:] = 0
    rank_bit = 0
    for bit in range(LANES):
        if (mask >> bit) & 1:
            # Bit number `rank_bit` of the rank is the position's bit `bit`. In the other tier it is bit `image_bit`,
            # which has the value `image_value` in ranks.
            image_bit = mirror[bit] if mirrored else bit
            image_value = 1 << popcount(np.uint64(other & ((1 << image_bit) - 1)))
            table, table_bit = divmod(rank_bit, WORD_BITS)
            for number in range(1 << WORD_BITS):
                tables[table, number] |= ((number >> table_bit) & 1) * image_value
            rank_bit += 1


@lean_kernel
def first_rank(tables, word):
    """Return the rank in the other tier of the first position of word number *word*."""
    rank, table = np.int64(0), 1
    while word:
        rank |= tables[table, word & 63]
        word >>= WORD_BITS
        table += 1
    return rank


@kernel
def mark_mirror_images(mirror, stored, rows, sets, images):
    """Find out which words tiers have that are made from their mirror images: fill their groups, and the column WORDS.

    *images* lists the rows of *sets* to be made. Row r is the mirror image of tier `rows[r]` of *stored*.
    """
    tables, ranks = np.empty((MOST_TABLES, 1 << WORD_BITS), np.int64), np.empty(64, np.int64)
    tiers, occupied, before, _ = sets
    for row in images:
        tier, image = stored.tiers[rows[row]], tiers[row]
        # Step 1: Prepare tables that map ranks, and clear the groups.
        write_rank_tables(tier[MASK], mirror, True, image[MASK], tables)
        start, stop = image[GROUP], image[GROUP] + image[GROUPS] + AFTER_TIER
        occupied[start:stop] = NOTHING
        # Step 2: Mark the word of each position's image, and count the words before each group.
        place_images(stored, tier, tables, ranks, sets, image, False)
        image[WORDS] = 0
        for group in range(start, stop):
            before[group] = image[WORDS]
            image[WORDS] += popcount(occupied[group])


@kernel
def fill_mirror_images(mirror, stored, rows, sets, images):
    """Fill the words that `mark_mirror_images` has found; the column WORD says where they go."""
    tables, ranks = np.empty((MOST_TABLES, 1 << WORD_BITS), np.int64), np.empty(64, np.int64)
    for row in images:
        tier, image = stored.tiers[rows[row]], sets.tiers[row]
        write_rank_tables(tier[MASK], mirror, True, image[MASK], tables)
        sets.words[image[WORD] : image[WORD] + image[WORDS]] = NOTHING
        place_images(stored, tier, tables, ranks, sets, image, True)


@lean_kernel
def place_images(stored, tier, tables, ranks, sets, image, is_marked):
    """Add the mirror images of a tier's positions to another tier, in one of two passes.

    *tier* and *image* are the rows of the two tiers. The first pass marks in `sets.occupied` which words of the image
    tier have positions. The second pass (*is_marked*) sets the bits of the positions in these words. *ranks* is a
    buffer for the positions of a word.
    """
    word = tier[WORD]
    for group in range(tier[GROUPS]):
        remaining = stored.occupied[tier[GROUP] + group]
        while remaining:
            count = write_image_ranks(tables, (group << WORD_BITS) | lowest(remaining), stored.words[word], ranks)
            remaining &= remaining - ONE
            for k in range(count):
                group_index = image[GROUP] + (ranks[k] >> GROUP_BITS)
                bit = ONE << np.uint64((ranks[k] >> WORD_BITS) & 63)
                if is_marked:
                    # The word's index: words before its group, plus stored words before it in the group.
                    word_index = image[WORD] + np.int64(sets.before[group_index])
                    word_index += popcount(sets.occupied[group_index] & (bit - ONE))
                    sets.words[word_index] |= ONE << np.uint64(ranks[k] & 63)
                else:
                    sets.occupied[group_index] |= bit
            word += 1


@lean_kernel
def write_image_ranks(tables, number, positions, ranks):
    """Write the ranks of the images of the *positions* of word *number*, and return how many."""
    first, count = first_rank(tables, number), 0
    while positions:
        ranks[count] = first | tables[0, lowest(positions)]
        positions &= positions - ONE
        count += 1
    return count
