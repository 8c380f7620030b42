"""Random games: small graphs with cycles, ties, positions out of reach, tiers and symmetry, all decided by a number.

The graph is not an option but stands in every position, so that one compiled game serves for thousands of them::

    | seed 20 bits | symmetric 1 | ends 2 | layers 2 | size 6 | node 7 |

`size` counts pairs of nodes, 2k and 2k + 1. In a symmetric graph the two of a pair are images of one another.
"""

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game


def position_of(seed: int, symmetric: bool, ends: int, layers: int, size: int, node: int = 0) -> int:
    """Return a node of a graph as a position."""
    return (((seed << 1 | symmetric) << 2 | ends) << 2 | layers) << 13 | size << 7 | node


def mix(number):
    """Return a number below 2**15 that looks random."""
    for _ in range(3):
        number = number * 1103515245 + 12345 & 0x7FFFFFFF
    return number >> 16


class Tangle(Game):
    """Walk through a random graph."""

    start = 0  # the tests set it

    def size(self, position):
        return (position >> 7 & 63) + 1

    def key(self, position):
        """Return the node, or its pair where the graph is symmetric: what decides about moves and ends."""
        node = position & 127
        return node >> 1 if self.symmetric(position) else node + 1000

    def symmetric(self, position):
        return position >> 17 & 1

    def random(self, position, salt):
        return mix((position >> 18) * 977 + self.key(position) * 31 + salt)

    def tier(self, position):
        return (position >> 1 & 63) * ((position >> 13 & 3) + 1) // self.size(position)

    def first(self, position):
        """Return the first pair of the position's tier."""
        pair = position >> 1 & 63
        while pair > 0 and self.tier(position - (position & 127) + 2 * pair - 2) == self.tier(position):
            pair -= 1
        return pair

    def primitive(self, position):
        chance = self.random(position, 1) % 16
        ends = (position >> 15 & 3) + 1
        if chance >= 2 * ends:
            return UNDECIDED
        if chance % 4 == 3:
            return WIN
        return TIE if chance % 2 else LOSE

    def generate_moves(self, position):
        yield from range(1 + self.random(position, 2) % 3)

    def do_move(self, position, move):
        first = self.first(position)
        random = self.random(position, 3 + move)
        pair = first + random % (self.size(position) - first)
        side = random >> 10 & 1
        if self.symmetric(position):
            side ^= position & 1
        return position - (position & 127) + 2 * pair + side

    def images(self, position):
        if self.symmetric(position):
            yield position ^ 1
        else:
            yield position


class TangleWithParents(Tangle):
    """The same, with the parents written out."""

    def parents(self, position):
        base = position - (position & 127)
        for node in range(2 * self.size(position)):
            if self.tier(base + node) == self.tier(position):
                for move in self.generate_moves(base + node):
                    if self.do_move(base + node, move) == position:
                        yield base + node
                        break
