"""A random game whose tiers follow one another, several in each layer, so that it can be solved in a stream: coded as
ints, and as tuples of ints."""

from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from tests.helpers.mixing import mix


class Ladder(Game):
    """Climb from layer to layer; nodes 2k and 2k + 1 are equal by symmetry, in every third layer."""

    layers: int = 12
    width: int = 200
    seed: int = 1

    start = 0

    def layer(self, position):
        return position >> 10

    def node(self, position):
        return position & 1023

    def at(self, layer, node):
        return layer << 10 | node

    def random(self, position, salt):
        layer, node = self.layer(position), self.node(position)
        if layer % 3 == 1:
            node >>= 1
        return mix(layer * 7919 + node * 104729 + salt * 31 + self.seed)

    def generate_moves(self, position):
        yield from range(2 + 2 * (self.random(position, 1) % 3))

    def do_move(self, position, move):
        pair = self.random(position, 2 + (move >> 1)) % (self.width // 2)
        return self.at(self.layer(position) + 1, 2 * pair + (move & 1))

    def primitive(self, position):
        chance = self.random(position, 99) % 40
        if self.layer(position) == self.layers:
            return LOSE if chance % 2 else TIE
        if self.layer(position) == 0 or chance > 4:
            return UNDECIDED
        if chance == 4:
            return DRAW
        if chance == 3:
            return WIN
        return TIE if chance == 2 else LOSE

    def images(self, position):
        layer, node = self.layer(position), self.node(position)
        yield self.at(layer, node ^ 1 if layer % 3 == 1 else node)

    def faulty(self, position):
        return self.layer(position) == 8 and self.node(position) >> 1 & 7 == 3

    def tier(self, position):
        layer = self.layer(position)
        return layer * 4 + (self.node(position) >> 1 & 3) * (layer % 3 == 2)


class WideLadder(Ladder):
    """The same in three words, the last of which uses all 62 bits."""

    start = (0, 0, 0)

    def layer(self, position):
        return position[1]

    def node(self, position):
        return position[0] << 5 | position[2] >> 57

    def at(self, layer, node):
        return node >> 5, layer, (node & 31) << 57 | layer * node


class BrokenLadder(Ladder):
    """The same, with rungs that break the contract in the way that a number says."""

    fault: int = 0

    def generate_moves(self, position):
        count = 2 + 2 * (self.random(position, 1) % 3)
        if self.fault == 1 and self.faulty(position):
            count = 0
        yield from range(count)

    def do_move(self, position, move):
        pair = self.random(position, 2 + (move >> 1)) % (self.width // 2)
        return self.broken(position, self.at(self.layer(position) + 1, 2 * pair + (move & 1)))

    def broken(self, position, child):
        if self.fault == 2 and self.faulty(position):
            return -child
        if self.fault == 3 and self.faulty(position):
            return child | 1 << 62
        return child

    def primitive(self, position):
        chance = self.random(position, 99) % 40
        if self.layer(position) == self.layers:
            return LOSE + 0 if chance % 2 else TIE + 0
        if self.fault == 4 and self.faulty(position):
            return 9
        return UNDECIDED + 0


class WideBrokenLadder(WideLadder):
    """The same in three words."""

    fault: int = 0

    generate_moves, do_move, primitive = BrokenLadder.generate_moves, BrokenLadder.do_move, BrokenLadder.primitive

    def broken(self, position, child):
        if self.fault == 2 and self.faulty(position):
            return child[0], child[1], -child[2] - 1
        if self.fault == 3 and self.faulty(position):
            return child[0], child[1] | 1 << 62, child[2]
        return child
