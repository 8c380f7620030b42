"""How much time there is to compute a line, from the clocks that `go` gives.

The move itself is looked up in a few milliseconds, whatever the time. Only the line after it takes time.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

MOVES_LEFT = 40
"""The number of moves for which the time must last, if `go` does not say."""
SHORTEST = 0.01
"""With fewer seconds than this, no line is computed."""


class ClockLimits(NamedTuple):
    """The time that `go` allows, in milliseconds."""

    movetime: int | None = None
    time: int | None = None
    increment: int = 0
    moves: int = MOVES_LEFT

    @classmethod
    def of(cls, words: Sequence[str], white: bool) -> "ClockLimits":
        """Return the limits in the words of `go`, for the side to move."""
        side = "w" if white else "b"
        numbers = {word: number(after) for word, after in pairwise(words)}
        moves = numbers.get("movestogo")
        return cls(
            numbers.get("movetime"),
            numbers.get(f"{side}time"),
            numbers.get(f"{side}inc") or 0,
            max(1, moves) if moves is not None else MOVES_LEFT,
        )

    def seconds(self, overhead: int) -> float | None:
        """Return the seconds for a line; 0 if they are too few, None if there is no limit.

        *overhead* is the number of milliseconds lost on the way.

        >>> limits = ClockLimits(movetime=1000), ClockLimits(time=100, increment=10), ClockLimits()
        >>> [each.seconds(10) for each in limits]
        [0.99, 0.0, None]
        """
        if self.movetime is not None:
            left = self.movetime - overhead
        elif self.time is not None:
            left = min(self.time // 2, self.time // (self.moves + 1) + self.increment // 2) - overhead
        else:
            return None
        return left / 1000 if left >= 1000 * SHORTEST else 0.0


def number(word: str) -> int | None:
    """Return a whole number, or None."""
    try:
        return int(word[:12])
    except ValueError:
        return None
