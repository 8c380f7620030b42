"""Subtract a square, by Richard Epstein: take a square number of objects from a heap."""

from retrograde.games.contract.fields import Number
from retrograde.games.contract.game import Game


class SubtractSquare(Game):
    """Take 1, 4, 9, 16 … objects from the heap. A player who cannot loses."""

    title = "Subtract a square"
    metric = "nimber"
    heap = Number(0, lambda game: game.n)
    n: int = 99

    def __post_init__(self):
        if not 1 <= self.n <= 1_000_000:
            raise ValueError("n must be from 1 to 1000000")

    @property
    def start(self):
        return self.heap.put(0, self.n)

    def generate_moves(self, position):
        """Yield the squares up to the size of the heap."""
        root = 1
        while root * root <= self.heap.get(position):
            yield root * root
            root += 1

    def do_move(self, position, square):
        return self.heap.add(position, -square)

    def tier(self, position):
        return self.n - self.heap.get(position)
