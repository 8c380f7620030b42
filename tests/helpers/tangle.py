"""Random games: small graphs with cycles, ties, positions out of reach, tiers and symmetry, all decided by a number.

The graph is not an option but stands in every position, so that one compiled game serves for thousands of them::

    | seed 20 bits | symmetric 1 | ends 2 | layers 2 | size 6 | node 7 |

`size` counts pairs of nodes, 2k and 2k + 1. In a symmetric graph the two of a pair are images of one another.
"""

from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from tests.helpers.mixing import mix


def position_of(seed: int, symmetric: bool, ends: int, layers: int, size: int, node: int = 0) -> int:
    """Return a node of a graph as a position."""
    return (((seed << 1 | symmetric) << 2 | ends) << 2 | layers) << 13 | size << 7 | node


class Tangle(Game):
    """Walk through a random graph."""

    start = 0  # the tests set it

    def pairs(self, position):
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
        return (position >> 1 & 63) * ((position >> 13 & 3) + 1) // self.pairs(position)

    def first(self, position):
        """Return the first pair of the position's tier."""
        pair = position >> 1 & 63
        while pair > 0 and self.tier(position - (position & 127) + 2 * pair - 2) == self.tier(position):
            pair -= 1
        return pair

    def primitive(self, position):
        return self.end(position)

    def end(self, position):
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
        pair = first + random % (self.pairs(position) - first)
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
        for node in range(2 * self.pairs(position)):
            if self.tier(base + node) == self.tier(position):
                for move in self.generate_moves(base + node):
                    if self.do_move(base + node, move) == position:
                        yield base + node
                        break


class DenseTangle(TangleWithParents):
    """The same with every node counting; nodes are numbered backwards within each layer.

    A tier is a graph and a layer of it. Slots of nodes that are not canonical are empty. Some ties are draws at once.
    """

    @property
    def tiers(self):
        base = self.start - (self.start & 127)
        return tuple(sorted({self.tier(base + node) for node in range(2 * self.pairs(base))}))

    def tier(self, position):
        return (position >> 7) << 6 | self.layer(position)

    def layer(self, position):
        return (position >> 1 & 63) * ((position >> 13 & 3) + 1) // self.pairs(position)

    def lowest(self, tier):
        """Return the first position of a tier."""
        base = tier >> 6 << 7
        pair = 0
        while self.layer(base + 2 * pair) < tier & 63:
            pair += 1
        return base + 2 * pair

    def size(self, tier):
        base, slots = self.lowest(tier), 0
        while (base & 127) + slots < 2 * self.pairs(base) and self.tier(base + slots) == tier:
            slots += 2
        return slots

    def unindex(self, tier, i):
        position = self.lowest(tier) + self.size(tier) - 1 - i
        return -1 if self.symmetric(position) and position & 1 else position

    def index(self, position):
        if self.symmetric(position):
            position -= position & 1
        tier = self.tier(position)
        return self.lowest(tier) + self.size(tier) - 1 - position

    def parts(self, tier):
        half = self.size(tier) // 2
        return [("low", half), ("high", self.size(tier) - half)]

    def primitive(self, position):
        value = self.end(position)
        return DRAW if value == TIE and self.random(position, 77) % 2 else value


class DenseTangleWithoutParents(DenseTangle):
    """The same, of which the solver finds the parents itself."""

    parents = Game.parents
