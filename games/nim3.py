"""Nim for three or more players, by Propp (Three-player impartial games, 2000). The last to take an object wins.

A position is the heaps (see `heaps.py`), shifted left by three bits, which hold the player to move.
"""

from retrograde.games.contract.game import LOSE, UNDECIDED, Game
from retrograde.games.kinds.heaps import HEAP_BITS, LARGEST, MOST_HEAPS, name_of, packed, replaced, weight, written
from retrograde.games.nim import heaps_in

TURN_BITS = 3


class Nim3(Game):
    """Three players take one or two objects from a heap in turn. The one who takes the last wins; the others lose."""

    title = "Nim for three"

    heaps: tuple[int, ...] = (7,)
    most: int = 2
    players: int = 3  # type: ignore[misc]  # an option, as the contract allows

    def __post_init__(self):
        if not 1 <= len(self.heaps) < MOST_HEAPS or not all(1 <= heap <= LARGEST for heap in self.heaps):
            raise ValueError(f"heaps must be from 1 to {MOST_HEAPS - 1} numbers from 1 to {LARGEST}")
        if not 1 <= self.most <= LARGEST:
            raise ValueError(f"most, how many may be taken at once, must be from 1 to {LARGEST}")
        if not 3 <= self.players <= 1 << TURN_BITS:
            raise ValueError(f"players must be from 3 to {1 << TURN_BITS}")

    @property
    def start(self):
        return packed(self.heaps) << TURN_BITS

    # The rules

    def turn(self, position):
        return position & (1 << TURN_BITS) - 1

    def generate_moves(self, position):
        """Yield `left << HEAP_BITS | heap` for each heap size and each number of counters left of it."""
        heaps = position >> TURN_BITS
        before = 0
        while heaps:
            heap = heaps & LARGEST
            heaps >>= HEAP_BITS
            if heap != before:
                for taken in range(1, min(heap, self.most) + 1):
                    yield heap - taken << HEAP_BITS | heap
            before = heap

    def do_move(self, position, move):
        return replaced(position >> TURN_BITS, move) << TURN_BITS | (self.turn(position) + 1) % self.players

    def primitive(self, position):
        return LOSE if position >> TURN_BITS == 0 else UNDECIDED

    def payoff(self, position, player):
        return 1 if (player + 1) % self.players == self.turn(position) else 0

    def tier(self, position):
        return 2 * sum(self.heaps) - weight(position >> TURN_BITS)

    # For people

    def write(self, position):
        return f"{written(position >> TURN_BITS)},{self.turn(position) + 1}"

    def read(self, text):
        heaps, _, turn = text.partition(",")
        if not turn.isdecimal() or not 1 <= int(turn) <= self.players:
            raise ValueError(f"behind the heaps stands who is to move, from 1 to {self.players}, as in 7+3,2")
        return heaps_in(heaps, sum(self.heaps)) << TURN_BITS | int(turn) - 1

    def move_name(self, position, move):
        return name_of(move)
