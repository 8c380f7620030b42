"""Checks expectations: whether the stored bounds of each record are proven by the bounds of its children.

All bounds are taken from player 0's side. (At chance's positions they are player 0's anyway.) A lower bound L is right
everywhere if these conditions hold:

1. At ends, it is what they pay, and so is the upper bound.
2. Elsewhere, it is not above what the position is worth by the L of its children, including what moves pay: the
   greatest of them if player 0 is to move, the least if player 1 is, the mean if chance is.
3. If it is above 0 and players can stay in the tier forever, it is strictly less than that.
4. If moves pay, players cannot stay in any tier forever.

Proof. Let player 0 take the move to the greatest L. By condition 2, whatever player 1 does, L never falls along play on
average, and what moves pay is counted. Play that ends pays, by condition 1, what L is there. Play that does not end
finally stays in some tier, among positions from which players can stay there forever. By condition 3, L rises there on
average wherever it is above 0, by at least a fixed amount. L is bounded, so this happens only finitely often; after
that L is 0 or less, and endless play pays 0. If players cannot stay forever, play leaves the tier with probability 1,
after finitely many moves on average. So player 0 gets L or more on average: L is no more than the expectation. Upper
bounds are lower bounds of the game in which all payments have the opposite sign. All computations use whole numbers.

For a best response to a model, the same conditions are checked in the game that the responder plays alone, in which
chance moves for the modelled player. The model is consulted again for its weights, position by position, with the
interpreted rules. If the model uses a database or a user's function, that is trusted.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.databases.layout import NOT_FOUND
from retrograde.games.contract.game import CHANCE, LOSE, TIE, UNDECIDED, WIN, Game, Traits
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.rules.running_kernels import watch_kernel
from retrograde.solver.verification.measures.families import Families
from retrograde.solver.verification.measures.kernels import Scales, write_scales

Array = np.ndarray[Any, Any]


def wrong_expectations(found: Families, database: Database, model: Model | None = None) -> Array:
    """Return which records have bounds that their children do not prove, or a wrong value.

    With a *model*, the bounds are those of a best response to it.
    """
    game, scale = database.game, int(database.file.details["scale"])
    traits = Traits.of(game)
    scales = weigh(game, found)
    low, high = found.measures[0], found.measures[1]
    if model:
        both, of_both, lower, upper = seen_by_both(found, scales, weights_of(model, game, found), traits.alternates)
        wrong = not_proven(both, of_both, lower, upper, scale, traits.has_rewards).reshape(-1, 2).any(1)
    else:
        second = found.movers == 1
        lower, upper = np.where(second, -high, low), np.where(second, -low, high)
        wrong = not_proven(found, scales, lower, upper, scale, traits.has_rewards)
    values = np.select([low > 0, high < 0], [WIN, LOSE], TIE)
    return np.asarray(wrong | (found.values != values) | (found.plies != NOT_FOUND))


def not_proven(found: Families, scales: Scales, lower: Array, upper: Array, scale: int, pays: bool) -> Array:
    """Return which records have bounds of player 0 that are not proven; *pays* says whether moves may pay."""
    endless = can_go_on(found, scales.tiers)
    wrong = lower > upper
    for sign, bound in ((1, lower), (-1, -upper)):
        wrong |= unproven(found, scales, bound, sign, scale, endless)
    return np.asarray(wrong | endless if pays else wrong)


def weights_of(model: Model, game: Game, found: Families) -> Array:
    """Return the model's weight of the move to each child, by the interpreted rules; 1 where chance moves."""
    weights = np.ones(len(found.children), np.int64)
    counts = np.bincount(found.parents, minlength=len(found.positions))
    ends = np.cumsum(counts)
    # The interpreted model is called once for each record of a player.
    for record in np.flatnonzero((counts > 0) & (found.movers != CHANCE)).tolist():
        said = [*model.weights(game, int(found.positions[record])).values()]
        weights[ends[record] - counts[record] : ends[record]] = said
    return weights


