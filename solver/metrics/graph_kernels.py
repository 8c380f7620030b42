"""The compiled loops of nimbers, draw levels and utilities. An argument *graph* is a PositionGraph of
`explored_game.py`."""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel

UNLABELLED, INFINITE = -1, -2
"""Labels that are no nimber: not known yet; infinite."""
FIRST, LEADER, AVERAGE, PARANOID = range(4)
"""Ways to decide ties; see `utilities.py`."""


class DrawLevels(NamedTuple):
    """By position: its value and, for a draw, whether it is won or lost among draws (`kinds`), its level, its plies."""

    values: Array
    kinds: Array
    levels: Array
    plies: Array


class PlayOrder(NamedTuple):
    """The positions of a tier in an `order` with children first, numbered from `low`, the tier's first index.
    `children` and `begins` are lists of children as in a PositionGraph; children are indices of all positions."""

    order: Array
    children: Array
    begins: Array
    low: int


@kernel
def sweep(nimbers, block):
    """Write the nimbers of a block's undecided positions: the least number that no child has (mex).

    *nimbers* has an entry for each position of the game, *block* is an ExploredBlock. Ends keep their 0.
    """
    # seen[n] is the last position of which a child has the nimber n, so it needs no clearing between positions. A
    # position with r moves has a nimber of at most r; greater ones of children do not matter.
    begins = block.begins
    most_moves = np.int64(0)
    for i in range(len(block.movers)):
        most_moves = max(most_moves, begins[i + 1] - begins[i])
    seen = np.full(most_moves + 1, -1, np.int64)
    for i in range(len(block.movers)):
        if begins[i] == begins[i + 1]:
            continue
        for child in block.children[begins[i] : begins[i + 1]]:
            if nimbers[child] <= most_moves:
                seen[nimbers[child]] = i
        least = 0
        while seen[least] == i:
            least += 1
        nimbers[block.begin + i] = least


@kernel
def label(graph):
    """Return the nimber of each position, INFINITE if it has none.

    For each number n from 0 on, a position gets the label n under two conditions. No child has it. And each child
    without a smaller label can be answered: it has a child labelled n itself. A position that has neither the label n
    nor a child labelled n is infinite, because a greater nimber needs children with all smaller ones.
    """
    children, begins, parents, parent_begins = graph
    count = len(begins) - 1
    labels = np.full(count, UNLABELLED, np.int64)
    answered = np.zeros(count, np.bool_)
    open_children = np.zeros(count, np.int64)
    stack = np.empty(count, np.int64)
    number = 0
    unlabelled = count
    while unlabelled:
        # Step 1: count the children of each position that have no label yet. Push positions that have none of these.
        top = 0
        for i in range(count):
            answered[i] = False
            open_children[i] = 0
            for link in range(begins[i], begins[i + 1]):
                open_children[i] += labels[children[link]] < 0
            if labels[i] == UNLABELLED and open_children[i] == 0:
                stack[top] = i
                top += 1
        # Step 2: label positions from the stack with *number*.
        while top:
            top -= 1
            i = stack[top]
            labels[i] = number
            unlabelled -= 1
            # Step 3: its predecessors are answered: they have a child with this number. So each of their predecessors
            # has one open child less.
            for link in range(parent_begins[i], parent_begins[i + 1]):
                parent = parents[link]
                if answered[parent] or labels[parent] >= 0:
                    continue
                answered[parent] = True
                for upper_link in range(parent_begins[parent], parent_begins[parent + 1]):
                    grandparent = parents[upper_link]
                    open_children[grandparent] -= 1
                    is_candidate = labels[grandparent] == UNLABELLED and not answered[grandparent]
                    if open_children[grandparent] == 0 and is_candidate:
                        stack[top] = grandparent
                        top += 1
        # Step 4: positions neither labelled nor answered cannot get a greater number: they are infinite.
        for i in range(count):
            if labels[i] == UNLABELLED and not answered[i]:
                labels[i] = INFINITE
                unlabelled -= 1
        number += 1
    return labels


