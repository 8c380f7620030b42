"""Isolation, also called Isola, by Bernd Kienitz: step, then take a square off the board."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.joust import Joust
from retrograde.games.kinds.points import DIRECTIONS


class Isolation(Joust):
    """Step to one of the eight squares around, then remove any empty square for good, perhaps the one just left. A
    player who cannot step loses."""

    cells = Cells(
        lambda game: grid(game.width, game.height),
        symmetries="all",
        X="white disc",
        O="black disc",
        B="dimgray square",
    )
    width: int = 3
    height: int = 4

    @cached_property
    def start(self):
        """The pawns stand in the middle of the last and the first row. If the width is even, each is to the left of it,
        as its player sees the board."""
        at = (self.width - 1) // 2
        first, last = "O".rjust(at + 1, ".").ljust(self.width, "."), "X".rjust(at + 1, ".").ljust(self.width, ".")
        return self.position_of(first[::-1] + "." * self.width * (self.height - 2) + last, "X")

    @cached_property
    def steps(self):
        return self.cells.steps(*DIRECTIONS)

    def generate_moves(self, position):
        """Yield `cells * goal + removed` for each step and each square to remove."""
        pawn = self.piece(position)
        for goal in super().generate_moves(position):
            for removed in range(self.cells.size):
                if removed == pawn or (removed != goal and self.cells.is_empty(position, removed)):
                    yield self.cells.size * goal + removed

    def do_move(self, position, move):
        """Return the position after the pawn has stepped, and a square is gone."""
        goal, removed = move // self.cells.size, move % self.cells.size
        stepped = self.cells.go(position, self.piece(position), goal)
        return self.mover.passed(self.cells.add(stepped, removed, self.cells.B))

    def draw_move(self, position, move):
        return self.piece(position), *divmod(move, self.cells.size)
