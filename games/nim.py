"""Nim, by Bouton (1901): a player takes any number of objects from one heap. `heaps.py` has the encoding."""

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game
from retrograde.games.kinds.heaps import (
    HEAP_BITS,
    LARGEST,
    MOST_HEAPS,
    name_of,
    packed,
    replaced,
    sizes_of,
    understood,
    weight,
    written,
)


def heaps_in(text, most):
    """Return the heaps in a text, of at most *most* objects in all. Raise ValueError for one that no position holds."""
    if any(part.isdecimal() and int(part) > LARGEST for part in text.split("+")):
        raise ValueError(f"a heap must have at most {LARGEST} objects")
    return understood(text, most)


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
        """Yield `left << HEAP_BITS | heap` for each heap size and each number of counters left of it.

        >>> game = Nim()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(133, '5>4'), (101, '5>3'), (69, '5>2')]
        """
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
        """Return LOSE (in misère play WIN) if no heap is left, else UNDECIDED."""
        if heaps:
            return UNDECIDED
        return WIN if self.misere else LOSE

    def tier(self, heaps):
        return 2 * sum(self.heaps) - weight(heaps)

    # For people

    def write(self, heaps):
        return written(heaps)

    def read(self, text):
        return heaps_in(text, sum(self.heaps))

    def move_name(self, heaps, move):
        return name_of(move)

    def draw_board(self):
        """Return a column of places for each heap, from the bottom up."""
        from retrograde.games.contract.drawing import Board, letters

        high, columns = max(self.heaps), letters(len(self.heaps))
        places = [(float(x), float(high - y)) for x in range(len(columns)) for y in range(high)]
        names = [f"{column}{y + 1}" for column in columns for y in range(high)]
        return Board(tuple(places), tuple(names), {"O": "peru disc"})

    def draw_pieces(self, heaps):
        sizes = sizes_of(heaps) + [0] * len(self.heaps)
        return "".join("O" * size + "." * (max(self.heaps) - size) for size in sizes[: len(self.heaps)])

    def draw_move(self, heaps, move):
        """Return the objects that are taken, the lowest one last. It is the one to point at."""
        first = sizes_of(heaps).index(move & LARGEST) * max(self.heaps)
        return tuple(range(first + (move & LARGEST) - 1, first + (move >> HEAP_BITS) - 1, -1))

    def draw_reach(self, heaps, move):
        """Return the same object of every heap of that size."""
        left = move >> HEAP_BITS
        return tuple(
            heap * max(self.heaps) + left for heap, size in enumerate(sizes_of(heaps)) if size == move & LARGEST
        )
