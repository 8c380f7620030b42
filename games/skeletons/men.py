"""CrossOver: say here what the game is."""

from functools import cached_property

from retrograde.games import Cells, Game, Turn
from retrograde.games.contract.drawing import grid


class CrossOver(Game):
    """Step to an empty cell, or capture a man beside yours; a player who cannot move loses."""

    words = {"X": "Black", "O": "White"}

    # What a position is: men on cells, and the player to move

    cells = Cells(lambda game: grid(game.width, game.height), symmetries="mirror", X="black disc", O="white disc")
    mover = Turn("XO")

    # Options, which users set on the command line: men.py:width=4

    width: int = 3
    height: int = 3

    @cached_property
    def start(self):
        empty = ["." * self.width] * (self.height - 2)
        return self.read("/".join(["O" * self.width, *empty, "X" * self.width, "X"]))

    @cached_property
    def steps(self):
        """For each cell, where steps lead, -1 beyond the board: X goes up or sideways, then O down or sideways."""
        return self.cells.steps((0, -1), (-1, 0), (1, 0), (0, 1), (-1, 0), (1, 0))

    def goal(self, position, move):
        return self.steps[move // 3][3 * self.mover.get(position) + move % 3]

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield `3 * cell + way` for each man and each way that it may step."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for move in range(3 * cell, 3 * cell + 3):
                goal = self.goal(position, move)
                if goal >= 0 and not self.cells.has(position, goal, self.mover.sign(position)):
                    yield move

    def do_move(self, position, move):
        """Return the position after a move; a man on the goal is captured."""
        return self.mover.passed(self.cells.go(position, move // 3, self.goal(position, move)))

    def tier(self, position):
        """Return a number that no move decreases: there are ever fewer men."""
        return self.cells.size - self.cells.count(position)

    # For people. Texts and pictures follow from the fields

    def draw_move(self, position, move):
        """Return the cells where a move begins and ends."""
        return move // 3, self.goal(position, move)
