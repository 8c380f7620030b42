"""Random games with chance: small graphs in which two players, or one, and dice move, all decided by a number.

The graph is not an option but stands in every position, so that one compiled game serves for thousands of them::

    | seed 20 bits | kinds 4 | payoffs 2 | cyclic 1 | size 5 | node 5 |

The nodes are numbered from 0, where play begins, to `size`; moves lead to greater ones where the graph is not cyclic.
`kinds` says how many of 16 nodes are chance's, and `payoffs` of which sign ends pay: any, none below 0, none above.
"""

from retrograde.games import CHANCE, TIE, UNDECIDED, Game
from tests.helpers.mixing import mix


def position_of(seed: int, kinds: int, payoffs: int, cyclic: bool, size: int) -> int:
    """Return the first node of a graph as a position."""
    return (((seed << 4 | kinds) << 2 | payoffs) << 1 | cyclic) << 10 | size << 5


class Gamble(Game):
    """Walk through a random graph, on which the dice have a say."""

    metric = "expectation"
    start = 0  # the tests set it

    def random(self, position, salt):
        return mix((position >> 17) * 977 + (position & 31) * 31 + salt)

    def tier(self, position):
        return 0 if position >> 10 & 1 else position & 31

    def over(self, position):
        node = position & 31
        return node == position >> 5 & 31 or (node > 0 and self.random(position, 1) % 6 == 0)

    def primitive(self, position):
        return TIE if self.over(position) else UNDECIDED

    def turn(self, position):
        if not self.over(position) and self.random(position, 2) % 16 < position >> 13 & 15:
            return CHANCE
        return self.random(position, 3) % 2

    def odds(self, position, move):
        return 1 + self.random(position, 10 + move) % 5

    def payoff(self, position, player):
        pays = self.random(position, 4) % 9
        signs = position >> 11 & 3
        pays = pays - 4 if signs == 0 else -pays if signs == 2 else pays
        return pays if player == 0 else 3

    def generate_moves(self, position):
        yield from range(1 + self.random(position, 5) % 3)

    def do_move(self, position, move):
        first = 0 if position >> 10 & 1 else (position & 31) + 1
        left = (position >> 5 & 31) + 1 - first
        return position - (position & 31) + first + self.random(position, 20 + move) % left


class Solitary(Gamble):
    """The same for one player."""

    players = 1

    def turn(self, position):
        if not self.over(position) and self.random(position, 2) % 16 < position >> 13 & 15:
            return CHANCE
        return 0
