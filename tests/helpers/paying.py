"""The random games of `slotted.py` in which moves pay as well, and play always ends, though it comes back.

In graphs with cycles the players' moves lead to greater nodes, and so does the first of chance's; its others lead
anywhere. `amounts` are up to so much either way.
"""

from retrograde.games import CHANCE
from tests.helpers.slotted import Gambles, first_of


class Payments(Gambles):
    """A walk through one of many random graphs, paid on the way."""

    amounts: int = 5
    start = first_of(0)

    def reward(self, position, move, player):
        return (self.random(position, 40 + move) % (2 * self.amounts + 1) - self.amounts) * (1 - player)

    def do_move(self, position, move):
        back = position >> 10 & 1 and self.turn(position) == CHANCE and move > 0
        first = 0 if back else (position & 31) + 1
        left = (position >> 5 & 31) + 1 - first
        return position - (position & 31) + first + self.random(position, 20 + move) % left


class Endless(Payments):
    """The same, and players may go round."""

    def do_move(self, position, move):
        first = 0 if position >> 10 & 1 else (position & 31) + 1
        left = (position >> 5 & 31) + 1 - first
        return position - (position & 31) + first + self.random(position, 20 + move) % left


class Slow(Payments):
    """One long tier: chance goes on with 1 in 200, else back to the beginning, each time for a point."""

    def odds(self, position, move):
        return 1 if move == 0 else 199
