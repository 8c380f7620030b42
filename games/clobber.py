"""Clobber, by Michael Albert, J. P. Grossman and Richard Nowakowski: capture a neighbour with every move."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import Game


def exchanges(game):
    """Return the symmetries of the board: after each of them the colours may be exchanged."""
    board = grid(game.width, game.height)
    return [range(board.count), *board.symmetries]


class Clobber(Game):
    """Move a stone onto a neighbouring one of the opponent, which is captured. Whoever cannot move loses."""

    cells = Cells(lambda game: grid(game.width, game.height), "all", exchanges, X="white disc", O="black disc")
    mover = Turn("XO")
    width: int = 4
    height: int = 3

    @cached_property
    def start(self):
        rows = [("XO" * self.width)[row % 2 : row % 2 + self.width] for row in range(self.height)]
        return self.read("/".join([*rows, "X"]))

    @cached_property
    def steps(self):
        return self.cells.steps((0, -1), (1, 0), (0, 1), (-1, 0))

    def generate_moves(self, position):
        """Yield `4 * cell + way` for each own stone next to an opponent's, in that way."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for way in range(4):
                goal = self.steps[cell][way]
                if goal >= 0 and self.cells.get(position, goal) == self.mover.other(position):
                    yield 4 * cell + way

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // 4, self.steps[move // 4][move % 4]))

    def tier(self, position):
        return self.cells.size - self.cells.count(position)

    def draw_move(self, position, move):
        return move // 4, self.steps[move // 4][move % 4]
