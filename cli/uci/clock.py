"""The time for one move: how much of it is left, and whether `stop` has come."""

from concurrent.futures import FIRST_COMPLETED, Future, wait
from time import monotonic
from typing import Any, NamedTuple


class Clock(NamedTuple):
    """The time for one move. Its seconds count from `began`; None means that there is no limit.

    `infinite` says that only `stop` ends the search, and `stopped` is done once `stop` has come.
    """

    began: float
    seconds: float | None
    infinite: bool
    stopped: "Future[None]"

    @classmethod
    def start(cls, seconds: float | None, infinite: bool = False) -> "Clock":
        """Return a clock that starts now."""
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
        """The same as UCI prints it."""
        return round(1000 * self.passed)

    @property
    def left(self) -> float | None:
        """The seconds left, which may be negative; None without a limit."""
        return None if self.seconds is None else self.seconds - self.passed

    @property
    def is_over(self) -> bool:
        """Whether the time is over, or `stop` has come."""
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
