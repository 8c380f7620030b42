"""Tac Tix, by Piet Hein: Nim on a square, with rows and columns."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import WIN, Game


class TacTix(Game):
    """Take counters that lie side by side in one row or column. Whoever takes the last counter wins, or loses in the
    misère game."""

    title = "Tac Tix"
    cells = Cells(lambda game: grid(game.size, game.size), symmetries="all", O="seagreen disc")
    size: int = 4
    misere: bool = False

    @property
    def metric(self):
        return "" if self.misere else "nimber"

    @cached_property
    def start(self):
        return self.read("/".join(["O" * self.size] * self.size))

    @cached_property
    def runs(self):
        """The neighbouring cells that a move may clear, as bits: parts of rows, and then of columns."""
        size = self.size
        parts = [range(begin, end) for begin in range(size) for end in range(begin + 1, size + 1)]
        rows = [[size * row + column for column in part] for row in range(size) for part in parts]
        columns = [[size * row + column for row in part] for column in range(size) for part in parts]
        return self.cells.bits_of([*rows, *(run for run in columns if len(run) > 1)])

    def generate_moves(self, position):
        """Yield the numbers of the runs of counters that are all there."""
        counters = self.cells.set(position, 1)
        for move in range(len(self.runs)):
            if self.runs[move] & ~counters == 0:
                yield move

    def do_move(self, position, move):
        return self.cells.with_set(position, 1, self.cells.set(position, 1) & ~self.runs[move])

    def primitive(self, position):
        return WIN if self.misere and self.cells.count(position) == 0 else super().primitive(position)

    def tier(self, position):
        return self.cells.size - self.cells.count(position)

    def draw_move(self, position, move):
        return tuple(cell for cell in range(self.cells.size) if self.runs[move] >> cell & 1)