def seen_by_both(
    found: Families, scales: Scales, weights: Array, alternating: bool
) -> tuple[Families, Scales, Array, Array]:
    """Return families, scales and bounds as a responder to the model sees them, twice for each record.

    Either player may be the responder, so record r becomes the records 2r and 2r + 1. In the first one, player 0
    responds or, if players alternate, the player to move. The responder is player 0 of the result, and the other
    player's moves become chance's.
    """
    count = len(found.positions)
    records, seats = np.repeat(np.arange(count), 2), np.tile([0, 1], count)
    links, seat = np.repeat(np.arange(len(found.children)), 2), np.tile([0, 1], len(found.children))
    order = np.lexsort((links, seat, found.parents[links]))  # by doubled record, else in the old order
    links, seat = links[order], seat[order]
    turns = found.movers[found.parents[links]]
    # Moves of the modelled player are chance's; moves of weight 0 never happen.
    by_model = (turns != CHANCE) & (turns != seat)
    kept = ~by_model | (weights[links] > 0)
    links, seat, by_model = links[kept], seat[kept], by_model[kept]
    parents = 2 * found.parents[links] + seat
    counts = np.bincount(parents, minlength=2 * count)
    having = np.flatnonzero(counts)
    movers = np.where((found.movers[records] == CHANCE) | (found.movers[records] != seats), CHANCE, 0)
    paid = found.pays[:, 0] - found.pays[:, 1]
    both = replace(
        found, positions=found.positions[records], primitives=found.primitives[records], movers=movers,
        pays=(np.where(seats == 0, 1, -1) * paid[records])[:, None], parents=parents,
        children=2 * found.children[links] + (1 - seat if alternating else seat),
        begins=(np.cumsum(counts) - counts)[having], having=having,
    )  # fmt: skip
    # Payments and bounds from the responder's side.
    odds = np.where(by_model, weights[links], scales.odds[links])
    rewards = np.where(seat == 0, 1, -1) * scales.rewards[links]
    low, high, waiting_low, waiting_high = (measure[records] for measure in found.measures)
    own = seats == np.maximum(found.movers[records], 0)
    lower, upper = np.where(own, low, waiting_low), np.where(own, high, waiting_high)
    return both, Scales(odds, rewards, scales.tiers[records]), lower, upper


def unproven(found: Families, scales: Scales, bound: Array, sign: int, scale: int, endless: Array) -> Array:
    """Return which records have a lower bound that is not proven.

    With *sign* -1, of the game in which all payments have the opposite sign.
    """
    passed = bound[found.children] + sign * scale * scales.rewards
    total = found.over_children(np.add, scales.odds, 1)
    # The mean, in whole numbers: quotients and rests are summed separately, so that products stay small.
    parts = total[found.parents]
    whole = found.over_children(np.add, scales.odds * (passed // parts), 0)
    rest = found.over_children(np.add, scales.odds * (passed % parts), 0)
    least = found.over_children(np.minimum, passed, 0)
    most = found.over_children(np.maximum, passed, 0)
    chance = found.movers == CHANCE
    worth = np.where(chance, whole + rest // total, np.where((found.movers == 0) == (sign == 1), most, least))
    # Whether the mean is strictly greater although it is equal when rounded down.
    more = chance & (rest % total > 0)
    rises = (worth > bound) | ((worth == bound) & more)
    paid = found.pays[:, 0] - (found.pays[:, 1] if found.pays.shape[1] > 1 else 0)
    ends = found.primitives != UNDECIDED
    return np.asarray(np.where(ends, bound != sign * scale * paid, (worth < bound) | (endless & (bound > 0) & ~rises)))


def can_go_on(found: Families, tiers: Array) -> Array:
    """Return from which records players can stay in the tier forever, whatever the dice show.

    At chance's positions, all moves must stay; at players' positions, one must. Records that cannot are removed pass by
    pass.
    """
    inside = tiers[found.parents] == tiers[found.children]
    stays = found.primitives == UNDECIDED
    chance = found.movers == CHANCE
    # Remove records that cannot stay, until nothing changes: what is left is the greatest fixed point.
    while True:
        kept = inside & stays[found.children]
        some = found.over_children(np.logical_or, kept, False)
        all_of_them = found.over_children(np.logical_and, kept, False)
        left = stays & np.where(chance, all_of_them, some)
        if np.array_equal(left, stays):
            return np.asarray(left)
        stays = left


def weigh(game: Any, found: Families) -> Scales:
    """Return what the rules say about the moves of all records."""
    count = len(found.children)
    scales = Scales(np.ones(count, np.int64), np.zeros(count, np.int64), np.zeros(len(found.positions), np.int64))
    trouble = np.zeros(2, np.int64)
    with watch_kernel(game, trouble):
        write_scales(game, found.positions, found.primitives, found.movers, scales, trouble)
    return scales
