"""Compiled loops over scores (see score.py): passing them up from children to parents, and counting."""

import numpy as np

from retrograde.games.contract.game import DRAW, TIE, WIN
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS


@kernel
def pass_up(score, bits):
    """Return a child's score as its parent sees it: a LOSE is a WIN one ply later, and so on."""
    ties, wins, end = TIE_CLASS << bits, WIN_CLASS << bits, (WIN_CLASS + 1) << bits
    # LOSE in n becomes WIN in n + 1: the greatest WIN score is end - 1, for remoteness 0.
    if score < DRAW_CLASS << bits:
        return end - 2 - score
    # WIN in n becomes LOSE in n + 1.
    if score >= wins:
        return end - score
    # A TIE comes one ply later; a DRAW stays.
    return score - (score >= ties)


@kernel
def pass_on(score, bits):
    """Return a child's score as its parent sees it if the same player moves there: the same, one ply later."""
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
    """Return 1 if a score is at the greatest remoteness that fits, else 0."""
    greatest = (1 << bits) - 1
    for score in scores:
        group, plies = np.int64(score) >> bits, np.int64(score) & greatest
        # For LOSE, plies count up from 0; for TIE and WIN, they count down from the greatest number.
        if (group == LOSE_CLASS and plies >= greatest - 1) or (group >= TIE_CLASS and plies <= 1):
            return 1
    return 0


@kernel
def add_counts(codes, sizes, begin, total):
    """Add the counts of a block, as `tally.add_plain` does."""
    stored, positions, first = total
    for i in range(len(codes) - 1, -1, -1):
        code = codes[i]
        stored[code] += 1
        positions[code] += sizes[i] if len(sizes) else 1
        first[code] = begin + i


@kernel
def fill_gaps(rows, empty, before):
    """Give each empty slot the row of the slot before it, the first ones *before*. Return the last row.

    The same as `legend.fill_gaps` in `solver/methods/numbered`.
    """
    for i in range(len(rows)):
        if rows[i] == empty:
            rows[i] = before
        else:
            before = rows[i]
    return before
