"""ClaimCells: say here what the game is."""

from functools import cached_property

from retrograde.games import LOSE, UNDECIDED, Cells, Game, Turn
from retrograde.games.contract.drawing import grid


class ClaimCells(Game):
    """Two players claim cells in turn, never next to one of their own; a player who cannot move loses."""

    words = {"X": "Red", "O": "Blue"}

    # What a position is: a sign on each cell, or none. The number of filled cells shows whose turn it is

    cells = Cells(lambda game: grid(game.width, game.height), symmetries="all", X="crimson disc", O="royalblue disc")
    mover = Turn("XO", by="cells")

    # Options, which users set on the command line: board.py:width=4

    width: int = 3
    height: int = 3

    @cached_property
    def beside(self):
        """For each cell, its neighbours as bits."""
        steps = self.cells.steps((1, 0), (-1, 0), (0, 1), (0, -1))
        return self.cells.bits_of([cell for cell in cells if cell >= 0] for cells in steps)

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield the legal moves; each move is a small int, here a cell."""
        own = self.cells.set(position, self.mover.sign(position))
        for cell in self.cells.empty(position):
            if not own & self.beside[cell]:
                yield cell

    def do_move(self, position, cell):
        """Return the position after a move. The other player moves next."""
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        """If the game is over, return WIN, LOSE or TIE for the player to move; otherwise return UNDECIDED."""
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return a number that no move decreases. With tiers the game is solved part by part, in less memory."""
        return self.cells.count(position)

    # For people. Texts, names of moves and pictures follow from the fields

    def ending(self, position):
        return "no cell can be claimed"
