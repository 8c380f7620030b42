"""The compiled loops that evaluate programs (see rules.py) for all positions of a tier at once.

A literal has a value under a tier, given the tier's base and mask::

    0, 1          constant: the same for all positions
    2r + 2        bit r of the rank
    2r + 3        the complement of that bit
    UNCLEAR       anything else, such as the AND of two bits of the rank

`nodes`, `trees` and `lanes` are those of a Program; each lane is a literal, one bit of a result. `values` has the value
of each node.
"""

import numpy as np

from retrograde.solver.rules.plain.rules import LEAF
from retrograde.solver.rules.plain.symbols import AND, LANES
from retrograde.solver.runtime.kernel import kernel

UNCLEAR = -1
"""A literal that is neither constant nor a bit of the rank. Also returned if a result differs between positions."""
FIRST_BIT = 2
"""The value of a literal that is bit 0 of the rank. Bit r is FIRST_BIT + 2 × r, and its complement 1 more."""
MOST_CUBES = 1 << 10
"""Cubes that a tier may have, and literals that wait on a stack, at most. Beyond, the rules count as not plain."""
MOST_STACKED = 1 << 12


@kernel
def evaluate_nodes(nodes, base, mask, values):
    """Write the value of each node under a tier to *values*."""
    # The bits of the position: those in the mask are bits of the rank, the others are constants from the base.
    values[0] = 0
    rank = FIRST_BIT
    for bit in range(LANES):
        if mask >> bit & 1:
            values[1 + bit] = rank
            rank += 2
        else:
            values[1 + bit] = base >> bit & 1
    for node in range(1 + LANES, len(nodes)):
        a, b = value_of(values, nodes[node, 1]), value_of(values, nodes[node, 2])
        if nodes[node, 0] == AND:
            if a == 0 or b == 0 or (a >= 0 and a ^ 1 == b):
                values[node] = 0
            elif a == 1 or a == b:
                values[node] = b
            else:
                values[node] = a if b == 1 else UNCLEAR
        elif a >= 0 and b >= 0 and (a < FIRST_BIT or b < FIRST_BIT or a >> 1 == b >> 1):
            # One is constant, or both are the same bit or complements: XOR of the encodings gives the result in either
            # case.
            values[node] = a ^ b
        else:
            values[node] = UNCLEAR


@kernel
def value_of(values, literal):
    """Return the value of a literal under a tier."""
    value = values[literal >> 1]
    return value if value < 0 else value ^ (literal & 1)


@kernel
def leaf_of(trees, row, values):
    """Return the number of the leaf that all positions reach from a row of a tree; UNCLEAR if they differ."""
    while trees[row, 0] != LEAF:
        value = value_of(values, trees[row, 0])
        if value != 0 and value != 1:
            return UNCLEAR
        row = trees[row, 1] if value else trees[row, 2]
    return trees[row, 1]


@kernel
def child_of(lanes, values, mask):
    """Return (base, mask, tier, is_plain) of the set of children of a move; ignore the rest if it is not plain.

    *lanes* has 64 literals of the child's bits, then those of its tier; *mask* is the parent's. A move is plain if each
    bit of the child is a constant, or the same bit of the parent.
    """
    base = varying = 0
    rank = FIRST_BIT
    tier, is_plain = constant_of(lanes[LANES:], values)
    for bit in range(LANES if is_plain else 0):
        value = value_of(values, lanes[bit])
        if value == 1:
            base |= 1 << bit
        # Neither 0 nor 1: it must be the bit of the rank that this bit had in the parent.
        elif value != 0:
            if not mask >> bit & 1 or value != rank:
                return base, varying, tier, False
            varying |= 1 << bit
        rank += 2 * (mask >> bit & 1)
    return base, varying, tier, is_plain


