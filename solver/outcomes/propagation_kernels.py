"""The compiled loops of propagation: positions get their scores, or come nearer to them."""

from retrograde.solver.work.kernel import kernel


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
