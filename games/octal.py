"""Octal games, by Guy and Smith (1956): a code says how much a move may take and leave.

Digit t after the point is about taking t objects from a heap. It is the sum of 1 if nothing may remain, 2 if one heap
may remain, and 4 if two heaps may remain. Kayles is .77: take one or two, and split the rest if you like. A position is
a sum of heaps; `heaps.py` has the encoding.
"""

import re
from functools import cached_property

from retrograde.games.contract.game import Game
from retrograde.games.kinds.heaps import HEAP_BITS, LARGEST, MOST_HEAPS, name_of, replaced, understood, weight, written

NAMES = {".77": "Kayles", ".07": "Dawson's Kayles", ".137": "Dawson's Chess", ".6": "Officers"}


class Octal(Game):
    """Take from a heap what the code allows, and split the rest if the code allows that. A player who cannot move
    loses."""

    title = "Octal game"
    metric = "nimber"

    code: str = ".77"
    n: int = 15

    def __post_init__(self):
        if not re.fullmatch(r"\.[0-7]{1,8}", self.code):
            raise ValueError("code must be a point and up to eight digits from 0 to 7, such as .77")
        if not 1 <= self.n < 2 * MOST_HEAPS:
            larger = f"`retrograde search octal:code={self.code} HEAP` finds nimbers of larger heaps"
            raise ValueError(f"n must be from 1 to {2 * MOST_HEAPS - 1}; {larger}")

    @property
    def starts(self):
        """One heap of each size, the largest first."""
        return tuple(range(self.n, -1, -1))

    @cached_property
    def digits(self):
        return tuple(int(digit) for digit in self.code[1:])

    @property
    def heap_code(self):
        return 0, *self.digits

    # The rules

    def generate_moves(self, heaps):
        """Yield `less << 2 * HEAP_BITS | more << HEAP_BITS | heap` for what a heap becomes: nothing, one heap or
        two. Heaps are in order, so that equal ones are neighbours, of which the first is enough.

        >>> game = Octal()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(463, '15>14'), (1455, '15>13+1'), (2447, '15>12+2')]
        """
        before = 0
        while heaps:
            heap = heaps & LARGEST
            heaps >>= HEAP_BITS
            if heap == before:
                continue
            before = heap
            for i in range(min(len(self.digits), heap)):
                left = heap - i - 1  # digit number i is about taking i + 1 objects
                digit = self.digits[i]
                if digit & 1 and left == 0:
                    yield heap
                if digit & 2 and left > 0:
                    yield left << HEAP_BITS | heap
                if digit & 4:
                    for less in range(1, left // 2 + 1):
                        yield less << 2 * HEAP_BITS | left - less << HEAP_BITS | heap

    def do_move(self, heaps, move):
        return replaced(heaps, move)

    def tier(self, heaps):
        return 2 * self.n - 1 - weight(heaps)

    # For people

    def variant_title(self):
        return f"{NAMES[self.code]}, a row of {self.n}" if self.code in NAMES else ""

    def write(self, heaps):
        return written(heaps)

    def read(self, text):
        return understood(text, self.n)

    def move_name(self, heaps, move):
        return name_of(move)
