"""Connect Four as one would write it at first: what it costs not to know how the solver works.

The stones of the player to move and those of the other are two boards of bits, the number of stones is the tier, and
there is nothing for people.
"""

from retrograde.games import LOSE, TIE, UNDECIDED, Game


class PlainConnect4(Game):
    """Drop stones into columns by turns; whoever first has four in a row, in any direction, wins."""

    width: int = 5
    height: int = 5

    start = 0

    @property
    def cells(self):
        return self.width * self.height

    def filled(self, position):
        return (position | position >> self.cells) & (1 << self.cells) - 1

    def generate_moves(self, position):
        for column in range(self.width):
            if not self.filled(position) >> column * self.height + self.height - 1 & 1:
                yield column

    def do_move(self, position, column):
        filled = self.filled(position)
        cell = column * self.height
        while filled >> cell & 1:
            cell += 1
        mover, other = position & (1 << self.cells) - 1, position >> self.cells
        return (mover | 1 << cell) << self.cells | other

    def primitive(self, position):
        other = position >> self.cells
        for column in range(self.width):
            for row in range(self.height):
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    if column + 3 * right < self.width and 0 <= row + 3 * up < self.height:
                        line = 0
                        for i in range(4):
                            line |= 1 << (column + i * right) * self.height + row + i * up
                        if other & line == line:
                            return LOSE
        return TIE if self.filled(position) == (1 << self.cells) - 1 else UNDECIDED

    def images(self, position):
        mirrored = 0
        for column in range(self.width):
            stones = position >> column * self.height & ((1 << self.height) - 1) * (1 | 1 << self.cells)
            mirrored |= stones << (self.width - 1 - column) * self.height
        yield mirrored

    def tier(self, position):
        return position.bit_count()
