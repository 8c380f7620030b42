"""Men's morris: put men on a board, then slide them along its lines; three in a line are a mill.

    a1 ------- c1 ------- e1    four to six men: two squares, one in the other; nine to eleven: three. Three men: one
     |    b2 - c2 - d2    |     square, with a point in its middle, and lines from there to all others. Mills are the
    a3 - b3         d3 - e3     sides of squares, and of three squares the lines across; of one all lines.
     |    b4 - c4 - d4    |
    a5 ------- c5 ------- e5

X begins. Players put down men in turn until none is in hand. Then a man slides to a neighbouring point or, if *flying*
and its player has three men left, goes to any empty point. A player who closes a mill takes one of the opponent's men,
one that is in no mill if there is any. A player with two men (those in hand count) or without a move loses. All these
rules, and the encoding of positions, are in `kinds/mills.py`. This module has the board, with points row by row from
the top. (R. Gasser, "Solving Nine Men's Morris", Games of No Chance, 1996.)
"""

from functools import cached_property

from retrograde.games.contract.drawing import Board
from retrograde.games.kinds.mills import Mills


class Morris(Mills):
    """Close mills, and take the opponent's men until two are left."""

    title = "Men's morris"
    words = {"X": "White", "O": "Black"}
    example = "3"
    bits = to_move = "XO"

    men: int = 9
    flying: bool = True

    def __post_init__(self):
        if self.men not in (3, 4, 5, 6, 9, 10, 11):
            raise ValueError("each player has three to six men, or nine to eleven")

    section_steps = Mills.section_steps

    # The board

    @property
    def squares(self):
        return 1 if self.men == 3 else 2 if self.men <= 6 else 3

    @cached_property
    def ways(self):
        """The lines of the board as sequences of points (x, y), measured right and down from the centre."""
        rings, sides, across = range(1, self.squares + 1), (-1, 1), (-1, 0, 1)
        lines = [[(ring * at, ring * side) for at in across] for ring in rings for side in sides]
        if self.squares == 1:
            lines += [[(at, 0) for at in across], *([(at, at * side) for at in across] for side in sides)]
        else:
            lines += [[(0, ring * side) for ring in rings] for side in sides]
        return lines + [[(y, x) for x, y in line] for line in lines]

    @cached_property
    def points(self):
        """All points, row by row from the top left."""
        return tuple(sorted({point for way in self.ways for point in way}, key=lambda point: point[::-1]))

    @cached_property
    def lines(self):
        """The lines as sequences of point numbers."""
        return tuple({tuple(sorted(map(self.points.index, way))): 0 for way in self.ways})

    @cached_property
    def symmetries(self):
        """A reflection, a reflection along the diagonal, and the exchange of the inner and the outer square."""
        mirrored = [(-x, y) for x, y in self.points]
        turned = [(y, x) for x, y in self.points]
        rings = [max(abs(x), abs(y), 1) for x, y in self.points]
        wider = [self.squares + 1 - ring for ring in rings]
        out = [(x // ring * by, y // ring * by) for (x, y), ring, by in zip(self.points, rings, wider, strict=True)]
        return [[self.points.index(point) for point in points] for points in (mirrored, turned, out)]

    @cached_property
    def board(self):
        names = tuple(f"{'abcdefg'[x + self.squares]}{y + self.squares + 1}" for x, y in self.points)
        return Board(self.points, names, {"X": "white disc", "O": "black disc"}, lines=self.pairs)
