"""Puts the cells of an ending into the order of a table, and picks the order that compresses best."""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.games.chess.men import BLACK, LETTERS
from retrograde.solver.methods.chess.formation import Formation, geometry
from retrograde.solver.methods.chess.syzygy import kernels
from retrograde.solver.methods.chess.syzygy import shape as shapes
from retrograde.solver.methods.chess.syzygy.pairs import room_of
from retrograde.solver.methods.chess.syzygy.shape import Shape, combinations_of, first_squares, shapes_of

Array = np.ndarray[Any, Any]

SAMPLES = (24, 1 << 12), (48, 1 << 14)
"""The samples of each round of `SquareOrder.best`: how many, and how many cells in each."""
BEST = 12, 1
"""How many orders are kept after each round."""


class SquareOrder:
    """The cells of an ending with one side to move, in the layout of words."""

    def __init__(self, formation: Formation, cells: Array):
        self.formation, self.known = formation, cells

    def cells(self, shape: Shape, file: int) -> Array:
        """Return all cells in the order of a table, uint16."""
        return self.some(shape, file, 0, shape.length(file))

    def best(self, file: int, told: Callable[[Array], Array]) -> Shape:
        """Return the order in which these cells compress best, judged by samples.

        *told* maps cells to the values that a table has. The first round takes small samples of all orders, the second
        larger samples of the best ones.
        """
        found = shapes_of(self.formation.name)
        for (places, size), left in zip(SAMPLES, BEST, strict=True):
            rooms = [room_of(told(self.sample(shape, file, places // shape.files, size))) for shape in found]
            found = [found[place] for place in np.argsort(rooms, kind="stable")[:left]]
        return found[0]

    def sample(self, shape: Shape, file: int, places: int, size: int) -> Array:
        """Return *places* runs of *size* consecutive cells, spread evenly over an order."""
        length = shape.length(file)
        if places * size >= length:
            return self.cells(shape, file)
        begins = np.linspace(0, length - size, places).astype(np.int64)
        return np.concatenate([self.some(shape, file, begin, size) for begin in begins.tolist()])

    def some(self, shape: Shape, file: int, begin: int, count: int) -> Array:
        """Return *count* cells in the order of a table, from number *begin* on."""
        sizes, rows, combined, at = shape.sizes, [], list[Array](), 0
        placed = 0
        for group, ((product, ways), size) in enumerate(zip(shape.digits(file), sizes, strict=True)):
            is_pawn = shape.codes[placed] & 7 == shapes.PAWN
            rows.append((product, ways, at, size, 8 * is_pawn))
            if group:
                combined.append(combinations_of(size, (48 if is_pawn else 64) - placed))
                at += ways
            placed += size
        found = np.empty(count, np.uint16)
        first = first_squares(sizes[0], shape.has_pawns, file)
        board = geometry()
        kernels.put_in_order(
            self.known, board.kings, board.turned, int(self.formation.has_pawns), self.where(shape), first,
            np.array(rows, np.int64), np.concatenate(combined) if combined else np.zeros((0, 3), np.uint8), begin,
            found, np.zeros(16, np.int64),
        )  # fmt: skip
        return found

    def where(self, shape: Shape) -> Array:
        """Return where a table's men include the kings, White's first, and the men of the formation, int64[men]."""
        left = dict(enumerate(shape.codes))
        wanted = [shapes.KING, shapes.KING + shapes.BLACK]
        wanted += [shapes.KINDS[LETTERS[code & 7]] + shapes.BLACK * (code >= BLACK) for code in self.formation.codes]
        found = []
        for code in wanted:
            place = next(place for place, other in left.items() if other == code)
            del left[place]
            found.append(place)
        return np.array(found, np.int64)
