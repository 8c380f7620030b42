"""The m,n,k-games: players put stones of their own on a board by turns; k in a row, any way, win.

The cell in column x of row y is bit `(width + 1) * y + x`; the column at the end of each row stays empty, so that no
line runs over the edge::

    bits 0 … area − 1           stones of the player to move         area = (width + 1) × height
    bits area … 2 × area − 1    stones of the other player

With *misere*, k in a row lose.
"""

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game


class MNK(Game):
    """Get k of your stones in a row."""

    width: int = 3
    height: int = 3
    k: int = 3
    misere: bool = False

    start = 0

    def __post_init__(self):
        if min(self.width, self.height, self.k) < 1 or 2 * self.area > 62:
            raise ValueError("the board must have at most 31 cells, with one more in each row")

    @property
    def area(self):
        return (self.width + 1) * self.height

    def generate_moves(self, position):
        for cell in range(self.area):
            if cell % (self.width + 1) < self.width and not (position | position >> self.area) >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        mine, theirs = position & (1 << self.area) - 1, position >> self.area
        return (mine | 1 << cell) << self.area | theirs

    def primitive(self, position):
        theirs = position >> self.area
        for step in (1, self.width, self.width + 1, self.width + 2):
            line = theirs
            for i in range(1, self.k):
                line &= theirs >> i * step
            if line:
                return WIN if self.misere else LOSE
        return TIE if position.bit_count() == self.width * self.height else UNDECIDED

    def images(self, position):
        """Yield the board mirrored left for right, upside down, and both; a square one turned as well."""
        for way in range(1, 8 if self.width == self.height else 4):
            image = 0
            for row in range(self.height):
                for column in range(self.width):
                    x = self.width - 1 - column if way & 1 else column
                    y = self.height - 1 - row if way & 2 else row
                    if way & 4:
                        x, y = y, x
                    place = (self.width + 1) * row + column
                    target = (self.width + 1) * y + x
                    image |= (position >> place & 1) << target | (
                        position >> self.area + place & 1
                    ) << self.area + target
            yield image

    def tier(self, position):
        return position.bit_count()
