"""Pong Hau K'i, from China: two stones each on five points."""

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import Game
from retrograde.games.kinds.sliding import joined

LINES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 4), (2, 3), (2, 4))
"""The points are top left and right, the centre, and bottom left and right, which no line joins."""
BOARD = Board(((0.0, 0.0), (2.0, 0.0), (1.0, 1.0), (0.0, 2.0), (2.0, 2.0)), tuple("12345"), {}, lines=LINES)


class PongHauKi(Game):
    """Move a stone along a line to the empty point. A player who cannot move loses."""

    title = "Pong Hau K'i"
    words = {"X": "Black", "O": "White"}
    cells = Cells(
        BOARD, symmetries="mirror", exchanges=[(0, 1, 2, 3, 4), (1, 0, 2, 4, 3)], X="black disc", O="white disc"
    )
    mover = Turn("XO")
    start = "OX/./XO/X"
    near = joined(5, LINES)
    """For each point, those that lines join with it, as bits."""

    def generate_moves(self, position):
        """Yield the points whose own stone can move to the empty point."""
        for point in self.cells.having(position, self.mover.sign(position)):
            if self.near[point] & self.cells.free(position):
                yield point

    def do_move(self, position, point):
        return self.mover.passed(self.cells.go(position, point, self.empty_point(position)))

    def empty_point(self, position):
        return self.cells.free(position).bit_length() - 1

    def draw_move(self, position, point):
        return point, self.empty_point(position)
