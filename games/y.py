"""The game of Y, by Claude Shannon, Craige Schensted and Charles Titus: connect the three sides of a triangle."""

from functools import cached_property
from itertools import permutations

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, Game
from retrograde.games.kinds.sliding import joined


def triangle(game):
    """Return a triangle of points, `game.size` on each side, row by row from the top."""
    rows = [(row, at) for row in range(game.size) for at in range(row + 1)]
    names = tuple(f"{'abcdefgh'[row]}{at + 1}" for row, at in rows)
    lines = [(rows.index((row, at)), rows.index(near)) for row, at in rows
             for near in ((row, at + 1), (row + 1, at), (row + 1, at + 1)) if near in rows]  # fmt: skip
    return Board(tuple((at - row / 2, float(row)) for row, at in rows), names, {}, lines=tuple(lines))


def turns(game):
    """Return the turns and reflections of the triangle: a point's distances from the three sides change places."""
    size = game.size
    points = [(row - at, at, size - 1 - row) for row in range(size) for at in range(row + 1)]
    orders = list(permutations(range(3)))
    return [[points.index((point[a], point[b], point[c])) for point in points] for a, b, c in orders]


class Y(Game):
    """Put a stone on an empty point. The first player whose connected stones touch all three sides wins. There are no
    ties."""

    words = {"R": "Red", "B": "Blue"}
    cells = Cells(triangle, symmetries=turns, R="crimson disc", B="royalblue disc")
    mover = Turn("RB", by="cells")
    size: int = 4

    def __post_init__(self):
        if not 1 <= self.size <= 8:
            raise ValueError("size must be from 1 to 8")

    @cached_property
    def near(self):
        """For each point, the points beside it, as bits."""
        return joined(self.cells.size, self.cells.board.lines)

    @cached_property
    def sides(self):
        """The points of the left, the right and the lower side, as bits."""
        ends = [row * (row + 1) // 2 for row in range(self.size + 1)]
        left, right = sum(1 << end for end in ends[:-1]), sum(1 << end - 1 for end in ends[1:])
        return left, right, (1 << ends[-1]) - (1 << ends[-2])

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        """Flood the stones of the player who moved last, from each stone of the left side."""
        stones = self.cells.set(position, self.mover.other(position))
        left, right, lower = self.sides
        seeds = stones & left
        while seeds:
            reached, before = seeds & -seeds, 0
            while reached != before:
                before = reached
                for point in range(self.cells.size):
                    if before >> point & 1:
                        reached |= self.near[point] & stones
            if reached & right and reached & lower:
                return LOSE
            seeds &= ~reached
        return UNDECIDED

    def tier(self, position):
        return self.cells.count(position)
