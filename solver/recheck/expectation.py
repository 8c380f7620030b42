"""Expectations held against the rules: whether the bounds that are stored are proven by those of the children.

Told from player 0's side, whose they are at chance's positions too, a lower bound L is right everywhere if

1. at ends it is what they pay, and the upper bound as well;
2. elsewhere it is not above what the position is worth by the L of its children, what moves pay included: by the
   greatest of them where player 0 is to move, by the least where player 1 is, by the mean where chance is;
3. where it is above 0, and players can go on for ever in the tier, it is less than that;
4. and where moves pay, players cannot go on for ever in any tier.

For let player 0 take the move to the greatest L. By 2, whatever player 1 does, L never falls along play on average, and
what moves pay is counted. Play that ends is paid, by 1, what L is there. Play that does not end stays in some tier in
the end, and there among positions from which players can go on for ever. By 3 L rises there on average, wherever it is
above 0, by no less than some amount; it is bounded, so that comes to pass finitely often, and after that L is 0 or
less, and endless play pays 0. Where players cannot go on for ever, play leaves the tier with probability 1, after
finitely many moves on average. So player 0 gets L or more on average: L is no more than the expectation. Upper bounds
are lower bounds of the game in which all that is paid has the other sign. All is computed in whole numbers.
"""

from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.databases.layout import NOT_FOUND
from retrograde.games.game import CHANCE, LOSE, TIE, UNDECIDED, WIN, defines
from retrograde.solver.recheck.families import Families
from retrograde.solver.recheck.kernels import Scales, write_scales
from retrograde.solver.rules.active import asking

Array = np.ndarray[Any, Any]


def wrong_expectations(found: Families, database: Database) -> Array:
    """Return which records have bounds that are not proven by those of the children, or a value that is another."""
    game, scale = database.game, int(database.file.details["scale"])
    scales = weigh(game, found)
    low, high = found.measures[0], found.measures[1]
    second = found.movers == 1
    lower, upper = np.where(second, -high, low), np.where(second, -low, high)
    endless = can_go_on(found, scales.tiers)
    wrong = low > high
    for sign, bound in ((1, lower), (-1, -upper)):
        wrong |= unproven(found, scales, bound, sign, scale, endless)
    if defines(game, "reward"):
        wrong |= endless
    values = np.select([low > 0, high < 0], [WIN, LOSE], TIE)
    return np.asarray(wrong | (found.values != values) | (found.plies != NOT_FOUND))


def unproven(found: Families, scales: Scales, bound: Array, sign: int, scale: int, endless: Array) -> Array:
    """Return which records have a lower bound that is not proven, of the game, or for the *sign* -1 of the game turned
    round."""
    passed = bound[found.children] + sign * scale * scales.rewards
    total = found.over_children(np.add, scales.odds, 1)
    parts = total[found.parents]
    whole = found.over_children(np.add, scales.odds * (passed // parts), 0)
    rest = found.over_children(np.add, scales.odds * (passed % parts), 0)
    least = found.over_children(np.minimum, passed, 0)
    most = found.over_children(np.maximum, passed, 0)
    chance = found.movers == CHANCE
    worth = np.where(chance, whole + rest // total, np.where((found.movers == 0) == (sign == 1), most, least))
    more = chance & (rest % total > 0)
    rises = (worth > bound) | ((worth == bound) & more)
    paid = found.pays[:, 0] - (found.pays[:, 1] if found.pays.shape[1] > 1 else 0)
    ends = found.primitives != UNDECIDED
    return np.asarray(np.where(ends, bound != sign * scale * paid, (worth < bound) | (endless & (bound > 0) & ~rises)))


def can_go_on(found: Families, tiers: Array) -> Array:
    """Return from which records players can go on for ever in the tier, whatever the dice."""
    inside = tiers[found.parents] == tiers[found.children]
    stays = found.primitives == UNDECIDED
    chance = found.movers == CHANCE
    while True:
        kept = inside & stays[found.children]
        some = found.over_children(np.logical_or, kept, False)
        all_of_them = found.over_children(np.logical_and, kept, False)
        left = stays & np.where(chance, all_of_them, some)
        if np.array_equal(left, stays):
            return np.asarray(left)
        stays = left


def weigh(game: Any, found: Families) -> Scales:
    """Return what the rules say of the moves of all records."""
    count = len(found.children)
    scales = Scales(np.ones(count, np.int64), np.zeros(count, np.int64), np.zeros(len(found.positions), np.int64))
    trouble = np.zeros(2, np.int64)
    with asking(game, trouble):
        write_scales(game, found.positions, found.primitives, found.movers, scales, trouble)
    return scales
