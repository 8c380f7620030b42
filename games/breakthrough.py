"""Breakthrough, by Dan Troyka: two rows of pawns against two others."""

from functools import cached_property

from retrograde.games.hexapawn import Hexapawn


class Breakthrough(Hexapawn):
    """Step ahead, straight or diagonally; capture diagonally. The first to reach the last row wins."""

    width: int = 3
    height: int = 5

    def __post_init__(self):
        if self.height < 4:
            raise ValueError("height must be 4 at least, for two rows of pawns on each side")

    @cached_property
    def start(self):
        men = ["O" * self.width] * 2 + ["." * self.width] * (self.height - 4) + ["X" * self.width] * 2
        return self.read("/".join([*men, "X"]))

    def generate_moves(self, position):
        """Yield `3 * cell + way` for each step of a pawn: way 0 goes straight, 1 and 2 diagonally, and may capture."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for move in range(3 * cell, 3 * cell + 3):
                goal = self.goal(position, move)
                if goal >= 0 and self.cells.get(position, goal) in (0, self.mover.other(position) if move % 3 else 0):
                    yield move
