"""Fanorona, from Madagascar: a man captures a row of men by approaching or by leaving it.

A position is a bit for each point with a white man, row by row from the top left, then a bit for each point with a
black man, and above them the player to move, 0 for White. A step goes to a neighbouring empty point along a line; every
other point has diagonal lines. A step captures by approach the opponent's men from the next point on, in an unbroken
row, or by withdrawal those behind. A player who can capture must. The same man may go on as long as it captures, but
never to a point where it was in this turn, nor twice running in one direction. A player who cannot move, for lack of
men or of space, loses. Repetition is allowed. A move is a whole turn, as `captures.py` encodes it: three bits of a step
are its direction, and the lowest bit says whether it captures by withdrawal.

M. P. D. Schadd and others found who wins: "Best Play in Fanorona Leads to Draw" (New Math. and Nat. Comp. 4, 2008).
"""

from functools import cached_property

from retrograde.games.kinds.captures import Captures
from retrograde.games.kinds.placed import as_bits, placements
from retrograde.games.kinds.points import alquerque, ways
from retrograde.games.kinds.sections import tiered


class Fanorona(Captures):
    """Capture all men of the opponent, by approaching them or by withdrawing from them."""

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
        """Black above, White below. The middle row alternates from the left up to the centre; opposite men have
        different colours."""
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
        """By numbers of men, the same with the players exchanged. A player without men is to move, and has lost."""
        counts = [(mine, theirs) for mine in range(self.cells // 2 + 1) for theirs in range(1, self.cells // 2 + 1)]
        sections = tiered(((-sum(men), max(men)), men, 0) for men in counts)
        return placements(self.cells, sections, alquerque(self.width, self.height).symmetries, swap=(1, 0))

    # The rules

    def target(self, point, step):
        return self.ways[point][step >> 1]

    def plain(self, step):
        return not step & 1

    def goes_on(self, path, step, to, been):
        """Return whether a man has not been at a point yet, and changes its direction. Below 64 a path has no step."""
        return not been >> to & 1 and (path < 64 or step >> 1 != path >> 1 & 7)

    def taken(self, theirs, man, step):
        """Return the captured men: behind the man if it withdraws, else ahead of the point that it enters."""
        direction = 7 - (step >> 1) if step & 1 else step >> 1
        # The row begins beside the man, or beside the point that it enters.
        return self.row(theirs, self.ways[man if step & 1 else self.ways[man][direction]][direction], direction)

    # Hints

    def estimate(self, position):
        """Return the men of the player to move, less the opponent's."""
        mine, theirs = self.sides(position)
        return mine.bit_count() - theirs.bit_count()

    # For people

    def move_name(self, position, path):
        """Return the points, each followed by A for capture by approach or W for withdrawal: `a2-b2A`."""
        points = super().move_name(position, path).split("-")
        _, theirs = self.sides(position)
        if self.gone(theirs, path)[1] != theirs:
            for at in range(1, len(points)):
                points[at] += "AW"[path >> 4 * (len(points) - 1 - at) & 1]
        return "-".join(points)

    def ending(self, position):
        return "no man can move" if self.sides(position)[0] else "all men are taken"
