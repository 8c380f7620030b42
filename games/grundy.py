"""Grundy's game (1939): split a heap into two of different sizes until no heap can be split.

A position is a sum of heaps of three or more, because heaps of one and two are out of play. `heaps.py` has the
encoding.
"""

from retrograde.games.contract.game import Game
from retrograde.games.kinds.heaps import (
    HEAP_BITS,
    LARGEST,
    name_of,
    packed,
    replaced,
    sizes_of,
    understood,
    weight,
    written,
)

PLAYED = 3
"""The smallest heap that can be split."""


class Grundy(Game):
    """Split a heap into two of different sizes. A player who cannot loses."""

    title = "Grundy's game"
    metric = "nimber"
    heap_code = (16,)

    n: int = 20

    def __post_init__(self):
        if not PLAYED <= self.n <= LARGEST:
            larger = "`retrograde search grundy HEAP` finds nimbers of larger heaps"
            raise ValueError(f"n must be from {PLAYED} to {LARGEST}; {larger}")

    @property
    def starts(self):
        """One heap of each size that can be split, the largest first."""
        return tuple(range(self.n, PLAYED - 1, -1))

    # The rules

    def generate_moves(self, heaps):
        """Yield `less << 2 * HEAP_BITS | more << HEAP_BITS | heap` for each way to split a heap into unequal parts.

        >>> game = Grundy()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(1652, '20>19+1'), (2644, '20>18+2'), (3636, '20>17+3')]
        """
        before = 0
        while heaps:
            heap = heaps & LARGEST
            heaps >>= HEAP_BITS
            if heap == before:
                continue
            before = heap
            for less in range(1, (heap + 1) // 2):
                yield less << 2 * HEAP_BITS | heap - less << HEAP_BITS | heap

    def do_move(self, heaps, move):
        """Return the heaps after a split; parts below PLAYED are left out, since they cannot be split.

        >>> game = Grundy()
        >>> game.write(game.start), game.write(game.do_move(game.start, 1652))  # 20>19+1
        ('20', '19')
        """
        less, more = move >> 2 * HEAP_BITS, move >> HEAP_BITS & LARGEST
        if less < PLAYED:
            move &= (1 << 2 * HEAP_BITS) - 1
        if more < PLAYED:
            move &= LARGEST
        return replaced(heaps, move)

    def tier(self, heaps):
        return 2 * self.n - 1 - weight(heaps)

    # For people

    def write(self, heaps):
        return written(heaps)

    def read(self, text):
        return packed(size for size in sizes_of(understood(text, self.n)) if size >= PLAYED)

    def move_name(self, heaps, move):
        return name_of(move)
