"""A random game whose tiers follow one another, several in each layer, so that it can be solved in a stream."""

from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from tests.helpers.mixing import mix


class Ladder(Game):
    """Climb from layer to layer; nodes 2k and 2k + 1 are equal by symmetry, in every third layer."""

    layers: int = 12
    width: int = 200
    seed: int = 1

    start = 0

    def random(self, position, salt):
        layer, node = position >> 10, position & 1023
        if layer % 3 == 1:
            node >>= 1
        return mix(layer * 7919 + node * 104729 + salt * 31 + self.seed)

    def generate_moves(self, position):
        yield from range(2 + 2 * (self.random(position, 1) % 3))

    def do_move(self, position, move):
        pair = self.random(position, 2 + (move >> 1)) % (self.width // 2)
        return ((position >> 10) + 1 << 10) + 2 * pair + (move & 1)

    def primitive(self, position):
        chance = self.random(position, 99) % 40
        if position >> 10 == self.layers:
            return LOSE if chance % 2 else TIE
        if position == 0 or chance > 4:
            return UNDECIDED
        if chance == 4:
            return DRAW
        if chance == 3:
            return WIN
        return TIE if chance == 2 else LOSE

    def images(self, position):
        yield position ^ 1 if (position >> 10) % 3 == 1 else position

    def faulty(self, position):
        return position >> 10 == 8 and position >> 1 & 7 == 3

    def tier(self, position):
        return (position >> 10) * 4 + (position >> 1 & 3) * ((position >> 10) % 3 == 2)


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
        child = ((position >> 10) + 1 << 10) + 2 * pair + (move & 1)
        if self.fault == 2 and self.faulty(position):
            return -child
        if self.fault == 3 and self.faulty(position):
            return child | 1 << 62
        return child

    def primitive(self, position):
        chance = self.random(position, 99) % 40
        if position >> 10 == self.layers:
            return LOSE + 0 if chance % 2 else TIE + 0
        if self.fault == 4 and self.faulty(position):
            return 9
        return UNDECIDED + 0
