"""The Game of the Amazons, by Walter Zamkauskas: move like a chess queen, then shoot an arrow.

Four amazons each begin in the first and the last row, on the second column from each side, and in the second row from
each end, on the first and the last column. M. Müller uses the same squares on 6 × 5. With two amazons each, only those
in the first and the last row begin.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import Game
from retrograde.games.kinds.points import DIRECTIONS


class Amazons(Game):
    """Move an amazon like a chess queen, then shoot an arrow from there, which flies like a queen too. Nothing passes
    amazons and arrows. A player who cannot move loses."""

    title = "Amazons"
    words = {"X": "White", "O": "Black"}
    cells = Cells(
        lambda game: grid(game.width, game.height, style="chequered"),
        symmetries="start",
        X="white queen",
        O="black queen",
        B="dimgray square",
    )
    mover = Turn("XO")
    example = "4,3,2"
    width: int = 4
    height: int = 4
    amazons: int = 4

    def __post_init__(self):
        if self.amazons not in (2, 4) or self.width < 4 or self.height < self.amazons:
            raise ValueError("amazons must be 2 or 4, width at least 4, and height at least as many as amazons")

    @cached_property
    def start(self):
        last = self.cells.size - 1
        sides = (1, self.width - 2, self.width, 2 * self.width - 1)[: self.amazons]
        position = self.mover.put(0, 0)
        for cell in sides:
            position = self.cells.put(self.cells.put(position, cell, self.cells.O), last - cell, self.cells.X)
        return position

    @cached_property
    def rays(self):
        return self.cells.rays(*DIRECTIONS)

    def generate_moves(self, position):
        """Yield `(cells * amazon + goal) * cells + arrow`."""
        size = self.cells.size
        for amazon in self.cells.having(position, self.mover.sign(position)):
            for goal in self.reached(position, amazon):
                for arrow in self.reached(self.cells.go(position, amazon, goal), goal):
                    yield (size * amazon + goal) * size + arrow

    def reached(self, position, cell):
        """Yield the cells to which a queen on a cell can move."""
        for ray in self.rays[cell]:
            for goal in ray:
                if goal < 0 or not self.cells.is_empty(position, goal):
                    break
                yield goal

    def do_move(self, position, move):
        """Return the position after an amazon has moved and shot."""
        size = self.cells.size
        gone = self.cells.go(position, move // size // size, move // size % size)
        return self.mover.passed(self.cells.add(gone, move % size, self.cells.B))

    def tier(self, position):
        return self.cells.count(position)

    def draw_move(self, position, move):
        size = self.cells.size
        return move // size // size, move // size % size, move % size
