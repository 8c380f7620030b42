"""Chomp, by David Gale: two players eat a bar of chocolate whose first square is poisoned."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import Game


def transposed(game):
    """Return the reflection of a square bar that keeps the poisoned square."""
    size = game.width
    return [[cell % size * size + cell // size for cell in range(size**2)]] if size == game.height else []


class Chomp(Game):
    """Choose a square, and eat it with all that lie below it and to its right. Whoever must eat the first one loses."""

    metric = "nimber"
    bar = Cells(lambda game: grid(game.width, game.height), transposed, X="peru square")
    width: int = 4
    height: int = 3

    @cached_property
    def start(self):
        return self.read("/".join(["X" * self.width] * self.height))

    @cached_property
    def eaten(self):
        """What each square takes with it, itself included, as bits."""
        width, squares = self.width, range(self.bar.size)
        return self.bar.bits_of(
            [[other for other in squares[cell:] if other % width >= cell % width] for cell in squares]
        )

    def generate_moves(self, position):
        """Yield the squares that are left, except the poisoned one, 0."""
        for cell in self.bar.having(position, 1):
            if cell:
                yield cell

    def do_move(self, position, cell):
        return self.bar.with_set(position, 1, self.bar.set(position, 1) & ~self.eaten[cell])

    def tier(self, position):
        return self.bar.size - self.bar.count(position)
