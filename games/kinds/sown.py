"""Boards of sowing games: the stones in the pits, without what was captured before, numbered by combinations.

A position is the board as the player to move sees it, five bits for each pit in the order in which they are sown::

    bit 0                                                                          bit 10 * pits
    own pits, pit 0 first | the opponent's pits, in the order they are sown | further bits of the game

A tier has the boards with the same number of stones. What was captured before does not change what a player can still
win, so that these boards serve every game with at least as many stones. A board of n stones is n ones in a row, with a
zero after the stones of each pit. The zeros but the last are a combination of the places, and its number is the board's
slot::

    zeros at z0 < z1 < z2 < …   slot = C(z0, 1) + C(z1, 2) + C(z2, 3) + …
"""

from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

from retrograde.games.contract.game import LOSE, TIE, WIN, Game

BITS = 5
FIELD = (1 << BITS) - 1
"""The mask of one pit."""
MOST_PITS, MOST_STONES = 6, FIELD - 1
PLACES = MOST_STONES + 2 * MOST_PITS
"""The greatest number of places for the ones and zeros of a board."""
SIGNS = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMOPQRTUVWXYZ"
"""The signs of numbers of stones. N and S are players."""


class PitTexts(Game):
    """Base class: texts and pictures of two rows of `pits`, the own row first, with at most `total` stones.

    A game says how many stones are in each pit (`numbers`), and which position has so many (`of_numbers`).
    """

    if TYPE_CHECKING:
        pits: int
        total: ClassVar[Any]
        numbers: ClassVar[Any]
        of_numbers: ClassVar[Any]

    def write(self, position):
        """Return the pits of the player to move, then the opponent's, in sowing order: `1,1,1,1/1,1,1,1`."""
        return "/".join(",".join(map(str, row)) for row in self.numbers(position))

    def read(self, text):
        """Return the position of a text: two rows of numbers of stones, as in `0,1,2/1,0,0`."""
        rows = [part.split(",") for part in text.split("/")]
        if [len(row) for row in rows] != [self.pits] * 2 or not all(one.isdecimal() for row in rows for one in row):
            raise ValueError(f"a position is two rows of stones, as in {self.write(self.starts[-1])}")
        stones = [int(number) for row in rows for number in row]
        if sum(stones) > self.total:
            raise ValueError(f"there must be no more than {self.total} stones")
        return self.of_numbers(stones)

    def show(self, position):
        own, other = self.numbers(position)
        return "\n".join(" ".join(f"{number:2}" for number in row) for row in (reversed(other), own))

    def move_name(self, position, pit):
        return str(pit + 1)

    def draw_board(self):
        """Return the pits in two rows, the own row below. Stones are shown as numbers."""
        from retrograde.games.contract.drawing import Board

        places = [(float(pit), 1.0) for pit in range(self.pits)]
        places += [(float(self.pits - 1 - pit), 0.0) for pit in range(self.pits)]
        names = [f"{sign}{pit + 1}" for sign in "ab" for pit in range(self.pits)]
        pieces = {sign: str(number) for number, sign in enumerate(SIGNS[: self.total + 1]) if number}
        return Board(tuple(places), tuple(names), pieces | {sign: sign for sign in self.words}, len(places))

    def draw_pieces(self, position):
        return "".join(SIGNS[number] for row in self.numbers(position) for number in row)

    def draw_move(self, position, pit):
        return (pit,)


class SownBoards(PitTexts):
    """Base class: all boards of two rows of `pits` with at most `stones` stones."""

    metric = "score"

    pits: int
    stones: int

    def __post_init__(self):
        if not 1 <= self.pits <= MOST_PITS or not 1 <= self.stones <= MOST_STONES:
            raise ValueError(f"pits must be from 1 to {MOST_PITS}, and stones from 1 to {MOST_STONES}")

    @property
    def cells(self):
        """The number of pits of both players."""
        return 2 * self.pits

    @property
    def total(self):
        return self.stones

    @cached_property
    def start(self):
        """All stones, spread as evenly as possible from the first pit on."""
        each, more = divmod(self.stones, self.cells)
        return sum((each + (pit < more)) << BITS * pit for pit in range(self.cells))

    # The numbering

    @property
    def tiers(self):
        return range(-self.stones, 1)

    def size(self, tier):
        return comb(self.cells - 1 - tier, -tier)

    @cached_property
    def binomials(self):
        """C(place, k) at `place * cells + k`."""
        return tuple(comb(place, k) for place in range(PLACES) for k in range(self.cells))

    def tier(self, position):
        """Return minus the number of stones."""
        return -self.count(position)

    def index(self, position):
        return self.slot(position)

    def slot(self, position):
        """Return the slot of a board, whoever is to move."""
        slot = place = 0
        for pit in range(self.cells - 1):
            place += position & FIELD
            position >>= BITS
            # `place` stones and `pit` zeros come before the zero of this pit.
            slot += self.binomials[(place + pit) * self.cells + pit + 1]
        return slot

    def unindex(self, tier, slot):
        """Return the board of a slot: find the zeros from the last one down. *above* is the place of the zero above."""
        board, above = 0, self.cells - 1 - tier
        for pit in range(self.cells - 1, 0, -1):
            place = above - 1
            while self.binomials[place * self.cells + pit] > slot:
                place -= 1
            slot -= self.binomials[place * self.cells + pit]
            board |= (above - place - 1) << BITS * pit
            above = place
        return board | above

    # Rows

    def count(self, position):
        """Return the number of stones of a row, or of both: the digits' sum in base 32, the remainder divided by 31."""
        return (position & (1 << BITS * self.cells) - 1) % FIELD

    def own(self, position):
        """Return the row of the player to move."""
        return position & (1 << BITS * self.pits) - 1

    def other(self, position):
        """Return the opponent's row, its first pit lowest."""
        return position >> BITS * self.pits & (1 << BITS * self.pits) - 1

    def turned(self, position):
        """Return the board as the opponent sees it."""
        return self.own(position) << BITS * self.pits | self.other(position)

    def result(self, position):
        """Return the value for a player who gets the stones in the own row while the opponent gets the others."""
        ahead = self.count(self.own(position)) - self.count(self.other(position))
        if ahead > 0:
            return WIN
        return LOSE if ahead else TIE

    # For people

    def tier_name(self, tier):
        return f"{-tier} stones"

    def numbers(self, position):
        """Return the stones in the pits of the player to move, and in the opponent's."""
        board = [position >> BITS * pit & FIELD for pit in range(self.cells)]
        return [board[: self.pits], board[self.pits :]]

    def of_numbers(self, stones):
        return sum(number << BITS * pit for pit, number in enumerate(stones))
