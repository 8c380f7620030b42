"""A frontier as two bits for each position of a tier, in which the children of others are looked up.

    byte k    | 4k + 3 | 4k + 2 | 4k + 1 | 4k |     0 not there; 1 LOSE, 2 TIE, 3 WIN

The numbers are those of classes (see values/score.py), but that LOSE has the one of DRAW, which is never passed back.
"""

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS

LOST = DRAW_CLASS


def bytes_for(count: int) -> int:
    """Return how many bytes a frontier takes among so many positions."""
    return (count + 3) // 4


def mark_of(group: int) -> int:
    """Return the number that stands for a class."""
    return LOST if group == LOSE_CLASS else group


@kernel
def add(frontier, positions, mark):
    """Put positions of which none is there yet into a frontier."""
    for position in positions:
        frontier[position >> 2] |= mark << 2 * (position & 3)


@kernel
def mark_at(frontier, position):
    """Return the number that stands for the class of a position, 0 where it is not in the frontier."""
    return frontier[position >> 2] >> 2 * (position & 3) & 3


@kernel
def told(links, counts, first, frontier, good, bad):
    """Sort out the parents of what is in a frontier, by what that is for them.

    The *links* are children in the frontier, or their complements where the same player moves again, so many as
    *counts* says of one parent after another, from parent number *first* on. Writes to *good* the parents that have
    what they want: a LOSE, or a WIN of their own, or a TIE; and to *bad* all others, once for each link. Returns how
    many of both there are.
    """
    goods = bads = end = 0
    for i in range(len(counts)):
        begin, before = end, bads
        end += counts[i]
        for number in range(begin, end):
            link = links[number]
            own = link < 0
            mark = mark_at(frontier, ~link if own else link)
            if mark == TIE_CLASS or (mark == WIN_CLASS) == own:
                good[goods] = first + i
                goods += 1
                bads = before
                break
            bad[bads] = first + i
            bads += 1
    return goods, bads


@kernel
def count_unasked(scores, left, decided, untold):
    """Return how many positions are undecided, or have one of the scores *untold*."""
    count = 0
    for i in range(len(left)):
        count += is_unasked(scores[i], left[i], decided, untold)
    return count


@kernel
def add_unasked(frontier, scores, left, decided, untold):
    """Put into an empty frontier all positions that are undecided, or have one of the scores *untold*."""
    for i in range(len(left)):
        if is_unasked(scores[i], left[i], decided, untold):
            frontier[i >> 2] |= LOST << 2 * (i & 3)


@kernel
def is_unasked(score, left, decided, untold):
    """Tell whether a position is undecided, or has one of the scores *untold*."""
    unasked = left < decided
    for one in untold:
        unasked |= score == one
    return unasked