@kernel
def code_infinite(graph, labels, most):
    """Return (nimbers coded as in `nimber.py`, the greatest nimber of a child of an infinite position, -1 for none).

    *labels* are those of `label`. A nimber above *most* has no bit of its own.
    """
    children, begins, _, _ = graph
    coded = labels.copy()
    greatest = -1
    for i in range(len(labels)):
        if labels[i] == INFINITE:
            bits = 0
            for link in range(begins[i], begins[i + 1]):
                number = labels[children[link]]
                if number >= 0:
                    greatest = max(greatest, number)
                    bits |= 1 << min(number, most)
            coded[i] = -1 - bits
    return coded, greatest


@kernel
def level_draws(graph, draws):
    """Write the kind, level and plies of all draws to *draws*, a DrawLevels (see `drawlevel.py`).

    The kind is UNDECIDED where no fringe is reached.
    """
    children, begins, parents, parent_begins = graph
    values, kinds, _, plies = draws
    count = len(values)
    children_left = np.zeros(count, np.int64)
    queue = np.empty(count, np.int64)
    # Step 1: count the draws among each draw's children. A draw with a move to a win of the other player is the fringe
    # of level 0.
    end = 0
    for i in range(count):
        if values[i] == DRAW:
            for link in range(begins[i], begins[i + 1]):
                if values[children[link]] == DRAW:
                    children_left[i] += 1
                elif values[children[link]] == WIN and kinds[i] == UNDECIDED:
                    end = label_draw(draws, i, (LOSE, 0, 0), queue, end)
    done = 0
    level = 0
    while done < end:
        first = done
        # Step 2: solve one level backwards from its fringe, breadth first. `children_left` counts children that are not
        # won yet; a draw is lost when it reaches 0.
        while done < end:
            i = queue[done]
            done += 1
            for link in range(parent_begins[i], parent_begins[i + 1]):
                parent = parents[link]
                if values[parent] != DRAW or kinds[parent] != UNDECIDED:
                    continue
                if kinds[i] == WIN:
                    children_left[parent] -= 1
                if kinds[i] == LOSE:
                    end = label_draw(draws, parent, (WIN, level, plies[i] + 1), queue, end)
                elif children_left[parent] == 0:
                    end = label_draw(draws, parent, (LOSE, level, plies[i] + 1), queue, end)
        # Step 3: the fringe of the next level: undecided draws with a move to a draw won at this level.
        level += 1  # from here on the number of the next level
        for i in queue[first:done]:
            if kinds[i] == WIN:
                for link in range(parent_begins[i], parent_begins[i + 1]):
                    parent = parents[link]
                    if values[parent] == DRAW and kinds[parent] == UNDECIDED:
                        end = label_draw(draws, parent, (LOSE, level, 0), queue, end)


@kernel
def label_draw(draws, i, label, queue, end):
    """Write the label (kind, level, plies) of draw i, and append i to the queue; return the queue's new end."""
    draws.kinds[i], draws.levels[i], draws.plies[i] = label
    queue[end] = i
    return end + 1


@kernel
def remove_impure(graph, draws):
    """Write the kind DRAW, without level and plies, for each draw that is not pure (see `drawlevel.py`)."""
    children, begins, parents, parent_begins = graph
    values, kinds, levels, plies = draws
    count = len(values)
    stack = np.empty(count, np.int64)
    # Step 1: mark lost draws that are children of lost draws.
    top = 0
    spoilt = np.zeros(count, np.bool_)
    for i in range(count):
        for link in range(begins[i], begins[i + 1]):
            child = children[link]
            spoilt[child] |= kinds[i] == LOSE and kinds[child] == LOSE
    # Step 2: start with these, and with draws that no fringe reached.
    for i in range(count):
        if values[i] == DRAW and (spoilt[i] or kinds[i] == UNDECIDED):
            stack[top] = i
            top += 1
    for i in stack[:top]:
        kinds[i] = DRAW
    # Step 3: a draw with a move to a draw that is not pure is not pure either.
    while top:
        top -= 1
        i = stack[top]
        levels[i], plies[i] = -1, -1
        for link in range(parent_begins[i], parent_begins[i + 1]):
            parent = parents[link]
            if values[parent] == DRAW and kinds[parent] != DRAW:
                kinds[parent] = DRAW
                stack[top] = parent
                top += 1


