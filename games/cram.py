"""Cram, by Martin Gardner: both players place dominoes on a board, vertical or horizontal.

A player who cannot place one loses. The cell in column x of row y is bit `width * y + x` of a position, set if the cell
is covered. A move is twice the first cell of a domino, plus 1 if the domino is vertical.
"""

from functools import cached_property
from string import ascii_lowercase, digits

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, UNDECIDED, Game

MOST_CELLS = 36


class Cram(Game):
    """Players cover two neighbouring cells in turn. A player who cannot move loses."""

    metric = "nimber"
    bits = "#"

    width: int = 4
    height: int = 3

    start = 0

    def __post_init__(self):
        if min(self.width, self.height) < 1 or self.width * self.height > MOST_CELLS:
            raise ValueError(f"the board must have from 1 to {MOST_CELLS} cells")

    @property
    def cells(self):
        return self.width * self.height

    @cached_property
    def dominoes(self):
        """The cells that each move covers, as bits; 0 if the domino would leave the board."""
        found = []
        for cell in range(self.cells):
            found.append(3 << cell if cell % self.width + 1 < self.width else 0)
            found.append((1 | 1 << self.width) << cell if cell + self.width < self.cells else 0)
        return tuple(found)

    @cached_property
    def symmetries(self):
        """For each symmetry of the board except the identity, where it takes each cell."""
        return grid(self.width, self.height).symmetries

    # The rules

    def generate_moves(self, covered):
        """Yield the numbers of the dominoes that fit on free cells."""
        for move in range(2 * self.cells):
            domino = self.dominoes[move]
            if domino and not covered & domino:
                yield move

    def do_move(self, covered, move):
        return covered | self.dominoes[move]

    def primitive(self, covered):
        for domino in self.dominoes:
            if domino and not covered & domino:
                return UNDECIDED
        return LOSE

    def images(self, covered):
        """Yield the images of the set of covered cells."""
        for places in self.symmetries:
            image = 0
            for cell in range(self.cells):
                image |= (covered >> cell & 1) << places[cell]
            yield image

    def tier(self, covered):
        return covered.bit_count()

    # For people

    @cached_property
    def board(self):
        return grid(self.width, self.height, {"#": "sienna square"}, across=ascii_lowercase + digits)

    def show(self, covered):
        return self.write(covered).replace("/", "\n")

    def move_name(self, covered, move):
        return f"{self.board.names[move // 2]}{'-|'[move % 2]}"

    def draw_move(self, covered, move):
        return tuple(cell for cell in range(self.cells) if self.dominoes[move] >> cell & 1)
