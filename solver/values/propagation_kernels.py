"""Compiled loops of propagation: they decide positions and count down.

A position is undecided if its `children_left` is below *decided_mark* (see score.py).
"""

import numpy as np

from retrograde.solver.runtime.kernel import ZERO, kernel
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
    """Decrement the counters of undecided candidates. Write those that reach zero to *out*; return their number."""
    count = 0
    for position in candidates:
        if 0 < children_left[position] < decided_mark:
            children_left[position] -= 1
            if children_left[position] == 0:
                out[count] = position
                count += 1
    return count


# A whole tier, whose predecessor lists are in memory


@kernel
def propagate(group, begins, parents, bits, decided_mark, scores, children_left):
    """Pass back WINs and LOSEs, or with the *group* TIE_CLASS, TIEs, as `Propagation.propagate` does.

    The parents of position i are `parents[begins[i]:begins[i + 1]]`, complements (`~`) where the same player moves
    again. Return whether *bits* bits suffice for each remoteness.
    """
    greatest = (1 << bits) - 1
    queue = np.empty(len(scores), parents.dtype)  # the decided positions, by remoteness
    # For each remoteness, the positions that are due then: the last one, and for each position the one before.
    last_due, due_before = np.full(greatest + 1, -1, np.int64), np.empty(len(scores), parents.dtype)
    end = waiting = ZERO
    # Step 1: find what is decided at remoteness 0, and what children in later tiers will decide.
    for i in range(len(scores)):
        score_class, plies = scores[i] >> bits, plies_of(scores[i], bits)
        if children_left[i] >= decided_mark:
            if plies == 0 and (score_class == group or (group == WIN_CLASS and score_class == LOSE_CLASS)):
                queue[end] = i
                end += 1
        elif score_class == group or (group == WIN_CLASS and children_left[i] == 0):
            due_before[i] = last_due[plies]
            last_due[plies] = i
            waiting += 1
    begin = remoteness = ZERO
    while begin < end or waiting:
        remoteness += 1
        # Nothing was decided last: skip to the least remoteness at which something is due.
        while begin == end and last_due[remoteness] < 0 and remoteness < greatest:
            remoteness += 1
        if remoteness >= greatest - 1:
            return False
        # Step 2: update the parents of what was decided last.
        end_of_last = end
        for place in range(begin, end_of_last):
            child = queue[place]
            child_class = scores[child] >> bits
            for at in range(begins[child], begins[child + 1]):
                moves_again = parents[at] < 0
                parent = ~parents[at] if moves_again else parents[at]
                if children_left[parent] >= decided_mark:
                    continue
                # Case: a good outcome for the parent's player. It decides the parent.
                if child_class == TIE_CLASS or (child_class == WIN_CLASS) == moves_again:
                    scores[parent] = (group << bits) | (greatest - remoteness)
                # Case: a bad one. The parent has one undecided child fewer.
                else:
                    if children_left[parent] == 0:
                        continue
                    children_left[parent] -= 1
                    if children_left[parent]:
                        continue
                    # It was the last one: the parent is a LOSE, later if a child in a later tier lasts longer.
                    plies = scores[parent] & greatest
                    if plies > remoteness:
                        due_before[parent] = last_due[plies]
                        last_due[plies] = parent
                        waiting += 1
                        continue
                    scores[parent] = (LOSE_CLASS << bits) | remoteness
                children_left[parent] = decided_mark
                queue[end] = parent
                end += 1
        # Step 3: decide what is due now and still undecided.
        begin = end_of_last
        position = last_due[remoteness]
        while position >= 0:
            waiting -= 1
            if children_left[position] < decided_mark:
                children_left[position] = decided_mark
                queue[end] = position
                end += 1
            position = due_before[position]
    return True


@kernel
def plies_of(score, bits):
    """Return the remoteness of a score."""
    plies = score & ((1 << bits) - 1)
    return plies if score >> bits == LOSE_CLASS else (1 << bits) - 1 - plies
