"""Compiled loops of propagation: they decide positions and count down.

A position is undecided if its `children_left` is below *decided_mark* (see score.py). An argument *group* is WIN_CLASS,
for WINs and LOSEs, or TIE_CLASS.
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel, lean_kernel
from retrograde.solver.values.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS


@kernel
def settle(candidates, decided_mark, score, scores, children_left, out):
    """Give the undecided candidates this score. Write them to *out* and return how many there are."""
    count = 0
    for position in candidates:
        if children_left[position] < decided_mark:
            children_left[position] = decided_mark
            scores[position] = score
            out[count] = position
            count += 1
    return count


@kernel
def count_down(candidates, decided_mark, children_left, out):
    """Decrement the counters of undecided candidates. Write those that reach zero to *out*; return their number.

    >>> children_left, out = np.array([2, 1, 9], np.uint8), np.empty(3, np.int64)
    >>> count_down(np.array([0, 1]), 200, children_left, out), children_left, out[:1]
    (1, array([1, 0, 9], dtype=uint8), array([1]))
    """
    count = 0
    for position in candidates:
        if 0 < children_left[position] < decided_mark:
            children_left[position] -= 1
            if children_left[position] == 0:
                out[count] = position
                count += 1
    return count


# A whole tier, whose predecessor lists are in memory


class WholeTier(NamedTuple):
    """The arrays of a tier, and what their numbers mean.

    The parents of position i are `parents[begins[i]:begins[i + 1]]`, complements (`~`) where the same player moves
    again. Scores have *bits* bits for plies.
    """

    begins: Array
    parents: Array
    scores: Array
    children_left: Array
    bits: int
    decided_mark: int


class DueLists(NamedTuple):
    """For each remoteness, the positions that are due then: the last one added, and for each the one added before it;
    -1 for none."""

    last: Array
    before: Array


@kernel
def propagate(tier, group):
    """Pass back WINs and LOSEs, or with the *group* TIE_CLASS, TIEs, as `Propagation.propagate` does. Return whether
    scores have enough bits for each remoteness."""
    greatest, count = (1 << tier.bits) - 1, len(tier.scores)
    queue = np.empty(count, tier.parents.dtype)  # the decided positions, by remoteness
    due = DueLists(np.full(greatest + 1, -1, np.int64), np.empty(count, tier.parents.dtype))
    begin = remoteness = ZERO
    end, waiting = find_first(tier, group, queue, due)
    while begin < end or waiting:
        remoteness += 1
        # Nothing was decided last: skip to the least remoteness at which something is due.
        while begin == end and due.last[remoteness] < 0 and remoteness < greatest:
            remoteness += 1
        if remoteness >= greatest - 1:
            return False
        # Parents of what was decided last, then what is due now and still undecided.
        last_end = end
        end, newly_due = update_parents(tier, group, remoteness, queue, begin, end, due)
        begin, waiting = last_end, waiting + newly_due
        position = due.last[remoteness]
        while position >= 0:
            waiting -= 1
            if tier.children_left[position] < tier.decided_mark:
                tier.children_left[position] = tier.decided_mark
                queue[end] = position
                end += 1
            position = due.before[position]
    return True


@lean_kernel
def find_first(tier, group, queue, due):
    """Write the positions decided at remoteness 0 to the queue, and list those that children in later tiers decide.
    Return the number of each."""
    end = waiting = ZERO
    for i in range(len(tier.scores)):
        score_class, plies = tier.scores[i] >> tier.bits, plies_of(tier.scores[i], tier.bits)
        is_of_group = score_class == group or (group == WIN_CLASS and score_class == LOSE_CLASS)
        # Case: decided.
        if tier.children_left[i] >= tier.decided_mark:
            if plies == 0 and is_of_group:
                queue[end] = i
                end += 1
        # Case: undecided, with a WIN (or TIE) by a later tier, or without a child that might save it from a LOSE.
        elif score_class == group or (group == WIN_CLASS and tier.children_left[i] == 0):
            add_due(due, i, plies)
            waiting += 1
    return end, waiting


@lean_kernel
def update_parents(tier, group, remoteness, queue, begin, end, due):
    """Update the parents of the positions `queue[begin:end]`, which were decided last. Append the parents that are
    decided now to the queue. Return its new end, and how many parents become due later."""
    bits, scores, children_left = tier.bits, tier.scores, tier.children_left
    greatest = (1 << bits) - 1
    waiting = ZERO
    for k in range(begin, end):
        child = queue[k]
        child_class = scores[child] >> bits
        for link in range(tier.begins[child], tier.begins[child + 1]):
            moves_again = tier.parents[link] < 0
            parent = ~tier.parents[link] if moves_again else tier.parents[link]
            if children_left[parent] >= tier.decided_mark:
                continue
            # Case: a good outcome for the parent's player. It decides the parent.
            if child_class == TIE_CLASS or (child_class == WIN_CLASS) == moves_again:
                scores[parent] = (group << bits) | (greatest - remoteness)
            # Case: a bad one. The parent has one undecided child fewer.
            elif children_left[parent] > 1:
                children_left[parent] -= 1
                continue
            elif children_left[parent] == 0:
                continue  # it is due already
            # Case: a bad one, and the last. The parent is a LOSE, later if a child in a later tier lasts longer.
            else:
                children_left[parent] = 0
                plies = scores[parent] & greatest
                if plies > remoteness:
                    add_due(due, parent, plies)
                    waiting += 1
                    continue
                scores[parent] = (LOSE_CLASS << bits) | remoteness
            children_left[parent] = tier.decided_mark
            queue[end] = parent
            end += 1
    return end, waiting


@lean_kernel
def add_due(due, position, plies):
    """Add a position to those due at a remoteness of so many plies."""
    due.before[position] = due.last[plies]
    due.last[plies] = position


@lean_kernel
def plies_of(score, bits):
    """Return the remoteness of a score."""
    plies = score & ((1 << bits) - 1)
    return plies if score >> bits == LOSE_CLASS else (1 << bits) - 1 - plies
