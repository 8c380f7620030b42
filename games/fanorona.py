"""Fanorona, from Madagascar: a man takes those in line before the point to which it steps, or behind the one it leaves.

A position is a bit for each point with a white man, row by row from the top left, then one for each with a black one,
and above them who is to move, 0 for White. A step goes to an empty point beside, along a line; lines go cornerwise from
every other point. By approach it takes the men of the other from the next point on, as far as they stand side by side,
or those behind by withdrawal; who can take must. That man may go on as long as it takes: never to a point where it was
in this turn, nor twice running in one direction. Who cannot move, for want of men or of room, has lost; nothing forbids
to go round. A whole turn is a move, the last step lowest::

    1 man | step | step …       five bits for the point; for a step three of its direction, and one for withdrawal

M. P. D. Schadd and others tell who wins: "Best Play in Fanorona Leads to Draw" (New Math. and Nat. Comp. 4, 2008).
"""

from dataclasses import replace
from functools import cached_property
from itertools import product

from retrograde.games.drawing import grid
from retrograde.games.placed import Placed, placements


class Fanorona(Placed):
    """Take all men of the other, by going up to them or away from them."""

    words = {"W": "White", "B": "Black"}
    bits = to_move = "WB"

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
        black = sum(1 << (cell if cell < row or (cell - row) % 2 == 0 else 2 * middle - cell) for cell in range(middle))
        return (1 << self.cells) - 1 ^ black ^ 1 << middle | black << self.cells

    @cached_property
    def board(self):
        points = grid(self.width, self.height, {"W": "white disc", "B": "black disc"})
        lines = ((cell, to) for cell, around in enumerate(self.beside) for to in around if to > cell)
        return replace(points, cells=0, lines=tuple(lines))

    @cached_property
    def placements(self):
        """By men; as many of both, exchanged, are of the same tier. Who has none is to move, and has lost."""
        counts = [(mine, theirs) for mine in range(self.cells // 2 + 1) for theirs in range(1, self.cells // 2 + 1)]
        tiers = sorted({(-sum(men), max(men)) for men in counts})
        sections = [(tiers.index((-sum(men), max(men))), men) for men in counts]
        return placements(self.cells, sections, grid(self.width, self.height).symmetries, swap=(1, 0))

    @cached_property
    def beside(self):
        """By point and direction, the next point of the line, or -1; opposite directions are as far from both ends."""
        ways = [down * self.width + right for down, right in product((-1, 0, 1), repeat=2) if down or right]
        pairs = [pair for row in grid(self.width, self.height).in_a_row(2) for pair in (row, row[::-1])]
        lines = {pair for pair in pairs if pair[0] % 2 == 0 or abs(pair[1] - pair[0]) in (1, self.width)}
        return tuple(tuple(at + way if (at, at + way) in lines else -1 for way in ways) for at in range(self.cells))

    # The rules

    def generate_moves(self, position):
        mine, theirs = self.sides(position)
        capturing = self.can_take(mine, theirs)
        for man in range(self.cells):
            path, step = 32 | man, 0 if mine >> man & 1 else 16
            while step < 16 or path >= 64:  # to and fro in the tree of all ways that the man can go
                taken = self.taken(mine, theirs, path, step) if step < 16 else -1
                if step == 16:
                    path, step = path >> 4, (path & 15) + 1
                elif taken > 0 or (taken == 0 and not capturing and not step & 1):
                    path, step = path << 4 | step, 0 if capturing else 16
                    yield path
                else:
                    step += 1

    def do_move(self, position, path):
        mine, theirs = self.sides(position)
        man, left, been = self.gone(theirs, path)
        mine, other = mine & ~been | 1 << man, 1 - (position >> 2 * self.cells)
        return other << 2 * self.cells | mine << (1 - other) * self.cells | left << other * self.cells

    def can_take(self, mine, theirs):
        for man in range(self.cells):
            for step in range(16 * (mine >> man & 1)):
                if self.taken(mine, theirs, 32 | man, step) > 0:
                    return True
        return False

    def taken(self, mine, theirs, path, step):
        """Return the men that are taken by a step after others, or -1 where it cannot be made."""
        man, left, been = self.gone(theirs, path)
        to = self.beside[man][step >> 1]
        if to < 0 or (mine | left | been) >> to & 1 or (path >= 64 and step >> 1 == path >> 1 & 7):
            return -1
        return self.in_line(left, man, step)

    def gone(self, theirs, path):
        """Return where a man has come to, which of the other's are left, and all points where it has been."""
        steps = (path.bit_length() - 6) // 4
        man = path >> 4 * steps & 31
        been = 1 << man
        for at in range(steps):
            step = path >> 4 * (steps - 1 - at) & 15
            theirs ^= self.in_line(theirs, man, step)
            man = self.beside[man][step >> 1]
            been |= 1 << man
        return man, theirs, been

    def in_line(self, theirs, man, step):
        """Return the men behind a man, if it withdraws, or before the point to which it goes."""
        direction = 7 - (step >> 1) if step & 1 else step >> 1
        at = self.beside[man if step & 1 else self.beside[man][direction]][direction]
        men = 0
        while at >= 0 and theirs >> at & 1:
            men |= 1 << at
            at = self.beside[at][direction]
        return men

    # For people

    def draw_move(self, position, path):
        """Return the points to which the man comes, from where it stands."""
        return tuple(self.gone(0, path >> later)[0] for later in range(path.bit_length() - 6, -1, -4))

    def draw_steps(self, position, path):
        return tuple((point,) for point in self.draw_move(position, path))

    def move_name(self, position, path):
        """Return the points, each to which a man comes and takes with A for approach or W for withdrawal: `a2-b2A`."""
        points = [self.board.names[point] for point in self.draw_move(position, path)]
        if self.can_take(*self.sides(position)):
            points = [name + "AW"[path >> 4 * (len(points) - 1 - at) & 1] * (at > 0) for at, name in enumerate(points)]
        return "-".join(points)

    def ending(self, position):
        return "no man can move" if self.sides(position)[0] else "all men are taken"
