"""Quixo, by Thierry Chapeau: cubes on a square board, blank at first, are taken from the rim and pushed in again.

A position is a bit for each cell with an X, row by row from the top left, then one for each with an O, and above them
who is to move, 0 for X. At each turn a cube of the rim that is blank or one's own is taken out, comes to be one's own,
and is pushed in at another end of its row or column, so that the cubes between move on by one. A full row, column or
diagonal wins, for the other player as well: who makes one of the opponent's loses, even if there is one of one's own.

    . X O .        the cube of a2, taken out by X          . X O .
    X . . O        and pushed in at d2, on the right       . . O X
"""

from functools import cached_property

from retrograde.games.drawing import grid
from retrograde.games.game import LOSE, UNDECIDED, WIN
from retrograde.games.placed import Placed, placements


class Quixo(Placed):
    """Take a cube from the rim, push it in again, and make a line of your own."""

    example = "3"
    bits = to_move = "XO"

    side: int = 5

    start = 0

    def __post_init__(self):
        if not 2 <= self.side <= 5:
            raise ValueError("the board must have two to five cells a side")

    @property
    def cells(self):
        return self.side**2

    @cached_property
    def board(self):
        return grid(self.side, self.side, {"X": "cross", "O": "ring"})

    @cached_property
    def placements(self):
        counts = ((x, o) for x in range(self.cells + 1) for o in range(self.cells + 1 - x))
        board = grid(self.side, self.side)
        return placements(self.cells, ((sum(men), men) for men in counts), board.symmetries, swap=(1, 0))

    @cached_property
    def lines(self):
        return tuple(sum(1 << cell for cell in line) for line in grid(self.side, self.side).in_a_row(self.side))

    @cached_property
    def pushes(self):
        """Whence and whither a cube may be moved, the cells from here to there, and from one to the next."""
        ends = (0, self.side - 1)
        found = []
        for source in range(self.cells):
            row, column = divmod(source, self.side)
            if row in ends or column in ends:
                targets = [(row, end, 1) for end in ends] + [(end, column, self.side) for end in ends]
                pairs = ((self.side * down + right, step) for down, right, step in targets)
                found += [(source, target, between(source, target, step), step) for target, step in pairs]
        return tuple(push for push in found if push[0] != push[1])

    # The rules: a move is the number of a push

    def generate_moves(self, position):
        theirs = position >> (1 - self.turn_of(position)) * self.cells
        for push in range(len(self.pushes)):
            if not theirs >> self.pushes[push][0] & 1:
                yield push

    def do_move(self, position, push):
        source, target, cells, step = self.pushes[push]
        return self.pushed(position, self.turn_of(position), source, target, cells, step)

    def primitive(self, position):
        full = (1 << self.cells) - 1
        turn = self.turn_of(position)
        mine, theirs = position >> turn * self.cells & full, position >> (1 - turn) * self.cells & full
        lost = False
        for line in self.lines:
            if mine & line == line:
                return WIN
            lost |= theirs & line == line
        return LOSE if lost else UNDECIDED

    def parents(self, position):
        """Yield the positions in which the other player has moved a cube of his own, and pushed it in."""
        other = 1 - self.turn_of(position)
        for push in range(len(self.pushes)):
            source, target, cells, step = self.pushes[push]
            if position >> other * self.cells >> target & 1:
                yield self.pushed(position, other, target, source, cells, step)

    def turn_of(self, position):
        """Return whose turn it is, 0 for X and 1 for O."""
        return position >> 2 * self.cells

    def pushed(self, position, player, source, target, cells, step):
        """Return a position after a player's push, and with the turn of the other one."""
        board = (1 << 2 * self.cells) - 1
        both = cells | cells << self.cells
        moving = position & both & ~(1 << source | 1 << source + self.cells)
        moving = moving >> step if target > source else moving << step
        men = position & board & ~both | moving | 1 << target + player * self.cells
        return men | (1 - self.turn_of(position)) << 2 * self.cells

    # For people

    def draw_move(self, position, push):
        """Return whence the cube is taken, and where it is pushed in."""
        return self.pushes[push][:2]


def between(source, target, step):
    """Return the cells from one to another, as bits."""
    return sum(1 << cell for cell in range(min(source, target), max(source, target) + 1, step))
