"""Euclid's game, by A. J. Cole and A. J. T. Davie (1969): two players go through Euclid's algorithm."""

from retrograde.games.contract.fields import Numbers
from retrograde.games.contract.game import Game

MOST = 1_000_000


class Euclid(Game):
    """Subtract any multiple of the smaller number from the larger one, but not more than there is. Whoever gets to 0
    wins."""

    title = "Euclid's game"
    numbers = Numbers(2, 0, MOST)
    first: int = 100
    second: int = 139

    def __post_init__(self):
        if not (1 <= self.first <= MOST and 1 <= self.second <= MOST):
            raise ValueError(f"first and second must be from 1 to {MOST}")

    @property
    def start(self):
        return self.read(f"{self.first},{self.second}")

    def generate_moves(self, position):
        """Yield how many times the smaller number is subtracted."""
        first, second = self.numbers.get(position, 0), self.numbers.get(position, 1)
        less = min(first, second)
        if less:
            yield from range(1, max(first, second) // less + 1)

    def do_move(self, position, times):
        """Return the position after the smaller number is taken from the larger *times* times."""
        first, second = self.numbers.get(position, 0), self.numbers.get(position, 1)
        larger = 0 if first > second else 1
        return self.numbers.put(position, larger, max(first, second) - times * min(first, second))

    def tier(self, position):
        return 2 * MOST - self.numbers.get(position, 0) - self.numbers.get(position, 1)
