"""Wythoff's game (1907): take from one of two heaps, or as many from both."""

from retrograde.games.contract.fields import Numbers
from retrograde.games.contract.game import Game

MOST = 1_000


class Wythoff(Game):
    """Take any number of objects from one heap, or the same number from both. Whoever takes the last one wins."""

    title = "Wythoff's game"
    metric = "nimber"
    heaps = Numbers(2, 0, MOST)
    first: int = 8
    second: int = 13

    def __post_init__(self):
        if not (0 <= self.first <= MOST and 0 <= self.second <= MOST):
            raise ValueError(f"first and second must be from 0 to {MOST}")

    @property
    def start(self):
        return self.read(f"{self.first},{self.second}")

    def generate_moves(self, position):
        """Yield 3 × how many are taken + from where: 0 and 1 are the heaps, 2 is both.

        >>> game = Wythoff()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(3, 'first-1'), (4, 'second-1'), (5, 'both-1')]
        """
        first, second = self.heaps.get(position, 0), self.heaps.get(position, 1)
        for count in range(1, max(first, second) + 1):
            if count <= first:
                yield 3 * count
            if count <= second:
                yield 3 * count + 1
            if count <= min(first, second):
                yield 3 * count + 2

    def do_move(self, position, move):
        """Return the position after `move // 3` objects are taken, from where `move % 3` says.

        >>> game = Wythoff()
        >>> game.write(game.start), game.write(game.do_move(game.start, 3))  # first-1
        ('8,13', '7,13')
        """
        count, where = move // 3, move % 3
        if where != 1:
            position = self.heaps.add(position, 0, -count)
        if where != 0:
            position = self.heaps.add(position, 1, -count)
        return position

    def tier(self, position):
        return self.first + self.second - self.heaps.get(position, 0) - self.heaps.get(position, 1)

    def move_name(self, position, move):
        return f"{('first', 'second', 'both')[move % 3]}-{move // 3}"
