"""Encodes positions of draughts as numbers of 61 bits, and steps sets of pieces.

Squares are numbered from 0 as the player to move sees them, from the row nearest to that player, whose men move up::

    28 29 30 31         8 × 8; on even rows, counted from 0, the squares are shifted to the right by half a square
      24 25 26 27
    ...                 ways:  0 up left    1 up right
      8  9 10 11               2 down left  3 down right
     4  5  6  7
      0  1  2  3

    60         59 … 32                                     31 … 0
    colour     two bits for each of 14 pieces, by squares  squares that are occupied

    a piece    bit 1: a king    bit 0: the other player's

`colour` is 0 if White is to move. On paper squares are numbered from 1, beginning with the row nearest to Black. So
Black to move counts them in the same direction as here, and White in the other.

A set of squares is an int with a bit for each square.
"""

from functools import cached_property

from retrograde.games.contract.game import Game

COLOUR = 60
KINDS = 32
SQUARES = (1 << 32) - 1


class Board(Game):
    """The encoding of positions, and steps of sets of pieces."""

    pieces: str
    rows: int = 8

    # What a position says

    def colour(self, position):
        """Return 0 if White is to move, else 1."""
        return position >> COLOUR

    def sets(self, position):
        """Return the pieces of the player to move, those of the other player, and the kings."""
        return unpacked(position)

    def from_sets(self, colour, own, other, kings):
        """Return the position with these pieces."""
        return packed(colour, own, other, kings)

    # Squares

    @cached_property
    def width(self):
        """The number of dark squares in a row."""
        return self.rows // 2

    @cached_property
    def squares(self):
        return self.rows * self.width

    @cached_property
    def all(self):
        return (1 << self.squares) - 1

    @cached_property
    def last_row(self):
        """The squares on which men of the player to move are crowned."""
        return self.all ^ (self.all >> self.width)

    @cached_property
    def even(self):
        """The squares of even rows."""
        return sum(((1 << self.width) - 1) << (2 * self.width * row) for row in range(self.width))

    @cached_property
    def odd(self):
        return self.all ^ self.even

    @cached_property
    def twos(self):
        """The squares of the third and fourth of every four rows: those with bit 1 set in their row's number."""
        return sum(((1 << (2 * self.width)) - 1) << (self.width * row) for row in range(2, self.rows, 4)) & self.all

    @cached_property
    def fours(self):
        """The squares of the fifth row and above."""
        return (self.all >> (4 * self.width)) << (4 * self.width)

    @cached_property
    def left(self):
        """The squares of odd rows at the left edge."""
        return sum(1 << (self.width * row) for row in range(1, self.rows, 2))

    @cached_property
    def right(self):
        """The squares of even rows at the right edge."""
        return sum(1 << (self.width * row + self.width - 1) for row in range(0, self.rows, 2))

    def step(self, squares, way):
        """Return a set of squares after a step in one direction; pieces at the edge drop out.

        >>> from retrograde.games.draughts.rules import Draughts
        >>> board = Draughts("KKvK")
        >>> [bin(board.step(1 << 5, way)) for way in range(4)]  # from square 5 to 8, 9, 0 and 1
        ['0b100000000', '0b1000000000', '0b1', '0b10']
        """
        width = self.width
        even, odd = squares & self.even, squares & self.odd
        if way == 0:
            return ((even << width) | ((odd & ~self.left) << (width - 1))) & self.all
        if way == 1:
            return (((even & ~self.right) << (width + 1)) | (odd << width)) & self.all
        if way == 2:
            return (even >> width) | ((odd & ~self.left) >> (width + 1))
        return ((even & ~self.right) >> (width - 1)) | (odd >> width)

    def turned(self, squares):
        """Return a set of squares as the other player sees it: the board turned round.

        >>> from retrograde.games.draughts.rules import Draughts
        >>> hex(Draughts("KKvK").turned(0b111))  # 32 squares
        '0xe0000000'
        """
        # Reverse the order of 32 bits: exchange bits, pairs, halves of bytes, bytes and halves.
        squares = ((squares & 0x55555555) << 1) | ((squares >> 1) & 0x55555555)
        squares = ((squares & 0x33333333) << 2) | ((squares >> 2) & 0x33333333)
        squares = ((squares & 0x0F0F0F0F) << 4) | ((squares >> 4) & 0x0F0F0F0F)
        squares = ((squares & 0x00FF00FF) << 8) | ((squares >> 8) & 0x00FF00FF)
        squares = ((squares & 0x0000FFFF) << 16) | (squares >> 16)
        return squares >> (32 - self.squares)


def unpacked(position):
    """Return three sets: the pieces of the player to move, those of the other player, and the kings."""
    occupied, kinds = position & SQUARES, position >> KINDS
    left, other, kings = occupied, 0, 0
    while left:
        square = left & -left
        other |= square * (kinds & 1)
        kings |= square * ((kinds >> 1) & 1)
        kinds >>= 2
        left ^= square
    return occupied ^ other, other, kings


def packed(colour, own, other, kings):
    """Return the position with these pieces."""
    occupied = left = own | other
    kinds, shift = 0, KINDS
    while left:
        square = left & -left
        kinds |= (((other & square) != 0) + 2 * ((kings & square) != 0)) << shift
        shift += 2
        left ^= square
    return (colour << COLOUR) | kinds | occupied


def free(place, taken):
    """Return the square, as a set, with *place* untaken squares below it: the untaken one of this number, from 0."""
    while taken:
        place += number(taken) <= place
        taken &= taken - 1
    return 1 << place


def number(square):
    """Return the index of the lowest square of a set."""
    return (square & -square).bit_length() - 1