@kernel
def ends_of(ending, decided, base, mask, values, cubes):
    """Find the positions of a tier whose primitive value is *decided*, by the program *ending*; write them as *cubes*.

    A cube is (bits of the rank, values that they must have) in int64[n, 2]; positions that match one have the value.
    Return the number of cubes and the primitive value of the other positions: *decided* if there are none, UNCLEAR if
    the rules are not that plain. *values* is a buffer.
    """
    nodes, trees, _ = ending
    evaluate_nodes(nodes, base, mask, values)
    stack = np.empty((2, MOST_STACKED), np.int64)
    count = row = 0
    # Follow the tree. Where it branches on a literal that differs between positions, one side must be decided, whole.
    # That side becomes cubes, and the other is followed.
    while trees[row, 0] != LEAF:
        literal = trees[row, 0]
        value = value_of(values, literal)
        if value == 0 or value == 1:
            row = trees[row, 1] if value else trees[row, 2]
            continue
        if leaf_of(trees, trees[row, 1], values) == decided:
            row = trees[row, 2]
        elif leaf_of(trees, trees[row, 2], values) == decided:
            row = trees[row, 1]
            # The false side is decided: take the complement.
            literal ^= 1
        else:
            return count, UNCLEAR
        count = add_cubes(nodes, literal, values, stack, cubes, count)
        if count < 0:
            return 0, UNCLEAR
    return count, trees[row, 1]


@kernel
def add_cubes(nodes, literal, values, stack, cubes, count):
    """Add cubes that cover all positions with a true literal; return the number of cubes, or UNCLEAR."""
    stack[0, 0] = literal
    stacked = 1
    while stacked:
        stacked -= 1
        literal = stack[0, stacked]
        value = value_of(values, literal)
        if value == 0:
            continue
        node = literal >> 1
        # Case: the complement of an AND, which is an OR. Either side makes it true: push both.
        if value == UNCLEAR and literal & 1 and nodes[node, 0] == AND:
            if stacked + 2 > MOST_STACKED:
                return UNCLEAR
            stack[0, stacked], stack[0, stacked + 1] = nodes[node, 1] ^ 1, nodes[node, 2] ^ 1
            stacked += 2
            continue
        # Case: a conjunction of bits. It is one cube, or none if it is never true.
        bits, ones = cube_of(nodes, literal, values, stack[1])
        if bits == UNCLEAR or count == len(cubes):
            return UNCLEAR
        if ones != UNCLEAR:
            cubes[count, 0], cubes[count, 1] = bits, ones
            count += 1
    return count


@kernel
def cube_of(nodes, literal, values, stack):
    """Return the conjunction of rank bits that a literal stands for: (bits, values that they must have).

    Returns (UNCLEAR, 0) if it is no conjunction, and (0, UNCLEAR) if it is never true.
    """
    bits = ones = 0
    stack[0] = literal
    stacked = 1
    while stacked:
        stacked -= 1
        literal = stack[stacked]
        value = value_of(values, literal)
        if value == 0:
            return 0, UNCLEAR
        # Case: a bit of the rank, or its complement (an odd value). It may not be required to be both 0 and 1.
        if value >= FIRST_BIT:
            bit, required = 1 << ((value - FIRST_BIT) >> 1), 1 - (value & 1)
            if bits & bit and ((ones & bit) != 0) != required:
                return 0, UNCLEAR
            bits |= bit
            ones |= bit * required
        # Case: an AND of two literals. Both must be true: push both. Anything else is no conjunction.
        elif value == UNCLEAR:
            node = literal >> 1
            if literal & 1 or nodes[node, 0] != AND or stacked + 2 > len(stack):
                return UNCLEAR, 0
            stack[stacked], stack[stacked + 1] = nodes[node, 1], nodes[node, 2]
            stacked += 2
    return bits, ones


LESS, SAME, GREATER = -1, 0, 1
"""How a position compares to an image if the bits in pairs are equal."""
IMAGE_PAIRS = 2 + 2 * LANES
"""The length of a row of pairs."""


