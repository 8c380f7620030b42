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

import numpy as np

from retrograde.databases.layout import NOT_FOUND
from retrograde.games.contract.game import CHANCE, LOSE, TIE, UNDECIDED, WIN, Game, Traits
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.rules.examine import to_list
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.verification.families import Families


def wrong_expectations(families: Families, game: Game, scale: int, model: Model | None = None) -> Array:
    """Return which records have a wrong value, or bounds (amounts times *scale*) that their children do not prove. With
    a *model*, they are those of a best response to it."""
    low, high = families.measures[0], families.measures[1]
    pays = Traits.of(game).has_rewards
    if model:
        both, lower, upper = seen_by_both(families, weights_by_link(model, game, families), Traits.of(game).alternates)
        wrong = unproven_bounds(both, lower, upper, scale, pays).reshape(-1, 2).any(1)
    else:
        player_1_moves = families.movers == 1
        lower, upper = np.where(player_1_moves, -high, low), np.where(player_1_moves, -low, high)
        gains = np.where(player_1_moves[families.parents], -families.gains, families.gains)
        wrong = unproven_bounds(replace(families, gains=gains), lower, upper, scale, pays)
    values = np.select([low > 0, high < 0], [WIN, LOSE], TIE)
    return np.asarray(wrong | (families.values != values) | (families.plies != NOT_FOUND))


def unproven_bounds(families: Families, lower: Array, upper: Array, scale: int, pays: bool) -> Array:
    """Return which records have unproven bounds. Bounds and `gains` are player 0's; *pays*: moves may pay."""
    endless = find_endless(families)
    wrong = lower > upper
    for sign, bound in ((1, lower), (-1, -upper)):
        wrong |= unproven_lower(families, bound, sign, scale, endless)
    return np.asarray(wrong | endless if pays else wrong)


def weights_by_link(model: Model, game: Game, families: Families) -> Array:
    """Return for each link the model's weight of its move, by the interpreted rules; 1 where chance moves.

    The links of a record are in the order in which the model lists the moves.
    """
    weights = np.ones(len(families.children), np.int64)
    counts = np.bincount(families.parents, minlength=len(families))
    link_ends = np.cumsum(counts)
    positions = to_list(families.positions)
    # The interpreted model is called once for each record of a player.
    for record in np.flatnonzero((counts > 0) & (families.movers != CHANCE)).tolist():
        weights_here = [*model.weights(game, positions[record]).values()]
        weights[link_ends[record] - counts[record] : link_ends[record]] = weights_here
    return weights


def seen_by_both(families: Families, weights: Array, alternating: bool) -> tuple[Families, Array, Array]:
    """Return (families, lower bounds, upper bounds) as a responder to the model sees them, twice for each record.

    Either player may be the responder, so record r becomes the records 2r and 2r + 1. In the first one, player 0
    responds or, if players alternate, the player to move. The responder is player 0 of the result, and the other
    player's moves become chance's. *weights* are the model's, by link; *alternating*: two players alternate.
    """
    count = len(families)
    # The record, and which player responds there (0 or 1), of each doubled record; and the same of each doubled link.
    records, responders = np.repeat(np.arange(count), 2), np.tile([0, 1], count)
    links, responder = np.repeat(np.arange(len(families.children)), 2), np.tile([0, 1], len(families.children))
    order = np.lexsort((links, responder, families.parents[links]))  # by doubled record, else in the old order
    links, responder = links[order], responder[order]
    turns = families.movers[families.parents[links]]
    # Moves of the modelled player are chance's; moves of weight 0 never happen.
    by_model = (turns != CHANCE) & (turns != responder)
    happens = ~by_model | (weights[links] > 0)
    links, responder, by_model = links[happens], responder[happens], by_model[happens]
    paid = families.pays[:, 0] - families.pays[:, 1]
    both = replace(
        families, positions=families.positions[records], tiers=families.tiers[records],
        primitives=families.primitives[records], values=families.values[records],
        movers=np.where((families.movers[records] == CHANCE) | (families.movers[records] != responders), CHANCE, 0),
        pays=(np.where(responders == 0, 1, -1) * paid[records])[:, None],
        # If players alternate, a responder who is to move here waits in the child, and the other way round.
        parents=2 * families.parents[links] + responder,
        children=2 * families.children[links] + (1 - responder if alternating else responder),
        odds=np.where(by_model, weights[links], families.odds[links]),
        # `gains` are the mover's, and chance's count as player 0's.
        gains=np.where(responder == np.maximum(turns[happens], 0), 1, -1) * families.gains[links],
    )  # fmt: skip
    # Bounds from the responder's side.
    low, high, waiting_low, waiting_high = (measure[records] for measure in families.measures)
    responds = responders == np.maximum(families.movers[records], 0)
    return both, np.where(responds, low, waiting_low), np.where(responds, high, waiting_high)


def unproven_lower(families: Families, bound: Array, sign: int, scale: int, endless: Array) -> Array:
    """Return which records have an unproven lower *bound*, with *sign* -1 of the game with all payments negated.

    *endless* are the records from which players can stay in the tier forever.
    """
    brings = bound[families.children] + sign * scale * families.gains  # what each link is worth to the parent
    total_odds = families.over_children(np.add, families.odds, 1)
    # The mean, in whole numbers: quotients and remainders are summed separately, so that products stay small.
    divisors = total_odds[families.parents]
    quotients = families.over_children(np.add, families.odds * (brings // divisors), 0)
    remainders = families.over_children(np.add, families.odds * (brings % divisors), 0)
    mean, is_rounded = quotients + remainders // total_odds, remainders % total_odds > 0
    greatest, least = (families.over_children(reduce, brings, 0) for reduce in (np.maximum, np.minimum))
    # What a player takes: player 0 the greatest, in the negated game player 1.
    best = np.where((families.movers == 0) == (sign == 1), greatest, least)
    by_chance = families.movers == CHANCE
    worth = np.where(by_chance, mean, best)
    # A mean that equals the bound when rounded down is strictly greater.
    rises = (worth > bound) | ((worth == bound) & by_chance & is_rounded)
    paid = families.pays[:, 0] - (families.pays[:, 1] if families.pays.shape[1] > 1 else 0)
    over = families.primitives != UNDECIDED
    return np.asarray(np.where(over, bound != sign * scale * paid, (worth < bound) | (endless & (bound > 0) & ~rises)))


def find_endless(families: Families) -> Array:
    """Return from which records players can stay in the tier forever, whatever the dice show. At chance's positions,
    all moves must stay; at players' positions, one must."""
    within_tier = families.tiers[families.parents] == families.tiers[families.children]
    stays = families.primitives == UNDECIDED
    # Remove records that cannot stay, until nothing changes: what is left is the greatest fixed point.
    while True:
        child_stays = within_tier & stays[families.children]
        any_stays = families.over_children(np.logical_or, child_stays, False)
        all_stay = families.over_children(np.logical_and, child_stays, False)
        still_stays = stays & np.where(families.movers == CHANCE, all_stay, any_stays)
        if np.array_equal(still_stays, stays):
            return np.asarray(stays)
        stays = still_stays
