"""Domineering, by Göran Andersson: one player puts down dominoes upright, the other lying; who cannot has lost.

The cell in column x of row y is bit `width * y + x` of a position, and set where it is covered. The board is seen by
the player to move, whose dominoes stand upright: a move turns it over the slant, and where that makes another board,
one bit says that it is turned::

    bits 0 … cells − 1    covered        bit cells    1 if rows and columns are exchanged, on boards that are not square
"""

from retrograde.games import LOSE, UNDECIDED, Game


class Domineering(Game):
    """Put down your dominoes until somebody cannot."""

    width: int = 4
    height: int = 4

    start = 0

    def __post_init__(self):
        if min(self.width, self.height) < 1 or self.width * self.height > 60:
            raise ValueError("the board must have at most 60 cells")

    @property
    def cells(self):
        return self.width * self.height

    def width_of(self, position):
        return self.height if position >> self.cells else self.width

    # The rules: a move is the upper cell of a domino

    def generate_moves(self, position):
        width = self.width_of(position)
        for cell in range(self.cells - width):
            if not (position >> cell | position >> cell + width) & 1:
                yield cell

    def do_move(self, position, cell):
        width = self.width_of(position)
        covered = position | 1 << cell | 1 << cell + width
        height = self.cells // width
        turned = 0 if width == height else 1 - (position >> self.cells) << self.cells
        for place in range(self.cells):
            turned |= (covered >> place & 1) << place % width * height + place // width
        return turned

    def primitive(self, position):
        width = self.width_of(position)
        free = ~position & (1 << self.cells) - 1
        return UNDECIDED if free & free >> width else LOSE

    def images(self, position):
        """Yield the board mirrored left for right, upside down, and both."""
        width = self.width_of(position)
        mirrored = flipped = both = position >> self.cells << self.cells
        for place in range(self.cells):
            bit = position >> place & 1
            row, column = place // width, place % width
            last = self.cells // width - 1 - row
            mirrored |= bit << width * row + width - 1 - column
            flipped |= bit << width * last + column
            both |= bit << width * last + width - 1 - column
        yield mirrored
        yield flipped
        yield both

    def tier(self, position):
        return (position & (1 << self.cells) - 1).bit_count()
