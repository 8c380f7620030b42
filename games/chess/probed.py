"""Positions of the whole game as endings: their tiers and slots, so that searches find them in databases.

Positions with a right to castle are no endings. Those with a right to capture en passant have no slot here.
"""

from functools import cached_property

from retrograde.games.chess.bitboards import TURN, Bitboards, count, kind_on, planes_of
from retrograde.games.chess.board import BLACK_KING, MEN, NO_MAN, code_at, exchange_sides, key, pack, put, sort_men
from retrograde.games.chess.board import TURN as ENDING_TURN
from retrograde.games.chess.men import (
    BISHOP,
    BLACK,
    KING,
    KNIGHT,
    LOWEST,
    MOST_MEN,
    NOBODY,
    PAWN,
    QUEEN,
    REVERSED,
    ROOK,
    SYMMETRIC,
)
from retrograde.games.chess.numbering import choose, is_pawn, least_image
from retrograde.games.chess.rules import Chess
from retrograde.games.chess.squares import lowest
from retrograde.games.contract.game import replaced
from retrograde.games.contract.zeroing import PATIENCE

CASTLING, PASSED, CLOCK = 9, 13, 17
"""The lowest bits of parts of a state; see `games/wide/chess.py`."""
CODES = (NOBODY, PAWN, KNIGHT, BISHOP, KING, ROOK, NOBODY, QUEEN)
"""The code in endings of each kind of man."""


class EndingSlots(Bitboards):
    """The tier and slot of a position of few men."""

    @cached_property
    def probed_game(self):
        """A game of the family of endings, whose databases a search may probe."""
        return Chess("KK")

    @cached_property
    def tier_table(self):
        return self.probed_game.tier_table

    @cached_property
    def kings(self):
        return self.probed_game.kings

    @cached_property
    def groups(self):
        return self.probed_game.groups

    @cached_property
    def pawn_tiers(self):
        return self.probed_game.pawn_tiers

    def tier(self, position):
        """Return the tier of an ending, or a number below all tiers: the more men, the lower."""
        _, one, two, four = planes_of(position)
        number = count(one | two | four)
        if number <= MOST_MEN and not position[4] >> CASTLING & 15:
            tier = self.tier_table[key(self.as_ending(position))] >> 2
            if tier >= LOWEST:
                return tier
        return LOWEST - number

    def index(self, position):
        """Return the slot of an ending, as `numbering.py` does; -1 with a right to capture en passant."""
        ending = self.as_probed(position)
        if ending & 15:
            return -1
        row = (self.tier_table[key(ending)] >> 2) - LOWEST
        entry = self.kings[self.pawn_tiers[row] << 12 | ending >> BLACK_KING & 4095]
        least = least_image(ending, entry)
        slot = (least >> ENDING_TURN & 1) * (1806 if self.pawn_tiers[row] else 462) + (entry >> 4)
        like = 0
        for number in range(4):
            ways = self.groups[4 * row + number]
            if ways:
                like = like + 1 if ways == 1 else 1
                place = MEN[number]
                slot = slot * ways + choose((least >> place & 63) - 8 * is_pawn(code_at(least, place)), like)
        return slot

    def as_probed(self, position):
        """Return a position of few men as one of the endings."""
        ending = self.as_ending(position)
        flags, turn = self.tier_table[key(ending)], ending >> ENDING_TURN & 1
        return exchange_sides(ending) if flags & REVERSED or (flags & SYMMETRIC and turn) else ending

    def as_ending(self, position):
        """Return the same with White as the first-named side, which may not be the stronger one."""
        white, one, two, four = planes = planes_of(position)
        kings = four & ~one
        left = (one | two | four) ^ kings
        turn, file = position[4] >> TURN & 1, position[4] >> PASSED & 15
        ending = pack(turn, lowest(kings & white), lowest(kings & ~white), NO_MAN, NO_MAN, NO_MAN) | file
        for place in MEN:
            if left:
                square = lowest(left)
                left ^= self.bit[square]
                man = (CODES[kind_on(planes, square)] + BLACK * (1 - (white >> square & 1))) << 6 | square
                ending = ending & ~(1023 << place) | put(man, place)
        return sort_men(ending)

    # The fifty-move rule

    def plies_to_draw(self, position):
        return PATIENCE - (position[4] >> CLOCK)

    def without_clock(self, position):
        """Return the same number for all positions that count as repetitions of one."""
        return replaced(position, 4, position[4] & (1 << CLOCK) - 1)
