"""Tic-tac-toe on a square board."""

from functools import cached_property

from retrograde.games import Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.rows import LineRace


class TicTacToe(LineRace):
    """Claim cells in turn. The first to own a whole line wins, or loses in the misère game."""

    title = "Tic-tac-toe"
    cells = Cells(lambda game: grid(game.size, game.size), symmetries="all", X="cross", O="ring")
    mover = Turn("XO", by="cells")
    size: int = 3
    misere: bool = False

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.size))
