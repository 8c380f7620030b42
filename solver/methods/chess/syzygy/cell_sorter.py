"""Puts the cells of an ending into the order of a table, and picks the order that compresses best."""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.games.chess.men import BLACK, LETTERS
from retrograde.solver.methods.chess.formation import Formation, geometry
from retrograde.solver.methods.chess.syzygy import kernels
from retrograde.solver.methods.chess.syzygy import table_order as orders
from retrograde.solver.methods.chess.syzygy.compression import compressed_size
from retrograde.solver.methods.chess.syzygy.kernels import SubTableLayout
from retrograde.solver.methods.chess.syzygy.table_order import TableOrder, combinations_of, first_squares, table_orders

Array = np.ndarray[Any, Any]

SAMPLES = (24, 1 << 12), (48, 1 << 14)
"""The samples of each round of `CellSorter.best`: how many, and how many cells in each."""
BEST = 12, 1
"""How many orders are kept after each round."""


class CellSorter:
    """The cells of an ending with one side to move, in the layout of words."""

    def __init__(self, formation: Formation, cells: Array):
        self.formation, self.known = formation, cells

    def cells(self, order: TableOrder, file: int) -> Array:
        return self.some(order, file, 0, order.length(file))

    def best(self, file: int, to_values: Callable[[Array], Array]) -> TableOrder:
        """Return the order in which these cells compress best, judged by samples.

        *to_values* maps cells to the values that a table has. The first round takes small samples of all orders, the
        second larger samples of the best ones.
        """
        found = table_orders(self.formation.name)
        for (samples, size), kept in zip(SAMPLES, BEST, strict=True):
            sizes = [
                compressed_size(to_values(self.sample(order, file, samples // order.files, size))) for order in found
            ]
            found = [found[k] for k in np.argsort(sizes, kind="stable")[:kept]]
        return found[0]

    def sample(self, order: TableOrder, file: int, samples: int, size: int) -> Array:
        """Return *samples* runs of *size* consecutive cells, spread evenly over an order."""
        length = order.length(file)
        if samples * size >= length:
            return self.cells(order, file)
        begins = np.linspace(0, length - size, samples).astype(np.int64)
        return np.concatenate([self.some(order, file, begin, size) for begin in begins.tolist()])

    def some(self, order: TableOrder, file: int, begin: int, count: int) -> Array:
        """Return *count* cells in the order of a table, from number *begin* on."""
        sizes, rows, combined, at = order.sizes, [], list[Array](), 0
        placed = 0
        for group, ((product, ways), size) in enumerate(zip(order.digits(file), sizes, strict=True)):
            is_pawn = order.codes[placed] & 7 == orders.PAWN
            rows.append((product, ways, at, size, 8 * is_pawn))
            if group:
                combined.append(combinations_of(size, (48 if is_pawn else 64) - placed))
                at += ways
            placed += size
        found = np.empty(count, np.uint16)
        layout = SubTableLayout(
            int(self.formation.has_pawns), self.where(order), first_squares(sizes[0], order.has_pawns, file),
            np.array(rows, np.int64), np.concatenate(combined) if combined else np.zeros((0, 3), np.uint8),
        )  # fmt: skip
        kernels.sort_cells(self.known, geometry(), layout, begin, found, np.zeros(16, np.int64))
        return found

    def where(self, order: TableOrder) -> Array:
        """Return where a table's men include the kings, White's first, and the men of the formation, int64[men]."""
        men = dict(enumerate(order.codes))
        wanted = [orders.KING, orders.KING + orders.BLACK]
        wanted += [orders.KINDS[LETTERS[code & 7]] + orders.BLACK * (code >= BLACK) for code in self.formation.codes]
        found = []
        for code in wanted:
            found.append(next(man for man, other in men.items() if other == code))
            del men[found[-1]]
        return np.array(found, np.int64)
