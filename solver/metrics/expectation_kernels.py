"""The compiled loops that compute expected payoffs. They call no rules.

Payoffs are integers in grains of 2**-bits each. So sums are exact, their order does not matter, and the only error is
the rounding of means.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

LIMIT = 1 << 61
"""Bounds and payoffs stay below this, so that their sums fit into 64 bits."""


class ChildLists(NamedTuple):
    """The undecided positions of a block or tier, with their children.

    `places` int64, `turns` int8, `endless`: whether players can stay in the tier forever from there. Children of
    position i: places `children[begins[i]:begins[i + 1]]`, with `odds`, and `rewards` in grains for the moves (empty if
    moves pay nothing).
    """

    places: Array
    turns: Array
    endless: Array
    begins: Array
    children: Array
    odds: Array
    rewards: Array


class MoveWeights(NamedTuple):
    """The weights of both players' moves in a game where one moves by a model (see `models/best_response.py`).

    `modelled` and `responder` are int64[rows, columns]: the weights of the player with the model, and of the other one.
    `responder` has no rows if the responder plays best. `alternating`: whether the players alternate.
    """

    modelled: Array
    responder: Array
    alternating: bool


@kernel
def worth(links, i, values, sign):
    """Return the worth of position i of *links* for player 0 from its children; means are rounded down.

    With *sign* 1, player 0 takes the greatest of *values*, player 1 the least, and chance the mean. With -1, the values
    are those of the negated game, in which all payoffs have the other sign. A mean is computed as `value = total *
    (value // total) + value % total`: no product exceeds 64 bits, because odds add up to less than 2**31.
    """
    turn = links.turns[i]
    begin, end = links.begins[i], links.begins[i + 1]
    pays = len(links.rewards) > 0
    # Case: chance. The weighted mean, in quotients and remainders of *total*.
    if turn == CHANCE:
        total = np.int64(0)
        for link in range(begin, end):
            total += links.odds[link]
        whole = 0
        rest = 0
        for link in range(begin, end):
            value = values[links.children[link]]
            if pays:
                value += sign * links.rewards[link]
            quotient = value // total
            whole += links.odds[link] * quotient
            rest += links.odds[link] * (value - quotient * total)
        return whole + rest // total
    # Case: a player. In the negated game the players' aims are exchanged.
    greatest = (turn == 0) == (sign == 1)
    best = 0
    for link in range(begin, end):
        value = values[links.children[link]]
        if pays:
            value += sign * links.rewards[link]
        if link == begin or (value > best) == greatest:
            best = value
    return best


@kernel
def sweep(links, pays, bits, bounds, result):
    """Write the bounds of a block whose children are known: two rows as in `expectation.py`."""
    for i in range(len(pays)):
        result[0, i] = pays[i] << bits
        result[1, i] = -pays[i] << bits
    for side in range(2):
        for i in range(len(links.places)):
            result[side, links.places[i]] = worth(links, i, bounds[side], 1 - 2 * side)


@kernel
def guess(links, values, most):
    """Move the floating-point values of a tier towards their worth, in at most *most* sweeps.

    Sweeps alternate in direction (Gauss-Seidel). They stop when no value changes by 2 grains or more.
    """
    count = len(links.places)
    for number in range(most):
        changed = 0.0
        for step in range(count):
            i = step if number & 1 else count - 1 - step
            turn = links.turns[i]
            begin, end = links.begins[i], links.begins[i + 1]
            # The same as `worth`, in floating point, for the game as it is: the sum of values by odds for chance, the
            # greatest value for player 0, and the least for player 1.
            total_odds, weighted_sum, best = 0.0, 0.0, 0.0
            for link in range(begin, end):
                value = values[links.children[link]]
                if len(links.rewards):
                    value += links.rewards[link]
                if turn == CHANCE:
                    total_odds += links.odds[link]
                    weighted_sum += links.odds[link] * value
                elif link == begin or (value > best if turn == 0 else value < best):
                    best = value
            about = weighted_sum / total_odds if turn == CHANCE else best
            changed = max(changed, abs(about - values[links.places[i]]))
            values[links.places[i]] = about
        if changed < 2.0:
            break


@kernel
def link(columns, places, origins, weights, first, bits, links):
    """Write the links of a block whose positions begin at *first*; return the number of children."""
    count = 0
    for column in range(columns):
        for row in range(places.shape[0]):
            place = places[row, column]
            if place < 0:
                break
            links.children[count] = place
            links.odds[count] = weights.odds[row, column]
            if len(links.rewards):
                links.rewards[count] = weights.rewards[row, column] << bits
            count += 1
        links.places[column] = first + origins[column]
        links.endless[column] = False
        links.begins[column + 1] = count
    return count


@kernel
def link_both(columns, places, origins, weights, sides, first, bits, links):
    """Write the links of a block with two places for each position; return the number of children.

    The first place of the block is *first*. See `models/best_response.py` for the two places.
    """
    count = 0
    for column in range(columns):
        for b in range(2):
            # Place b of the position. The responder moves there if the turn is b; the other player's moves are chance.
            at = 2 * column + b
            turn = weights.turns[column]
            responds = turn == b
            by_chance = not responds or len(sides.responder) > 0
            for row in range(places.shape[0]):
                place = places[row, column]
                if place < 0:
                    break
                # Weights: chance's odds, the model's, or the responder's own model's. Moves of weight 0 do not exist.
                odds = 1
                if turn == CHANCE:
                    odds = weights.odds[row, column]
                elif not responds:
                    odds = sides.modelled[row, column]
                elif by_chance:
                    odds = sides.responder[row, column]
                if odds == 0:
                    continue
                # What is paid counts for the responder, who is player b.
                links.children[count] = 2 * place + (1 - b if sides.alternating else b)
                links.odds[count] = odds
                if len(links.rewards):
                    reward = weights.rewards[row, column] if b == 0 else -weights.rewards[row, column]
                    links.rewards[count] = reward << bits
                count += 1
            links.places[at] = 2 * (first + origins[column]) + b
            links.turns[at] = CHANCE if by_chance else 0
            links.endless[at] = False
            links.begins[at + 1] = count
    return count


@kernel
def bound_by_children(links, i, values, sign):
    """Return the best lower bound of position i that follows from its children's bounds.

    Endless play pays 0. If play can be endless and the bound is above 0, the bound is one grain less than the children
    give. So bounds rise along play, and play cannot stay above 0 forever.
    """
    bound = worth(links, i, values, sign)
    return bound - 1 if bound > 0 and links.endless[i] else bound


@kernel
def sweep_cycle(links, values, sign, rising):
    """Move the lower bounds of a tier with cycles to what their children give, in one sweep forward and back.

    With *rising*, bounds only rise, else they only sink. A bound that its children put above 0 is one grain less where
    `links.endless` says that play can be endless (`bound_by_children`). Return the number of bounds changed, or -1 if
    one exceeds LIMIT.
    """
    count = len(links.places)
    changed = 0
    for step in range(2 * count):
        i = step if step < count else 2 * count - 1 - step
        bound = bound_by_children(links, i, values, sign)
        if not -LIMIT < bound < LIMIT:
            return -1
        last = values[links.places[i]]
        if bound != last and (bound > last) == rising:
            values[links.places[i]] = bound
            changed += 1
    return changed


@kernel
def find_endless(links, count):
    """Return for each of *count* places of a tier whether players can stay in the tier forever.

    The greatest fixed point: a position stays if some move of a player leads to one that stays, or all moves of chance
    do.
    """
    stays = np.zeros(count, np.bool_)
    stays[links.places] = True
    changed = True
    while changed:
        changed = False
        for i in range(len(links.places)):
            if not stays[links.places[i]]:
                continue
            # Remove positions without such a move until nothing changes.
            any_stays, all_stay = False, True
            for child in links.children[links.begins[i] : links.begins[i + 1]]:
                inside = child < count and stays[child]
                any_stays |= inside
                all_stay &= inside
            if not (all_stay if links.turns[i] == CHANCE else any_stays):
                stays[links.places[i]] = False
                changed = True
    return stays
