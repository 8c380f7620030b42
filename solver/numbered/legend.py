"""The legend of a game with a dense numbering: which outcomes each part of a tier has, how often, and where first."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from retrograde.databases.layout import CountRow, LegendRow
from retrograde.databases.write import DenseSolved
from retrograde.games.game import Game, Value
from retrograde.solver.numbered.numbering import Numbering

if TYPE_CHECKING:
    from retrograde.solver.numbered.dense import DenseScores

Array = np.ndarray[Any, Any]
Outcome = tuple[Value, int]

SLOTS = 1 << 20
"""Slots that are counted at once."""


def dense_solved_from(scores: "DenseScores") -> DenseSolved:
    """Return a solved game for the database writer from the scores of all slots."""
    from retrograde.solver.listed.legend import narrow
    from retrograde.solver.outcomes.score import decode

    codes, numbers = narrow(cast(Any, scores))  # which has what that needs
    there = np.flatnonzero(sum(np.bincount(part, minlength=len(codes)) for part in in_parts(numbers)))
    outcomes = {decode(int(codes[k]), scores.bits): k for k in there.tolist() if codes[k] != scores.empty}
    rows = np.full(len(codes), len(outcomes), np.min_scalar_type(len(outcomes)))
    rows[[outcomes[outcome] for outcome in sorted(outcomes)]] = np.arange(len(outcomes))
    return dense_solved(scores.game, scores.numbering, sorted(outcomes), rows[numbers], scores.sizes)


def dense_solved(game: Game, numbering: Numbering, outcomes: list[Outcome], rows: Array, sizes: Array) -> DenseSolved:
    """Return a solved game from its outcomes, ascending, and the number of each slot's: one too many if it is empty.

    *sizes* tells how many positions are symmetric to each slot's. The rows of empty slots are overwritten.
    """
    counts: list[CountRow] = []
    for tier, part, where in numbering.parts(game):
        begin = int(numbering.starts[numbering.row(tier)])
        positions, stored, first = count(rows[where], sizes[where], len(outcomes))
        for outcome in np.flatnonzero(stored).tolist():
            example = game.unindex(tier, where.start - begin + int(first[outcome]))
            counts.append(CountRow(tier, part, outcome, int(positions[outcome]), int(stored[outcome]), example))
    by_outcome: list[list[CountRow]] = [[] for _ in outcomes]
    for row in counts:
        by_outcome[row.outcome].append(row)
    legend = []
    for (value, remoteness), mine in zip(outcomes, by_outcome, strict=True):
        sums = sum(row.positions for row in mine), sum(row.stored for row in mine)
        legend.append(LegendRow(value, remoteness, *sums, mine[0].example))
    start = start_row(game, numbering, rows)
    fill_gaps(rows, len(outcomes))
    return DenseSolved(numbering.tiers, numbering.starts, legend, counts, rows, start)


def count(rows: Array, sizes: Array, outcomes: int) -> tuple[Array, Array, Array]:
    """Count slots, and the positions symmetric to theirs, by outcome; tell where each is first."""
    positions, stored, first = np.zeros(outcomes, np.int64), np.zeros(outcomes, np.int64), np.zeros(outcomes, np.int64)
    for number, part in reversed(list(enumerate(in_parts(rows)))):
        begin = number * SLOTS
        weights = sizes[begin : begin + len(part)]
        stored += np.bincount(part, minlength=outcomes)[:outcomes]
        positions += np.bincount(part, weights, minlength=outcomes)[:outcomes].astype(np.int64)
        here, where = np.unique(part, return_index=True)
        known = here < outcomes
        first[here[known]] = begin + where[known]
    return positions, stored, first


def start_row(game: Game, numbering: Numbering, rows: Array) -> int | None:
    """Return the outcome of the start of a game, if it has one."""
    start = getattr(game, "start", None)
    if start is None:
        return None
    row, slot = numbering.slot_of(game, start)
    return int(rows[numbering.starts[row] + slot])


def fill_gaps(rows: Array, empty: int) -> None:
    """Give each empty slot the row of the one before, so that equal ones lie together and compress well."""
    before = 0
    for part in in_parts(rows):
        places = np.where(part == empty, 0, np.arange(len(part)))
        np.maximum.accumulate(places, out=places)
        part[:] = part[places]
        part[np.logical_and.accumulate(part == empty)] = before
        before = part[-1]


def in_parts(rows: Array) -> list[Array]:
    """Return an array in parts of a size that fits a cache."""
    return [rows[begin : begin + SLOTS] for begin in range(0, len(rows), SLOTS)]
