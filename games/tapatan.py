"""Tapatan, from the Philippines, and its kin: achi (with four men), three men's morris, and nine holes (without
diagonals)."""

from functools import cached_property

from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE
from retrograde.games.kinds.in_line import InLine
from retrograde.games.kinds.points import alquerque
from retrograde.games.kinds.sliding import joined

BOARD = alquerque(3, 3)
DROP = 81
"""Moves from here on put down a man; others are 9 × the cell that a man leaves + its goal."""


class Tapatan(InLine):
    """Put down your men in turn, then move one along a line to the next point. Three in a row win. A player who cannot
    move loses."""

    cells = Cells(BOARD, symmetries="all", X="black disc", O="white disc")
    mover = Turn("XO")
    men: int = 3
    anywhere: bool = False
    """Whether a man may move to any empty point, as in some kinds of three men's morris."""
    diagonals: bool = True
    """Whether men move along diagonals, and win there."""

    def __post_init__(self):
        if not 3 <= self.men <= 4:
            raise ValueError("men must be 3 or 4")

    @cached_property
    def lines(self):
        return self.cells.bits_of([row for row in BOARD.in_a_row(3) if self.diagonals or row[1] - row[0] in (1, 3)])

    @cached_property
    def near(self):
        """For each point, those to which a man may move, as bits."""
        if self.anywhere:
            return (0b111_111_111,) * 9
        return joined(9, [pair for pair in BOARD.lines if self.diagonals or pair[1] - pair[0] in (1, 3)])

    def generate_moves(self, position):
        """Yield DROP + cell while men are in hand, then `9 * cell + goal` for each slide.

        >>> game = Tapatan()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(81, 'a1'), (82, 'b1'), (83, 'c1')]
        """
        if self.cells.count(position) < 2 * self.men:
            for cell in self.cells.empty(position):
                yield DROP + cell
        else:
            for cell in self.cells.having(position, self.mover.sign(position)):
                for goal in self.cells.empty(position):
                    if self.near[cell] >> goal & 1:
                        yield 9 * cell + goal

    def do_move(self, position, move):
        """Return the position after a man is put down or slides."""
        if move >= DROP:
            return self.mover.passed(self.cells.add(position, move - DROP, self.mover.sign(position)))
        return self.mover.passed(self.cells.go(position, move // 9, move % 9))

    def primitive(self, position):
        filled = self.fill_line(self.cells.set(position, self.mover.other(position)))
        return LOSE if filled else super().primitive(position)

    def tier(self, position):
        return self.cells.count(position)

    def draw_move(self, position, move):
        return (move - DROP,) if move >= DROP else divmod(move, 9)
