"""Random games of many small tiers, of which each leads to few others, all decided by a number.

The number stands in every position and every tier, so that one compiled game serves for all of them::

    | faulty 1 | seed 20 bits | tier 5 | slot 7 |

Where it is faulty, some tiers break the contract.
"""

from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from tests.helpers.mixing import mix

TIERS = 24
PER_TIER = 90
"""Slots of a tier, at most; the first one always stands for a position."""


class Thicket(Game):
    """Walk about in a random graph."""

    start = 0  # the tests set it

    @property
    def tiers(self):
        first = self.start >> 12 << 5
        return tuple(range(first, first + TIERS))

    def size(self, tier):
        return 1 + mix(tier * 3 + 1) % PER_TIER

    def index(self, position):
        return position & 127

    def unindex(self, tier, i):
        position = tier << 7 | i
        return -1 if self.is_empty(position) else position

    def tier(self, position):
        return position >> 7

    def is_empty(self, position):
        return position & 127 > 0 and mix(position) % 16 == 0

    def leads_to(self, tier, later):
        return later & 31 < TIERS and mix(tier * 32 + (later & 31)) % 4 == 0

    def primitive(self, position):
        chance = mix(position * 7 + 3) % 64
        if chance > 9:
            return UNDECIDED
        if chance == 0:
            return DRAW
        if chance < 3:
            return TIE
        return WIN if chance == 3 else LOSE

    def generate_moves(self, position):
        yield from range(1 + mix(position * 5 + 1) % 3)

    def do_move(self, position, move):
        random = mix(position * 3 + move)
        tier = position >> 7
        later = tier + 1 + (random >> 3) % 6
        if random % 8 == 0 and self.leads_to(tier, later):
            tier = later
        child = tier << 7 | mix(position * 11 + move) % self.size(tier)
        if self.is_empty(child):
            child = tier << 7
        if position >> 32 & 1 and position & 127 == 0 and mix(position) % 6 == 0:
            return -1 - position
        return child

    def parents(self, position):
        tier = position >> 7
        for slot in range(self.size(tier)):
            parent = tier << 7 | slot
            if not self.is_empty(parent):
                for move in self.generate_moves(parent):
                    if self.do_move(parent, move) == position:
                        yield parent
                        break


class ThicketWithoutParents(Thicket):
    """The same, of which the solver finds the parents itself."""

    parents = Game.parents
