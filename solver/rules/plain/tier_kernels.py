"""The compiled loops that hold rules, as programs, against tiers: what they come to for all positions of one."""

import numpy as np

from retrograde.solver.rules.plain.rules import LEAF
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.runtime.kernel import kernel

UNCLEAR = -1
"""Of a literal under a tier: neither constant nor a bit of the rank. Of a tree: what comes of it is not the same for
all positions."""
FIRST_BIT = 2
"""What a literal is under a tier: 0, 1, or from here on twice the bit of the rank, and one more for its complement."""
MOST_CUBES = 1 << 10
MOST_STACKED = 1 << 12


@kernel
def settle(nodes, base, mask, values):
    """Write what each node is under a tier."""
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
        if nodes[node, 0] == 0:  # AND
            if a == 0 or b == 0 or (a >= 0 and a ^ 1 == b):
                values[node] = 0
            elif a == 1 or a == b:
                values[node] = b
            else:
                values[node] = a if b == 1 else UNCLEAR
        elif a >= 0 and b >= 0 and (a < FIRST_BIT or b < FIRST_BIT or a >> 1 == b >> 1):
            values[node] = a ^ b  # where neither is constant, 0 or 1, for they are the same or complements
        else:
            values[node] = UNCLEAR


@kernel
def value_of(values, literal):
    """Return what a literal is under a tier."""
    value = values[literal >> 1]
    return value if value < 0 else value ^ literal & 1


@kernel
def leaf_of(trees, row, values):
    """Return the number of the leaf that all positions come to from a row, or UNCLEAR."""
    while trees[row, 0] != LEAF:
        value = value_of(values, trees[row, 0])
        if value != 0 and value != 1:
            return UNCLEAR
        row = trees[row, 1] if value else trees[row, 2]
    return trees[row, 1]


@kernel
def child_of(lanes, values, mask):
    """Return the base and the mask of the children that all positions have by a move, their tier, and whether the move
    only writes constants."""
    base = varying = 0
    rank = FIRST_BIT
    tier, plain = constant_of(lanes[LANES:], values)
    for bit in range(LANES if plain else 0):
        value = value_of(values, lanes[bit])
        if value == 1:
            base |= 1 << bit
        elif value != 0:
            if not mask >> bit & 1 or value != rank:
                return base, varying, tier, False
            varying |= 1 << bit
        rank += 2 * (mask >> bit & 1)
    return base, varying, tier, plain


@kernel
def ends_of(ending, decided, base, mask, values, cubes):
    """Write when positions of a tier are worth *decided*, a primitive value: a row of *cubes*, int64[n, 2], has bits of
    the rank, and what they are.

    Return how many rows there are, and the value of all other positions; UNCLEAR where it is not so plain.
    """
    nodes, trees, _ = ending
    settle(nodes, base, mask, values)
    stack = np.empty((2, MOST_STACKED), np.int64)
    count = row = 0
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
            literal ^= 1
        else:
            return count, UNCLEAR
        count = add_cubes(nodes, literal, values, stack, cubes, count)
        if count < 0:
            return 0, UNCLEAR
    return count, trees[row, 1]


@kernel
def add_cubes(nodes, literal, values, stack, cubes, count):
    """Add when a literal is true; return how many cubes there are then, or UNCLEAR."""
    stack[0, 0] = literal
    left = 1
    while left:
        left -= 1
        literal = stack[0, left]
        value = value_of(values, literal)
        if value == 0:
            continue
        node = literal >> 1
        if value == UNCLEAR and literal & 1 and nodes[node, 0] == 0:  # not both: one or the other is not
            if left + 2 > MOST_STACKED:
                return UNCLEAR
            stack[0, left], stack[0, left + 1] = nodes[node, 1] ^ 1, nodes[node, 2] ^ 1
            left += 2
            continue
        bits, ones = cube_of(nodes, literal, values, stack[1])
        if bits == UNCLEAR or count == len(cubes):
            return UNCLEAR
        if ones != UNCLEAR:
            cubes[count, 0], cubes[count, 1] = bits, ones
            count += 1
    return count


