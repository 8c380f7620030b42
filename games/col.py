"""Col, by Colin Vout: colour a map, so that neighbours never have the same colour."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import Game


class Col(Game):
    """Colour an empty cell that has no neighbour of your colour. A player who cannot loses."""

    words = {"R": "Red", "B": "Blue"}
    cells = Cells(lambda game: grid(game.width, game.height), "all", R="crimson square", B="royalblue square")
    mover = Turn("RB")
    width: int = 4
    height: int = 3

    @cached_property
    def near(self):
        """For each cell, its neighbours across and down, as bits."""
        beside = self.cells.steps((0, -1), (1, 0), (0, 1), (-1, 0))
        return self.cells.bits_of([[cell for cell in cells if cell >= 0] for cells in beside])

    def shunned(self, position):
        """Return the sign that no neighbour may have."""
        return self.mover.sign(position)

    def generate_moves(self, position):
        """Yield the empty cells without a neighbour of the own colour."""
        for cell in self.cells.empty(position):
            if self.near[cell] & self.cells.set(position, self.shunned(position)) == 0:
                yield cell

    def do_move(self, position, cell):
        return self.mover.passed(self.cells.add(position, cell, self.mover.sign(position)))

    def tier(self, position):
        return self.cells.count(position)
