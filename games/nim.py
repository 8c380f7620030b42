"""Nim, by Bouton (1901): a player takes any number of objects from one heap. `heaps.py` has the encoding."""

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game
from retrograde.games.kinds.heaps import (
    HEAP_BITS,
    LARGEST,
    MOST_HEAPS,
    name_of,
    packed,
    replaced,
    understood,
    weight,
    written,
)


class Nim(Game):
    """Players take from one heap in turn. The player who takes the last object wins, or loses in the misère game."""

    heaps: tuple[int, ...] = (3, 4, 5)
    most: int = LARGEST
    misere: bool = False

    def __post_init__(self):
        if not 1 <= len(self.heaps) <= MOST_HEAPS or not all(1 <= heap <= LARGEST for heap in self.heaps):
            raise ValueError(f"heaps must be from 1 to {MOST_HEAPS} numbers from 1 to {LARGEST}")
        if not 1 <= self.most <= LARGEST:
            raise ValueError(f"most, how many may be taken at once, must be from 1 to {LARGEST}")

    @property
    def start(self):
        return packed(self.heaps)

    @property
    def metric(self):
        return "" if self.misere else "nimber"

    # The rules

    def generate_moves(self, heaps):
        before = 0
        while heaps:
            heap = heaps & LARGEST
            heaps >>= HEAP_BITS
            if heap != before:
                for taken in range(1, min(heap, self.most) + 1):
                    yield heap - taken << HEAP_BITS | heap
            before = heap

    def do_move(self, heaps, move):
        return replaced(heaps, move)

    def primitive(self, heaps):
        if heaps:
            return UNDECIDED
        return WIN if self.misere else LOSE

    def tier(self, heaps):
        return 2 * sum(self.heaps) - weight(heaps)

    # For people

    def write(self, heaps):
        return written(heaps)

    def read(self, text):
        return understood(text, sum(self.heaps))

    def move_name(self, heaps, move):
        return name_of(move)
