"""Peg solitaire: a peg jumps over another into a hole, and the one jumped over is gone; leave only one.

A position has a bit for each hole, row by row, 1 where there is a peg. Triangles have holes in rows of 1, 2, 3, …, the
English board a cross of 33:

    0                        . . 0 1 2 . .
    1 2                      . . 3 4 5 . .
    3 4 5                    6 7 8 ...
    6 7 8 9                  (and so on)

Every jump takes a peg, so that a solution has as many moves as there are pegs to lose, and no position comes back.
"""

from functools import cached_property

from retrograde.games.drawing import Board
from retrograde.games.game import LOSE, UNDECIDED, WIN, Game

TRIANGULAR = ((0, 1), (1, 0), (1, 1), (0, -1), (-1, 0), (-1, -1))
SQUARE = ((0, 1), (1, 0), (0, -1), (-1, 0))


class PegSolitaire(Game):
    """Jump pegs over one another, each time taking the one jumped over, until a single one is left."""

    title = "Peg solitaire"
    players = 1
    bits = "O"

    size: int = 5
    """The rows of the triangle; of the English cross, 7."""
    hole: int = 0
    """The hole that is empty at first."""
    home: bool = False
    """Whether the last peg must end there."""
    english: bool = False

    def __post_init__(self):
        if self.english and self.size != 7:
            raise ValueError("the English board has size 7")
        if not self.english and not 4 <= self.size <= 8:
            raise ValueError("size must be from 4 to 8")
        if not 0 <= self.hole < len(self.places):
            raise ValueError(f"hole must be from 0 to {len(self.places) - 1}")

    @cached_property
    def places(self):
        """The row and the column of each hole."""
        if self.english:
            return tuple((row, column) for row in range(7) for column in range(7) if 1 < row < 5 or 1 < column < 5)
        return tuple((row, column) for row in range(self.size) for column in range(row + 1))

    @cached_property
    def jumps(self):
        """For each jump the bits of the peg, of the one jumped over and of the hole, by their numbers."""
        number = {place: hole for hole, place in enumerate(self.places)}
        found = []
        for hole, (row, column) in enumerate(self.places):
            for down, right in SQUARE if self.english else TRIANGULAR:
                over, to = number.get((row + down, column + right)), number.get((row + 2 * down, column + 2 * right))
                if over is not None and to is not None:
                    found.append((hole, over, to))
        return tuple(found)

    @cached_property
    def start(self):
        return (1 << len(self.places)) - 1 - (1 << self.hole)

    # The rules: a move is the number of a jump

    def generate_moves(self, position):
        for jump in range(len(self.jumps)):
            peg, over, to = self.jumps[jump]
            if position >> peg & position >> over & ~(position >> to) & 1:
                yield jump

    def do_move(self, position, jump):
        peg, over, to = self.jumps[jump]
        return position ^ (1 << peg | 1 << over | 1 << to)

    def primitive(self, position):
        if position & position - 1 == 0:
            return WIN if not self.home or position == 1 << self.hole else LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return how many holes there are."""
        holes = 0
        for hole in range(len(self.places)):
            holes += position >> hole & 1 ^ 1
        return holes

    # For people

    def show(self, position):
        rows = self.board.in_rows(self.signs(position))
        wide = max(map(len, rows))
        return "\n".join(" ".join(row).center(2 * wide - 1).rstrip() for row in rows)

    def ending(self, position):
        pegs = position.bit_count()
        return "solved" if self.primitive(position) == WIN else f"stuck with {pegs} {'peg' if pegs == 1 else 'pegs'}"

    @cached_property
    def board(self):
        if self.english:
            places = tuple((float(column), float(row)) for row, column in self.places)
        else:
            places = tuple((column + (self.size - 1 - row) / 2, float(row)) for row, column in self.places)
        number = {place: hole for hole, place in enumerate(self.places)}
        ways = SQUARE[:2] if self.english else TRIANGULAR[:3]
        lines = tuple(
            (hole, number[row + down, column + right])
            for hole, (row, column) in enumerate(self.places)
            for down, right in ways
            if (row + down, column + right) in number
        )
        return Board(places, tuple(map(str, range(len(places)))), {"O": "sienna disc"}, lines=lines)

    def draw_move(self, position, jump):
        peg, _, to = self.jumps[jump]
        return peg, to

    def position_of(self, signs, turn):
        if "O" not in signs:
            raise ValueError("there must be a peg")
        return super().position_of(signs, turn)
