"""The compiled loops over scores (see score.py): passed up from children to parents, and counted."""

import numpy as np

from retrograde.games.contract.game import DRAW, TIE, WIN
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS


@kernel
def pass_up(score, bits):
    """Return what a child's score is worth to its parent: a LOSE is a WIN one ply later, and so on."""
    ties, wins, end = TIE_CLASS << bits, WIN_CLASS << bits, (WIN_CLASS + 1) << bits
    if score < DRAW_CLASS << bits:
        return end - 2 - score
    if score >= wins:
        return end - score
    return score - (score >= ties)


@kernel
def pass_on(score, bits):
    """Return what a child's score is worth where the same player is to move there: the same, one ply later."""
    if score < DRAW_CLASS << bits:
        return score + 1
    return score - (score >= TIE_CLASS << bits)


@kernel
def primitive_score(value, bits):
    """Return the score of a primitive value."""
    greatest = (1 << bits) - 1
    if value == WIN:
        return WIN_CLASS << bits | greatest
    if value == TIE:
        return TIE_CLASS << bits | greatest
    if value == DRAW:
        return DRAW_CLASS << bits
    return LOSE_CLASS << bits


@kernel
def too_far(scores, bits):
    """Return 1 where a score holds the greatest remoteness there is room for, else 0."""
    greatest = (1 << bits) - 1
    for score in scores:
        group, plies = np.int64(score) >> bits, np.int64(score) & greatest
        if (group == LOSE_CLASS and plies >= greatest - 1) or (group >= TIE_CLASS and plies <= 1):
            return 1
    return 0


@kernel
def add_counts(codes, sizes, begin, total):
    """Add the counts of a part, as `tally.add_plain` does."""
    stored, positions, first = total
    for i in range(len(codes) - 1, -1, -1):
        code = codes[i]
        stored[code] += 1
        positions[code] += sizes[i] if len(sizes) else 1
        first[code] = begin + i


@kernel
def fill_gaps(rows, empty, before):
    """Give each empty slot the row of the one before, the first ones *before*; return the last row.

    It does what `legend.fill_gaps` in `solver/methods/numbered` does.
    """
    for i in range(len(rows)):
        if rows[i] == empty:
            rows[i] = before
        else:
            before = rows[i]
    return before
