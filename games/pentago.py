"""Pentago, by Tomas Flodén: five in a row on a board whose quarters turn.

The first player wins 6 × 6 (Geoffrey Irving, 2014).
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.rows import Rows


class Pentago(Rows):
    """Put a stone on an empty cell, then turn a quarter of the board. k stones of yours in a row win, before the turn
    or after it. If both players have k in a row, it is a tie."""

    words = {"X": "Black", "O": "White"}
    example = "2,3"
    cells = Cells(lambda game: grid(2 * game.quarter, 2 * game.quarter), "all", X="black disc", O="white disc")
    mover = Turn("XO", by="cells")
    quarter: int = 3
    """The number of cells along a side of a quarter."""
    k: int = 5

    def __post_init__(self):
        if self.quarter not in (2, 3) or not 3 <= self.k <= 2 * self.quarter:
            raise ValueError("quarter must be 2 or 3, and k from 3 to twice as many")

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.k))

    @cached_property
    def turns(self):
        """For each turn of a quarter, first clockwise, then back: for each cell, the one whose stone comes there."""
        last, side, found = self.quarter - 1, 2 * self.quarter, []
        for number in range(4):
            left, top = number % 2 * self.quarter, number // 2 * self.quarter
            for back in (False, True):
                sources = list(range(side**2))
                for x in range(self.quarter):
                    for y in range(self.quarter):
                        right, down = (last - y, x) if back else (y, last - x)
                        sources[side * (top + y) + left + x] = side * (top + down) + left + right
                found.append(tuple(sources))
        return tuple(found)

    def generate_moves(self, position):
        """Yield `8 * cell + turn`, with the turn 0 alone if the stone wins at once."""
        for cell in self.cells.empty(position):
            wins = self.wins_at_once(position, cell)
            for turn in range(1 if wins else 8):
                yield 8 * cell + turn

    def wins_at_once(self, position, cell):
        """Return whether a stone on a cell fills a row before a quarter turns."""
        return self.fill_line(self.cells.set(position, self.mover.sign(position)) | 1 << cell)

    def do_move(self, position, move):
        """Return the position after a stone is put down, and a quarter has turned if the stone does not win.

        >>> game = Pentago()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # a1-a1-c1
        ('....../....../....../....../....../......', '..X.../....../....../....../....../......')
        """
        cell, turn = move // 8, move % 8
        after = self.cells.add(position, cell, self.mover.sign(position))
        if self.wins_at_once(position, cell):
            return after
        for sign in (1, 2):
            before, stones = self.cells.set(after, sign), 0
            for goal in range(self.cells.size):
                stones |= (before >> self.turns[turn][goal] & 1) << goal
            after = self.cells.with_set(after, sign, stones)
        return after

    def primitive(self, position):
        """Return the value by the full rows, TIE if both players have one or the board is full; else UNDECIDED."""
        won = self.fill_line(self.cells.set(position, self.mover.sign(position)))
        lost = self.fill_line(self.cells.set(position, self.mover.other(position)))
        if won != lost:
            return WIN if won else LOSE
        return TIE if won or self.cells.free(position) == 0 else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)

    # For people

    def draw_move(self, position, move):
        """Return the cell of the stone, then the corner that turns and the one to which it goes."""
        side, number = 2 * self.quarter, move % 8 // 2
        if self.wins_at_once(position, move // 8):
            return (move // 8,)
        corners = [side * y + x for x, y in ((0, 0), (self.quarter - 1, 0))]
        first = number // 2 * side * self.quarter + number % 2 * self.quarter
        return (move // 8, *(first + corner for corner in corners[:: -1 if move % 2 else 1]))
