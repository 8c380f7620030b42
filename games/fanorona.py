"""Fanorona, from Madagascar: a man takes those in line before the point to which it steps, or behind the one it leaves.

A position is a bit for each point with a white man, row by row from the top left, then one for each with a black one,
and above them who is to move, 0 for White. A step goes to an empty point beside, along a line; lines go cornerwise from
every other point. By approach it takes the men of the other from the next point on, as far as they stand side by side,
or those behind by withdrawal; who can take must. That man may go on as long as it takes: never to a point where it was
in this turn, nor twice running in one direction. Who cannot move, for want of men or of room, has lost; nothing forbids
to go round. A move is a whole turn, as `captures.py` codes it: three bits of a step are its direction, and the lowest
says whether it takes by withdrawal.

M. P. D. Schadd and others tell who wins: "Best Play in Fanorona Leads to Draw" (New Math. and Nat. Comp. 4, 2008).
"""

from functools import cached_property

from retrograde.games.kinds.captures import Captures
from retrograde.games.kinds.placed import as_bits, placements
from retrograde.games.kinds.points import alquerque, ways
from retrograde.games.kinds.sections import tiered


class Fanorona(Captures):
    """Take all men of the other, by going up to them or away from them."""

    words = {"W": "White", "B": "Black"}
    bits = to_move = "WB"
    steps = 16

    width: int = 3
    height: int = 3

    def __post_init__(self):
        if min(self.width, self.height) < 3 or self.cells % 2 == 0 or self.cells > 27:
            raise ValueError("width and height must be odd, three at least, and the board have at most 27 points")

    @property
    def cells(self):
        return self.width * self.height

    @cached_property
    def start(self):
        """Black above and White below; from the left by turns up to the centre, where opposite men are of two sides."""
        middle = self.cells // 2
        row = middle - self.width // 2
        black = as_bits(cell if cell < row or (cell - row) % 2 == 0 else 2 * middle - cell for cell in range(middle))
        return (1 << self.cells) - 1 ^ black ^ 1 << middle | black << self.cells

    @cached_property
    def board(self):
        return alquerque(self.width, self.height, {"W": "white disc", "B": "black disc"})

    @cached_property
    def ways(self):
        return ways(alquerque(self.width, self.height))

    @cached_property
    def placements(self):
        """By men; as many of both, exchanged, are of the same tier. Who has none is to move, and has lost."""
        counts = [(mine, theirs) for mine in range(self.cells // 2 + 1) for theirs in range(1, self.cells // 2 + 1)]
        sections = tiered(((-sum(men), max(men)), men, 0) for men in counts)
        return placements(self.cells, sections, alquerque(self.width, self.height).symmetries, swap=(1, 0))

    # The rules

    def target(self, point, step):
        return self.ways[point][step >> 1]

    def plain(self, step):
        return not step & 1

    def goes_on(self, path, step, to, been):
        """Tell whether a man has not been at a point, and does not go on in the same direction."""
        return not been >> to & 1 and (path < 64 or step >> 1 != path >> 1 & 7)

    def taken(self, theirs, man, step):
        """Return the men behind a man, if it withdraws, or before the point to which it goes."""
        direction = 7 - (step >> 1) if step & 1 else step >> 1
        return self.row(theirs, self.ways[man if step & 1 else self.ways[man][direction]][direction], direction)

    # For people

    def move_name(self, position, path):
        """Return the points, each to which a man comes and takes with A for approach or W for withdrawal: `a2-b2A`."""
        points = super().move_name(position, path).split("-")
        _, theirs = self.sides(position)
        if self.gone(theirs, path)[1] != theirs:
            for at in range(1, len(points)):
                points[at] += "AW"[path >> 4 * (len(points) - 1 - at) & 1]
        return "-".join(points)

    def ending(self, position):
        return "no man can move" if self.sides(position)[0] else "all men are taken"
