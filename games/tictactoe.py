"""Tic-tac-toe on a square board."""

from functools import cached_property

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.rows import Rows


class TicTacToe(Rows):
    """Claim cells in turn. The first to own a whole line wins, or loses in the misère game."""

    title = "Tic-tac-toe"
    cells = Cells(lambda game: grid(game.size, game.size), symmetries="all", X="cross", O="ring")
    mover = Turn("XO", by="cells")
    size: int = 3
    misere: bool = False

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.size))

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        """Return LOSE (in misère play WIN) if the opponent has a line, TIE if the board is full, else UNDECIDED."""
        if self.fill_line(self.cells.set(position, self.mover.other(position))):
            return WIN if self.misere else LOSE
        return UNDECIDED if self.cells.free(position) else TIE

    def tier(self, position):
        return self.cells.count(position)

    def tie_in(self, position):
        return self.cells.free(position).bit_count()

    def estimate(self, position):
        """Return how many more lines are still open to the player to move than to the opponent."""
        own, other = self.mover.sign(position), self.mover.other(position)
        ahead = self.count_open(position, own) - self.count_open(position, other)
        return -ahead if self.misere else ahead
