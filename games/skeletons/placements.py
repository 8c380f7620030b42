"""SlideToAdjacent: say here what the game is.

A position is two bits for each cell, those of X's men below those of O's men, and above them the player to move.
"""

from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.placed import placements
from retrograde.games.kinds.sliding import Sliding, joined
from retrograde.games.kinds.steps import Steps


class SlideToAdjacent(Sliding):
    """Slide one of your three men to an adjacent empty cell; a player who cannot move loses."""

    bits = to_move = "XO"
    start = 0b000_000_111 << 9 | 0b111_000_000
    board = grid(3, 3, {"X": "black disc", "O": "white disc"})

    # What may stand on the nine cells: in tier 0, three men of each player. The positions are numbered by this

    placements = placements(9, [(0, (3, 3))], grid(3, 3).symmetries, swap=(1, 0))

    near = joined(9, [(a, b) for a, b in grid(3, 3).in_a_row(2) if b - a in (1, 3)])
    """For each cell, the cells beside it as bits; diagonal neighbours have numbers that differ by 2 or 4."""

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield `9 * source + goal` for each slide."""
        mine, theirs = self.sides(position)
        for source in range(9):
            if mine >> source & 1:
                for goal in range(9):
                    if self.near[source] & ~(mine | theirs) & 1 << goal:
                        yield 9 * source + goal

    def do_move(self, position, move):
        """Return the position after a slide, with the other player to move."""
        cells = 1 << move // 9 | 1 << move % 9
        mover = position >> 18
        return position ^ cells << 9 * mover ^ 1 << 18

    # The same moves for many positions at once: slides of the men of kind 0, after which O is to move

    def slides(self, men, number):
        return [(0, 1, self.near)]

    def section_steps(self, men, number):
        return Steps(slides=self.near, slid=1)
