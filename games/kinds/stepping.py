"""Games of men that step on a board of cells. The game declares the ways, and says which steps are allowed::

    class Racers(Stepping):
        cells = Cells(grid(3, 3), X="black disc", O="white disc")
        mover = Turn("XO")
        ways = ((0, -1), (1, 0)), ((0, 1), (1, 0))    # for either player: ahead, and to the right

        def allows(self, position, way, goal):
            return goal >= 0 and self.cells.is_empty(position, goal)

A move is the cell that a man leaves, times the number of ways, plus the number of the way.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from retrograde.games.contract.game import Game


class Stepping(Game):
    """Base class for games that declare `cells`, `mover`, `ways` and `allows`; moves follow."""

    if TYPE_CHECKING:
        cells: ClassVar[Any]
        mover: ClassVar[Any]
        ways: ClassVar[Any]
        """The ways of the men of either player, as many of the second as of the first: (right, down)."""

    def allows(self, position, way, goal):
        """Return whether a man of the player to move may go to a cell, -1 if it is beyond the board, in a way."""
        return goal >= 0 and self.cells.is_empty(position, goal)

    @cached_property
    def steps(self):
        """For each cell, where the ways of the first player lead, then those of the second; -1 beyond the board."""
        first, second = self.ways
        return self.cells.steps(*first, *second)

    @cached_property
    def way_count(self):
        return len(self.ways[0])

    def goal(self, position, move):
        """Return the cell to which a move leads, -1 for beyond the board."""
        return self.steps[move // self.way_count][self.way_count * self.mover.get(position) + move % self.way_count]

    def generate_moves(self, position):
        """Yield the moves of the men of the player to move, cell by cell and way by way."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for way in range(self.way_count):
                move = self.way_count * cell + way
                if self.allows(position, way, self.goal(position, move)):
                    yield move

    def do_move(self, position, move):
        """Return the position after a step. A man on the goal is gone."""
        return self.mover.passed(self.cells.go(position, move // self.way_count, self.goal(position, move)))

    def before_steps(self, position):
        """Yield the positions from which a step without capture leads here."""
        for cell in self.cells.empty(position):
            for way in range(self.way_count):
                goal = self.steps[cell][self.way_count * (1 - self.mover.get(position)) + way]
                if goal >= 0 and self.cells.has(position, goal, self.mover.other(position)):
                    before = self.mover.passed(self.cells.go(position, goal, cell))
                    if self.allows(before, way, goal):
                        yield before

    def draw_move(self, position, move):
        return move // self.way_count, self.goal(position, move)
