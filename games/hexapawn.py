"""Hexapawn, by Martin Gardner: a row of chess pawns against another."""

from functools import cached_property

from retrograde.games import LOSE, Cells, Game, Turn
from retrograde.games.contract.drawing import grid


class Hexapawn(Game):
    """Step ahead, or capture diagonally. Win by reaching the last row, or by leaving the opponent no move."""

    words = {"X": "White", "O": "Black"}
    cells = Cells(lambda game: grid(game.width, game.height), symmetries="mirror", X="white pawn", O="black pawn")
    mover = Turn("XO")
    width: int = 3
    height: int = 3

    @cached_property
    def start(self):
        return self.read("/".join(["O" * self.width, *["." * self.width] * (self.height - 2), "X" * self.width, "X"]))

    @cached_property
    def steps(self):
        return self.cells.steps((0, -1), (-1, -1), (1, -1), (0, 1), (-1, 1), (1, 1))

    def goal(self, position, move):
        return self.steps[move // 3][3 * self.mover.get(position) + move % 3]

    def generate_moves(self, position):
        """Yield `3 * cell + way` for each move of a pawn: way 0 steps straight, 1 and 2 capture diagonally."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for move in range(3 * cell, 3 * cell + 3):
                goal = self.goal(position, move)
                if goal >= 0 and self.cells.get(position, goal) == (self.mover.other(position) if move % 3 else 0):
                    yield move

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // 3, self.goal(position, move)))

    def primitive(self, position):
        """Return LOSE if an opponent's pawn is on its last row or the player cannot move, else UNDECIDED."""
        begin = 0 if self.mover.get(position) else self.cells.size - self.width
        last_row = (1 << self.width) - 1 << begin
        return LOSE if self.cells.set(position, self.mover.other(position)) & last_row else super().primitive(position)

    def draw_move(self, position, move):
        return move // 3, self.goal(position, move)
