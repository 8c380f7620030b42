"""Dao, by Jeff Pickering and Ben van Buskirk: stones slide as far as they can.

As in GamesmanClassic, a stone in a corner that three of the opponent's stones shut in wins for its owner.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, WIN
from retrograde.games.kinds.points import DIRECTIONS
from retrograde.games.kinds.rows import Rows

BOARD = grid(4, 4)
CORNERS = ((0, (1, 4, 5)), (3, (2, 6, 7)), (12, (8, 9, 13)), (15, (10, 11, 14)))
"""Each corner, and the cells around it."""


class Dao(Rows):
    """Slide a stone in any direction until something stops it. Your four stones in a row, a column, a square or the
    corners win. Three of yours around an opponent's stone in a corner lose."""

    words = {"X": "Black", "O": "White"}
    cells = Cells(BOARD, "all", [range(16), *BOARD.symmetries], X="black disc", O="white disc")
    mover = Turn("XO")
    start = "X..O/.XO./.OX./O..X/X"
    shut_in = tuple((1 << corner, sum(1 << cell for cell in around)) for corner, around in CORNERS)

    @cached_property
    def lines(self):
        """The winning sets of four cells, as bits: rows and columns, squares, and the corners."""
        straight = [line for line in BOARD.in_a_row(4) if line[1] - line[0] in (1, 4)]
        squares = [(cell, cell + 1, cell + 4, cell + 5) for cell in range(11) if cell % 4 < 3]
        return self.cells.bits_of([*straight, *squares, (0, 3, 12, 15)])

    @cached_property
    def rays(self):
        return self.cells.rays(*DIRECTIONS)

    def goal(self, position, move):
        """Return the cell where a stone stops; -1 if it cannot slide. A move is 8 × its cell + the way."""
        goal = -1
        for cell in self.rays[move // 8][move % 8]:
            if cell < 0 or not self.cells.is_empty(position, cell):
                break
            goal = cell
        return goal

    def generate_moves(self, position):
        """Yield `8 * cell + way` for each slide."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for way in range(8):
                if self.goal(position, 8 * cell + way) >= 0:
                    yield 8 * cell + way

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // 8, self.goal(position, move)))

    def primitive(self, position):
        """Return LOSE if the opponent has a winning set, WIN if the opponent shuts a stone in; else see `Game`."""
        mine = self.cells.set(position, self.mover.sign(position))
        theirs = self.cells.set(position, self.mover.other(position))
        if self.fill_line(theirs):
            return LOSE
        for corner, around in self.shut_in:
            if mine & corner and theirs & around == around:
                return WIN
        return super().primitive(position)

    def draw_move(self, position, move):
        return move // 8, self.goal(position, move)
