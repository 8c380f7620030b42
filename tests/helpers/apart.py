"""Random games coded twice, position by position: as ints, and as tuples of ints.

A position is a node of a random graph, one of GRAPHS; a tuple has a mark of 40 bits as well. The rules are the same to
the letter; they ask of positions by `graph`, `node` and `at` alone, which two classes answer each in its own way::

    graph | 0 … 0 | graph 8 bits | node 8 bits          an int
    (mark 40 bits, graph, node)                         a tuple

Every other graph has cycles, of which a tier has all nodes; in the others each pair of nodes is a tier. In every third
graph the two nodes of a pair are equal by symmetry, so that slots of odd nodes stand for no position.
"""

from retrograde.games import CHANCE, DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from tests.helpers.mixing import mix

GRAPHS, PAIRS = 60, 8
NODES = 2 * PAIRS


class Graphs(Game):
    """Walk through one of many random graphs."""

    def random(self, position, salt):
        """Return what looks random of a node, or of its pair where the graph is symmetric."""
        node = self.node(position) >> 1 if self.symmetric(position) else self.node(position) + 100
        return mix(self.graph(position) * 977 + node * 31 + salt)

    def symmetric(self, position):
        return self.graph(position) % 3 == 0

    def cyclic(self, graph):
        return graph & 1

    @property
    def start(self):
        return self.at(5, 0)

    @property
    def tiers(self):
        return tuple(range(PAIRS + 1))

    def tier(self, position):
        return PAIRS if self.cyclic(self.graph(position)) else self.node(position) >> 1

    def size(self, tier):
        return GRAPHS * NODES if tier == PAIRS else GRAPHS * 2

    def parts(self, tier):
        half = self.size(tier) // 2
        return [("low", half), ("high", self.size(tier) - half)]

    def index(self, position):
        graph, node = self.graph(position), self.node(position)
        if self.symmetric(position):
            node -= node & 1
        return graph * NODES + node if self.cyclic(graph) else 2 * graph + (node & 1)

    def unindex(self, tier, i):
        each = NODES if tier == PAIRS else 2
        graph = i // each
        node = i % each if tier == PAIRS else 2 * tier + i % 2
        position = self.at(graph, node)
        if self.cyclic(graph) != (tier == PAIRS) or (self.symmetric(position) and node & 1):
            return self.none()
        return position

    def images(self, position):
        yield position
        if self.symmetric(position):
            yield self.at(self.graph(position), self.node(position) ^ 1)

    def primitive(self, position):
        chance = self.random(position, 1) % 12
        if chance == 0:
            return WIN
        if chance == 1 or (not self.cyclic(self.graph(position)) and self.node(position) >= NODES - 2):
            return LOSE
        return TIE if chance == 2 else DRAW if chance == 3 else UNDECIDED

    def generate_moves(self, position):
        yield from range(1 + self.random(position, 2) % 3)

    def do_move(self, position, move):
        graph, node = self.graph(position), self.node(position)
        first = 0 if self.cyclic(graph) else (node >> 1) + 1
        random = self.random(position, 3 + move)
        side = random >> 8 & 1
        if self.symmetric(position):
            side ^= node & 1
        return self.at(graph, 2 * (first + random % (PAIRS - first)) + side)


def marked(graph, node):
    """Return a mark of 40 bits of a node of a graph."""
    return (mix(graph * 131 + node) << 25 | mix(graph * 17 + node * 7 + 5) << 10 | 1) & (1 << 40) - 1


class InOne(Graphs):
    """Positions are ints."""

    def graph(self, position):
        return position >> 8 & 255

    def node(self, position):
        return position & 255

    def at(self, graph, node):
        return graph << 16 + 30 | graph << 8 | node

    def none(self):
        return -1


class InTwo(Graphs):
    """Positions are tuples in the order of the ints: each of these split in two."""

    def graph(self, position):
        return position[0]

    def node(self, position):
        return position[1]

    def at(self, graph, node):
        return graph, node

    def none(self):
        return -1, 0


class Apart(Graphs):
    """Positions are tuples."""

    def graph(self, position):
        return position[1]

    def node(self, position):
        return position[2]

    def at(self, graph, node):
        return marked(graph, node), graph, node

    def none(self):
        return -1, 0, 0


class WithParents:
    """Parents written out."""

    def parents(self, position):
        for node in range(NODES):
            parent = self.at(self.graph(position), node)
            if self.tier(parent) == self.tier(position) and self.primitive(parent) == UNDECIDED:
                for move in self.generate_moves(parent):
                    if self.do_move(parent, move) == position:
                        yield parent
                        break


class InOneWithParents(WithParents, InOne):
    """Ints, and parents."""


class ApartWithParents(WithParents, Apart):
    """Tuples, and parents."""


class ByChance(Graphs):
    """The same with dice, and payoffs; ends have no slot, nor have odd nodes of graphs without cycles or symmetry."""

    metric = "expectation"

    def turn(self, position):
        if self.primitive(position) != UNDECIDED:
            return 0
        chance = self.random(position, 20) % 4
        return chance if chance < 2 else CHANCE

    def odds(self, position, move):
        return 1 + self.random(position, 21 + move) % 5

    def payoff(self, position, player):
        return (self.random(position, 30) % 9 - 4) * (1 - 2 * player) if self.primitive(position) != UNDECIDED else 0

    def index(self, position):
        graph, node = self.graph(position), self.node(position)
        between = node & 1 and not self.cyclic(graph) and not self.symmetric(position)
        if between or self.primitive(position) != UNDECIDED:
            return -1
        if self.symmetric(position):
            node -= node & 1
        return graph * NODES + node if self.cyclic(graph) else 2 * graph + (node & 1)

    def unindex(self, tier, i):
        each = NODES if tier == PAIRS else 2
        graph = i // each
        position = self.at(graph, i % each if tier == PAIRS else 2 * tier + i % 2)
        odd = self.node(position) & 1 and (self.symmetric(position) or not self.cyclic(graph))
        if self.cyclic(graph) != (tier == PAIRS) or odd or self.primitive(position) != UNDECIDED:
            return self.none()
        return position


class InOneByChance(ByChance, InOne):
    """Ints, and dice."""


class ApartByChance(ByChance, Apart):
    """Tuples, and dice."""
