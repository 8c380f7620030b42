"""Compiled loops over ranges: a range takes updates, and makes updates for the parents of its newly decided slots.

An update says that a child of a slot was decided at the previous remoteness:

    uint32    slot within the range << 1 | bit      bit = 1: decrement the counter
                                                    bit = 0: the child makes the slot a WIN or TIE
"""

from typing import NamedTuple

from retrograde.solver.methods.listed.predecessors.kernels import number_of
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import LOSE_CLASS, WIN_CLASS


class Decision(NamedTuple):
    """How slots are decided at a remoteness.

    `better` is the score of a slot with a good child, `lose` that of one whose counter reaches 0. `plies_mask` covers
    the plies in a score. `decided` is the counter of a decided slot. While a slot is undecided, its score holds the
    plies of the longest loss through a later tier.
    """

    better: int
    lose: int
    plies_mask: int
    decided: int


@kernel
def apply_updates(updates, decision, scores, children_left, settled, late):
    """Apply updates as a Decision says. A losing child makes the parent a win; a winning child decrements its counter.

    If a child in a later tier delays a loss, the slot is decided later. Writes decided slots to *settled* and delayed
    ones to *late*; returns both lengths.
    """
    better, lose, plies_mask, decided = decision
    count = late_count = 0
    for update in updates:
        slot = update >> 1
        left = children_left[slot]
        if left >= decided:
            continue
        # Case: a child that is a WIN for the opponent. The slot has one undecided child fewer.
        if update & 1:
            if left == 0:  # it waits for a child in a later tier
                continue
            children_left[slot] = left - 1
            if left > 1:
                continue
            # Its last child within the tier has won for the opponent, but a child in a later tier lasts longer.
            if (scores[slot] & plies_mask) > (lose & plies_mask):
                late[late_count] = slot
                late_count += 1
                continue
            scores[slot] = lose
        else:
            # Case: a child that is good for the slot.
            scores[slot] = better
        children_left[slot] = decided
        settled[count] = slot
        count += 1
    return count, late_count


@kernel
def count_updates(frontier, lists, shift, counts):
    """Add the number of parents of a frontier in each range to *counts*."""
    for slot in frontier:
        for entry in range(lists.begins[slot], lists.begins[slot + 1]):
            counts[number_of(lists.parents[entry]) >> shift] += 1


@kernel
def sort_updates(frontier, scores, bits, lists, shift, ends, updates):
    """Write the updates of the parents of a frontier, sorted by range of `2**shift` slots. *ends* comes in with where
    each range begins in *updates*, and goes out with where it ends. *lists* are the frontier's ParentLists."""
    for slot in frontier:
        score_class = scores[slot] >> bits
        for entry in range(lists.begins[slot], lists.begins[slot + 1]):
            moves_again = lists.parents[entry] < 0
            parent = number_of(lists.parents[entry])
            # A WIN is bad for the opponent's parent. If the same player moves in both, a LOSE is bad.
            decrements = score_class == (LOSE_CLASS if moves_again else WIN_CLASS)
            range_number = parent >> shift
            updates[ends[range_number]] = ((parent - (range_number << shift)) << 1) | decrements
            ends[range_number] += 1
