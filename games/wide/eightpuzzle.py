"""The 15-puzzle, and other boxes of 16 cells: `eightpuzzle.py` with a position of two words.

Each word has four bits for each of eight cells, row by row: the tile there, from 1, or 0 for the gap.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import UNDECIDED, WIN, replaced
from retrograde.games.eightpuzzle import SIGNS, EightPuzzle
from retrograde.games.wide.two_words import TwoWords

MORE_SIGNS = SIGNS + "F"
CELLS = 8
"""The number of cells in a word."""


class FifteenPuzzle(TwoWords, EightPuzzle):
    """Slide the tiles of a box into the gap until they are in order, with the gap last."""

    name = "eightpuzzle"
    low_bits = 4 * CELLS

    def __post_init__(self):
        if not (self.width >= 2 and self.height >= 2 and self.cells <= len(MORE_SIGNS)):
            raise ValueError(f"width and height must be at least 2, and the box have at most {len(MORE_SIGNS)} cells")

    @cached_property
    def goal(self):
        return self.split(super().goal)

    @cached_property
    def start(self):
        return self.split(super().start)

    # The rules

    def tile(self, position, cell):
        return position[cell // CELLS] >> 4 * (cell % CELLS) & 15

    def gap(self, position):
        """Return the empty cell."""
        cell = 0
        while self.tile(position, cell):
            cell += 1
        return cell

    def do_move(self, position, cell):
        """Return the position after the tile on a cell moves into the gap."""
        tile, gap = self.tile(position, cell), self.gap(position)
        position = replaced(position, cell // CELLS, position[cell // CELLS] - (tile << 4 * (cell % CELLS)))
        return replaced(position, gap // CELLS, position[gap // CELLS] + (tile << 4 * (gap % CELLS)))

    def primitive(self, position):
        return WIN if position[0] == self.goal[0] and position[1] == self.goal[1] else UNDECIDED

    # For people

    @cached_property
    def board(self):
        return grid(self.width, self.height, {MORE_SIGNS[tile]: str(tile) for tile in range(1, self.cells)})

    def tiles(self, position):
        return [self.tile(position, cell) for cell in range(self.cells)]

    def signs(self, position):
        return "".join(MORE_SIGNS[tile] for tile in self.tiles(position))

    def position_of(self, signs, turn):
        if set(signs) != set(MORE_SIGNS[: self.cells]):
            raise ValueError("each tile must be there once, and one cell be empty")
        return self.split(sum(MORE_SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(signs)))

    def move_name(self, position, cell):
        return str(self.tile(position, cell))
