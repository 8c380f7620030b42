"""Many of the random games of `gamble.py` as one game that numbers its positions, some of which are left out."""

from tests.helpers.gamble import Gamble, position_of

GRAPHS, NODES = 96, 8
CYCLES = 64
"""The tier of all graphs that play can go round in."""


def first_of(number: int) -> int:
    """Return the first node of a graph; every other graph has cycles."""
    return position_of(number, number % 12, number % 3, number % 2 == 1, NODES - 1)


class Gambles(Gamble):
    """A walk through one of many random graphs; who is at an odd node may be in between."""

    start = first_of(0)

    @property
    def tiers(self):
        return (*range(NODES), CYCLES)

    def size(self, tier):
        return GRAPHS * NODES if tier == CYCLES else GRAPHS

    def tier(self, position):
        return CYCLES if position >> 10 & 1 else position & 31

    def index(self, position):
        number, node = position >> 17, position & 31
        if self.over(position) or (node & 1 and self.is_between(position)):
            return -1
        return number * NODES + node if position >> 10 & 1 else number

    def is_between(self, position):
        """Tell whether no move leads to an odd node again, as it may where play goes round."""
        between = True
        for move in self.generate_moves(position):
            between &= not (position >> 10 & 1 and self.do_move(position, move) & 1)
        return between

    def unindex(self, tier, i):
        number = i // NODES if tier == CYCLES else i
        node = i % NODES if tier == CYCLES else tier
        cyclic = number % 2
        if cyclic != (tier == CYCLES):
            return -1
        position = (((number << 4 | number % 12) << 2 | number % 3) << 1 | cyclic) << 10 | (NODES - 1) << 5 | node
        return position if self.index(position) >= 0 else -1
