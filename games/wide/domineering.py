"""Domineering on boards of more than 60 cells.

A position has two words: the upper half of the rows, and the lower half, each with a bit for a covered cell as in
`domineering.py`. Above the cells of the second word is the player to move::

    | player to move | lower rows, second word | upper rows, first word |
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, POSITION_BITS, UNDECIDED
from retrograde.games.domineering import Domineering
from retrograde.games.wide.two_words import TwoWords


class WideDomineering(TwoWords, Domineering):
    """Players cover two cells in turn, the first vertically, the second horizontally. A player without a move loses."""

    name = "domineering"
    start = (0, 0)  # type: ignore[assignment]  # one int in the smaller game

    def __post_init__(self):
        if self.width < 1 or self.height < 2:
            raise ValueError("width must be at least 1, and height 2 on a board of more than 60 cells")
        if self.low_bits >= POSITION_BITS:
            raise ValueError(f"half of the rows take {self.low_bits} bits, and must take fewer than {POSITION_BITS}")

    @property
    def low_bits(self):
        """The number of cells in the first word: those of the upper rows."""
        return (self.height + 1) // 2 * self.width

    @property
    def high_bits(self):
        """The number of cells in the second word."""
        return self.cells - self.low_bits

    # The rules

    def second(self, position):
        return position[1] >> self.high_bits

    def uncovered(self, position):
        """Return the cells that are not covered, in two words."""
        return ~position[0] & (1 << self.low_bits) - 1, ~position[1] & (1 << self.high_bits) - 1

    def fitting(self, position, second):
        """Return the first cells of all places where a domino of a player fits, in two words."""
        upper, lower = self.uncovered(position)
        if second:
            return upper & upper >> 1 & self.not_last, lower & lower >> 1 & self.not_last
        under = self.one_row_up((upper, lower))
        return upper & under[0], lower & under[1]

    def one_row_up(self, words):
        """Return cells in two words, each moved to the row above."""
        upper, lower = words
        return upper >> self.width | (lower & (1 << self.width) - 1) << self.low_bits - self.width, lower >> self.width

    @cached_property
    def not_last(self):
        """All cells of the first word except those in the last column."""
        return sum((1 << self.width - 1) - 1 << row for row in range(0, self.low_bits, self.width))

    def generate_moves(self, position):
        """Yield the upper or left cell of each domino that the player can lay."""
        upper, lower = self.fitting(position, self.second(position))
        while upper:
            yield (upper & -upper).bit_length() - 1
            upper &= upper - 1
        while lower:
            yield self.low_bits + (lower & -lower).bit_length() - 1
            lower &= lower - 1

    def do_move(self, position, cell):
        """Return the position after a domino is laid, upright by the first player."""
        upper, lower = position
        other = cell + (1 if self.second(position) else self.width)
        for covered in (cell, other):
            if covered < self.low_bits:
                upper |= 1 << covered
            else:
                lower |= 1 << covered - self.low_bits
        return upper, lower ^ 1 << self.high_bits

    def primitive(self, position):
        upper, lower = self.fitting(position, self.second(position))
        return UNDECIDED if upper | lower else LOSE

    def images(self, position):
        """Yield the board reflected left to right, top to bottom, and both."""
        cells = position[0], position[1] & (1 << self.high_bits) - 1
        mirrored = self.mirrored(cells[0]), self.mirrored(cells[1])
        turn = self.second(position) << self.high_bits
        yield mirrored[0], mirrored[1] | turn
        for upper, lower in (self.flipped(cells), self.flipped(mirrored)):
            yield upper, lower | turn

    def mirrored(self, word):
        """Return the cells of a word, reflected left to right."""
        cells = 0
        for column in range(self.width):
            cells |= (word >> column & self.first_column) << self.width - 1 - column
        return cells

    @cached_property
    def first_column(self):
        return sum(1 << row for row in range(0, self.low_bits, self.width))

    def flipped(self, words):
        """Return all cells, reflected top to bottom."""
        upper, lower, row = 0, 0, (1 << self.width) - 1
        for place in range(0, self.cells, self.width):
            cells = (words[0] >> place if place < self.low_bits else words[1] >> place - self.low_bits) & row
            goal = self.cells - self.width - place
            if goal < self.low_bits:
                upper |= cells << goal
            else:
                lower |= cells << goal - self.low_bits
        return upper, lower

    def tier(self, position):
        return self.cells - count(self.uncovered(position))

    # Hints

    def lead(self, position):
        """Return the lead in places for a domino, like `Domineering.lead`."""
        upright, flat = self.fitting(position, 0), self.fitting(position, 1)
        # All cells that a player's dominoes can cover, and those one row up, from which an upright domino would reach
        # them.
        by_first = (
            upright[0] | upright[0] << self.width,
            upright[1] | upright[1] << self.width | upright[0] >> self.low_bits - self.width,
        )
        by_second = flat[0] | flat[0] << 1, flat[1] | flat[1] << 1
        far = self.one_row_up(by_second)
        safe_upright = upright[0] & ~(by_second[0] | far[0]), upright[1] & ~(by_second[1] | far[1])
        safe_flat = flat[0] & ~(by_first[0] | by_first[0] >> 1), flat[1] & ~(by_first[1] | by_first[1] >> 1)
        return count(upright) + count(safe_upright) - count(flat) - count(safe_flat)

    # For people

    def signs(self, position):
        covered = self.joined(position)
        return "".join("#" if covered >> cell & 1 else "." for cell in range(self.cells))

    def position_of(self, signs, turn):
        covered = sum(1 << cell for cell, sign in enumerate(signs) if sign == "#")
        return self.split(covered | self.to_move.index(turn) << self.cells)

    def draw_turn(self, position):
        return self.to_move[self.second(position)]


def count(words):
    """Return the number of cells in two words."""
    return words[0].bit_count() + words[1].bit_count()
