"""The compiled loops over ranges: updates taken by a range, and those made for the parents of what it has decided.

An update is about a slot of a range, where a child of it was decided at the remoteness before:

    uint32    slot within the range << 1 | whether one less is left of it; else it has the better child that it needs
"""

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import LOSE_CLASS, WIN_CLASS


@kernel
def take(updates, better, lose, greatest, decided, scores, left, settled, late):
    """Give the undecided slots of some updates the score *better*, or take one from what is left of them; give those of
    which nothing is left the score *lose*, unless a child in a later tier holds out longer.

    Writes to *settled* the slots that are decided now, and to *late* those that will be; returns how many both are.
    """
    count = waiting = 0
    for update in updates:
        slot = update >> 1
        here = left[slot]
        if here >= decided:
            continue
        if update & 1:
            if here == 0:
                continue
            left[slot] = here - 1
            if here > 1:
                continue
            if (scores[slot] & greatest) > (lose & greatest):
                late[waiting] = slot
                waiting += 1
                continue
            scores[slot] = lose
        else:
            scores[slot] = better
        left[slot] = decided
        settled[count] = slot
        count += 1
    return count, waiting


@kernel
def count_updates(frontier, begins, parents, shift, counts):
    """Add to the *counts* of each range how many parents of a frontier are in it."""
    for slot in frontier:
        for link in range(begins[slot], begins[slot + 1]):
            parent = parents[link]
            counts[(parent if parent >= 0 else ~parent) >> shift] += 1


@kernel
def sort_updates(frontier, scores, bits, begins, parents, shift, ends, updates):
    """Write the updates of the parents of a frontier, sorted by range.

    *ends* comes in with where each range begins in *updates*, and goes out with where it ends.
    """
    for slot in frontier:
        group = scores[slot] >> bits
        for link in range(begins[slot], begins[slot + 1]):
            parent = parents[link]
            again = parent < 0
            parent = ~parent if again else parent
            down = group == LOSE_CLASS if again else group == WIN_CLASS
            number = parent >> shift
            updates[ends[number]] = (parent - (number << shift)) << 1 | down
            ends[number] += 1
