"""The compiled loops of nimbers and of draw levels, where play can go round as well, and of utilities, in an order that
has an end."""

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN
from retrograde.solver.runtime.kernel import kernel

UNLABELLED, INFINITE = -1, -2
FIRST, LEADER, AVERAGE, PARANOID = range(4)


@kernel
def sweep(nimbers, begin, places, origins):
    """Write the nimbers of the positions of a block that are undecided and whose children all have theirs."""
    seen = np.full(places.shape[0] + 1, -1, np.int64)
    for column in range(places.shape[1]):
        for row in range(places.shape[0]):
            child = places[row, column]
            if child >= 0 and nimbers[child] <= places.shape[0]:
                seen[nimbers[child]] = column
        least = 0
        while seen[least] == column:
            least += 1
        nimbers[begin + origins[column]] = least


@kernel
def label(children, ends, parents, begins):
    """Return for each position its nimber, INFINITE where it has none.

    The children of position i are `children[ends[i - 1]:ends[i]]`, its parents `parents[begins[i]:begins[i + 1]]`. For
    each number from 0 on, a position gets it that has no child of that number, where each child that has no smaller one
    can be answered: it has a child of that number itself. Who could have got it, and has no such child, is infinite.
    """
    count = len(ends)
    labels = np.full(count, UNLABELLED, np.int64)
    answered = np.zeros(count, np.bool_)
    open_children = np.zeros(count, np.int64)
    stack = np.empty(count, np.int64)
    number = 0
    left = count
    while left:
        top = 0
        begin = 0
        for i in range(count):
            answered[i] = False
            open_children[i] = 0
            for link in range(begin, ends[i]):
                open_children[i] += labels[children[link]] < 0
            begin = ends[i]
            if labels[i] == UNLABELLED and open_children[i] == 0:
                stack[top] = i
                top += 1
        while top:
            top -= 1
            i = stack[top]
            labels[i] = number
            left -= 1
            for link in range(begins[i], begins[i + 1]):
                parent = parents[link]
                if answered[parent] or labels[parent] >= 0:
                    continue
                answered[parent] = True
                for above in range(begins[parent], begins[parent + 1]):
                    other = parents[above]
                    open_children[other] -= 1
                    if open_children[other] == 0 and labels[other] == UNLABELLED and not answered[other]:
                        stack[top] = other
                        top += 1
        for i in range(count):
            if labels[i] == UNLABELLED and not answered[i]:
                labels[i] = INFINITE
                left -= 1
        number += 1
    return labels


@kernel
def sets_of(children, ends, labels, most):
    """Return for each position -1 less a bit for each nimber of a child, where it is infinite, else its nimber.

    Returns as well the greatest nimber that a child of one that is infinite has; above *most* there is no bit for it.
    """
    coded = labels.copy()
    greatest = -1
    begin = 0
    for i in range(len(ends)):
        if labels[i] == INFINITE:
            bits = 0
            for link in range(begin, ends[i]):
                number = labels[children[link]]
                if number >= 0:
                    greatest = max(greatest, number)
                    bits |= 1 << min(number, most)
            coded[i] = -1 - bits
        begin = ends[i]
    return coded, greatest


@kernel
def level_draws(children, ends, parents, begins, values, kinds, levels, plies):
    """Write of each draw whether it is won or lost among draws, at which level, and in how many plies.

    Those that no fringe is reached from stay UNDECIDED.
    """
    count = len(ends)
    left = np.zeros(count, np.int64)
    queue = np.empty(count, np.int64)
    begin = 0
    top = 0
    for i in range(count):
        if values[i] == DRAW:
            for link in range(begin, ends[i]):
                if values[children[link]] == DRAW:
                    left[i] += 1
                elif values[children[link]] == WIN and kinds[i] == UNDECIDED:
                    top = settle(i, LOSE, 0, 0, kinds, levels, plies, queue, top)
        begin = ends[i]
    done = 0
    level = 0
    while done < top:
        first = done
        while done < top:
            i = queue[done]
            done += 1
            for link in range(begins[i], begins[i + 1]):
                parent = parents[link]
                if values[parent] != DRAW or kinds[parent] != UNDECIDED:
                    continue
                left[parent] -= kinds[i] == WIN
                if kinds[i] == LOSE:
                    top = settle(parent, WIN, level, plies[i] + 1, kinds, levels, plies, queue, top)
                elif left[parent] == 0:
                    top = settle(parent, LOSE, level, plies[i] + 1, kinds, levels, plies, queue, top)
        level += 1
        for place in range(first, done):
            if kinds[queue[place]] == WIN:
                for link in range(begins[queue[place]], begins[queue[place] + 1]):
                    parent = parents[link]
                    if values[parent] == DRAW and kinds[parent] == UNDECIDED:
                        top = settle(parent, LOSE, level, 0, kinds, levels, plies, queue, top)