@kernel
def cube_of(nodes, literal, values, stack):
    """Return the bits of the rank that decide a literal, and which of them must be ones; UNCLEAR where there are no
    such bits, or, for the latter, where nothing makes it true."""
    bits = ones = 0
    stack[0] = literal
    left = 1
    while left:
        left -= 1
        literal = stack[left]
        value = value_of(values, literal)
        if value == 0:
            return 0, UNCLEAR
        if value >= FIRST_BIT:
            bit, one = 1 << (value - FIRST_BIT >> 1), 1 - (value & 1)
            if bits & bit and (ones & bit != 0) != one:
                return 0, UNCLEAR
            bits |= bit
            ones |= bit * one
        elif value == UNCLEAR:
            node = literal >> 1
            if literal & 1 or nodes[node, 0] != 0 or left + 2 > len(stack):
                return UNCLEAR, 0
            stack[left], stack[left + 1] = nodes[node, 1], nodes[node, 2]
            left += 2
    return bits, ones


LESS, SAME, GREATER, IMAGE_PAIRS = -1, 0, 1, 2 + 2 * LANES


@kernel
def pairs_of(imaging, base, mask, values, pairs):
    """Write what decides whether positions of a tier come before their images; return how many images there are, or
    UNCLEAR.

    A row of *pairs*, int64[n, IMAGE_PAIRS], has how many bits decide, what it is where these are equal, and two by two,
    highest first, what a bit is in the position and in the image: twice the bit of the rank, or 2 × LANES for a
    constant 0, and one more for the complement. Of positions in several tiers, the one in the lowest comes first.
    """
    nodes, trees, lanes = imaging
    settle(nodes, base, mask, values)
    leaf = leaf_of(trees, 0, values)
    if leaf == UNCLEAR:
        return UNCLEAR
    count = lanes.shape[1] // (2 * LANES) - 1
    if count > len(pairs):
        return UNCLEAR
    own, plain = constant_of(lanes[leaf, LANES:], values)
    for image in range(count):
        row, bits = pairs[image], lanes[leaf, 2 * LANES * (image + 1) :]
        tier, also_plain = constant_of(bits[LANES:], values)
        if not plain or not also_plain:
            return UNCLEAR
        row[0], row[1] = 0, SAME
        if tier != own:
            row[1] = LESS if own < tier else GREATER
            continue
        for step in range(LANES):
            bit = LANES - 1 - step
            mine, other = values[1 + bit], value_of(values, bits[bit])
            if other == UNCLEAR:
                return UNCLEAR
            if mine == other:
                continue
            if mine < FIRST_BIT and other < FIRST_BIT:
                row[1] = LESS if mine < other else GREATER
                break
            row[2 + row[0]], row[3 + row[0]] = side(mine), side(other)
            row[0] += 2
    return count


@kernel
def constant_of(lanes, values):
    """Return the number that some lanes make for all positions, and whether there is one."""
    number = 0
    for bit in range(LANES):
        value = value_of(values, lanes[bit])
        if value != 0 and value != 1:
            return 0, False
        number |= value << bit
    return number, True


@kernel
def side(value):
    """Return a bit as a row of pairs has it."""
    return value - FIRST_BIT if value >= FIRST_BIT else 2 * LANES + value


NUMBER, BASE, MASK, BITS, GROUP, GROUPS, WORD, WORDS, FIRST, COUNT, VALUE, TIER = range(12)
"""Columns of a table of tiers: the tier; the bits that all its positions share; those in which they may differ, and how
many these are; where its groups, its words and its positions begin in the arrays that it is in, and how many there are;
and the primitive value of the positions that are not decided."""
OWNER, LEAD, CHILD_BASE, CHILD_MASK, FOUND = range(5)
"""Columns of the table of all moves of the tiers of a wave: the row of the tier; the tier that the children are in; the
bits that they share; and those in which they may differ."""


@kernel
def find_links(moving, roots, sets, tiers, values, found):
    """Fill the table of all moves of some tiers; return how many there are, -1: the rules are not so plain."""
    nodes, trees, lanes = moving
    count = 0
    for row in range(len(tiers)):
        if not tiers[row, WORDS]:
            continue
        base, mask = tiers[row, BASE], tiers[row, MASK]
        settle(nodes, base, mask, values)
        leaf = leaf_of(trees, 0, values)
        if leaf < 0:
            return -1
        k = 0
        while sets[leaf, k] != LEAF:
            leaf_of_move = leaf_of(trees, roots[sets[leaf, k]], values)
            if leaf_of_move < 0:
                return -1
            shared, varying, tier, plain = child_of(lanes[leaf_of_move], values, mask)
            if not plain or varying != mask:  # a bit that is overwritten would make one child of two positions
                return -1
            found[count, OWNER], found[count, LEAD] = row, tier
            found[count, CHILD_BASE], found[count, CHILD_MASK] = shared, varying
            count += 1
            k += 1
        if k == 0:
            return -1
    return count
