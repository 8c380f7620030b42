"""A game with a numbering, solved: which outcomes each part of a tier has, how often, and where first."""

from typing import Any

import numpy as np

from retrograde.databases.layout import CountRow, LegendRow
from retrograde.databases.write import SolvedSlots
from retrograde.games.game import Game, Value
from retrograde.solver.numbered.numbering import Numbering
from retrograde.solver.outcomes.tally import PART, Adder, tally

Array = np.ndarray[Any, Any]
Outcome = tuple[Value, int]


def solved_slots(
    game: Game, numbering: Numbering, outcomes: list[Outcome], rows: Array, sizes: Array, add: Adder | None = None
) -> SolvedSlots:
    """Return a solved game from its outcomes, ascending, and the number of each slot's: one too many if it is empty.

    *sizes* tells how many positions are symmetric to each slot's. The rows of empty slots are overwritten.
    For *add* see `tally`.
    """
    counts: list[CountRow] = []
    for tier, part, where in numbering.parts(game):
        begin = int(numbering.starts[numbering.row(tier)])
        found = tally(rows[where], sizes[where], len(outcomes) + 1, add)
        for outcome in np.flatnonzero(found.stored[:-1]).tolist():
            example = game.unindex(tier, where.start - begin + int(found.first[outcome]))
            counted = int(found.positions[outcome]), int(found.stored[outcome])
            counts.append(CountRow(tier, part, outcome, *counted, example))
    by_outcome: list[list[CountRow]] = [[] for _ in outcomes]
    for row in counts:
        by_outcome[row.outcome].append(row)
    legend = []
    for (value, remoteness), mine in zip(outcomes, by_outcome, strict=True):
        sums = sum(row.positions for row in mine), sum(row.stored for row in mine)
        legend.append(LegendRow(value, remoteness, *sums, mine[0].example))
    start = start_row(game, numbering, rows)
    fill_gaps(rows, len(outcomes))
    return SolvedSlots(numbering.tiers, numbering.starts, legend, counts, rows, start)


def start_row(game: Game, numbering: Numbering, rows: Array) -> int | None:
    """Return the outcome of the start of a game, if it has one."""
    start = getattr(game, "start", None)
    if start is None:
        return None
    k, slot = numbering.slot_of(game, start)
    return int(rows[numbering.starts[k] + slot])


def fill_gaps(rows: Array, empty: int) -> None:
    """Give each empty slot the row of the one before, so that equal ones lie together and compress well."""
    before = 0
    for part in (rows[begin : begin + PART] for begin in range(0, len(rows), PART)):
        places = np.where(part == empty, 0, np.arange(len(part)))
        np.maximum.accumulate(places, out=places)
        part[:] = part[places]
        part[np.logical_and.accumulate(part == empty)] = before
        before = part[-1]
