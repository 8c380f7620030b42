"""The compiled loops that compute expected payoffs. They call no rules.

Payoffs are integers in grains of 2**-bits each. So sums are exact, their order does not matter, and the only error is
the rounding of means.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import inlined_kernel, kernel, lean_kernel

SMALL, FEW = 1 << 52, 1 << 10
"""If values are below the first, up or down, and odds add up to less than the second, sums fit into 64 bits."""
LIMIT = 1 << 61
"""Bounds and payoffs stay below this, so that their sums fit into 64 bits."""
COST, NOISE, STABLE = 4.0, 2.0**-48, 1.0
"""What each position costs in `approximate`: COST grains, and NOISE times its value.

A lower bound holds if a position costs more than is lost when bounds and means are rounded down, two grains, and than a
sweep may still change, STABLE grains. Values have 53 bits, so that a worth is off by less than its part NOISE.
"""
MOST_SWEEPS, LAST_STEP = 1000, 200
"""The most sweeps of a component, and the number of the sweep after which no step beyond the last change is made."""


class ChildLists(NamedTuple):
    """The places of a block or tier with their children.

    `turns` int8 says who moves, `endless` whether players can stay in the tier forever from there. The children of
    place i are the places `children[begins[i]:begins[i + 1]]`, with `odds`, and `rewards` in grains (empty if moves pay
    nothing). Ends have no children.
    """

    turns: Array
    endless: Array
    begins: Array
    children: Array
    odds: Array
    rewards: Array


@inlined_kernel
def worth(links, i, values, sign):
    """Return the worth of place i for player 0, from its children; means are rounded down.

    With *sign* 1, player 0 takes the greatest of *values*, player 1 the least, and chance the mean. With -1, the values
    are those of the negated game. The mean of large values is computed as `value = total * (value // total) + value %
    total`: no product exceeds 64 bits, because odds add up to less than 2**31.
    """
    turn = links.turns[i]
    begin, end = links.begins[i], links.begins[i + 1]
    pays = len(links.rewards) > 0
    # Case: chance. The weighted mean; if a sum might not fit, in quotients and remainders of *total*.
    if turn == CHANCE:
        total = weighted_sum = signs = np.int64(0)
        for link in range(begin, end):
            value = values[links.children[link]]
            if pays:
                value += sign * links.rewards[link]
            total += links.odds[link]
            weighted_sum += links.odds[link] * value
            signs |= value ^ value >> 63  # not negative, and as long as the longest value
        if signs < SMALL and total < FEW:
            return weighted_sum // total
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


@lean_kernel
def sweep(links, pays, bounds, result):
    """Write the bounds of a block's places to *result* int64[2, n]. *bounds* are those of all places.

    The children are known. *pays* int64[n] is what ends pay player 0, in grains. Row 1 is that of the negated game.
    """
    for i in range(len(pays)):
        is_end = links.begins[i] == links.begins[i + 1]
        for row in range(2):
            sign = 1 - 2 * row
            result[row, i] = sign * pays[i] if is_end else worth(links, i, bounds[row], sign)


@kernel
def order_by_components(links, order, ends):
    """Write to *order* the undecided places as they are to be solved; return the number of components.

    A *component* is a greatest set of positions that play can reach from one another (a strongly connected component).
    Component number c stands in *order* before `ends[c]`, after the components that it leads to. Within it, a position
    stands after its children, as far as cycles allow. This is the algorithm of R. Tarjan (Depth-first search and linear
    graph algorithms, 1972), with a list instead of recursion.
    """
    count = len(links.turns)
    numbers = np.zeros(count, np.int32)  # in the order of discovery; 0: not discovered
    lowest = np.zeros(count, np.int32)  # the least number known to be reachable, of positions that are not in *order*
    path, links_seen = np.empty(count, np.int32), np.empty(count, np.int64)
    finished = np.empty(count, np.int32)  # a stack of places that no component has yet; *waiting* is its height
    finished_before = np.empty(count, np.int32)  # the height of this stack when a place was discovered
    discovered = placed = components = waiting = depth = 0
    for root in range(count):
        new = root  # the place to discover next; -1: none
        while True:
            # Step 1: discover a position, unless it is known, an end or outside. The path of open positions gets
            # longer.
            if new >= 0 and new < count and links.begins[new] < links.begins[new + 1] and not numbers[new]:
                discovered += 1
                numbers[new] = lowest[new] = discovered
                links_seen[new] = links.begins[new]
                finished_before[new] = waiting
                path[depth] = new
                depth += 1
            if not depth:
                break
            # Step 2: go on to the next child of the last position of the path.
            new = -1
            i = path[depth - 1]
            if links_seen[i] < links.begins[i + 1]:
                new = links.children[links_seen[i]]
                links_seen[i] += 1
                if new < count and numbers[new]:
                    lowest[i] = min(lowest[i], lowest[new])
                continue
            # Step 3: it has no more children, and is finished.
            finished[waiting] = i
            waiting += 1
            depth -= 1
            if depth:
                lowest[path[depth - 1]] = min(lowest[path[depth - 1]], lowest[i])
            # Step 4: if it reaches nothing before itself, all that were finished since its discovery are a component.
            if lowest[i] == numbers[i]:
                for at in range(finished_before[i], waiting):
                    order[placed] = finished[at]
                    lowest[finished[at]] = count + 1
                    placed += 1
                waiting = finished_before[i]
                ends[components] = placed
                components += 1
    return components


@kernel
def approximate(links, order, ends, values, sign):
    """Write to *values* what undecided positions are worth in floating point if each position costs COST grains.

    Play must always end. Such values, rounded down, are lower bounds of the game (with *sign* -1, of the negated game),
    because COST is more than rounding can take away. The sweeps of a component update its positions in order
    (Gauss-Seidel). Every second one is followed by a step along the last change, as far as makes the change least (D.
    Anderson, Iterative procedures for nonlinear integral equations, 1965).
    """
    changes, results = np.empty(len(order)), np.empty(len(order))
    begin = 0
    for end in ends:
        for number in range(MOST_SWEEPS):
            # Step 1: a sweep.
            stable = True
            along = square = 0.0
            for at in range(begin, end):
                i = order[at]
                value = approximate_worth(links, i, values, sign)
                value -= COST + NOISE * abs(value)
                change = value - values[i]
                values[i] = value
                stable &= abs(change) <= STABLE + NOISE * abs(value)
                along += change * (change - changes[at])
                square += (change - changes[at]) ** 2
                changes[at] = change
            if stable:
                break
            # Step 2: after every second sweep, the step beyond. It is no more than a better start for the next sweep.
            share = along / square if number & 1 and square > 0 and number < LAST_STEP else 0.0
            for at in range(begin, end):
                i = order[at]
                value = values[i]
                values[i] -= share * (value - results[at]) if share else 0.0
                results[at] = value
        begin = end


@inlined_kernel
def approximate_worth(links, i, values, sign):
    """Return the same as `worth`, in floating point."""
    turn = links.turns[i]
    begin, end = links.begins[i], links.begins[i + 1]
    greatest = (turn == 0) == (sign == 1)
    total_odds, weighted_sum, best = 0.0, 0.0, 0.0
    for link in range(begin, end):
        value = values[links.children[link]]
        if len(links.rewards):
            value += sign * links.rewards[link]
        if turn == CHANCE:
            total_odds += links.odds[link]
            weighted_sum += links.odds[link] * value
        elif link == begin or (value > best) == greatest:
            best = value
    return weighted_sum / total_odds if turn == CHANCE else best


@kernel
def link_both(block, gains, modelled, responder, alternating, links):
    """Write the links of an ExploredBlock with two places for each position; return the number of children.

    *gains* are what moves pay player 0 less player 1, in grains. *modelled* and *responder* are the weights of the
    moves of the two players; the latter is empty if the responder plays best. `best_response.py` explains the two
    places.
    """
    count = 0
    for i in range(len(block.movers)):
        for b in range(2):
            # Place b of the position. The responder moves there if the turn is b; the other player's moves are chance.
            turn = block.movers[i]
            responds = turn == b
            by_chance = not responds or len(responder) > 0
            for link in range(block.begins[i], block.begins[i + 1]):
                # Weights: chance's odds, the model's, or the responder's own model's. Moves of weight 0 do not exist.
                odds = 1
                if turn == CHANCE:
                    odds = block.odds[link]
                elif not responds:
                    odds = modelled[link]
                elif by_chance:
                    odds = responder[link]
                if odds == 0:
                    continue
                # What is paid counts for the responder, who is player b.
                links.children[count] = 2 * block.children[link] + (1 - b if alternating else b)
                links.odds[count] = odds
                if len(gains):
                    links.rewards[count] = gains[link] if b == 0 else -gains[link]
                count += 1
            links.turns[2 * i + b] = CHANCE if by_chance else 0
            links.begins[2 * i + b + 1] = count
    return count


@lean_kernel
def sweep_cycle(links, order, values, sign, rising):
    """Set lower bounds to what the children give, in one sweep in *order*; return the number changed, -1 beyond LIMIT.
    With *rising*, bounds only rise, else they only sink."""
    changed = 0
    for i in order:
        bound = worth(links, i, values, sign)
        # One grain less where play can be endless: then bounds rise along play, which cannot stay above 0 forever.
        if bound > 0 and links.endless[i]:
            bound -= 1
        if not -LIMIT < bound < LIMIT:
            return -1
        if bound != values[i] and (bound > values[i]) == rising:
            values[i] = bound
            changed += 1
    return changed


@kernel
def find_endless(links, order):
    """Return for each place whether players can stay in the tier forever. *order* has the undecided places. A place
    stays if some move of a player leads to one that stays, or all moves of chance do (the greatest fixed point)."""
    count = len(links.turns)
    stays = links.begins[1:] > links.begins[:-1]
    changed = True
    while changed:
        changed = False
        for i in order:
            if not stays[i]:
                continue
            # Remove positions without such a move until nothing changes.
            any_stays, all_stay = False, True
            for child in links.children[links.begins[i] : links.begins[i + 1]]:
                inside = child < count and stays[child]
                any_stays |= inside
                all_stay &= inside
            if not (all_stay if links.turns[i] == CHANCE else any_stays):
                stays[i] = False
                changed = True
    return stays