@kernel
def settle(i, kind, level, far, kinds, levels, plies, queue, top):
    """Write what a draw is, and put it at the end of the queue; return where that is then."""
    kinds[i], levels[i], plies[i] = kind, level, far
    queue[top] = i
    return top + 1


@kernel
def take_back(children, ends, parents, begins, values, kinds, levels, plies):
    """Write DRAW, without level and plies, for each draw that is not pure."""
    count = len(ends)
    stack = np.empty(count, np.int64)
    begin = 0
    top = 0
    spoilt = np.zeros(count, np.bool_)
    for i in range(count):
        for link in range(begin, ends[i]):
            child = children[link]
            spoilt[child] |= kinds[i] == LOSE and kinds[child] == LOSE
        begin = ends[i]
    for i in range(count):
        if values[i] == DRAW and (spoilt[i] or kinds[i] == UNDECIDED):
            stack[top] = i
            top += 1
    for place in range(top):
        kinds[stack[place]] = DRAW
    while top:
        top -= 1
        i = stack[top]
        levels[i], plies[i] = -1, -1
        for link in range(begins[i], begins[i + 1]):
            parent = parents[link]
            if values[parent] == DRAW and kinds[parent] != DRAW:
                kinds[parent] = DRAW
                stack[top] = parent
                top += 1


@kernel
def order_of(children, ends, parents, begins, low):
    """Return the positions of a tier, numbered from 0, each behind its children within; fewer where play goes round.

    The tier begins at place *low*; parents are of the children within, as `reverse` in listed/kernels.py gives them.
    """
    count = len(ends)
    left = np.zeros(count, np.int64)
    order = np.empty(count, np.int64)
    top = 0
    begin = 0
    for i in range(count):
        for link in range(begin, ends[i]):
            left[i] += low <= children[link] < low + count
        begin = ends[i]
        if left[i] == 0:
            order[top] = i
            top += 1
    done = 0
    while done < top:
        for link in range(begins[order[done]], begins[order[done] + 1]):
            parent = parents[link]
            left[parent] -= 1
            if left[parent] == 0:
                order[top] = parent
                top += 1
        done += 1
    return order[:top]


@kernel
def maximise(order, children, ends, low, movers, ties, slack, utilities, plies):
    """Write utilities int64[n, players] and plies of the positions of a tier that have children, in an order.

    The player to move chooses by his own utility; moves that bring him less than the best by no more than *slack* are
    as good. Where all are PARANOID he chooses for each player apart: for himself the most, for others the least.
    """
    players = utilities.shape[1]
    for i in order:
        begin = ends[i - 1] if i else 0
        if begin == ends[i]:
            continue
        place = low + i
        mover = movers[place]
        best = utilities[children[begin], mover]
        for link in range(begin + 1, ends[i]):
            best = max(best, utilities[children[link], mover])
        chosen = -1
        equal = 0
        least = 0
        if ties == PARANOID:
            for player in range(players):
                forced = best if player == mover else utilities[children[begin], player]
                for link in range(begin, ends[i]):
                    if player != mover:
                        forced = min(forced, utilities[children[link], player])
                    elif chosen < 0 and utilities[children[link], mover] == best:
                        chosen = children[link]
                utilities[place, player] = forced
            plies[place] = plies[chosen] + 1
            continue
        plies[place] = 0
        for player in range(players):
            utilities[place, player] = 0
        for link in range(begin, ends[i]):
            child = children[link]
            if utilities[child, mover] < best - slack:
                continue
            if ties == AVERAGE:
                equal += 1
                plies[place] = max(plies[place], plies[child] + 1)
                for player in range(players):
                    utilities[place, player] += utilities[child, player]
                continue
            leader = utilities[child, mover]
            if ties == LEADER and players > 1:
                leader = -(1 << 62)
                for player in range(players):
                    if player != mover:
                        leader = max(leader, utilities[child, player])
            if chosen < 0 or (ties == LEADER and leader < least):
                chosen, least = child, leader
        for player in range(players):
            if ties == AVERAGE:
                utilities[place, player] = (2 * utilities[place, player] + equal) // (2 * equal)
            else:
                utilities[place, player] = utilities[chosen, player]
        if ties != AVERAGE:
            plies[place] = plies[chosen] + 1
