"""All records of a database of another metric, together with what the rules say about each one: its family."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.games.contract.game import MOST_IMAGES, Traits
from retrograde.solver.rules import compiled
from retrograde.solver.rules.running_kernels import watch_kernel
from retrograde.solver.verification.measures import kernels

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Families:
    """The records of a database, with links from each record to its children.

    By link: `parents` and `children` are records, sorted by parent; `turned` says whether the turn passes to another
    player; `gains` is what the move pays at once, less what the other player gets. `having` lists the records that have
    children, and `begins` where the links of each of those begin. By record: what the rules say (`primitives`,
    `movers`, `pays`, `images`; see `kernels.Sheet`), and what is stored: `positions`, `rows`, `values`, `plies` and
    `measures` int64[columns, records].
    """

    positions: Array
    rows: Array
    primitives: Array
    movers: Array
    pays: Array
    images: Array
    parents: Array
    children: Array
    begins: Array
    having: Array
    turned: Array
    gains: Array
    values: Array
    plies: Array
    measures: Array

    def over_children(self, reduce: np.ufunc, of_children: Array, else_value: Any) -> Array:
        """Return for each record a reduction over its links; *else_value* if it has no children."""
        result = np.full(len(self.positions), else_value, of_children.dtype)
        if len(self.having):
            result[self.having] = reduce.reduceat(of_children, self.begins)
        return result


def families_of(database: Database) -> Families:
    """Return all records of a database with their families, by the compiled rules."""
    game, file = database.game, database.file
    pieces = list(file.contents.all_records())
    positions = np.concatenate([piece[1] for piece in pieces]).astype(np.int64)
    rows = np.concatenate([piece[2] for piece in pieces]).astype(np.int64)
    numbers = np.repeat([piece[0] for piece in pieces], [len(piece[1]) for piece in pieces])
    tiers, begins = np.unique(numbers, return_index=True)
    bounds = np.append(begins, len(positions)).astype(np.int64)
    sheet = ask(game, tiers.astype(np.int64), bounds, positions)
    counts = np.diff(sheet.ends, prepend=0)
    parents = np.repeat(np.arange(len(positions)), counts)
    having = np.flatnonzero(counts)
    turned = np.ones(len(parents), np.bool_)
    if not Traits.of(game).alternates:
        turned = sheet.movers[parents] != sheet.movers[sheet.links]
    table = file.legend.table  # type: ignore[attr-defined]  # files with measures have a table
    measures = np.stack([table[name][rows] for name in file.measures])
    return Families(
        positions, rows, sheet.primitives, sheet.movers, sheet.pays, sheet.images, parents, sheet.links,
        (sheet.ends - counts)[having], having, turned, sheet.gains, table["value"][rows].astype(np.int64),
        table["remoteness"][rows].astype(np.int64), measures,
    )  # fmt: skip


def ask(game: Any, tiers: Array, bounds: Array, positions: Array) -> kernels.Sheet:
    """Return what the rules say about all records."""
    compiled.prepare(game)
    count, room = len(positions), np.empty(MOST_IMAGES, np.int64)
    links = 0
    while True:
        sheet = kernels.Sheet(
            np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros((count, game.players), np.int64),
            np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty(links, np.int64), np.zeros(links, np.int64),
            np.zeros(2, np.int64),
        )  # fmt: skip
        with watch_kernel(game, sheet.trouble):
            found = int(kernels.write_families(game, tiers, bounds, positions, sheet, room))
        # The first call only counts the links; the second has arrays of the right length.
        if found <= links:
            return sheet._replace(links=sheet.links[:found], gains=sheet.gains[:found])
        links = found
