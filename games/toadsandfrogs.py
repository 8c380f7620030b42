"""Toads and Frogs, by Richard Guy: two kinds of animals pass each other in a row."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import Game


class ToadsAndFrogs(Game):
    """Move one of your animals ahead to the next cell, or over one animal of the other kind. Toads go right, frogs go
    left. Whoever cannot move loses."""

    title = "Toads and Frogs"
    words = {"T": "Toads", "F": "Frogs"}
    cells = Cells(lambda game: grid(game.cells_in_row, 1), T="peru disc T", F="mediumseagreen disc F")
    mover = Turn("TF")
    toads: int = 3
    frogs: int = 3
    gap: int = 2

    @property
    def cells_in_row(self):
        return self.toads + self.gap + self.frogs

    @cached_property
    def start(self):
        return self.read("T" * self.toads + "." * self.gap + "F" * self.frogs + "/T")

    @cached_property
    def ahead(self):
        """For each cell, the next one for toads, and the next one for frogs."""
        return self.cells.steps((1, 0), (-1, 0))

    def goal(self, position, cell):
        """Return where an animal on a cell gets to; -1 if it cannot move."""
        way = self.mover.get(position)
        goal = self.ahead[cell][way]
        if goal >= 0 and self.cells.get(position, goal) == self.mover.other(position):
            goal = self.ahead[goal][way]
        return goal if goal >= 0 and self.cells.is_empty(position, goal) else -1

    def generate_moves(self, position):
        """Yield the cells whose own animal can step or leap."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            if self.goal(position, cell) >= 0:
                yield cell

    def do_move(self, position, cell):
        return self.mover.passed(self.cells.go(position, cell, self.goal(position, cell)))

    def draw_move(self, position, cell):
        return cell, self.goal(position, cell)
