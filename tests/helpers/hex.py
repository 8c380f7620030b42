"""Hex, by Piet Hein and John Nash: who connects her two sides of a rhombus of hexagons wins; there are no ties.

A cell in column x of row y is bit `size * y + x`; its neighbours are those beside, above and below it, and the two on
the slant from lower left to upper right. The player to move connects the left side with the right::

    bits 0 … cells − 1            stones of the player to move
    bits cells … 2 × cells − 1    stones of the other player, who connects the top with the bottom

A move turns the board over the slant from upper left to lower right, so that the next player connects left and right.
"""

from retrograde.games import LOSE, UNDECIDED, Game


class Hex(Game):
    """Put down stones until your sides are connected."""

    size: int = 3

    start = 0

    def __post_init__(self):
        if not 1 <= self.size <= 5:
            raise ValueError("size must be from 1 to 5")

    @property
    def cells(self):
        return self.size**2

    def generate_moves(self, position):
        for cell in range(self.cells):
            if not (position | position >> self.cells) >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        position |= 1 << cell
        mine = theirs = 0
        for place in range(self.cells):
            turned = place % self.size * self.size + place // self.size
            theirs |= (position >> place & 1) << turned
            mine |= (position >> self.cells + place & 1) << turned
        return theirs << self.cells | mine

    def primitive(self, position):
        """Flood the other player's stones from the top; at the bottom she has won."""
        theirs = position >> self.cells
        left, right = 0, 0
        for row in range(self.size):
            left |= 1 << self.size * row
            right |= 1 << self.size * row + self.size - 1
        reached, before = theirs & (1 << self.size) - 1, 0
        while reached != before:
            before = reached
            aside = (reached & ~right) << 1 | (reached & ~left) >> 1
            slant = (reached & ~right) >> self.size - 1 | (reached & ~left) << self.size - 1
            reached |= (aside | slant | reached << self.size | reached >> self.size) & theirs
        return LOSE if reached >> self.cells - self.size else UNDECIDED

    def images(self, position):
        """Yield the board turned by half."""
        image = 0
        for place in range(self.cells):
            turned = self.cells - 1 - place
            image |= (position >> place & 1) << turned | (position >> self.cells + place & 1) << self.cells + turned
        yield image

    def tier(self, position):
        return position.bit_count()
