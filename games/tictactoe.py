"""Tic-tac-toe on a square board.

A position is a bit for each cell with an X, row by row from the top left, then a bit for each cell with an O.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN, Game


class TicTacToe(Game):
    """Claim cells in turn. The first to own a whole line wins, or loses in the misère game."""

    title = "Tic-tac-toe"
    words = {"X": "X", "O": "O"}
    bits = by_turns = "XO"
    start = 0

    size: int = 3
    misere: bool = False

    def __post_init__(self):
        if not 1 <= self.size <= 5:
            raise ValueError("size must be from 1 to 5")

    @cached_property
    def board(self):
        return grid(self.size, self.size, {"X": "cross", "O": "ring"})

    @property
    def cells(self):
        return self.size**2

    @cached_property
    def lines(self):
        return tuple(sum(1 << cell for cell in row) for row in grid(self.size, self.size).in_a_row(self.size))

    @cached_property
    def symmetries(self):
        return grid(self.size, self.size).symmetries

    def generate_moves(self, position):
        for cell in range(self.cells):
            if not (position | position >> self.cells) >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        return position | 1 << cell + self.cells * (position.bit_count() & 1)

    def primitive(self, position):
        last = position if position.bit_count() & 1 else position >> self.cells
        for line in self.lines:
            if last & line == line:
                return WIN if self.misere else LOSE
        return TIE if position.bit_count() == self.cells else UNDECIDED

    def images(self, position):
        for cells in self.symmetries:
            image = 0
            for cell in range(self.cells):
                image |= (position >> cells[cell] & (1 | 1 << self.cells)) << cell
            yield image

    def tier(self, position):
        return position.bit_count()

    def tie_in(self, position):
        return self.cells - position.bit_count()

    def estimate(self, position):
        """Return how many more lines are still open to the player to move than to the opponent."""
        ahead = 0
        for line in self.lines:
            ahead += (position >> self.cells & line == 0) - (position & line == 0)
        return -ahead if position.bit_count() & 1 ^ self.misere else ahead

    def variant_title(self):
        size = "" if self.size == 3 else f" {self.size} × {self.size}"
        return f"{self.title}{size}{', misère' if self.misere else ''}"

    def draw_end(self, position):
        """Return the cells of all full lines."""
        signs = self.signs(position)
        full = [row for row in self.board.in_a_row(self.size) if {signs[cell] for cell in row} in ({"X"}, {"O"})]
        return tuple(sorted({cell for row in full for cell in row}))
