"""Compiled loops over scores (see score.py): passing them up from children to parents, and counting.

An argument *bits* is the number of bits for plies in a score.
"""

from typing import TYPE_CHECKING

import numpy as np

from retrograde.games.contract.game import DRAW, TIE, WIN
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS

if TYPE_CHECKING:
    from retrograde.solver.runtime.arrays import CompressedArray

COUNT_BLOCK = 1 << 22
"""How many scores are counted at a time."""


@kernel
def pass_up(score, bits):
    """Return a child's score as seen by its parent. LOSE in n is WIN in n + 1, WIN is LOSE, a TIE or DRAW stays.

    >>> from retrograde.solver.values.score import decode, encode
    >>> decode(pass_up(encode(WIN, 4, 8), 8), 8)
    (<Value.LOSE: 1>, 5)
    """
    ties, wins, end = TIE_CLASS << bits, WIN_CLASS << bits, (WIN_CLASS + 1) << bits
    # LOSE in n becomes WIN in n + 1: the greatest WIN score is end - 1, for remoteness 0.
    if score < DRAW_CLASS << bits:
        return end - 2 - score
    # WIN in n becomes LOSE in n + 1.
    if score >= wins:
        return end - score
    # A TIE comes one ply later, which is a score of one less; a DRAW stays.
    return score - 1 if score >= ties else score


@kernel
def pass_on(score, bits):
    """Return a child's score as seen by its parent if the same player moves again. WIN in n is WIN in n + 1."""
    # A later LOSE has a greater score, a later TIE or WIN a smaller one.
    if score < DRAW_CLASS << bits:
        return score + 1
    return score - 1 if score >= TIE_CLASS << bits else score


@kernel
def primitive_score(value, bits):
    """Return the score of a WIN, TIE, DRAW or LOSE at remoteness 0."""
    greatest = (1 << bits) - 1
    if value == WIN:
        return (WIN_CLASS << bits) | greatest
    if value == TIE:
        return (TIE_CLASS << bits) | greatest
    if value == DRAW:
        return DRAW_CLASS << bits
    return LOSE_CLASS << bits


@kernel
def too_far(scores, bits):
    """Return 1 if a score has the greatest remoteness that *bits* bits can hold, or the one before it; else 0. Then the
    scores of its parents may not fit."""
    greatest = (1 << bits) - 1
    for score in scores:
        score_class, plies = np.int64(score) >> bits, np.int64(score) & greatest
        # For LOSE, plies count up from 0; for TIE and WIN, they count down from the greatest number.
        if (score_class == LOSE_CLASS and plies >= greatest - 1) or (score_class >= TIE_CLASS and plies <= 1):
            return 1
    return 0


@kernel
def code_of(score, bits):
    """Return `(remoteness << 2) | class` of a score: a small number, whatever *bits* is."""
    greatest = (1 << bits) - 1
    score_class, plies = np.int64(score) >> bits, np.int64(score) & greatest
    return ((greatest - plies if score_class >= TIE_CLASS else plies) << 2) | score_class


@kernel
def count_scores(scores, sizes, begin, bits, counts):
    """Count a block of scores by `code_of` in *counts* int64[3, codes]: records, positions, index of the first record.

    *sizes* are the positions of each record; if empty, each counts as one. *begin* is the index of the block's first
    record. If a code does not fit, nothing is counted, and the number of columns needed is returned; otherwise 0.
    """
    greatest = 0
    for score in scores:
        greatest = max(greatest, code_of(score, bits))
    if greatest >= counts.shape[1]:
        return greatest + 1
    for i in range(len(scores)):
        code = code_of(scores[i], bits)
        counts[2, code] = min(counts[2, code], begin + i) if counts[0, code] else begin + i
        counts[0, code] += 1
        counts[1, code] += sizes[i] if len(sizes) else 1
    return 0


def add_counts(counts: Array, scores: Array, sizes: Array, begin: int, bits: int) -> Array:
    """Return *counts* with a block of scores added (see `count_scores`), with more columns if needed."""
    while columns := count_scores(scores, sizes, begin, bits, counts):
        counts = np.pad(counts, ((0, 0), (0, columns)))
    return counts


def count_by_score(scores: Array, sizes: "Array | CompressedArray", part: slice, bits: int) -> Array:
    """Return (score, records, positions, index of the first record in *part*) for each score of a part, ascending."""
    counts = np.zeros((3, 256), np.int64)
    for begin in range(part.start, part.stop, COUNT_BLOCK):  # so that few compressed sizes are unpacked at once
        block = slice(begin, min(begin + COUNT_BLOCK, part.stop))
        counts = add_counts(counts, scores[block], sizes[block], begin - part.start, bits)
    codes = np.flatnonzero(counts[0])
    classes, plies = codes & 3, codes >> 2
    scores_met = (classes << bits) | np.where(classes >= TIE_CLASS, (1 << bits) - 1 - plies, plies)
    rows = np.concatenate([scores_met[None], counts[:, codes]]).T
    return rows[rows[:, 0].argsort()]


@kernel
def write_rows(scores, bits, row_of_code, rows):
    """Write each score's row of the legend, `row_of_code[code_of(score)]`, to *rows*."""
    for i in range(len(scores)):
        rows[i] = row_of_code[code_of(scores[i], bits)]


@kernel
def fill_gaps(rows, empty, before):
    """Give each slot with row *empty* the row of the slot before it, the first slots *before*. Return the last row.

    >>> rows = np.array([9, 2, 9, 9, 5])
    >>> fill_gaps(rows, 9, 1), rows
    (5, array([1, 2, 2, 2, 5]))
    """
    for i in range(len(rows)):
        if rows[i] == empty:
            rows[i] = before
        else:
            before = rows[i]
    return before
