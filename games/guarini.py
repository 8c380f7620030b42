"""Guarini's puzzle of 1512: white and black knights exchange their places."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import WIN, Game


class Guarini(Game):
    """Move a knight at a time to an empty cell, until the white and the black knights have exchanged their places."""

    title = "Guarini's puzzle"
    players = 1
    words = {"N": "White", "n": "Black"}
    example = "4,3"
    cells = Cells(lambda game: grid(game.width, game.height), symmetries="start", N="white knight", n="black knight")
    width: int = 3
    height: int = 3
    knights: int = 2
    """How many knights of each colour begin in the first and the last row, from the corners inwards."""

    def __post_init__(self):
        if not 1 <= self.knights <= self.width or self.height < 2:
            raise ValueError("knights must be from 1 to the width, and height at least 2")

    @cached_property
    def row(self):
        """The columns with a knight at first, as bits."""
        inwards = sorted(range(self.width), key=lambda column: (min(column, self.width - 1 - column), column))
        return sum(1 << column for column in inwards[: self.knights])

    @cached_property
    def start(self):
        row = "".join("N" if self.row >> column & 1 else "." for column in range(self.width))
        return self.read("/".join([row.lower(), *["." * self.width] * (self.height - 2), row]))

    @cached_property
    def leaps(self):
        return self.cells.steps((1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2))

    def generate_moves(self, position):
        """Yield `8 * cell + way` for each leap of a knight to an empty cell."""
        for cell in self.cells.occupied(position):
            for way in range(8):
                goal = self.leaps[cell][way]
                if goal >= 0 and self.cells.is_empty(position, goal):
                    yield 8 * cell + way

    def do_move(self, position, move):
        return self.cells.go(position, move // 8, self.leaps[move // 8][move % 8])

    def primitive(self, position):
        """Return WIN if the knights have exchanged their rows, LOSE if no knight can move, else UNDECIDED."""
        last = self.row << self.width * (self.height - 1)
        ended = self.cells.set(position, 1) == self.row and self.cells.set(position, 2) == last
        return WIN if ended else super().primitive(position)

    def parents(self, position):
        for move in self.generate_moves(position):
            yield self.do_move(position, move)

    def draw_move(self, position, move):
        return move // 8, self.leaps[move // 8][move % 8]
