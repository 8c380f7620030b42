"""Peg solitaire: a peg jumps over another into a hole, and the other peg is removed; leave only one.

A position has a bit for each hole, row by row, 1 if there is a peg. Triangles have holes in rows of 1, 2, 3, …, the
English board a cross of 33:

    0                        . . 0 1 2 . .
    1 2                      . . 3 4 5 . .
    3 4 5                    6 7 8 ...
    6 7 8 9                  (and so on)

Every jump removes a peg. So a solution has as many moves as there are pegs to remove, and no position comes back.
Positions that differ only by a turn or a reflection are equal. If the last peg must end in the hole that was empty at
first, only the turns and reflections that keep this hole count.
"""

from functools import cached_property
from itertools import permutations

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game

TRIANGULAR = ((0, 1), (1, 0), (1, 1), (0, -1), (-1, 0), (-1, -1))
SQUARE = ((0, 1), (1, 0), (0, -1), (-1, 0))
PART = 6
"""The number of holes that are looked up at once to find an image."""


class PegSolitaire(Game):
    """Jump pegs over one another, removing the peg jumped over, until a single one is left."""

    title = "Peg solitaire"
    players = 1
    bits = "O"

    size: int = 0
    """The number of rows. By default (0) a triangle has 5, the English cross 7."""
    hole: int = -1
    """The hole that is empty at first. By default (-1) the top of a triangle, the centre of the cross."""
    home: bool = False
    """Whether the last peg must end in that hole."""
    english: bool = False

    def __post_init__(self):
        if self.english and self.lines != 7:
            raise ValueError("the English board has size 7")
        if not self.english and not 4 <= self.lines <= 8:
            raise ValueError("size must be from 4 to 8")
        if not -1 <= self.hole < len(self.places):
            raise ValueError(f"hole must be from 0 to {len(self.places) - 1}")

    @property
    def lines(self):
        """The number of rows."""
        return self.size or (7 if self.english else 5)

    @property
    def empty(self):
        """The hole that is empty at first; with `home`, also where the last peg must end."""
        if self.hole >= 0:
            return self.hole
        return len(self.places) // 2 if self.english else 0

    @cached_property
    def places(self):
        """The row and the column of each hole."""
        if self.english:
            return tuple((row, column) for row in range(7) for column in range(7) if 1 < row < 5 or 1 < column < 5)
        return tuple((row, column) for row in range(self.lines) for column in range(row + 1))

    @cached_property
    def jumps(self):
        """For each jump, the numbers of the peg's hole, of the hole jumped over, and of the target hole."""
        number = {place: hole for hole, place in enumerate(self.places)}
        found = []
        for hole, (row, column) in enumerate(self.places):
            for down, right in SQUARE if self.english else TRIANGULAR:
                over, to = number.get((row + down, column + right)), number.get((row + 2 * down, column + 2 * right))
                if over is not None and to is not None:
                    found.append((hole, over, to))
        return tuple(found)

    @cached_property
    def holes(self):
        """The three holes of each jump, as bits."""
        return tuple(1 << peg | 1 << over | 1 << to for peg, over, to in self.jumps)

    @cached_property
    def pegs(self):
        """The two holes of each jump that have pegs before it, as bits."""
        return tuple(1 << peg | 1 << over for peg, over, _ in self.jumps)

    def turned(self, row, column):
        """Return where each symmetry of the board takes a place, the identity first."""
        last = self.lines - 1
        if not self.english:
            corners = last - row, row - column, column  # distances from the sides opposite the three corners
            return [(last - top, right) for top, _, right in permutations(corners)]
        places = [(row, column), (last - row, column), (row, last - column), (last - row, last - column)]
        return [*places, *((column, row) for row, column in places)]

    @cached_property
    def symmetries(self):
        """Where each symmetry takes each hole, the identity first. With `home`, only those that keep the home hole."""
        number = {place: hole for hole, place in enumerate(self.places)}
        taken = zip(*([number[image] for image in self.turned(*place)] for place in self.places), strict=True)
        return tuple(holes for holes in taken if not self.home or holes[self.empty] == self.empty)

    @property
    def parts(self):
        """How many parts of PART holes a position has, rounded up."""
        return -(-len(self.places) // PART)

    @cached_property
    def images_of_parts(self):
        """For each symmetry and each part of a position, the image of each set of pegs there."""
        holes = len(self.places)
        return tuple(
            tuple(
                sum(1 << taken[PART * part + i] for i in range(PART) if pegs >> i & 1 and PART * part + i < holes)
                for pegs in range(1 << PART)
            )
            for taken in self.symmetries
            for part in range(self.parts)
        )

    @cached_property
    def start(self):
        return (1 << len(self.places)) - 1 - (1 << self.empty)

    # The rules: a move is the number of a jump

    def generate_moves(self, position):
        """Yield the numbers of the jumps that are possible."""
        for jump in range(len(self.jumps)):
            if (position ^ self.pegs[jump]) & self.holes[jump] == 0:  # pegs on the first two holes, none on the third
                yield jump

    def do_move(self, position, jump):
        return position ^ self.holes[jump]

    def primitive(self, position):
        """Return WIN if the last peg is where it should be, LOSE if no jump is possible, else UNDECIDED."""
        if position & (position - 1) == 0:  # a single peg
            return WIN if not self.home or position == 1 << self.empty else LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def images(self, position):
        """Yield the images by all symmetries but the identity, PART holes at a time."""
        for symmetry in range(1, len(self.symmetries)):
            image = 0
            for part in range(self.parts):
                image |= self.images_of_parts[symmetry * self.parts + part][position >> PART * part & (1 << PART) - 1]
            yield image

    def tier(self, position):
        """Return the number of empty holes."""
        return len(self.places) - position.bit_count()

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
        """The holes of the cross or of the triangle, with lines along which pegs jump."""
        if self.english:
            places = tuple((float(column), float(row)) for row, column in self.places)
        else:
            places = tuple((column + (self.lines - 1 - row) / 2, float(row)) for row, column in self.places)
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
