"""Finds the tiers of a wave from those of the wave before, by the rules alone, and screens rules before a solve."""

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.forward_kernels import BIT, BIT_AT, FROM, LINK, MANY, NO_BIT, OPEN, SHARED, TIED
from retrograde.solver.methods.setwise.storage import number_groups, planes_for
from retrograde.solver.methods.setwise.words import GROUP_BITS
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.plain.rules import Rules, rules_of
from retrograde.solver.rules.plain.screening import may_be_plain
from retrograde.solver.rules.plain.tier_kernels import (
    BASE,
    BITS,
    CHILD_BASE,
    CHILD_MASK,
    CHILD_TIER,
    COUNT,
    FOUND,
    GROUPS,
    MASK,
    MOST_CUBES,
    NUMBER,
    OWNER,
    TIER,
    WORDS,
    ends_of,
    find_links,
)
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.work import NotApplicable

NOT_PLAIN = "its rules are not plain: moves do not write the same bits in all positions of a tier"
TOO_LONG = f"play takes more plies than {MOST_PLANES} planes of bits can count"
TIES_AND_ENDS = "ties and other ends come after the same number of plies"
"""Reasons for NotApplicable."""
MOST_ONE_BY_ONE = 1 << 24
"""Limit for links that insert several bits: positions of the parent tier × groups of the child tier."""
SAMPLED = 8
"""Tiers of each wave that are followed before a solve: those with the most varying bits."""


def first_tier(game: Game, start: int) -> Array:
    """Return the table of the first wave's tiers: one, with the start position alone."""
    tiers = np.zeros((1, TIER), np.int64)
    tiers[0, [NUMBER, BASE, GROUPS, WORDS, COUNT]] = int(game.tier(start)), start, 1, 1, 1
    return tiers


def next_tiers(rules: Rules, tiers: Array) -> tuple[Array, Array, Array] | None:
    """Return the tiers that moves from a wave lead to: (table, links, where each tier's links begin); None without
    moves. Raises NotApplicable if the rules are not plain."""
    # Step 1: List all moves of all tiers, and sort them by the tier that they lead to.
    found = np.empty((len(tiers) * (rules.sets.shape[1] - 1), FOUND), np.int64)
    values = np.empty(len(rules.moving.nodes), np.int64)
    count = find_links(rules.moving, rules.roots, rules.sets, tiers, values, found)
    if count < 0:
        raise NotApplicable(NOT_PLAIN)
    found = found[np.argsort(found[:count, CHILD_TIER], kind="stable")]
    numbers, begins = np.unique(found[:, CHILD_TIER], return_index=True)
    if not len(numbers):
        return None
    # Step 2: For each child tier, find the bits that vary: in one parent's children, or between those of several
    # parents. The others are its base.
    bases, masks = found[:, CHILD_BASE], found[:, CHILD_MASK]
    ones = np.bitwise_or.reduceat(bases, begins)
    varying = np.bitwise_or.reduceat(masks, begins) | (ones ^ np.bitwise_and.reduceat(bases, begins))
    children = np.zeros((len(numbers), TIER), np.int64)
    children[:, NUMBER], children[:, BASE], children[:, MASK] = numbers, ones & ~varying, varying
    children[:, BITS] = np.bitwise_count(varying)
    children[:, GROUPS] = 1 << np.maximum(children[:, BITS] - GROUP_BITS, 0)
    number_groups(children)  # as if they were one chunk; chunks are cut later
    # Step 3: Describe each link by the bits that it inserts: they vary in the child tier, not among its own children.
    starts = np.append(begins, len(found))
    child_masks = np.repeat(varying, np.diff(starts))
    links = np.empty((len(found), LINK), np.int64)
    links[:, FROM], links[:, SHARED] = found[:, OWNER], bases
    new = child_masks & ~masks
    # The index of the bit in the rank is the number of varying bits below.
    links[:, BIT_AT] = np.bitwise_count(child_masks & (new - 1))
    links[:, BIT] = (bases & new) != 0
    links[new == 0, BIT_AT] = NO_BIT
    # Case: several bits are inserted. Each position is moved on its own, which must not take too long.
    many = (new & (new - 1)) != 0
    links[many, BIT_AT] = MANY
    if many.any():
        groups = np.repeat(children[:, GROUPS], np.diff(starts))[many]
        if (groups * tiers[links[many, FROM], COUNT]).max() > MOST_ONE_BY_ONE:
            raise NotApplicable("too many positions of its tiers would have to be carried along one by one")
    return children, links, starts


# Before a solve


def looks_plain(game: Game) -> bool:
    """Return False if a sample of tiers shows that the set-wise method does not apply. True proves nothing."""
    try:
        most_bits(game, plain_rules(game))
    except NotApplicable:
        return False
    return True


def plain_rules(game: Game) -> Rules:
    """Return the rules of a game as programs; raise NotApplicable if a quick look shows that they are not plain."""
    if not may_be_plain(game):
        raise NotApplicable(NOT_PLAIN)
    return rules_of(game)


def most_bits(game: Game, rules: Rules) -> int:
    """Return the most varying bits of a tier, among the SAMPLED widest of each wave; raise NotApplicable if rules are
    not plain."""
    tiers, plies, most = first_tier(game, start_of(game)), 0, 0
    while len(tiers):
        found, plies = next_tiers(rules, tiers), plies + 1
        if found is None or planes_for(plies) > MOST_PLANES:
            raise NotApplicable(TOO_LONG)
        widest = np.argsort(-found[0][:, BITS], kind="stable")[:SAMPLED]
        tiers = found[0][np.sort(widest)]
        most = max(most, int(tiers[:, BITS].max()))
        values = np.array([value_of_undecided(rules, tier) for tier in tiers])
        if not {*values.tolist()} <= {OPEN, TIED, rules.decided} or {OPEN, TIED} <= {*values.tolist()}:
            raise NotApplicable(TIES_AND_ENDS)
        # Follow only tiers in which the game goes on, and pretend that they have words: nothing is filled here.
        tiers = tiers[values == OPEN]
        tiers[:, WORDS] = 1
    return most


def value_of_undecided(rules: Rules, tier: Array) -> int:
    """Return the primitive value of a tier's undecided positions; UNCLEAR if the rules are not plain."""
    cubes, values = np.empty((MOST_CUBES, 2), np.int64), np.empty(len(rules.ending.nodes), np.int64)
    return int(ends_of(rules.ending, rules.decided, tier[BASE], tier[MASK], values, cubes)[1])
