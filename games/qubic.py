"""Qubic, tic-tac-toe in space: a full row of a cube wins, of three or four cells.

The layers of the cube stand side by side. The first player wins both 3 × 3 × 3, by the centre, and 4 × 4 × 4 (Oren
Patashnik, 1980; Victor Allis, 1994).
"""

from functools import cached_property
from itertools import permutations, product

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.kinds.rows import LineRace


def layers(game):
    """Return the board: all layers side by side, a cell's place is (size × layer + column, row)."""
    size = game.size
    places = [(size * layer + column, row) for row in range(size) for layer in range(size) for column in range(size)]
    names = tuple(f"{'abcdefghijklmnop'[across]}{row + 1}" for across, row in places)
    return Board(tuple((across + across // size / 2, float(row)) for across, row in places), names, {}, len(places))


def places(size):
    """Return (row, layer, column) of each cell."""
    return list(product(range(size), repeat=3))


def turns(game):
    """Return the 48 rotations and reflections of the cube: the coordinates change places, and each may run back."""
    cells = places(game.size)
    return [
        [cells.index(tuple(game.size - 1 - cell[axis] if back else cell[axis] for axis, back in turn))
         for cell in cells]
        for axes in permutations(range(3)) for backward in product((False, True), repeat=3)
        for turn in [list(zip(axes, backward, strict=True))]
    ]  # fmt: skip


class Qubic(LineRace):
    """Claim cells in turn. The first to fill a straight line of cells, also across the layers, wins."""

    cells = Cells(layers, symmetries=turns, X="cross", O="ring")
    mover = Turn("XO", by="cells")
    example = "2"
    size: int = 3

    def __post_init__(self):
        if not 2 <= self.size <= 4:
            raise ValueError("size must be from 2 to 4")

    @cached_property
    def lines(self):
        """The lines as bits: in each way that leads from a cell on a side to the opposite side."""
        cells, size = places(self.size), self.size
        ways = [way for way in product((-1, 0, 1), repeat=3) if way > (0, 0, 0)]
        rays = [[tuple(at + step * by for at, by in zip(cell, way, strict=True)) for step in range(size)]
                for cell in cells for way in ways]  # fmt: skip
        return self.cells.bits_of([[cells.index(cell) for cell in ray] for ray in rays if {*ray} <= {*cells}])
