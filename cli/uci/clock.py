"""The time for one move: the limits that `go` gives, how much of it is left, and whether `stop` has come.

The move itself is looked up in a few milliseconds, whatever the time. Only the line after it takes time.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import pairwise
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from retrograde.cli.interrupt import LEFT_RUNNING

Result = TypeVar("Result")

MOVES_LEFT = 40
"""The number of moves for which the time must last, if `go` does not say."""
SHORTEST = 0.01
"""With fewer seconds than this, no line is computed."""


class Clock(NamedTuple):
    """The time for one move, in seconds from `began`; None: no limit. If `infinite`, only `stop` ends the search."""

    began: float
    seconds: float | None
    infinite: bool
    stopped: "Future[None]"

    @classmethod
    def start(cls, seconds: float | None, infinite: bool = False) -> "Clock":
        return cls(monotonic(), seconds, infinite, Future())

    def within(self, seconds: float) -> "Clock":
        """Return a clock with the same start and stop that has *seconds* left from now on."""
        return self._replace(seconds=self.passed + seconds, infinite=False)

    @property
    def passed(self) -> float:
        """The seconds since the start."""
        return monotonic() - self.began

    @property
    def milliseconds(self) -> int:
        """The milliseconds since the start."""
        return round(1000 * self.passed)

    @property
    def left(self) -> float | None:
        """The seconds left, which may be negative; None without a limit."""
        return None if self.seconds is None else self.seconds - self.passed

    @property
    def is_over(self) -> bool:
        return self.stopped.done() or (self.left is not None and self.left <= 0)

    def stop(self) -> None:
        """Wake all waiting threads: the move must be made now."""
        if not self.stopped.done():
            self.stopped.set_result(None)

    def await_result(self, future: "Future[Any]", spare: float = 0.0) -> bool:
        """Wait for a future; return False if `stop` comes or only *spare* seconds are left before it is done."""
        timeout = None if self.left is None else max(self.left - spare, 0.0)
        wait((future, self.stopped), timeout, FIRST_COMPLETED)
        return future.done()


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
            # An equal share of the clock for each move and one in reserve, and half of the increment; at most half of
            # the clock.
            left = min(self.time // 2, self.time // (self.moves + 1) + self.increment // 2) - overhead
        else:
            return None
        return left / 1000 if left >= 1000 * SHORTEST else 0.0


def in_background(make: Callable[[], Result]) -> "Future[Result]":
    """Return the future of what *make* returns, called in a thread that may be left running at the end."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(make())
        except Exception as error:
            future.set_exception(error)

    Thread(target=run, name=LEFT_RUNNING, daemon=True).start()
    return future


def number(word: str) -> int | None:
    """Return the int that a word of a command stands for; None if it is none."""
    try:
        return int(word[:12])
    except ValueError:
        return None
