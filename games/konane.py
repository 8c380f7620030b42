"""Konane, Hawaiian checkers: jump over the opponent's stones until one side cannot."""

from functools import cached_property

from retrograde.games.clobber import Clobber
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells

FIRST = 64
"""Moves below this number take the stone from that cell, which opens the game. In others a stone jumps: the number of
jumps is the move divided by 256, and after that come the way and the cell that it leaves."""


class Konane(Clobber):
    """The players first take one stone each off the full board, then jump in turn. A player who cannot jump loses."""

    cells = Cells(lambda game: grid(game.width, game.height), "start", X="black disc", O="white disc")
    height: int = 4

    @cached_property
    def opening(self):
        """The cells from which the first stone may be taken: the corners and the middle."""
        middle = [((size - 1) // 2, size // 2) for size in (self.width, self.height)]
        places = [(x, y) for y in middle[1] for x in middle[0]]
        places += [(x, y) for y in (0, self.height - 1) for x in (0, self.width - 1)]
        return sum(1 << cell for cell in {self.width * y + x for x, y in places})

    def generate_moves(self, position):
        """Yield the stone to take in the first two turns, then `(4 * jumps + way) * FIRST + cell` for one or more
        jumps."""
        own, other = self.mover.sign(position), self.mover.other(position)
        holes = self.cells.size - self.cells.count(position)
        for cell in self.cells.having(position, own):
            if holes == 0:
                if self.opening >> cell & 1:
                    yield cell
            elif holes == 1:
                for goal in self.steps[cell]:
                    if goal >= 0 and self.cells.is_empty(position, goal):
                        yield cell
            else:
                for way in range(4):
                    at, jumps = cell, 0
                    while at >= 0:
                        over = self.steps[at][way]
                        at = -1
                        if over >= 0 and self.cells.get(position, over) == other:
                            goal = self.steps[over][way]
                            if goal >= 0 and self.cells.is_empty(position, goal):
                                at, jumps = goal, jumps + 1
                                yield (4 * jumps + way) * FIRST + cell

    def do_move(self, position, move):
        """Return the position after a stone is taken, or has jumped.

        >>> game = Konane()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # a1
        ('XOXO/OXOX/XOXO/OXOX/X', '.OXO/OXOX/XOXO/OXOX/O')
        """
        at, way = move % FIRST, move // FIRST % 4
        if move < FIRST:
            position = self.cells.remove(position, at)
        for _ in range(move // FIRST // 4):
            over = self.steps[at][way]
            goal = self.steps[over][way]
            position = self.cells.go(self.cells.remove(position, over), at, goal)
            at = goal
        return self.mover.passed(position)

    def draw_move(self, position, move):
        at = move % FIRST
        for _ in range(2 * (move // FIRST // 4)):
            at = self.steps[at][move // FIRST % 4]
        return (at,) if move < FIRST else (move % FIRST, at)
