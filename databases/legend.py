"""Legends with additional columns: scores, nimbers, draw levels, expected payoffs, utilities.

Such a legend may have a row for nearly every record. So it stays an array, which makes its rows on demand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.layout import LEGEND, LegendRow, legend_dtype
from retrograde.games import Value

ROWS_AT_ONCE = 1 << 16
"""The number of rows made at a time when all are wanted."""


@dataclass(frozen=True)
class Measures:
    """The legend's columns beyond value and remoteness, and how they were computed."""

    metric: str
    names: tuple[str, ...]
    """The names of these columns."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """How they were computed, as JSON values: the unit of a column, how ties were broken."""


class LegendTable(Sequence[LegendRow]):
    """A legend as an array of type `legend_dtype`, which makes its rows on demand. *position_of* returns the position
    for an example that is stored as a number."""

    def __init__(self, table: NDArray[Any], position_of: Callable[[int], Any] | None = None):
        self.table, self.position_of = table, position_of

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            rows = [row_of(items) for items in self.table[row].tolist()]
            return [self.with_position(found) for found in rows] if self.position_of else rows
        return self.with_position(row_of(self.table[row].item()))

    def __iter__(self) -> Iterator[LegendRow]:
        for begin in range(0, len(self.table), ROWS_AT_ONCE):
            yield from self[begin : begin + ROWS_AT_ONCE]

    def with_position(self, row: LegendRow) -> LegendRow:
        """Return a row with the position of its example instead of the stored number."""
        return row._replace(example=self.position_of(row.example)) if self.position_of else row


def row_of(items: tuple[Any, ...]) -> LegendRow:
    value, remoteness, positions, stored, example, *measures = items
    return LegendRow(Value(value), remoteness, positions, stored, example, tuple(measures))


def table_of(legend: Sequence[LegendRow], names: Sequence[str] = ()) -> NDArray[Any]:
    """Return a legend as the array that is stored; *names* are its additional columns."""
    if isinstance(legend, LegendTable):
        return legend.table
    if not names:
        return np.array([tuple(row[:5]) for row in legend], LEGEND)
    return np.array([(*row[:5], *row.measures) for row in legend], legend_dtype(names))


def by_outcome(legend: Sequence[LegendRow]) -> Sequence[LegendRow]:
    """Return a legend with the rows merged that differ only in additional columns."""
    if not isinstance(legend, LegendTable):
        return legend
    table = legend.table
    # An outcome as one int: the value above 32 bits of remoteness, in which -1 is the greatest.
    keys = (table["value"].astype(np.int64) << 32) | (table["remoteness"].astype(np.int64) & 0xFFFFFFFF)
    _, firsts, rows = np.unique(keys, return_index=True, return_inverse=True)  # rows: of the merged legend
    positions, stored = np.zeros((2, len(firsts)), np.int64)
    np.add.at(positions, rows, table["positions"])
    np.add.at(stored, rows, table["stored"])
    merged = zip(firsts.tolist(), positions.tolist(), stored.tolist(), strict=True)
    return [legend[first]._replace(positions=count, stored=records) for first, count, records in merged]


def total_of(legend: Sequence[LegendRow], column: Literal["positions", "stored"]) -> int:
    """Return the sum of a column of a legend: all positions, or all records."""
    if isinstance(legend, LegendTable):
        return int(legend.table[column].sum())
    return sum(getattr(row, column) for row in legend)
