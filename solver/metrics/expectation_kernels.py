"""The compiled loops that compute expected payoffs. They call no rules.

Payoffs are integers in grains of 2**-bits each. So sums are exact, their order does not matter, and the only error is
the rounding of means. An argument *graph* is a ChildLists. *sign* is 1, or -1 if values are those of the negated game
(see `expectation.py`).
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import inlined_kernel, kernel, lean_kernel

SMALL, FEW = 1 << 52, 1 << 10
"""If all |values| are below the first, and odds add up to less than the second, sums fit into 64 bits."""
LIMIT = 1 << 61
"""Bounds and payoffs stay below this, so that their sums fit into 64 bits."""
COST, NOISE, STABLE = 4.0, 2.0**-48, 1.0
"""What each position costs in `approximate`: COST grains, and NOISE times its value.

A lower bound holds if a position costs more than the two grains lost when bounds and means are rounded down, plus the
STABLE grains that a sweep may still change. Floats have 53 bits, so a worth is off by less than NOISE times itself.
"""
MOST_SWEEPS, LAST_STEP = 1000, 200
"""The most sweeps of a component, and the number of the sweep after which no step beyond the last change is made."""


class ChildLists(NamedTuple):
    """The graph of a block or tier. A node is a position or, against a model, one of its two (see `best_response.py`).

    `turns` int8 says who moves, `endless` whether players can stay in the tier forever from there. The children of node
    i are the nodes `children[begins[i]:begins[i + 1]]`, with `odds`, and `rewards` in grains (empty if moves pay
    nothing). Ends have no children.
    """

    turns: Array
    endless: Array
    begins: Array
    children: Array
    odds: Array
    rewards: Array


@inlined_kernel
def worth(graph, i, values, sign):
    """Return the worth of node i for player 0, from its children; means are rounded down.

    With *sign* 1, player 0 takes the greatest of *values*, player 1 the least, and chance the mean. With -1, the values
    are those of the negated game. The mean of large values is computed as `value = total * (value // total) + value %
    total`: no product exceeds 64 bits, because odds add up to less than 2**31.
    """
    turn = graph.turns[i]
    begin, end = graph.begins[i], graph.begins[i + 1]
    pays = len(graph.rewards) > 0
    # Case: chance. The weighted mean; if a sum might not fit, in quotients and remainders of *total*.
    if turn == CHANCE:
        total = weighted_sum = bits_used = np.int64(0)
        for link in range(begin, end):
            value = values[graph.children[link]]
            if pays:
                value += sign * graph.rewards[link]
            total += graph.odds[link]
            weighted_sum += graph.odds[link] * value
            bits_used |= value ^ (value >> 63)  # as many bits as the longest value; never negative
        if bits_used < SMALL and total < FEW:
            return weighted_sum // total
        quotients, remainders = 0, 0
        for link in range(begin, end):
            value = values[graph.children[link]]
            if pays:
                value += sign * graph.rewards[link]
            quotient = value // total
            quotients += graph.odds[link] * quotient
            remainders += graph.odds[link] * (value - quotient * total)
        return quotients + remainders // total
    # Case: a player. In the negated game the players' aims are exchanged.
    greatest = (turn == 0) == (sign == 1)
    best = 0
    for link in range(begin, end):
        value = values[graph.children[link]]
        if pays:
            value += sign * graph.rewards[link]
        if link == begin or (value > best) == greatest:
            best = value
    return best


@lean_kernel
def sweep(graph, pays, bounds, result):
    """Write the bounds of a block's nodes to *result* int64[2, n]. *bounds* has the two rows of all nodes. The
    children's bounds are known. *pays* int64[n] is what ends pay player 0, in grains. Row 1 is for the negated game."""
    for i in range(len(pays)):
        is_end = graph.begins[i] == graph.begins[i + 1]
        for row in range(2):
            sign = 1 - 2 * row
            result[row, i] = sign * pays[i] if is_end else worth(graph, i, bounds[row], sign)


@kernel
def order_by_components(graph, order, ends):
    """Write the undecided nodes to *order*, first to be solved first; return how many strongly connected components.

    Component number c stands in *order* before `ends[c]`, after the components that it leads to. Within it, a node
    stands after its children, as far as cycles allow. This is the algorithm of R. Tarjan (Depth-first search and linear
    graph algorithms, 1972), with a list instead of recursion.
    """
    count = len(graph.turns)
    numbers = np.zeros(count, np.int32)  # in the order of discovery; 0: not discovered
    lowest = np.zeros(count, np.int32)  # the least number known to be reachable, of positions that are not in *order*
    path, next_links = np.empty(count, np.int32), np.empty(count, np.int64)
    finished = np.empty(count, np.int32)  # a stack of nodes that no component has yet; *waiting* is its height
    finished_before = np.empty(count, np.int32)  # the height of this stack when a node was discovered
    discovered = placed = components = waiting = depth = 0
    for root in range(count):
        new = root  # the node to discover next; -1: none
        while True:
            # Step 1: discover a node, unless it is known, an end or outside. The path of open nodes gets longer.
            if new >= 0 and new < count and graph.begins[new] < graph.begins[new + 1] and not numbers[new]:
                discovered += 1
                numbers[new] = lowest[new] = discovered
                next_links[new] = graph.begins[new]
                finished_before[new] = waiting
                path[depth] = new
                depth += 1
            if not depth:
                break
            # Step 2: go on to the next child of the last node of the path.
            new = -1
            i = path[depth - 1]
            if next_links[i] < graph.begins[i + 1]:
                new = graph.children[next_links[i]]
                next_links[i] += 1
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
                for node in finished[finished_before[i] : waiting]:
                    order[placed] = node
                    lowest[node] = count + 1  # above all numbers: it lowers no other node's
                    placed += 1
                waiting = finished_before[i]
                ends[components] = placed
                components += 1
    return components


