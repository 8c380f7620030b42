"""The compiled loops for a tier with cycles; its positions are numbered from 0, and begin at `low` among all."""

import numpy as np

from retrograde.games.game import UNDECIDED
from retrograde.solver.outcomes.score import DRAW_CLASS
from retrograde.solver.outcomes.score_kernels import pass_up, primitive_score
from retrograde.solver.work.kernel import kernel


@kernel
def divide(columns, places, origins, primitives, low, high, bits, scores, result, best, left, counts, edges):
    """Part the children of a block of a tier, at *low* to *high* among all, into those solved before and those within.

    Writes to *result* the score of primitive positions, else UNDECIDED's; to *best* the greatest score passed up by
    children of later tiers, 0 for none; to *counts* the number of distinct children within the tier; to *left* the
    same, and one more where a child of a later tier saves the position from losing; to *edges* those within, position
    by position. Returns how many there are.
    """
    undecided = DRAW_CLASS << bits | 1
    for i in range(len(result)):
        result[i] = undecided if primitives[i] == UNDECIDED else primitive_score(primitives[i], bits)
        best[i] = 0
        left[i] = 0
        counts[i] = 0
    count = 0
    for column in range(columns):
        begin = count
        passed = 0
        for slot in range(places.shape[0]):
            place = places[slot, column]
            if low <= place < high:
                new = True
                for other in range(begin, count):
                    new &= edges[other] != place - low
                edges[count] = place - low
                count += new
            elif place >= 0:
                passed = max(passed, pass_up(np.int64(scores[place]), bits))
        i = origins[column]
        best[i] = passed
        counts[i] = count - begin
        left[i] = count - begin + (passed >= DRAW_CLASS << bits)
    return count


@kernel
def reverse(edges, ends, parents, begins):
    """Turn lists of children into lists of parents.

    The children of position i are `edges[ends[i - 1]:ends[i]]`; its parents become `parents[begins[i]:begins[i + 1]]`,
    where *begins* comes in as zeros and has two more entries than there are positions.
    """
    for child in edges:
        begins[child + 2] += 1
    for i in range(2, len(begins)):
        begins[i] += begins[i - 1]
    begin = 0
    for i in range(len(ends)):
        for edge in range(begin, ends[i]):
            child = edges[edge]
            parents[begins[child + 1]] = i
            begins[child + 1] += 1
        begin = ends[i]


@kernel
def parents_of(frontier, parents, begins, out):
    """Write the parents of the positions of a frontier one after another."""
    count = 0
    for position in frontier:
        for edge in range(begins[position], begins[position + 1]):
            out[count] = parents[edge]
            count += 1


@kernel
def settle(candidates, undecided, score, scores, out):
    """Give those of the candidates that are undecided a score; write them to *out* and return how many they are."""
    count = 0
    for position in candidates:
        if scores[position] == undecided:
            scores[position] = score
            out[count] = position
            count += 1
    return count


@kernel
def count_down(candidates, undecided, scores, left, out):
    """Take one from what is left of each candidate, and write to *out* the undecided ones with nothing left."""
    count = 0
    for position in candidates:
        left[position] -= 1
        if left[position] == 0 and scores[position] == undecided:
            out[count] = position
            count += 1
    return count
