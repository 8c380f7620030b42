"""Domineering, by Göran Andersson: one player places dominoes vertically, the other horizontally.

A player who cannot place one loses. The cell in column x of row y is bit `width * y + x` of a position, set if the cell
is covered. The bit above all cells is 1 if the second player is to move, whose dominoes are horizontal.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, UNDECIDED, Game

MOST_CELLS = 60


class Domineering(Game):
    """Players cover two cells in turn, the first vertically, the second horizontally. A player without a move loses."""

    words = {"v": "Vertical", "h": "Horizontal"}
    bits = "#"
    to_move = "vh"

    width: int = 4
    height: int = 4

    start = 0

    def __post_init__(self):
        if min(self.width, self.height) < 1 or self.width * self.height > MOST_CELLS:
            raise ValueError(f"the board must have from 1 to {MOST_CELLS} cells")

    @property
    def cells(self):
        return self.width * self.height

    # The rules: a move is the first cell of a domino

    def second(self, position):
        return position >> self.cells

    def domino(self, position):
        return 3 if self.second(position) else 1 | 1 << self.width

    def free(self, position, cell):
        """Return whether a domino of the player to move fits with its first cell here."""
        if self.second(position):
            if cell % self.width + 1 == self.width:
                return False
        elif cell + self.width >= self.cells:
            return False
        return position & self.domino(position) << cell == 0

    def generate_moves(self, position):
        """Yield the upper or left cell of each domino that the player can lay."""
        for cell in range(self.cells):
            if self.free(position, cell):
                yield cell

    def do_move(self, position, cell):
        return (position | self.domino(position) << cell) ^ 1 << self.cells

    def primitive(self, position):
        for cell in range(self.cells):
            if self.free(position, cell):
                return UNDECIDED
        return LOSE

    def images(self, position):
        """Yield the board reflected left to right, top to bottom, and both."""
        mirrored = flipped = both = position >> self.cells << self.cells
        for cell in range(self.cells):
            bit = position >> cell & 1
            row, column = cell // self.width, cell % self.width
            mirrored |= bit << self.width * row + self.width - 1 - column
            flipped |= bit << self.width * (self.height - 1 - row) + column
            both |= bit << self.cells - 1 - cell
        yield mirrored
        yield flipped
        yield both

    def tier(self, position):
        return (position & (1 << self.cells) - 1).bit_count()

    # Hints

    def lead(self, position):
        """Return how many more places for a domino the first player has. Safe ones, which no opponent's domino covers,
        count twice.

        >>> game = Domineering(3, 2)
        >>> game.lead(game.start)  # three places upright, and four lying
        -1
        """
        free = ~position & (1 << self.cells) - 1
        # The first cells of places for dominoes, and all cells that a player's dominoes can cover.
        upright, flat = free & free >> self.width, free & free >> 1 & self.not_last
        by_first, by_second = upright | upright << self.width, flat | flat << 1
        safe_upright = upright & ~(by_second | by_second >> self.width)
        safe_flat = flat & ~(by_first | by_first >> 1)
        return upright.bit_count() + safe_upright.bit_count() - flat.bit_count() - safe_flat.bit_count()

    @cached_property
    def not_last(self):
        """All cells except those in the last column."""
        return sum((1 << self.width - 1) - 1 << row for row in range(0, self.cells, self.width))

    def estimate(self, position):
        return -self.lead(position) if self.second(position) else self.lead(position)

    def promise(self, position, cell):
        return -self.estimate(self.do_move(position, cell))

    # For people

    @cached_property
    def board(self):
        return grid(self.width, self.height, {"#": "sienna square", "v": "v", "h": "h"})

    def write(self, position):
        rows, _, turn = super().write(position).rpartition("/")
        return f"{rows},{turn}"

    def show(self, position):
        return super().write(position)[:-2].replace("/", "\n")

    def move_name(self, position, cell):
        return self.board.names[cell]

    def draw_move(self, position, cell):
        return cell, cell + (1 if self.second(position) else self.width)
