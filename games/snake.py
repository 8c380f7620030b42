"""Snake: one player moves the head of a snake, the other its tail, and its body fills the board.

Rules of GamesmanClassic, also its first position on 4 × 4 cells.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.joust import Joust


class Snake(Joust):
    """Move your end of the snake to an empty cell beside it. The snake grows: its body stays. A player who cannot move
    loses."""

    words = {"H": "Head", "T": "Tail"}
    cells = Cells(
        lambda game: grid(game.width, game.height), H="seagreen disc H", T="seagreen disc T", B="yellowgreen square"
    )
    mover = Turn("HT")

    def __post_init__(self):
        if min(self.width, self.height) < 3:
            raise ValueError("width and height must be at least 3")

    @cached_property
    def start(self):
        rows = [row.ljust(self.width, ".") for row in ("", ".HB", "..T", *[""] * (self.height - 3))]
        return self.position_of("".join(rows), "H")

    @cached_property
    def steps(self):
        return self.cells.steps((0, -1), (1, 0), (0, 1), (-1, 0))