@kernel
def pairs_of(imaging, base, mask, values, pairs):
    """Write how positions of a tier compare to their images; return the number of images, or UNCLEAR.

    A position comes before its image if its tier is lower, or in the same tier if it is the lesser number. A row of
    *pairs*, int64[n, IMAGE_PAIRS], describes an image::

        row[0]       number of entries from row[2] on, two for each bit compared
        row[1]       result if all these bits are equal: LESS, SAME or GREATER
        row[2], …    highest bit first: the bit of the position, then that of the image

    A bit is encoded as twice the bit of the rank, or 2 × LANES for a constant 0, plus 1 for the complement.
    """
    nodes, trees, lanes = imaging
    evaluate_nodes(nodes, base, mask, values)
    leaf = leaf_of(trees, 0, values)
    if leaf == UNCLEAR:
        return UNCLEAR
    # Step 1: Find the tiers. The lanes are position, its tier, then each image and its tier, 64 literals each.
    count = lanes.shape[1] // (2 * LANES) - 1
    if count > len(pairs):
        return UNCLEAR
    own_tier, is_constant = constant_of(lanes[leaf, LANES:], values)
    for image in range(count):
        row, bits = pairs[image], lanes[leaf, 2 * LANES * (image + 1) :]
        tier, image_constant = constant_of(bits[LANES:], values)
        if not is_constant or not image_constant:
            return UNCLEAR
        row[0], row[1] = 0, SAME
        # Case: the image is in another tier. Tiers alone decide.
        if tier != own_tier:
            row[1] = LESS if own_tier < tier else GREATER
            continue
        # Step 2: Compare bit by bit, highest first.
        for step in range(LANES):
            bit = LANES - 1 - step
            own_bit, image_bit = values[1 + bit], value_of(values, bits[bit])
            if image_bit == UNCLEAR:
                return UNCLEAR
            # Equal in all positions: nothing to compare.
            if own_bit == image_bit:
                continue
            # Two different constants decide, and lower bits do not matter.
            if own_bit < FIRST_BIT and image_bit < FIRST_BIT:
                row[1] = LESS if own_bit < image_bit else GREATER
                break
            row[2 + row[0]], row[3 + row[0]] = encode_bit(own_bit), encode_bit(image_bit)
            row[0] += 2
    return count


@kernel
def constant_of(lanes, values):
    """Return (int, True) if all positions have the same int, whose bits are 64 literals, the lowest first. Otherwise
    return (0, False), in which 0 means nothing."""
    number = 0
    for bit in range(LANES):
        value = value_of(values, lanes[bit])
        if value != 0 and value != 1:  # a bit of the rank, or UNCLEAR
            return 0, False
        number |= value << bit
    return number, True


@kernel
def encode_bit(value):
    """Return the value of a literal as `pairs_of` encodes it in a row of pairs."""
    return value - FIRST_BIT if value >= FIRST_BIT else 2 * LANES + value


NUMBER, BASE, MASK, BITS, GROUP, GROUPS, WORD, WORDS, FIRST, COUNT, VALUE, TIER = range(12)
"""Columns of a table of tiers.

NUMBER: the tier. BASE: the bits that all its positions share. MASK and BITS: the bits that may differ, and how many.
GROUP and GROUPS, WORD and WORDS, FIRST and COUNT: where its groups, words and positions begin in their arrays, and how
many there are. VALUE: the primitive value of positions that are not decided.
"""
OWNER, CHILD_TIER, CHILD_BASE, CHILD_MASK, FOUND = range(5)
"""Columns of a table of all moves of a wave.

OWNER: the row of the parent tier. CHILD_TIER: the child tier. CHILD_BASE and CHILD_MASK: the bits that the children
share, and those that may differ. FOUND is the number of columns.
"""


@kernel
def find_links(moving, roots, sets, tiers, values, links):
    """List all moves of some tiers in *links*; return how many there are, or -1 if the rules are not plain."""
    nodes, trees, lanes = moving
    count = 0
    for row in range(len(tiers)):
        if not tiers[row, WORDS]:  # no position of the tier is undecided
            continue
        # Step 1: Evaluate the circuit for the tier. All its positions must have the same moves.
        base, mask = tiers[row, BASE], tiers[row, MASK]
        evaluate_nodes(nodes, base, mask, values)
        leaf = leaf_of(trees, 0, values)
        if leaf < 0:
            return -1
        # Step 2: Evaluate each move.
        k = 0
        while sets[leaf, k] != LEAF:
            leaf_of_move = leaf_of(trees, roots[sets[leaf, k]], values)
            if leaf_of_move < 0:
                return -1
            shared, varying, tier, is_plain = child_of(lanes[leaf_of_move], values, mask)
            if not is_plain or varying != mask:  # a bit that is overwritten would make one child of two positions
                return -1
            links[count, OWNER], links[count, CHILD_TIER] = row, tier
            links[count, CHILD_BASE], links[count, CHILD_MASK] = shared, varying
            count += 1
            k += 1
        # An undecided position must have a move.
        if k == 0:
            return -1
    return count
