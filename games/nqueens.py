"""The queens' puzzle, by Max Bezzel (1848): put a queen on each row, none of which attacks another."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import WIN, Game


class NQueens(Game):
    """Put a queen on the next row, where no other one attacks it, until all rows have one."""

    title = "Queens' puzzle"
    players = 1
    cells = Cells(lambda game: grid(game.n, game.n, style="chequered"), symmetries="mirror", Q="white queen")
    n: int = 8

    def __post_init__(self):
        if not 1 <= self.n <= 8:
            raise ValueError("n must be from 1 to 8")

    @cached_property
    def attacked(self):
        """For each cell, those that a queen there attacks, as bits."""
        rays = self.cells.rays((0, -1), (1, -1), (-1, -1))
        return self.cells.bits_of([[cell for ray in rays_of for cell in ray if cell >= 0] for rays_of in rays])

    def generate_moves(self, position):
        """Yield the cells of the next row that no queen attacks."""
        row = self.cells.count(position)
        if row < self.n:
            for cell in range(self.n * row, self.n * row + self.n):
                if self.attacked[cell] & self.cells.set(position, 1) == 0:
                    yield cell

    def do_move(self, position, cell):
        return self.cells.add(position, cell, 1)

    def primitive(self, position):
        return WIN if self.cells.count(position) == self.n else super().primitive(position)

    def tier(self, position):
        return self.cells.count(position)
