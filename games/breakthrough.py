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

    def allows(self, position, way, goal):
        """Return whether a pawn may go to a cell: if it is empty, or diagonally if it captures."""
        return goal >= 0 and self.cells.get(position, goal) in (0, self.mover.other(position) if way else 0)
