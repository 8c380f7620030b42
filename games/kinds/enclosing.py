"""Games such as Othello, in which a new disc turns the opponent's discs that it encloses, in all eight ways::

    class Reversi(Enclosing):
        discs = Cells(grid(4, 4), X="black disc", O="white disc")
        mover = Turn("XO")
        start = "..../.OX./.XO./..../X"

A move is the cell of the new disc, or the number of cells for a pass, which is made only by a player who can turn
nothing. Sets of cells are bits, and move all at once.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from retrograde.games.contract.game import Game

WAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class Enclosing(Game):
    """Base class for games that declare `discs`, cells of a grid, and `mover`, a turn; moves follow.

    The arguments *own* and *other* are the discs of a player and of the opponent, as bits; a way is an index of `WAYS`.
    """

    if TYPE_CHECKING:
        discs: ClassVar[Any]
        mover: ClassVar[Any]

    @cached_property
    def shifts(self):
        return self.discs.shifts(*WAYS)

    def turn(self, position):
        return self.mover.get(position)

    def sides(self, position):
        """Return the discs of the player to move, and those of the opponent."""
        return self.discs.set(position, self.mover.sign(position)), self.discs.set(position, self.mover.other(position))

    def step(self, cells, way):
        """Return the cells one step from *cells* in a way, as bits."""
        left, right, reached = self.shifts[way]
        return cells << left >> right & reached

    def run(self, cells, other, way):
        """Return the discs of *other* that follow some cells in a way, without a gap."""
        found = 0
        cells = self.step(cells, way) & other
        while cells:
            found |= cells
            cells = self.step(cells, way) & other
        return found

    def turned(self, own, other, cell):
        """Return the opponent's discs that a new disc on *cell* turns, as bits."""
        found = 0
        for way in range(8):
            run = self.run(1 << cell, other, way)
            if self.step(run, way) & own:
                found |= run
        return found

    def turning(self, own, other):
        """Return the empty cells on which a disc turns others."""
        found = 0
        for way in range(8):
            found |= self.step(self.run(own, other, way), way)
        return found & ~(own | other)

    def generate_moves(self, position):
        """Yield the cells that turn discs over; the number of cells, a pass, if there are none."""
        own, other = self.sides(position)
        turning = self.turning(own, other)
        for cell in self.discs.empty(position):
            if turning >> cell & 1:
                yield cell
        if turning == 0:
            yield self.discs.size

    def do_move(self, position, move):
        """Return the position after a disc is put on a cell, or after a pass."""
        if move < self.discs.size:
            own, other = self.sides(position)
            turned = self.turned(own, other, move) | 1 << move
            position = self.discs.put_all(position, turned, self.mover.sign(position))
        return self.mover.passed(position)

    def tier(self, position):
        return self.discs.count(position)

    def move_name(self, position, move):
        return "pass" if move == self.discs.size else super().move_name(position, move)
