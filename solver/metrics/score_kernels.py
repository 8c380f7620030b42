"""The compiled loops of scores: sweeps, and for tiers with cycles forcing amounts and counting plies."""

from typing import NamedTuple

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import inlined_kernel, kernel, lean_kernel

NONE = -(1 << 40)
"""No score; payoffs never come near it."""


class ScoreArrays(NamedTuple):
    """All positions, by index: scores, plies to the end (-1 for none), and who is to move (unused if *alternating*)."""

    alternating: bool
    scores: Array
    plies: Array
    movers: Array


class ScoreTier(NamedTuple):
    """A tier with cycles, its positions numbered from 0.

    `movers`: who is to move. `ends`: what ends pay, NONE elsewhere. `best`: the best score that children in later tiers
    bring, NONE without one. `nearest` and `farthest`: the fewest and most plies from such best children to their end,
    -1 if one has no end. `counts`: number of children within the tier. `parents` and `begins`: predecessor lists within
    the tier.
    """

    alternating: bool
    movers: Array
    ends: Array
    best: Array
    nearest: Array
    farthest: Array
    counts: Array
    parents: Array
    begins: Array


@lean_kernel
def sweep(arrays, block):
    """Write the scores and plies of a block's undecided positions, from those of their children.

    *block* is an ExploredBlock of a tier without cycles. *arrays* is the ScoreArrays of the whole game.
    """
    for i in range(len(block.movers)):
        # Without children the game is over, and the caller has written the score.
        if block.begins[i] == block.begins[i + 1]:
            continue
        index = block.begin + i
        # The best child, and the fewest and most plies from equally good ones to the end.
        best, nearest, farthest = NONE, -1, -1
        for link in range(block.begins[i], block.begins[i + 1]):
            child = block.children[link]
            score = seen_by_parent(arrays, arrays.scores, index, child) + gain_of(block, i, link)
            best, nearest, farthest = update_best(best, nearest, farthest, score, arrays.plies[child])
        arrays.scores[index] = best
        arrays.plies[index] = plies_above(best, nearest, farthest)


@inlined_kernel
def gain_of(block, i, link):
    """Return what a move of position i of a block pays the mover at once, less what the other player gets."""
    if len(block.rewards) == 0:
        return 0
    if block.rewards.shape[1] == 1:
        return block.rewards[link, 0]
    gain = block.rewards[link, 0] - block.rewards[link, 1]
    return gain if block.movers[i] == 0 else -gain


@inlined_kernel
def seen_by_parent(sides, scores, parent, child):
    """Return a child's score for the parent's player to move. *sides* is a ScoreArrays or a ScoreTier."""
    turn_passes = sides.alternating or sides.movers[parent] != sides.movers[child]
    return -scores[child] if turn_passes else scores[child]


