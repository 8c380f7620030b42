"""The compiled loops of propagation: positions get their scores, come nearer to them, or are found by them.

Positions whose `left` is below *decided* are undecided (see left.py).
"""

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import WIN_CLASS


@kernel
def settle(candidates, decided, score, scores, left, out):
    """Give those of the candidates that are undecided a score; write them to *out* and return how many they are."""
    count = 0
    for position in candidates:
        if left[position] < decided:
            left[position] = decided
            scores[position] = score
            out[count] = position
            count += 1
    return count


@kernel
def count_down(candidates, decided, left, out):
    """Take one from what is left of each candidate, and write to *out* the undecided ones with nothing left."""
    count = 0
    for position in candidates:
        if 0 < left[position] < decided:
            left[position] -= 1
            if left[position] == 0:
                out[count] = position
                count += 1
    return count


@kernel
def find_due(scores, left, first, decided, group, bits, out):
    """Write to *out* the undecided ones of some positions, from number *first* on, whose value later tiers decide;
    return how many. Of WINs those that have lost are there, too."""
    count = 0
    for i in range(len(left)):
        if left[i] < decided and (scores[i] >> bits == group or (group == WIN_CLASS and left[i] == 0)):
            out[count] = first + i
            count += 1
    return count


@kernel
def find_scored(scores, left, first, score, low, high, out):
    """Write to *out* those of some positions, from number *first* on, that have a score, and of which what is left is
    from *low* to *high*; return how many."""
    count = 0
    for i in range(len(left)):
        if scores[i] == score and low <= left[i] <= high:
            out[count] = first + i
            count += 1
    return count


@kernel
def leave_draws(scores, left, decided, draw):
    """Give all that is undecided the score of a draw."""
    for i in range(len(left)):
        if left[i] < decided:
            scores[i] = draw
