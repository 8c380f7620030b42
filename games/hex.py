"""Hex, by Piet Hein and John Nash: connect two sides of a rhombus of hexagons.

The neighbours of a cell are those beside, above and below it, above to the right and below to the left.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, Game


def half_turn(game):
    """Return the cells of the board turned by half."""
    return [tuple(reversed(range(game.size**2)))]


class Hex(Game):
    """Put a stone on an empty cell. Red connects left and right, Blue top and bottom. There are no ties."""

    words = {"R": "Red", "B": "Blue"}
    cells = Cells(lambda game: grid(game.size, game.size), half_turn, R="crimson disc", B="royalblue disc")
    mover = Turn("RB", by="cells")
    size: int = 3

    def __post_init__(self):
        if not 1 <= self.size <= 7:
            raise ValueError("size must be from 1 to 7")

    @cached_property
    def left(self):
        return sum(1 << self.size * row for row in range(self.size))

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        """Flood the stones of the player who moved last, from one of the player's sides."""
        size, right, red = self.size, self.left << self.size - 1, self.mover.get(position) == 1
        stones = self.cells.set(position, self.mover.other(position))
        reached, before = stones & (self.left if red else (1 << size) - 1), 0
        while reached != before:
            before = reached
            # Neighbours beside; above to the right and below to the left; then above and below.
            aside = (reached & ~right) << 1 | (reached & ~self.left) >> 1
            slant = (reached & ~right) >> size - 1 | (reached & ~self.left) << size - 1
            reached |= (aside | slant | reached << size | reached >> size) & stones
        goal = right if red else (1 << size) - 1 << size * (size - 1)
        return LOSE if reached & goal else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)

    def variant_title(self):
        return f"Hex {self.size} × {self.size}"
