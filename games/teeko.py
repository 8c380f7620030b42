"""Teeko, by John Scarne: put down four men each, then move them to neighbouring cells, diagonals included.

A position is a bit for each cell with an X, row by row from the top left, then a bit for each cell with an O, and above
them the player to move, 0 for X. A player with all men in a row, in any direction, or with four men in a 2 × 2 square
wins. So does a player who leaves the opponent no move. With perfect play nobody wins, as G. L. Steele found in 1998.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.in_line import InLine
from retrograde.games.kinds.placed import as_bits, placements
from retrograde.games.kinds.sliding import Sliding, joined
from retrograde.games.kinds.steps import Steps


class Teeko(InLine, Sliding):
    """Get all your men in a row, or in a 2 × 2 square."""

    words = {"X": "Black", "O": "Red"}
    example = "3,3"
    bits = to_move = "XO"

    side: int = 5
    men: int = 4

    start = 0

    def __post_init__(self):
        if not 3 <= self.side <= 5 or not 2 <= self.men <= min(4, self.side):
            raise ValueError("the board must have three to five cells a side, and each player two to four men")

    @property
    def cells(self):
        return self.side**2

    @cached_property
    def board(self):
        return grid(self.side, self.side, {"X": "black disc", "O": "crimson disc"})

    @cached_property
    def placements(self):
        counts = ((men // 2, (men + 1) // 2) for men in range(2 * self.men + 1))
        sections = ((sum(men), men) for men in counts)
        return placements(self.cells, sections, grid(self.side, self.side).symmetries, swap=(1, 0))

    @cached_property
    def lines(self):
        """The winning sets of cells, as bits."""
        cells = range(self.cells - self.side) if self.men == 4 else ()
        squares = [(at, at + 1, at + self.side, at + self.side + 1) for at in cells if (at + 1) % self.side]
        rows = grid(self.side, self.side).in_a_row(self.men)
        return tuple(map(as_bits, (*rows, *squares)))

    @cached_property
    def beside(self):
        """The neighbours of each cell, as bits."""
        return joined(self.cells, grid(self.side, self.side).in_a_row(2))

    # The rules: a move is source × number of cells + target; the source `cells` puts down a man

    def generate_moves(self, position):
        """Yield `source * cells + target` for each man put down (source `cells`), or later moved to a neighbouring
        cell."""
        mine, theirs = self.sides(position)
        empty = (1 << self.cells) - 1 ^ mine ^ theirs
        for source in range(self.cells + 1):
            # With all men on the board, the source is one of mine; before that, `cells`, which puts down a man.
            # (Shifts bind more tightly than &: this is bit `source` of `mine`, if all men are there.)
            if mine >> source & 1 if mine.bit_count() == self.men else source == self.cells:
                reach = empty if source == self.cells else empty & self.beside[source]
                for target in range(self.cells):
                    if reach >> target & 1:
                        yield source * self.cells + target

    def do_move(self, position, move):
        """Return the position after a man is put down or moved."""
        turn = position >> 2 * self.cells
        source, target = move // self.cells, move % self.cells
        moved = 1 << target | (1 << source if source < self.cells else 0)
        return (position ^ moved << turn * self.cells) ^ 1 << 2 * self.cells

    def primitive(self, position):
        """Return the value by the lines of both players; LOSE also if the player cannot move."""
        mine, theirs = self.sides(position)
        if self.fill_line(theirs):
            return LOSE
        if self.fill_line(mine):
            return WIN
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def slides(self, men, number):
        return [(0, 1, self.beside)] if sum(men) == 2 * self.men else []

    def section_steps(self, men, number):
        if men[0] == self.men:
            return Steps(slides=self.beside, slid=1, lines=self.lines)
        return Steps(drops=(1 << self.cells) - 1, put=1, lines=self.lines)

    # For people

    def draw_end(self, position):
        """Return the cells of the winning men."""
        won = [line for line in self.lines if line in (line & men for men in self.sides(position))]
        return tuple(cell for cell in range(self.cells) if won and won[0] >> cell & 1)
