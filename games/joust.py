"""Joust: two knights burn the squares that they leave.

Rules of GamesmanClassic: the knights begin in opposite corners, the first player's at the lower right.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import Game


class Joust(Game):
    """Leap as a chess knight does, to an empty square. The square that the knight leaves burns: nobody may enter it. A
    player who cannot move loses."""

    words = {"X": "White", "O": "Black"}
    cells = Cells(
        lambda game: grid(game.width, game.height, style="chequered"),
        symmetries="start",
        X="white knight",
        O="black knight",
        B="brown square",
    )
    mover = Turn("XO")
    width: int = 4
    height: int = 4

    @cached_property
    def start(self):
        between = "." * (self.width * self.height - 2)
        return self.position_of(f"O{between}X", "X")

    @cached_property
    def steps(self):
        """For each cell, the cells to which a piece there can move; -1 beyond the board."""
        return self.cells.steps((1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2))

    def piece(self, position):
        """Return the cell of the player to move."""
        return self.cells.set(position, self.mover.sign(position)).bit_length() - 1

    def generate_moves(self, position):
        """Yield the empty cells to which the piece can move."""
        for goal in self.steps[self.piece(position)]:
            if goal >= 0 and self.cells.is_empty(position, goal):
                yield goal

    def do_move(self, position, goal):
        piece = self.piece(position)
        return self.mover.passed(self.cells.put(self.cells.go(position, piece, goal), piece, self.cells.B))

    def tier(self, position):
        return self.cells.count(position)

    def draw_move(self, position, goal):
        return self.piece(position), goal
