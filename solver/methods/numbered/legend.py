"""A game with a numbering, solved: which outcomes each part of a tier has, how often, and where first.

A tier is counted when it is solved, by scores, since which outcomes there will be is known at the end alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.databases.layout import CountRow, LegendRow
from retrograde.databases.write import SolvedSlots
from retrograde.games.contract.game import Game, Value
from retrograde.games.contract.raised import given_start
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.values.tally import PART, Adder, narrow, tally

Array = np.ndarray[Any, Any]
Outcome = tuple[Value, int]
Fill = Callable[[Array, int, int], int]

COLUMNS = 5
"""Of the counts of a tier, int64[n, COLUMNS], ascending by part and code: the number of the part, a code of an outcome,
how many slots have it, how many positions they stand for, and the first of them, from the beginning of the tier."""
CODE, POSITIONS = 1, 3
"""The columns of codes and of positions."""


def counts_of(
    game: Game, numbering: Numbering, k: int, codes: Array, sizes: Array | Compressed, add: Adder | None = None
) -> Array:
    """Return the counts of tier number k from a code for the outcome of each of its slots, an unsigned int, and the
    number of positions symmetric to each; 0 where it stands for none.

    For *add* see `tally`.
    """
    table, places = narrow(codes)
    rows = []
    for part, where in numbering.parts_of(game, k):
        found = tally(places[where], sizes[where], len(table), add)
        for place in np.flatnonzero(found.positions).tolist():
            counted = int(found.stored[place]), int(found.positions[place]), where.start + int(found.first[place])
            rows.append((part, int(table[place]), *counted))
    return np.array(rows, np.int64).reshape(-1, COLUMNS)


def solved_slots(
    game: Game,
    numbering: Numbering,
    outcomes: dict[int, Outcome],
    counts: dict[int, Array],
    codes: Array,
    let_go: Callable[[], None] | None = None,
    fill: Fill | None = None,
) -> SolvedSlots:
    """Return a solved game from what the codes of *outcomes* mean, the *counts* of all tiers and a code for each slot.

    The codes are overwritten by rows of the legend, unless they are in a file, of which *let_go* keeps no more in
    memory; slots that stand for no position may have any others. *fill* is `fill_gaps`, or something quicker that does
    the same.
    """
    fill = fill or fill_gaps
    row_of = {outcome: row for row, outcome in enumerate(sorted(set(outcomes.values())))}
    by_outcome: list[list[CountRow]] = [[] for _ in row_of]
    found: list[CountRow] = []
    for k, tier in enumerate(numbering.tiers.tolist()):
        own = [(part, row_of[outcomes[code]], *rest) for part, code, *rest in counts[k].tolist()]
        for part, row, stored, positions, first in sorted(own):
            found.append(CountRow(tier, part, row, positions, stored, numbering.number_at(game, k, first)))
            by_outcome[row].append(found[-1])
    legend = []
    for (value, remoteness), row in row_of.items():
        mine = by_outcome[row]
        sums = sum(count.positions for count in mine), sum(count.stored for count in mine)
        legend.append(LegendRow(value, remoteness, *sums, mine[0].example))
    by_code = {code: row_of[outcome] for code, outcome in outcomes.items()}
    start = start_row(game, numbering, codes, by_code)
    rows: Any = Rows(codes, by_code, len(row_of), let_go, fill) if let_go else codes
    if not let_go:
        to_rows(codes, by_code, len(row_of))
        fill(codes, len(row_of), 0)
    return SolvedSlots(numbering.tiers, numbering.starts, legend, found, rows, start)


class Rows:
    """The rows that codes are turned into, made as they are asked for, from the first to the last."""

    def __init__(self, codes: Array, row_of: dict[int, int], empty: int, let_go: Callable[[], None], fill: Fill):
        self.codes, self.row_of, self.empty, self.let_go, self.fill = codes, row_of, empty, let_go, fill
        self.before = 0

    def __len__(self) -> int:
        return len(self.codes)

    def max(self) -> int:
        """Return the greatest row."""
        return self.empty - 1

    def __getitem__(self, where: slice) -> Array:
        rows = self.codes[where].copy()
        self.let_go()
        to_rows(rows, self.row_of, self.empty)
        self.before = int(self.fill(rows, self.empty, self.before))
        return rows


def to_rows(codes: Array, row_of: dict[int, int], empty: int) -> None:
    """Turn codes into rows, those that stand for no outcome into *empty*."""
    known = np.array(sorted(row_of), codes.dtype)
    rows = np.array([*(row_of[code] for code in known.tolist()), empty], codes.dtype)
    direct = np.full(1 << 16, empty, codes.dtype) if codes.dtype == np.uint16 else None
    if direct is not None:
        direct[known] = rows[:-1]
    for begin in range(0, len(codes), PART):
        part = codes[begin : begin + PART]
        if direct is not None:
            part[:] = direct[part]
        else:
            places = np.minimum(known.searchsorted(part), len(known) - 1)
            part[:] = rows[np.where(known[places] == part, places, -1)]


def start_row(game: Game, numbering: Numbering, codes: Array, row_of: dict[int, int]) -> int | None:
    """Return the outcome of the start of a game, if it has one."""
    start = given_start(game)
    if start is None:
        return None
    k, slot = numbering.slot_of(game, start)
    return row_of[int(codes[numbering.starts[k] + slot])]


def fill_gaps(rows: Array, empty: int, before: int) -> int:
    """Give each empty slot the row of the one before, so that equal ones lie together and compress well; return the
    last row."""
    for part in (rows[begin : begin + PART] for begin in range(0, len(rows), PART)):
        places = np.where(part == empty, 0, np.arange(len(part)))
        np.maximum.accumulate(places, out=places)
        part[:] = part[places]
        part[np.logical_and.accumulate(part == empty)] = before
        before = int(part[-1])
    return before
