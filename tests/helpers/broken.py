"""Small games that are sound but for one fault, which a number says; fault 0 is none."""

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game

SEEN: set[int] = set()


class Round(Game):
    """Walk around a ring of 100, one or two steps at a time; who comes to 0 has lost. At 50 a ring without end begins.

    The fault, one of the parents, stands in every position, above the lowest ten bits: a game compiled once serves all.
    """

    start = 1  # the tests set it

    def tier(self, position):
        return position >> 10

    def generate_moves(self, position):
        yield 1
        yield 2
        if position & 1023 == 50:
            yield 3

    def do_move(self, position, move):
        node = position & 1023
        if move == 3:
            return position + 50
        return position - node + node // 100 * 100 + (node + move) % 100

    def primitive(self, position):
        return LOSE if position & 1023 == 0 else UNDECIDED

    def parents(self, position):
        node, fault = position & 1023, position >> 10
        ring = position - node + node // 100 * 100
        one = ring + (node + 99) % 100
        if node == 100:
            yield position - 50
        if not (fault == 3 and node // 10 != (one & 1023) // 10):  # as if there were tiers of ten
            yield one
            if not (fault == 1 and node % 7 == 3) and not (fault == 4 and node == 31):
                yield ring + (node + 98) % 100
        if fault == 2 and node % 7 == 3:
            yield ring + (node + 97) % 100
        if fault == 5 and node == 140:
            yield position - 20


class DenseRound(Round):
    """The same, all of it numbered."""

    @property
    def tiers(self):
        return (self.start >> 10,)

    def size(self, tier):
        return 200

    def index(self, position):
        return position & 1023

    def unindex(self, tier, i):
        return tier << 10 | i


class Pairs(Game):
    """A ring of 200 places, of which 2k and 2k + 1 are the same, numbered; the faults are those of the numbering."""

    start = 1

    @property
    def tiers(self):
        return (self.start >> 10,)

    def size(self, tier):
        return 100

    def index(self, position):
        if position >> 10 == 1 and position & 1:
            return ((position & 1023) // 2 + 1) % 100
        return (position & 1023) // 2

    def unindex(self, tier, i):
        if tier == 2 and i >= 90:
            return tier << 10 | 178
        return tier << 10 | 2 * i | (tier == 3)

    def tier(self, position):
        return position >> 10

    def images(self, position):
        yield position ^ 1

    def generate_moves(self, position):
        yield 2
        yield 4

    def do_move(self, position, move):
        node = position & 1023
        return position - node + (node + move) % 200 ^ 1

    def primitive(self, position):
        return LOSE if position & 1023 < 2 else UNDECIDED

    def parents(self, position):
        node = position & 1023
        yield position - node + (node + 198) % 200
        yield position - node + (node + 196) % 200


class Mirror(Game):
    """Go down layer by layer and left or right; left and right are the same. The faults begin in layer 8.

    A position is the fault, the layer (5 bits) and the place (10 bits).
    """

    start = 511

    def fault_at(self, position):
        return position >> 15 if (position >> 10 & 31) >= 8 else 0

    def tier(self, position):
        return position >> 10

    def generate_moves(self, position):
        yield from range(4)
        if self.fault_at(position) == 4:
            yield -2

    def do_move(self, position, move):
        step = (1, -1, 3, -3)[move]
        if self.fault_at(position) == 1 and move == 0:
            step = 5
        return (position >> 10) + 1 << 10 | (position + step & 1023)

    def primitive(self, position):
        node = position & 1023
        if (position >> 10 & 31) < 12:
            return UNDECIDED
        if self.fault_at(position) != 2:
            node = min(node, 1023 - node)
        return (WIN, LOSE, TIE)[node % 3]

    def images(self, position):
        if self.fault_at(position) == 3:
            yield position >> 10 << 10 | (position + 2 & 1023)
        else:
            yield position ^ 1023


class Fractions(Game):
    """Count down from 40; the faults are numbers that are no ints."""

    fault: int = 0

    start = 40

    def generate_moves(self, position):
        if self.fault == 1:
            yield 1.5
        else:
            yield 1
        yield 2

    def do_move(self, position, move):
        if self.fault == 2:
            return (position - move) / 1
        return position - min(move, position)

    def primitive(self, position):
        return LOSE if position == 0 else UNDECIDED

    def tier(self, position):
        return (40 - position) / 4 if self.fault == 3 else (40 - position) // 4

    def images(self, position):
        if self.fault == 4:
            yield position / 1
        else:
            yield position


class FractionsNumbered(Fractions):
    """The same, numbered; faults of the numbering."""

    tiers = (0,)

    def tier(self, position):
        return 0

    def size(self, tier):
        return 41

    def index(self, position):
        return position / 1 if self.fault == 5 else position

    def unindex(self, tier, i):
        return i / 1 if self.fault == 6 else i

    def parents(self, position):
        if position < 40:
            yield position + 1
        if position < 39:
            yield position + 2
        if self.fault == 7 and position < 39:
            yield (position + 2) / 1


class Remembering(Fractions):
    """The same, with rules that remember where they have been asked before."""

    def do_move(self, position, move):
        if position == 30 and position in SEEN:
            return 27
        SEEN.add(position)
        return position - min(move, position)
