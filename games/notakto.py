"""Notakto: tic-tac-toe in which both players put down crosses."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import UNDECIDED, WIN
from retrograde.games.kinds.in_line import InLine


class Notakto(InLine):
    """Put a cross on an empty cell. The player who completes a row, a column or a diagonal loses."""

    cells = Cells(lambda game: grid(game.size, game.size), symmetries="all", X="cross")
    size: int = 3

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.cells.board.in_a_row(self.size))

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, 1)

    def primitive(self, position):
        return WIN if self.fill_line(self.cells.set(position, 1)) else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)
