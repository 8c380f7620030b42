"""The compiled loops over matrices of children (see rules/kernels.py) whose places are known. None knows a game."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.methods.listed.predecessors.frontier import mark_at
from retrograde.solver.methods.listed.predecessors.kernels import with_link
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.left import PRIMITIVE
from retrograde.solver.values.score import DRAW_CLASS
from retrograde.solver.values.score_kernels import pass_on, pass_up, primitive_score, too_far

Array = np.ndarray[Any, Any]


class Seeds(NamedTuple):
    """What is known at first of each position of a tier with cycles: its score if it is primitive, else the greatest
    passed up by children of later tiers, 0 for none; how many distinct children there are within the tier, and one more
    where a child of a later tier saves it from losing, or PRIMITIVE; and without that one."""

    scores: Array
    left: Array
    counts: Array


@kernel
def sweep(columns, places, matrix, bits, scores, result):
    """Write the scores of positions whose children, at *places* among all *scores*, are solved.

    A place below -1 is -2 less that of a child where the same player moves again.
    Returns 1 where a remoteness has become too great for so many bits, else 0.
    """
    for i in range(len(result)):
        result[i] = primitive_score(matrix.primitives[i], bits)
    best = np.zeros(columns, np.int64)
    for row in range(places.shape[0]):
        for i in range(columns):
            place = places[row, i]
            if place >= 0:
                best[i] = max(best[i], pass_up(np.int64(scores[place]), bits))
            elif place < -1:
                best[i] = max(best[i], pass_on(np.int64(scores[-2 - place]), bits))
    for i in range(columns):
        result[matrix.origins[i]] = best[i]
    return too_far(result, bits)


@kernel
def divide(columns, places, matrix, low, high, bits, scores, seeds, links):
    """Part the children of a block of a tier, at *low* to *high* among all, into those solved before and those within.

    Writes to *seeds* what is known of each position, and to *links* the distinct children within, position by position:
    their numbers, or the complements (`~`) where the same player moves again, whose *places* are -2 less what they are.
    Returns how many there are.
    """
    for i in range(len(seeds.scores)):
        value = matrix.primitives[i]
        seeds.scores[i] = 0 if value == UNDECIDED else primitive_score(value, bits)
        seeds.left[i] = 0 if value == UNDECIDED else PRIMITIVE
        seeds.counts[i] = 0
    count = 0
    for column in range(columns):
        begin = count
        passed = 0
        for row in range(places.shape[0]):
            place = places[row, column]
            again = place < -1
            if again:
                place = -2 - place
            if low <= place < high:
                count = with_link(links, begin, count, ~(place - low) if again else place - low)
            elif place >= 0:
                score = np.int64(scores[place])
                passed = max(passed, pass_on(score, bits) if again else pass_up(score, bits))
        i = matrix.origins[column]
        seeds.scores[i] = passed
        seeds.counts[i] = count - begin
        seeds.left[i] = min(count - begin + (passed >= DRAW_CLASS << bits), PRIMITIVE - 1)
    return count


@kernel
def children_again(columns, places, origins, low, high, frontier, counts, links):
    """Write the distinct children of a block of a tier, at *low* to *high* among all, that are in a *frontier*, as
    `divide` does; how many each position has is written to *counts*, which come in as zeros. Returns how many there
    are."""
    count = 0
    for column in range(columns):
        begin = count
        for row in range(places.shape[0]):
            place = places[row, column]
            again = place < -1
            child = (-2 - place if again else place) - low
            if 0 <= child < high - low and mark_at(frontier, child):
                count = with_link(links, begin, count, ~child if again else child)
        counts[origins[column]] = count - begin
    return count


@kernel
def number_of(link):
    """Return the number of a child or parent, which a link is, or the complement of."""
    return link if link >= 0 else ~link


@kernel
def reverse(links, ends, parents, begins):
    """Turn lists of children into lists of parents; complements of children become complements of parents.

    The children of position i are `links[ends[i - 1]:ends[i]]`; its parents become `parents[begins[i]:begins[i + 1]]`,
    where *begins* comes in as zeros and has two more entries than there are positions.
    """
    for link in links:
        begins[number_of(link) + 2] += 1
    for i in range(2, len(begins)):
        begins[i] += begins[i - 1]
    begin = 0
    for i in range(len(ends)):
        for link in range(begin, ends[i]):
            child = number_of(links[link])
            parents[begins[child + 1]] = i if links[link] >= 0 else ~i
            begins[child + 1] += 1
        begin = ends[i]
