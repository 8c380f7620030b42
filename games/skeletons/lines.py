"""FirstLine: say here what the game is."""

from functools import cached_property

from retrograde.games import Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.rows import LineRace


class FirstLine(LineRace):
    """Claim cells in turn; the first player with three in a row wins."""

    # What a position is: a sign on each cell, or none. The number of filled cells shows whose turn it is

    cells = Cells(lambda game: grid(game.width, game.height), symmetries="all", X="cross", O="ring")
    mover = Turn("XO", by="cells")

    # Options, which users set on the command line: lines.py:width=4

    width: int = 3
    height: int = 3

    # Moves and ends follow from the lines. Define generate_moves, do_move or primitive to change them

    @cached_property
    def lines(self):
        """The lines, each as bits of its cells."""
        return self.cells.bits_of(self.cells.board.in_a_row(3))
