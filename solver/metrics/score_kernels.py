"""The compiled loops of scores: sweeps, and for tiers with cycles who can force how much, and how soon it is over."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

NONE = -(1 << 40)
"""The score of what there is not; payoffs are far from it."""


class Own(NamedTuple):
    """What is known of all positions, by place: scores and plies to the end (-1 for none), and who is to move.

    Where two players are *alternating*, movers say nothing.
    """

    alternating: bool
    scores: Array
    plies: Array
    movers: Array


class Tier(NamedTuple):
    """A tier with cycles, its positions numbered from 0: who is to move, what ends pay (NONE elsewhere), the best score
    that children of later tiers bring (NONE without one), the least and the most plies that such children are from
    their end (-1 where one has none), how many children each position has within, and who the parents there are."""

    alternating: bool
    movers: Array
    ends: Array
    best: Array
    nearest: Array
    farthest: Array
    counts: Array
    parents: Array
    begins: Array


@kernel
def sweep(own, begin, places, origins, gains):
    """Write scores and plies of the positions of a block that are undecided and whose children are all scored.

    *gains* int64[rows, columns] is what moves pay at once; it has no rows where they pay nothing.
    """
    for column in range(places.shape[1]):
        place = begin + origins[column]
        best, nearest, farthest = NONE, -1, -1
        for row in range(places.shape[0]):
            child = places[row, column]
            if child >= 0:
                turned = own.alternating or own.movers[place] != own.movers[child]
                score = -own.scores[child] if turned else own.scores[child]
                if len(gains):
                    score += gains[row, column]
                best, nearest, farthest = better(best, nearest, farthest, score, own.plies[child])
        own.scores[place] = best
        own.plies[place] = one_more(best, nearest, farthest)


@kernel
def better(best, nearest, farthest, score, plies):
    """Return the best score of children, with the least and the most plies among those that have it, after one more
    child; -1 stands for no end, which is later than any.

    Where the move there pays, and play then goes on for ever, no more is won or lost: plies count up to there.
    """
    if plies < 0 and score != 0:
        plies = 0
    if score > best:
        return score, plies, plies
    if score == best:
        if plies >= 0 and (nearest < 0 or plies < nearest):
            nearest = plies
        farthest = max(farthest, plies)
    return best, nearest, farthest


@kernel
def one_more(score, nearest, farthest):
    """Return the plies of a position by those of its best children: ahead or level soon, behind late."""
    plies = farthest if score < 0 else nearest
    return plies + 1 if plies >= 0 else -1


@kernel
def divide(own, begin, places, origins, gains, low, high, outside, links):
    """Part the children of a block of a tier, at *low* to *high*, into those of later tiers and those within.

    Writes to *outside* (best, nearest, farthest, counts) what the former bring and how many of the latter there are,
    and these to *links*, position by position; returns how many, or -1 where a move to one of them pays.
    """
    best, nearest, farthest, counts = outside
    count = 0
    for column in range(places.shape[1]):
        place = begin + origins[column]
        i = place - low
        for row in range(places.shape[0]):
            child = places[row, column]
            if low <= child < high:
                if len(gains) and gains[row, column] != 0:
                    return -1
                links[count] = child - low
                count += 1
                counts[i] += 1
            elif child >= 0:
                turned = own.alternating or own.movers[place] != own.movers[child]
                score = -own.scores[child] if turned else own.scores[child]
                if len(gains):
                    score += gains[row, column]
                best[i], nearest[i], farthest[i] = better(best[i], nearest[i], farthest[i], score, own.plies[child])
    return count


@kernel
def force(tier, order):
    """Return the scores of a tier: what can be forced, from the greatest amount down, and else 0.

    *order* has all positions, those first where an end or a child of a later tier brings the greatest amount, either
    way.
    """
    count = len(tier.movers)
    scores = np.zeros(count, np.int64)
    decided = np.zeros(count, np.bool_)
    left = tier.counts + (tier.best != NONE)
    stack = np.empty(count, np.int64)
    top = 0
    event = 0
    while True:
        while top:
            top -= 1
            child = stack[top]
            for link in range(tier.begins[child], tier.begins[child + 1]):
                parent = tier.parents[link]
                if decided[parent]:
                    continue
                turned = tier.alternating or tier.movers[parent] != tier.movers[child]
                score = -scores[child] if turned else scores[child]
                left[parent] -= 1
                if score > 0 or left[parent] == 0:
                    decided[parent] = True
                    scores[parent] = score
                    stack[top] = parent
                    top += 1
        if event == count:
            return scores
        i = order[event]
        event += 1
        if tier.ends[i] != NONE:
            if tier.ends[i] != 0:
                decided[i] = True
                scores[i] = tier.ends[i]
                stack[top] = i
                top += 1
        elif not decided[i] and tier.best[i] != NONE and tier.best[i] != 0:
            left[i] -= 1
            if tier.best[i] > 0 or left[i] == 0:
                decided[i] = True
                scores[i] = tier.best[i]
                stack[top] = i
                top += 1


@kernel
def count_plies(tier, scores, plies):
    """Write how many plies each position of a tier is from its end, along moves that keep the score; -1 without end.

    Positions are settled in ascending order of plies: those that are ahead or level by the first such child that is,
    those behind by the last. Those to be settled in so many plies are a list that begins at `heads[plies]`.
    """
    count = len(scores)
    need = np.zeros(count, np.int64)
    for child in range(count):
        for link in range(tier.begins[child], tier.begins[child + 1]):
            parent = tier.parents[link]
            turned = tier.alternating or tier.movers[parent] != tier.movers[child]
            if scores[parent] < 0 and scores[parent] == (-scores[child] if turned else scores[child]):
                need[parent] += 1
    most = 0
    for i in range(count):
        most = max(most, tier.farthest[i] + 1)
    heads = np.full(count + most + 2, -1, np.int64)
    following = np.empty(2 * count, np.int64)
    settled = np.zeros(count, np.bool_)
    passed = np.zeros(count, np.bool_)
    for i in range(count):
        plies[i] = -1
        first = -1
        if tier.ends[i] != NONE:
            first = 0
        elif tier.best[i] == scores[i] and (scores[i] >= 0 or need[i] == 0):
            first = one_more(scores[i], tier.nearest[i], tier.farthest[i])
        if first >= 0:
            following[i] = heads[first]
            heads[first] = i
    for far in range(len(heads)):
        entry = heads[far]
        while entry >= 0:
            child = entry % count
            entry = following[entry]
            if settled[child]:
                continue
            settled[child] = True
            plies[child] = far
            for link in range(tier.begins[child], tier.begins[child + 1]):
                parent = tier.parents[link]
                turned = tier.alternating or tier.movers[parent] != tier.movers[child]
                if settled[parent] or scores[parent] != (-scores[child] if turned else scores[child]):
                    continue
                first = far + 1
                if scores[parent] < 0:
                    need[parent] -= 1
                    if need[parent]:
                        continue
                    if tier.best[parent] == scores[parent]:
                        first = max(first, tier.farthest[parent] + 1)
                elif passed[parent]:
                    continue
                passed[parent] = True
                following[count + parent] = heads[first]
                heads[first] = count + parent
