"""Lines of Action, by Claude Soucie: bring all your men together.

On n × n cells, 2 (n - 2) men each begin on the edge. The rules are those of the World Championship and of M. Winands'
programs: who connects the men of both players with one move wins (in some older rules it is a draw).
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, WIN, Game
from retrograde.games.kinds.points import DIRECTIONS
from retrograde.games.kinds.sliding import joined


class LinesOfAction(Game):
    """Move a man along a line by exactly as many cells as there are men on the line. It passes over your men, not over
    the opponent's, and captures a man of the opponent where it lands. You win when all your men are connected, also
    diagonally. A player who cannot move loses."""

    title = "Lines of Action"
    words = {"X": "Black", "O": "White"}
    example = "3"
    cells = Cells(lambda game: grid(game.side, game.side), symmetries="start", X="black disc", O="white disc")
    mover = Turn("XO")
    side: int = 5

    def __post_init__(self):
        if not 3 <= self.side <= 5:
            raise ValueError("side must be from 3 to 5")

    @cached_property
    def start(self):
        edge, inside = "." + "X" * (self.side - 2) + ".", "O" + "." * (self.side - 2) + "O"
        return self.read("/".join([edge, *[inside] * (self.side - 2), edge, "X"]))

    @cached_property
    def rays(self):
        return self.cells.rays(*DIRECTIONS)

    @cached_property
    def lanes(self):
        """For each cell and each way, all cells of the line in this way and back, as bits."""
        ahead = [self.cells.bits_of([[cell for cell in ray if cell >= 0] for ray in rays]) for rays in self.rays]
        return tuple(tuple(1 << cell | bits[way] | bits[7 - way] for way in range(8))
                     for cell, bits in enumerate(ahead))  # fmt: skip

    @cached_property
    def near(self):
        """For each cell, the cells around it, as bits."""
        return joined(self.cells.size, self.cells.board.in_a_row(2))

    def goal(self, position, move):
        """Return the cell where a man lands; -1 if it cannot move. A move is 8 × its cell + the way."""
        cell, way = move // 8, move % 8
        # How many cells the man has still to go: as many as there are men on its line.
        left = (self.lanes[cell][way] & self.cells.filled(position)).bit_count()
        for goal in self.rays[cell][way]:
            left -= 1
            if goal < 0:
                return -1
            sign = self.cells.get(position, goal)
            if left == 0:
                return goal if sign != self.mover.sign(position) else -1
            if sign == self.mover.other(position):
                return -1
        return -1

    def generate_moves(self, position):
        """Yield `8 * cell + way` for each man that can move this way."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for way in range(8):
                if self.goal(position, 8 * cell + way) >= 0:
                    yield 8 * cell + way

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // 8, self.goal(position, move)))

    def are_connected(self, men):
        """Return whether men, as bits, form one group."""
        group, before = men & -men, 0
        while group != before:
            before = group
            for cell in range(self.cells.size):
                if before >> cell & 1:
                    group |= self.near[cell] & men
        return group == men

    def primitive(self, position):
        """Return LOSE if the opponent, who has just moved, is connected, else WIN if the player to move is."""
        if self.are_connected(self.cells.set(position, self.mover.other(position))):
            return LOSE
        if self.are_connected(self.cells.set(position, self.mover.sign(position))):
            return WIN
        return super().primitive(position)

    def tier(self, position):
        return self.cells.size - self.cells.count(position)

    def draw_move(self, position, move):
        return move // 8, self.goal(position, move)