@kernel
def sort_topologically(graph, low):
    """Return a tier's positions, numbered from 0, each after its children within the tier; fewer if play can repeat.
    The tier's first index is *low*, and predecessor lists are those within the tier. This is Kahn's algorithm."""
    children, begins, parents, parent_begins = graph
    count = len(begins) - 1
    children_left = np.zeros(count, np.int64)
    order = np.empty(count, np.int64)
    end = 0  # of the order so far
    # Step 1: count the children within the tier; positions without any come first.
    for i in range(count):
        for link in range(begins[i], begins[i + 1]):
            children_left[i] += low <= children[link] < low + count
        if children_left[i] == 0:
            order[end] = i
            end += 1
    # Step 2: remove positions in order; a position follows when its last child is removed.
    done = 0
    while done < end:
        for link in range(parent_begins[order[done]], parent_begins[order[done] + 1]):
            parent = parents[link]
            children_left[parent] -= 1
            if children_left[parent] == 0:
                order[end] = parent
                end += 1
        done += 1
    return order[:end]


@kernel
def maximise(tier, movers, ties, slack, utilities, plies):
    """Write the utilities int64[n, players] and the plies of those positions of a tier that have children.

    *tier* is a PlayOrder; *movers*, *utilities* and *plies* go through all positions of the game. The player to move
    maximises their own utility. Moves that bring at most *slack* less than the best count as equally good. With
    PARANOID, the player to move gets the greatest, each other player the least that any move brings.
    """
    order, children, begins, low = tier
    for i in order:
        if begins[i] == begins[i + 1]:
            continue
        # Step 1: the best utility that the player to move can get.
        index = low + i
        mover = movers[index]
        own_children = children[begins[i] : begins[i + 1]]
        best = utilities[own_children[0], mover]
        for child in own_children[1:]:
            best = max(best, utilities[child, mover])
        # Step 2: the utilities, as *ties* says.
        if ties == PARANOID:
            force_each(own_children, index, mover, best, utilities, plies)
        elif ties == AVERAGE:
            take_average(own_children, index, mover, best - slack, utilities, plies)
        else:
            chosen = choose_child(own_children, mover, best - slack, ties, utilities)
            plies[index] = plies[chosen] + 1
            for player in range(utilities.shape[1]):
                utilities[index, player] = utilities[chosen, player]


@kernel
def force_each(children, index, mover, best, utilities, plies):
    """Write what each player can force at position *index* against all others; for the mover that is *best*. Plies
    follow the first best move."""
    for player in range(utilities.shape[1]):
        forced = utilities[children[0], player]
        for child in children:
            forced = min(forced, utilities[child, player])
        utilities[index, player] = best if player == mover else forced
    for child in children:
        if utilities[child, mover] == best:
            plies[index] = plies[child] + 1
            break


@kernel
def take_average(children, index, mover, enough, utilities, plies):
    """Write the mean utilities, for position *index*, of the children that bring the mover *enough* or more. Its plies
    are the greatest that lead through them. Means are rounded to the nearest integer."""
    count = 0
    plies[index] = 0
    utilities[index] = 0
    for child in children:
        if utilities[child, mover] >= enough:
            count += 1
            plies[index] = max(plies[index], plies[child] + 1)
            for player in range(utilities.shape[1]):
                utilities[index, player] += utilities[child, player]
    # Divide the sums: (2 s + n) // (2 n) is s / n, rounded to the nearest integer.
    for player in range(utilities.shape[1]):
        utilities[index, player] = (2 * utilities[index, player] + count) // (2 * count)


@kernel
def choose_child(children, mover, enough, ties, utilities):
    """Return the first child that brings the mover *enough* or more. If *ties* is LEADER, return that of these in which
    the most successful other player gets least."""
    chosen = -1
    least = 0
    for child in children:
        if utilities[child, mover] < enough:
            continue
        # For LEADER: what the best of the other players gets. With one player, all these children are alike.
        leader = 0
        if ties == LEADER and utilities.shape[1] > 1:
            leader = -(1 << 62)
            for player in range(utilities.shape[1]):
                if player != mover:
                    leader = max(leader, utilities[child, player])
        if chosen < 0 or (ties == LEADER and leader < least):
            chosen, least = child, leader
    return chosen
