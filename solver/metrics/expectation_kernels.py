"""The compiled loops that compute expected payoffs. None knows a game.

Payoffs are whole numbers of grains, 2**-bits each, so that sums are exact and their order does not matter, and a mean
is rounded down, or up, without any error but that.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

LIMIT = 1 << 61
"""All bounds, and all that is paid at once, are below this: so what they add up to has room in 64 bits."""


class Links(NamedTuple):
    """The positions of a block or tier that are not over: `places` int64, `turns` int8, and whether players can go on
    from there for ever within the tier, `endless`. The children of position i have the places
    `children[begins[i]:begins[i + 1]]`, these `odds`, and moves there pay `rewards` grains, or none where there are no
    entries."""

    places: Array
    turns: Array
    endless: Array
    begins: Array
    children: Array
    odds: Array
    rewards: Array


class Sides(NamedTuple):
    """Of a game in which one moves by a model (see models/seats.py): with what weights both would move, int64[rows,
    columns] each; the responder's has no rows where he plays as well as can be. And whether the players alternate."""

    theirs: Array
    own: Array
    alternating: bool


@kernel
def worth(links, i, values, sign):
    """Return what position i of some links is worth to player 0 by its children; of chance, rounded down.

    For *sign* 1 player 0 takes the greatest of the *values*, player 1 the least, and chance the mean. For -1 values are
    those of the game turned round, in which all that is paid has the other sign. A mean is taken as
    `value = total * (value // total) + value % total`: no product exceeds 64 bits, for odds add up to less than 2**31.
    """
    turn = links.turns[i]
    begin, end = links.begins[i], links.begins[i + 1]
    pays = len(links.rewards) > 0
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
    """Bring the floating-point values of a tier near to what they are worth by their children, by so many sweeps."""
    count = len(links.places)
    for number in range(most):
        changed = 0.0
        for step in range(count):
            i = step if number & 1 else count - 1 - step
            turn = links.turns[i]
            begin, end = links.begins[i], links.begins[i + 1]
            total, best = 0.0, 0.0
            for link in range(begin, end):
                value = values[links.children[link]]
                if len(links.rewards):
                    value += links.rewards[link]
                if turn == CHANCE:
                    total += links.odds[link]
                    best += links.odds[link] * value
                elif link == begin or (value > best) == (turn == 0):
                    best = value
            if turn == CHANCE:
                best /= total
            changed = max(changed, abs(best - values[links.places[i]]))
            values[links.places[i]] = best
        if changed < 2.0:
            break


@kernel
def link(columns, places, origins, weights, first, bits, links):
    """Write the links of a block, whose positions begin at *first*.

    Returns how many children were written.
    """
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
    """Write the links of a block for both places of each position, of which the first stands at *first*.

    Returns how many children were written.
    """
    count = 0
    for column in range(columns):
        for b in range(2):
            at = 2 * column + b
            turn = weights.turns[column]
            responds = turn == b
            by_chance = not responds or len(sides.own) > 0
            for row in range(places.shape[0]):
                place = places[row, column]
                if place < 0:
                    break
                odds = 1
                if turn == CHANCE:
                    odds = weights.odds[row, column]
                elif not responds:
                    odds = sides.theirs[row, column]
                elif by_chance:
                    odds = sides.own[row, column]
                if odds == 0:
                    continue
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
def passed_up(links, i, values, sign):
    """Return the best lower bound for position i of a tier that follows from those of its children.

    Where play can be endless and the bound is above 0, which is what that pays, it is a grain less than the children
    give: so it rises along play, which therefore cannot stay above 0 for ever.
    """
    best = worth(links, i, values, sign)
    return best - 1 if best > 0 and links.endless[i] else best


@kernel
def pass_up(links, values, sign, rising):
    """Raise the lower bounds of a tier to what follows from those of the children, or lower them, once, there and back.

    Returns how many bounds have changed, or -1 where one has become too great.
    """
    count = len(links.places)
    changed = 0
    for step in range(2 * count):
        i = step if step < count else 2 * count - 1 - step
        bound = passed_up(links, i, values, sign)
        if not -LIMIT < bound < LIMIT:
            return -1
        before = values[links.places[i]]
        if bound != before and (bound > before) == rising:
            values[links.places[i]] = bound
            changed += 1
    return changed


@kernel
def find_endless(links, count):
    """Return for each of the *count* positions of a tier, which have the first places, whether players can go on there
    for ever: from such a position one comes to another by some move of a player, or by all moves of chance."""
    stays = np.zeros(count, np.bool_)
    stays[links.places] = True
    changed = True
    while changed:
        changed = False
        for i in range(len(links.places)):
            if not stays[links.places[i]]:
                continue
            some, all_of_them = False, True
            for child in links.children[links.begins[i] : links.begins[i + 1]]:
                inside = child < count and stays[child]
                some |= inside
                all_of_them &= inside
            if not (all_of_them if links.turns[i] == CHANCE else some):
                stays[links.places[i]] = False
                changed = True
    return stays
