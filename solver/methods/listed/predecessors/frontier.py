"""A frontier: the positions decided last, as two bits for each position of a tier.

    byte k    | 4k + 3 | 4k + 2 | 4k + 1 | 4k |     0 not in the frontier; 1 LOSE, 2 TIE, 3 WIN

The numbers are the classes of values/score.py, except that LOSE has the number of DRAW, because draws are never
propagated.
"""

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS

LOST = DRAW_CLASS


def bytes_for(count: int) -> int:
    """Return the size of a frontier over *count* positions, in bytes."""
    return (count + 3) // 4


def mark_of(group: int) -> int:
    """Return the two bits that stand for a class."""
    return LOST if group == LOSE_CLASS else group


@kernel
def add(frontier, positions, mark):
    """Add positions to a frontier that has none of them yet."""
    for position in positions:
        frontier[position >> 2] |= mark << 2 * (position & 3)


@kernel
def mark_at(frontier, position):
    """Return the two bits of a position; 0 if it is not in the frontier."""
    return frontier[position >> 2] >> 2 * (position & 3) & 3


@kernel
def split_parents(children, counts, first, frontier, good, bad):
    """Split the parents of a frontier into those that now reach their best score, and the others.

    The *children* are in the frontier, or their complements (`~`) are if the same player moves again. Parent number
    *first* + i has `counts[i]` of them. Writes to *good* each parent with a winning move: to a LOSE of the opponent, to
    a WIN of its own, or to a TIE while ties are propagated. Writes to *bad* every other parent, once for each child.
    Returns the lengths of both.
    """
    goods = bads = end = 0
    for i in range(len(counts)):
        # Children of this parent, and the length of *bad* before it.
        begin, before = end, bads
        end += counts[i]
        for number in range(begin, end):
            child = children[number]
            own = child < 0
            mark = mark_at(frontier, ~child if own else child)
            # Case: a winning child. One is enough; discard the losing ones noted before it.
            if mark == TIE_CLASS or (mark == WIN_CLASS) == own:
                good[goods] = first + i
                goods += 1
                bads = before
                break
            # Case: a losing child. The parent has one undecided child fewer.
            bad[bads] = first + i
            bads += 1
    return goods, bads
