"""Hexapawn, by Martin Gardner: a row of chess pawns against another."""

from functools import cached_property

from retrograde.games import LOSE, Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.stepping import Stepping


class Hexapawn(Stepping):
    """Step ahead, or capture diagonally. Win by reaching the last row, or by leaving the opponent no move."""

    words = {"X": "White", "O": "Black"}
    cells = Cells(lambda game: grid(game.width, game.height), symmetries="mirror", X="white pawn", O="black pawn")
    mover = Turn("XO")
    ways = ((0, -1), (-1, -1), (1, -1)), ((0, 1), (-1, 1), (1, 1))
    width: int = 3
    height: int = 3

    @cached_property
    def start(self):
        return self.read("/".join(["O" * self.width, *["." * self.width] * (self.height - 2), "X" * self.width, "X"]))

    def allows(self, position, way, goal):
        """Return whether a pawn may go to a cell: straight if it is empty, diagonally if it captures."""
        return goal >= 0 and self.cells.get(position, goal) == (self.mover.other(position) if way else 0)

    def primitive(self, position):
        """Return LOSE if an opponent's pawn is on its last row or the player cannot move, else UNDECIDED."""
        begin = 0 if self.mover.get(position) else self.cells.size - self.width
        last_row = (1 << self.width) - 1 << begin
        return LOSE if self.cells.set(position, self.mover.other(position)) & last_row else super().primitive(position)
