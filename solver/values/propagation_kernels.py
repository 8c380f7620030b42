"""Compiled loops of propagation: they decide positions, count down, or search for positions.

A position is undecided if its `children_left` is below *decided* (see score.py).
"""

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import WIN_CLASS


@kernel
def settle(candidates, decided, score, scores, children_left, out):
    """Give the undecided ones of the candidates a score. Write them to *out* and return how many there are."""
    count = 0
    for position in candidates:
        if children_left[position] < decided:
            children_left[position] = decided
            scores[position] = score
            out[count] = position
            count += 1
    return count


@kernel
def count_down(candidates, decided, children_left, out):
    """Decrement the counter of each undecided candidate. Write those that reach zero to *out* and return how many."""
    count = 0
    for position in candidates:
        if 0 < children_left[position] < decided:
            children_left[position] -= 1
            if children_left[position] == 0:
                out[count] = position
                count += 1
    return count


@kernel
def find_due(scores, children_left, first, decided, group, bits, out):
    """Write to *out* the undecided positions whose value later tiers decide; return how many.

    Positions are numbered from *first* on. *group* is the class of their score; with WINs come positions without
    undecided children, which are LOSEs.
    """
    count = 0
    for i in range(len(children_left)):
        # The score's class is the group, or all children in the tier are WINs.
        is_loss = group == WIN_CLASS and children_left[i] == 0
        if children_left[i] < decided and (scores[i] >> bits == group or is_loss):
            out[count] = first + i
            count += 1
    return count


@kernel
def find_scored(scores, children_left, first, score, low, high, out):
    """Write to *out* the positions with a score whose counter is from *low* to *high*; return how many.

    Positions are numbered from *first* on.
    """
    count = 0
    for i in range(len(children_left)):
        if scores[i] == score and low <= children_left[i] <= high:
            out[count] = first + i
            count += 1
    return count


@kernel
def leave_draws(scores, children_left, decided, draw):
    """Give all undecided positions the score of a draw."""
    for i in range(len(children_left)):
        if children_left[i] < decided:
            scores[i] = draw
