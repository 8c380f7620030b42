"""Builds a solved game from the scores of its slots: the outcomes of each part of a tier, with counts and examples.

A tier is counted by scores as soon as it is solved. The legend, which lists all outcomes of the game, is known only at
the end; then scores are replaced by rows of the legend.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.databases.layout import CountRow, LegendRow
from retrograde.databases.write import SolvedSlots
from retrograde.games.contract.game import Game
from retrograde.games.contract.raised import given_start
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.values.score import BLOCK

Outcome = tuple[Any, ...]
"""A value, a remoteness, and the further measures of a metric."""
Fill = Callable[[Array, int, int], int]
Counter = Callable[[Array, Array | CompressedArray, slice], Array]

COLUMNS = 5
"""Columns of the counts of a tier, int64[n, COLUMNS], sorted by part and code:

    part number | code of an outcome | slots with it | positions that these stand for | first such slot, within the tier
"""
CODE, POSITIONS = 1, 3
"""The columns of codes and of positions."""


def counts_of(
    game: Game, numbering: SlotNumbering, k: int, codes: Array, sizes: Array | CompressedArray,
    count: Counter | None = None,
) -> Array:  # fmt: skip
    """Return the counts of tier number k, int64[n, COLUMNS]. *codes* has an unsigned int for the outcome of each slot,
    *sizes* the number of symmetric positions, 0 for an empty slot. *count* is `count_codes` or a faster equivalent."""
    counts = [np.empty((0, COLUMNS), np.int64)]
    for part, slots in numbering.parts_of(game, k):
        rows = (count or count_codes)(codes, sizes, slots)  # as in COLUMNS, without the part number
        rows[:, -1] += slots.start  # the first such slot, counted from the tier's begin
        counts.append(np.insert(rows[rows[:, POSITIONS - 1] > 0], 0, part, axis=1))
    return np.concatenate(counts)


def count_codes(codes: Array, sizes: Array | CompressedArray, part: slice) -> Array:
    """Return (code, slots with it, positions that these stand for, first such slot in *part*) for each code there.

    >>> count_codes(np.array([7, 0, 7]), np.array([1, 8, 4]), slice(0, 3)).tolist()
    [[0, 1, 8, 1], [7, 2, 5, 0]]
    """
    table, firsts, indices, slots = np.unique(codes[part], return_index=True, return_inverse=True, return_counts=True)
    return np.stack([table, slots, np.bincount(indices, sizes[part]), firsts], axis=1).astype(np.int64)


def solved_slots(
    game: Game, numbering: SlotNumbering, outcomes: dict[int, Outcome], counts: dict[int, Array], codes: Array,
    release: Callable[[], None] | None = None, fill: Fill | None = None,
) -> SolvedSlots:  # fmt: skip
    """Return a solved game from the *outcomes* of codes, the *counts* of all tiers, and a code for each slot.

    A code is an unsigned int that stands for an outcome, such as a score. Codes are overwritten by rows of the legend.
    If they are in a file, *release* is given, and they are converted when read; *release* frees the memory that they
    take. Empty slots may have any code without an outcome. *fill* is `fill_gaps` or a faster equivalent.
    """
    fill = fill or fill_gaps
    # Step 1: number the outcomes in ascending order: rows of the legend.
    row_of = {outcome: row for row, outcome in enumerate(sorted(set(outcomes.values())))}
    by_outcome: list[list[CountRow]] = [[] for _ in row_of]
    all_counts: list[CountRow] = []
    # Step 2: counts by tier, part and row, each with its first position.
    for k, tier in enumerate(numbering.tiers.tolist()):
        tier_counts = [(part, row_of[outcomes[code]], *rest) for part, code, *rest in counts[k].tolist()]
        for part, row, stored, positions, first in sorted(tier_counts):
            all_counts.append(CountRow(tier, part, row, positions, stored, numbering.number_at(game, k, first)))
            by_outcome[row].append(all_counts[-1])
    # Step 3: the legend, with totals over all tiers.
    legend = []
    for (value, remoteness, *measures), row in row_of.items():
        same = by_outcome[row]
        sums = sum(count.positions for count in same), sum(count.stored for count in same)
        legend.append(LegendRow(value, remoteness, *sums, same[0].example, tuple(measures)))
    # Step 4: replace codes by rows, now or when they are read.
    by_code = {code: row_of[outcome] for code, outcome in outcomes.items()}
    start = start_row(game, numbering, codes, by_code)
    rows: Any
    if release:
        rows = LegendRows(codes, by_code, len(row_of), release, fill)
    else:
        to_rows(codes, RowTable(by_code, len(row_of), codes.dtype))
        fill(codes, len(row_of), 0)
        rows = codes
    return SolvedSlots(numbering.tiers, numbering.starts, legend, all_counts, rows, start)


class LegendRows:
    """Rows of the legend, converted from codes when they are read, from front to back."""

    def __init__(self, codes: Array, row_of: dict[int, int], empty: int, release: Callable[[], None], fill: Fill):
        self.codes, self.empty, self.release, self.fill = codes, empty, release, fill
        self.table = RowTable(row_of, empty, codes.dtype)
        self.before = 0

    def __len__(self) -> int:
        return len(self.codes)

    def max(self) -> int:
        """Return the greatest row."""
        return self.empty - 1

    def __getitem__(self, span: slice) -> Array:
        rows = self.codes[span].copy()
        self.release()
        to_rows(rows, self.table)
        self.before = int(self.fill(rows, self.empty, self.before))
        return rows


class RowTable:
    """The row of the legend for each code, and *empty* for codes without an outcome."""

    def __init__(self, row_of: dict[int, int], empty: int, dtype: np.dtype[Any]):
        self.codes = np.array(sorted(row_of), dtype)
        self.rows = np.array([*(row_of[code] for code in self.codes.tolist()), empty], dtype)
        self.by_code: Array | None = None
        if dtype.itemsize <= 2:
            self.by_code = np.full(1 << (8 * dtype.itemsize), empty, dtype)
            self.by_code[self.codes] = self.rows[:-1]

    def __getitem__(self, codes: Array) -> Array:
        if self.by_code is not None:
            return self.by_code.take(codes, mode="wrap")  # all are in range, and this is the fastest mode
        indices = np.minimum(self.codes.searchsorted(codes), len(self.codes) - 1)
        return self.rows[np.where(self.codes[indices] == codes, indices, -1)]  # the last row is *empty*


def to_rows(codes: Array, table: RowTable) -> None:
    """Replace codes by rows of the legend, in place."""
    for begin in range(0, len(codes), BLOCK):
        codes[begin : begin + BLOCK] = table[codes[begin : begin + BLOCK]]


def start_row(game: Game, numbering: SlotNumbering, codes: Array, row_of: dict[int, int]) -> int | None:
    """Return the row of the start position's outcome; None if the game has no single start."""
    start = given_start(game)
    if start is None:
        return None
    k, slot = numbering.slot_of(game, start)
    return row_of[int(codes[numbering.starts[k] + slot])]


def fill_gaps(rows: Array, empty: int, before: int) -> int:
    """Replace rows that equal *empty* by the row before them, the first ones by *before*; return the last row.

    >>> rows = np.array([9, 1, 9, 9, 2, 9])
    >>> fill_gaps(rows, 9, 1), rows.tolist()
    (2, [1, 1, 1, 1, 2, 2])
    """
    for block in (rows[begin : begin + BLOCK] for begin in range(0, len(rows), BLOCK)):
        sources = np.where(block == empty, 0, np.arange(len(block)))
        np.maximum.accumulate(sources, out=sources)  # of each row, the index of the last one that is not empty
        block[:] = block[sources]
        block[np.logical_and.accumulate(block == empty)] = before
        before = int(block[-1])
    return before
