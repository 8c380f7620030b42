"""The nim-sequence of a taking-and-breaking game: the nimber of a heap of each size, from 0 on.

A position of such a game is a sum of heaps. So its nimber is the xor of the nimbers of the heaps, and the nimber of a
heap is the least number that no move from it has (Sprague, 1935; Grundy, 1939). No sum of heaps is ever played out.

Nim-sequences of octal games are often periodic. If G(n + p) = G(n) for all n from n0 to 2 n0 + p + k - 1, where k is
the most that a move takes, then it holds for all n from n0 on (Guy and Smith, The G-values of various games, 1956).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from retrograde.games.contract.heap_code import UNEQUAL, options_of
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.search.heap_kernels import count_repeated, extend_nimbers
from retrograde.solver.search.timer import StoppableSearch
from retrograde.solver.values.sums import add

LARGEST, TRIED_FIRST = 1 << 20, 1 << 16
"""The largest heap whose nimber is found without a period; and the heaps tried for a period before a larger one is
refused."""
ALWAYS_COMPUTED = 4096
"""The nimbers of so many heaps are always computed. It takes milliseconds, and shows many periods."""


class Period(NamedTuple):
    """A nim-sequence repeats: from heap *first* on, the nimbers of a heap and of one larger by *length* are equal."""

    first: int
    length: int


class NimSequence(StoppableSearch):
    """The nim-sequence of a game, as far as it is known; it grows when asked for a larger heap.

    *code* is the game's (see `games/contract/heap_code.py`).
    """

    def __init__(self, code: Sequence[int]):
        super().__init__()
        self.code = np.array(code, np.int64)
        self.values = np.zeros(1, np.int32)
        """The nimbers of the heaps that are known."""
        self.period: Period | None = None
        self.progress = np.ones(1, np.int64)
        """How many heaps are known, while the loops run."""

    @property
    def looked_at(self) -> int:
        """The heaps whose nimbers are known."""
        return int(self.progress[0])

    def find(self, heap: int, seconds: float | None = None) -> int | None:
        """Return the nimber of a heap, or None if the time is too short; raise ValueError if it is too large."""
        with self.limit_time(seconds):
            while (len(self.values) == 1 or self.nimber(heap) is None) and not self.stop[0]:
                self.grow(heap)
        return self.nimber(heap)

    def nimber(self, heap: int) -> int | None:
        """Return the nimber of a heap, or None if it is not known yet."""
        if self.period and heap >= len(self.values):
            heap = self.period.first + (heap - self.period.first) % self.period.length
        return int(self.values[heap]) if heap < len(self.values) else None

    def winning_option(self, heap: int, goal: int) -> tuple[int, ...] | None:
        """Return the heaps that a move leaves, if their nimbers add up to *goal*; None if there is no such move."""
        # If the nimber of the heap is known by a period only, solve a smaller heap instead: whole periods less, so that
        # it is in `values`. They are added to the last heap that the move leaves, which does not change its nimber.
        excess, length = max(heap - len(self.values) + 1, 0), self.period.length if self.period else 1
        left_out = -(-excess // length) * length  # the least multiple of the period that is enough
        for left in options_of(self.code.tolist(), heap - left_out):
            if add(int(self.values[size]) for size in left) == goal:
                return (*left[:-1], left[-1] + left_out) if left else left
        return None

    def grow(self, heap: int) -> None:
        """Compute nimbers up to twice as far, at most up to this heap; then look for a period."""
        begin = len(self.values)
        if heap > LARGEST and begin > TRIED_FIRST:
            raise ValueError(f"no period was found, so a heap may have at most {LARGEST:,} objects")
        end = min(max(2 * begin, ALWAYS_COMPUTED), max(heap, ALWAYS_COMPUTED), LARGEST) + 1
        values = np.zeros(end, np.int32)
        values[:begin] = self.values
        self.values = values[: extend_nimbers(values, begin, self.code, self.stop, self.progress)]
        self.period = period_of(self.values, self.code)


def period_of(values: Array, code: Array) -> Period | None:
    """Return the shortest period that *values* prove, the nimbers of the heaps from 0 on; None if they prove none.

    >>> period_of(np.arange(40) % 4, np.array([0, 3, 3, 3]))  # take one to three objects
    Period(first=0, length=4)
    >>> period_of(np.arange(5) % 4, np.array([0, 3, 3, 3]))  # too few nimbers to prove it
    """
    if (code & UNEQUAL).any():  # the theorem is about octal games
        return None
    # For each length p: from which heap on is G(n + p) = G(n), as far as the nimbers go? In the reversed sequence that
    # is the number of values from index p on that equal those from index 0 on.
    count, lengths = len(values), np.arange(len(values))
    firsts = count - lengths - count_repeated(values[::-1].copy())
    # The theorem (see above) needs the nimbers of the heaps up to 2 n0 + 2 p + k - 1.
    most_taken = len(code) - 1
    proved = (lengths > 0) & (2 * firsts + 2 * lengths + most_taken <= count)
    if not proved.any():
        return None
    length = int(np.argmax(proved))
    return Period(int(firsts[length]), length)
