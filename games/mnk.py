"""The m,n,k-games: k in a row on a board of m columns and n rows."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.rows import Rows


class MNK(Rows):
    """Claim cells in turn. The first to own k cells in a row wins, or loses in the misère game."""

    title = "m,n,k-game"
    cells = Cells(lambda game: grid(game.m, game.n), symmetries="all", X="cross", O="ring")
    mover = Turn("XO", by="cells")
    m: int = 4
    n: int = 3
    k: int = 3
    misere: bool = False

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.k))

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
        return self.cells.size - self.cells.count(position)

    def estimate(self, position):
        """Return how many more lines are still open to the player to move than to the opponent."""
        own, other = self.mover.sign(position), self.mover.other(position)
        ahead = self.count_open(position, own) - self.count_open(position, other)
        return -ahead if self.misere else ahead

    def variant_title(self):
        return f"{self.m},{self.n},{self.k}-game" + ", misère" * self.misere
