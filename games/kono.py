"""Four Field Kono, from Korea: leap over one of your own stones to capture.

Rules of GamesmanClassic: capturing is compulsory, and a player with a single stone has lost.
"""

from functools import cached_property

from retrograde.games.clobber import exchanges
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, Game


class Kono(Game):
    """Leap straight over a stone of yours onto the opponent's stone behind it, which is captured. If you cannot, step
    to an empty cell beside. A player with a single stone, or who cannot move, loses."""

    title = "Four Field Kono"
    cells = Cells(lambda game: grid(game.width, game.height), "all", exchanges, X="black disc", O="white disc")
    mover = Turn("XO")
    example = "4,3"
    width: int = 4
    height: int = 4

    def __post_init__(self):
        if self.width < 2 or self.height < 3:
            raise ValueError("width must be at least 2, and height at least 3")

    @cached_property
    def start(self):
        half = self.width * (self.height // 2)
        return self.position_of("O" * half + "." * (self.height % 2 * self.width) + "X" * half, "X")

    @cached_property
    def steps(self):
        """For each cell, the cells beside it, then those beyond them, in the same order; -1 beyond the board."""
        return self.cells.steps((0, -1), (1, 0), (0, 1), (-1, 0), (0, -2), (2, 0), (0, 2), (-2, 0))

    def generate_moves(self, position):
        """Yield `8 * cell + way`: captures (ways 4 to 7, two cells away), or if there is none, steps (ways 0 to 3).

        >>> game = Kono()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(100, 'a4-a2'), (108, 'b4-b2'), (116, 'c4-c2')]
        """
        own, other = self.mover.sign(position), self.mover.other(position)
        capturing = False
        for cell in self.cells.having(position, own):
            for way in range(4, 8):
                goal = self.steps[cell][way]
                over = self.steps[cell][way - 4]
                if goal >= 0 and self.cells.has(position, goal, other) and self.cells.has(position, over, own):
                    capturing = True
                    yield 8 * cell + way
        if not capturing:
            for cell in self.cells.having(position, own):
                for way in range(4):
                    goal = self.steps[cell][way]
                    if goal >= 0 and self.cells.is_empty(position, goal):
                        yield 8 * cell + way

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // 8, self.steps[move // 8][move % 8]))

    def primitive(self, position):
        few = self.cells.count_of(position, self.mover.sign(position)) < 2
        return LOSE if few else super().primitive(position)

    def tier(self, position):
        return self.cells.size - self.cells.count(position)

    def draw_move(self, position, move):
        return move // 8, self.steps[move // 8][move % 8]