@kernel
def update_best(best, nearest, farthest, score, plies):
    """Return (best score, fewest plies, most plies) of the best children, updated by one more child.

    Plies of -1 mean no end, which is later than any. If play goes on forever with a nonzero score, nothing more is won
    or lost, so plies count up to that point.
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
def plies_above(score, nearest, farthest):
    """Return the plies of a position from those of its best children, -1 without an end. With a score of 0 or more it
    takes the nearest end, else the farthest."""
    plies = farthest if score < 0 else nearest
    return plies + 1 if plies >= 0 else -1


@kernel
def split_children(arrays, block, low, high, outside, within):
    """Split the children of an ExploredBlock into those of its tier and those of later tiers.

    The positions of the tier have the indices from *low* to *high*. Return the number of children in the tier, or -1 if
    a move to one pays. Write the children in the tier to *within*, position by position, as indices from the tier's
    begin. *outside* are four columns of a ScoreTier: write there what the children of later tiers bring (best, nearest,
    farthest), and how many children each position has in the tier (counts).
    """
    best, nearest, farthest, counts = outside
    count = 0
    for origin in range(len(block.movers)):
        index = block.begin + origin
        i = index - low
        for link in range(block.begins[origin], block.begins[origin + 1]):
            child, gain = block.children[link], gain_of(block, origin, link)
            # Case: the child is in this tier.
            if low <= child < high:
                if gain != 0:
                    return -1
                within[count] = child - low
                count += 1
                counts[i] += 1
            # Case: the child is in a later tier, and its score is known.
            else:
                score, plies = seen_by_parent(arrays, arrays.scores, index, child) + gain, arrays.plies[child]
                best[i], nearest[i], farthest[i] = update_best(best[i], nearest[i], farthest[i], score, plies)
    return count


@kernel
def force_scores(tier, order):
    """Return the score of each position of a tier: what its player can force, 0 if nobody can force anything. *order*
    has all positions, sorted by the absolute amount that an end or a later tier brings there, the greatest first."""
    count = len(tier.movers)
    scores = np.zeros(count, np.int64)
    decided = np.zeros(count, np.bool_)
    # Children not known to be losses; the best child of later tiers counts as one. If that child is worth 0, it is
    # never counted down, so that the position cannot lose.
    children_left = tier.counts + (tier.best != NONE)
    stack = np.empty(count, np.int64)
    top = 0
    next_amount = 0
    while True:
        # Step 1: pass decided scores to the predecessors. A parent is decided by a positive score, or when all its
        # children are decided: then this last one is its best, since amounts come in descending order of their absolute
        # values.
        while top:
            top -= 1
            child = stack[top]
            for link in range(tier.begins[child], tier.begins[child + 1]):
                parent = tier.parents[link]
                if decided[parent]:
                    continue
                score = seen_by_parent(tier, scores, parent, child)
                children_left[parent] -= 1
                if score > 0 or children_left[parent] == 0:
                    decided[parent] = True
                    scores[parent] = score
                    stack[top] = parent
                    top += 1
        # Step 2: take the next greatest amount from an end or a later tier.
        if next_amount == count:
            return scores
        i = order[next_amount]
        next_amount += 1
        # Case: an end.
        if tier.ends[i] != NONE:
            if tier.ends[i] != 0:
                decided[i] = True
                scores[i] = tier.ends[i]
                stack[top] = i
                top += 1
        # Case: the best child in a later tier. A loss there counts only if no other child is left.
        elif not decided[i] and tier.best[i] != NONE and tier.best[i] != 0:
            children_left[i] -= 1
            if tier.best[i] > 0 or children_left[i] == 0:
                decided[i] = True
                scores[i] = tier.best[i]
                stack[top] = i
                top += 1


@kernel
def count_plies(tier, scores, plies):
    """Write the plies of each position of a ScoreTier to its end, along moves that keep the score; -1 without an end.

    Positions are settled in ascending order of plies. A position with a score of 0 or more is settled by its first
    child with the same score, a negative one by its last. `heads[plies]` starts the linked list of those due then.
    """
    count = len(scores)
    # Step 1: for negative scores, count the children within that keep the score.
    children_left = count_best_children(tier, scores)
    # Step 2: make the lists. A position occurs at most twice: entry i from outside the tier, entry count + i from
    # within. Plies exceed those from outside by fewer than *count*.
    most_plies = 0
    for i in range(count):
        most_plies = max(most_plies, tier.farthest[i] + 1)
    heads = np.full(count + most_plies + 2, -1, np.int64)
    next_entry = np.empty(2 * count, np.int64)
    settled = np.zeros(count, np.bool_)
    due_from_within = np.zeros(count, np.bool_)
    # Step 3: positions with an end, or a best child in a later tier, are due first.
    for i in range(count):
        plies[i] = -1
        due = -1
        if tier.ends[i] != NONE:
            due = 0
        elif tier.best[i] == scores[i] and (scores[i] >= 0 or children_left[i] == 0):
            due = plies_above(scores[i], tier.nearest[i], tier.farthest[i])
        if due >= 0:
            next_entry[i] = heads[due]
            heads[due] = i
    # Step 4: settle the lists in order and pass plies to the predecessors.
    for distance in range(len(heads)):
        entry = heads[distance]
        while entry >= 0:
            child = entry % count
            entry = next_entry[entry]
            if settled[child]:
                continue
            settled[child] = True
            plies[child] = distance
            for link in range(tier.begins[child], tier.begins[child + 1]):
                parent = tier.parents[link]
                if settled[parent] or scores[parent] != seen_by_parent(tier, scores, parent, child):
                    continue
                # A position that is behind waits for its last child; any other is due after the first.
                due = distance + 1
                if scores[parent] < 0:
                    children_left[parent] -= 1
                    if children_left[parent]:
                        continue
                    if tier.best[parent] == scores[parent]:
                        due = max(due, tier.farthest[parent] + 1)
                elif due_from_within[parent]:
                    continue
                due_from_within[parent] = True
                next_entry[count + parent] = heads[due]
                heads[due] = count + parent


@kernel
def count_best_children(tier, scores):
    """Return for each position with a negative score how many children within the tier keep it."""
    counts = np.zeros(len(scores), np.int64)
    for child in range(len(scores)):
        for link in range(tier.begins[child], tier.begins[child + 1]):
            parent = tier.parents[link]
            if scores[parent] < 0 and scores[parent] == seen_by_parent(tier, scores, parent, child):
                counts[parent] += 1
    return counts