@kernel
def approximate(graph, order, ends, values, sign):
    """Write to *values* what undecided nodes are worth in floating point if each costs COST grains.

    *order* and *ends* are those of `order_by_components`. Play must always end. Such values, rounded down, are lower
    bounds of the game (with *sign* -1, of the negated game), because COST is more than rounding can take away. The
    sweeps of a component update its nodes in order (Gauss-Seidel). After every second one, a step goes along the last
    change as far as makes it least (D. Anderson, Iterative procedures for nonlinear integral equations, 1965).
    """
    changes, swept_values = np.empty(len(order)), np.empty(len(order))  # of the sweep before
    begin = 0
    for end in ends:
        for number in range(MOST_SWEEPS):
            # Step 1: a sweep. Sum what the step needs: products of each change with how it differs from the last one.
            stable = True
            dot_product = square = 0.0
            for at in range(begin, end):
                i = order[at]
                value = approximate_worth(graph, i, values, sign)
                value -= COST + NOISE * abs(value)
                change = value - values[i]
                values[i] = value
                stable &= abs(change) <= STABLE + NOISE * abs(value)
                dot_product += change * (change - changes[at])
                square += (change - changes[at]) ** 2
                changes[at] = change
            if stable:
                break
            # Step 2: after every second sweep, the step beyond. It is no more than a better start for the next sweep.
            # After the first sweep there is none, since `changes` and `swept_values` had no content before it.
            step = dot_product / square if number % 2 == 1 and square > 0 and number < LAST_STEP else 0.0
            for at in range(begin, end):
                i = order[at]
                value = values[i]
                values[i] -= step * (value - swept_values[at]) if step else 0.0
                swept_values[at] = value
        begin = end


@inlined_kernel
def approximate_worth(graph, i, values, sign):
    """Return the same as `worth`, in floating point."""
    turn = graph.turns[i]
    begin, end = graph.begins[i], graph.begins[i + 1]
    greatest = (turn == 0) == (sign == 1)
    total_odds, weighted_sum, best = 0.0, 0.0, 0.0
    for link in range(begin, end):
        value = values[graph.children[link]]
        if len(graph.rewards):
            value += sign * graph.rewards[link]
        if turn == CHANCE:
            total_odds += graph.odds[link]
            weighted_sum += graph.odds[link] * value
        elif link == begin or (value > best) == greatest:
            best = value
    return weighted_sum / total_odds if turn == CHANCE else best


@kernel
def link_both_sides(block, gains, model_weights, responder_weights, alternating, graph):
    """Write the graph of an ExploredBlock, two nodes for each position as in `best_response.py`.

    Return the number of children. *gains* are what the block's moves pay player 0 less player 1, in grains. The weights
    of its moves are those by the model and by the responder's own model, empty if the responder plays best.
    *alternating*: each move passes the turn.
    """
    count = 0
    for i in range(len(block.movers)):
        for b in range(2):
            # Node b of the position. The responder moves there if the turn is b; the other player's moves are chance.
            turn = block.movers[i]
            responds = turn == b
            by_chance = not responds or len(responder_weights) > 0
            for link in range(block.begins[i], block.begins[i + 1]):
                # Weights: chance's odds, the model's, or the responder's own model's. Moves of weight 0 do not exist.
                odds = 1
                if turn == CHANCE:
                    odds = block.odds[link]
                elif not responds:
                    odds = model_weights[link]
                elif by_chance:
                    odds = responder_weights[link]
                if odds == 0:
                    continue
                # What is paid counts for the responder, who is player b.
                graph.children[count] = 2 * block.children[link] + (1 - b if alternating else b)
                graph.odds[count] = odds
                if len(gains):
                    graph.rewards[count] = gains[link] if b == 0 else -gains[link]
                count += 1
            graph.turns[2 * i + b] = CHANCE if by_chance else 0
            graph.begins[2 * i + b + 1] = count
    return count


@lean_kernel
def sweep_cycle(graph, order, values, sign, rising):
    """Set the lower bounds *values* to what the children give, in one sweep in *order*. With *rising*, bounds only
    rise, else they only sink. Return the number changed, -1 beyond LIMIT."""
    changed = 0
    for i in order:
        bound = worth(graph, i, values, sign)
        # One grain less where play can be endless: then bounds rise along play, which cannot stay above 0 forever.
        if bound > 0 and graph.endless[i]:
            bound -= 1
        if not -LIMIT < bound < LIMIT:
            return -1
        if bound != values[i] and (bound > values[i]) == rising:
            values[i] = bound
            changed += 1
    return changed


@kernel
def find_endless(graph, order):
    """Return for each node whether players can stay in the tier forever. *order* has the undecided nodes. A node stays
    if some move of a player leads to one that stays, or all moves of chance do (the greatest fixed point)."""
    count = len(graph.turns)
    stays = graph.begins[1:] > graph.begins[:-1]  # at first, all nodes with moves
    changed = True
    while changed:
        changed = False
        for i in order:
            if not stays[i]:
                continue
            # Remove nodes without such moves until nothing changes. Children from *count* on are outside the tier.
            any_stays, all_stay = False, True
            for child in graph.children[graph.begins[i] : graph.begins[i + 1]]:
                child_stays = child < count and stays[child]
                any_stays |= child_stays
                all_stay &= child_stays
            if not (all_stay if graph.turns[i] == CHANCE else any_stays):
                stays[i] = False
                changed = True
    return stays
