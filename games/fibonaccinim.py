"""Fibonacci Nim, by Michael Whinihan (1963): take at most twice as many as the opponent has just taken."""

from retrograde.games.contract.fields import Number
from retrograde.games.contract.game import Game


class FibonacciNim(Game):
    """Take objects from a heap: first not all, then at most twice as many as the opponent has just taken. Whoever takes
    the last one wins."""

    title = "Fibonacci Nim"
    heap = Number(0, lambda game: game.n)
    most = Number(0, lambda game: game.n)
    n: int = 20

    def __post_init__(self):
        if not 2 <= self.n <= 100_000:
            raise ValueError("n must be from 2 to 100000")

    @property
    def start(self):
        return self.most.put(self.heap.put(0, self.n), self.n - 1)

    def generate_moves(self, position):
        """Yield how many are taken."""
        yield from range(1, self.most.get(position) + 1)

    def do_move(self, position, count):
        left = self.heap.get(position) - count
        return self.most.put(self.heap.put(position, left), min(left, 2 * count))

    def tier(self, position):
        return self.n - self.heap.get(position)
