"""The result of a metric, and its conversion to a solved game with a table of distinct outcomes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retrograde.databases.layout import legend_dtype
from retrograde.databases.legend import Legend, Measures
from retrograde.databases.write import SolvedRecords
from retrograde.games.contract.declared import word
from retrograde.games.contract.game import Game
from retrograde.games.contract.raised import given_start
from retrograde.solver.metrics.explored import Explored
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.values.tally import BLOCK

__all__ = ["Demand", "Measured", "MetricNotApplicable", "refuse_partisan", "solved_from"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Demand:
    """Options of a solve by a metric: the `metric`, one of METRICS, and its settings."""

    metric: str
    ties: str = ""
    """For utilities: how a player chooses among equally good moves; empty for the first one."""
    against: Model | None = None
    """For expectations: the model of one player, to which the other one plays a best response."""
    playing: Model | None = None
    """The model of the other player; None if it plays a best response."""


@dataclass(frozen=True)
class Measured:
    """The result of a metric, with an entry for each position, for the player to move.

    `values` uint8, `remotenesses` int32 (plies, -1 for a DRAW), and further int64 `columns` by name. `details` are
    further facts for the file, as JSON.
    """

    values: Array
    remotenesses: Array
    columns: Mapping[str, Array]
    details: Mapping[str, Any] = field(default_factory=dict)


def refuse_partisan(game: Game) -> None:
    """Raise MetricNotApplicable if the position or the rules say who is to move, so that players' moves may differ."""
    what = "nimbers are of impartial games, in which both players have the same moves"
    for name in ("to_move", "by_turns"):
        if word(game, name):
            raise MetricNotApplicable(f"{what}, and by {name} the players differ here; compute remoteness or score")
    position = given_start(game)
    for image in game.images(position):
        if game.draw_turn(image) != game.draw_turn(position):
            raise MetricNotApplicable(
                f"{what}, and here images(position) swaps the players; compute remoteness or score"
            )


def solved_from(explored: Explored, measured: Measured, metric: str) -> SolvedRecords:
    """Return the solved game for the database writer.

    Its legend has a row for each distinct combination of outcomes.
    """
    space, sizes = explored.space, explored.sizes
    columns = [measured.values, measured.remotenesses, *measured.columns.values()]
    rows, firsts = distinct(columns)
    names = tuple(measured.columns)
    table = np.zeros(len(firsts), legend_dtype(names))
    for name, column in zip(("value", "remoteness", *names), columns, strict=True):
        table[name] = column[firsts]
    table["stored"] = np.bincount(rows, minlength=len(firsts))
    table["positions"] = np.bincount(rows, sizes, len(firsts)).astype(np.int64) if len(sizes) else table["stored"]
    table["example"] = space.positions[firsts]

    def records() -> Iterator[tuple[Array, Array]]:
        for begin in range(0, len(rows), BLOCK):
            yield space.positions[begin : begin + BLOCK], rows[begin : begin + BLOCK]

    greatest = int(space.positions[space.starts[1:] - 1].max())
    measures = Measures(metric, names, dict(measured.details))
    return SolvedRecords(space.tiers, np.diff(space.starts), Legend(table), records(), greatest, measures)


def distinct(columns: list[Array]) -> tuple[Array, Array]:
    """Return for each entry the number of its distinct row, and for each distinct row its first entry.

    Rows are the combinations of the *columns*, sorted by the first column, then the next.

    >>> rows, firsts = distinct([np.array([4, 1, 4, 4]), np.array([7, 0, -7, 7])])
    >>> rows.tolist(), firsts.tolist()
    ([2, 0, 1, 2], [1, 2, 0])
    """
    keys = np.zeros(len(columns[0]), np.int64)
    count = 1
    for column in columns:
        numbers, codes = np.unique(column, return_inverse=True)
        # Combined keys would exceed 62 bits, so number those so far again.
        if count * len(numbers) >= 1 << 62:
            merged, keys = np.unique(keys, return_inverse=True)
            count = len(merged)
        keys = keys * len(numbers) + codes
        count *= len(numbers)
    _, firsts, rows = np.unique(keys, return_index=True, return_inverse=True)
    return rows.astype(np.min_scalar_type(len(firsts)), copy=False), firsts
