"""Compiled loops of propagation: they decide positions and count down.

A position is undecided if its `children_left` is below *decided_mark* (see score.py).
"""

from retrograde.solver.runtime.kernel import kernel


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
