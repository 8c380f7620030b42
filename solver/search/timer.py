"""A time limit for a search, and what searches with a stop flag share."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np


@contextmanager
def limited(seconds: float | None, halt: Callable[[], None], resume: Callable[[], None]) -> Iterator[None]:
    """Call *halt* after *seconds* unless the block ends earlier, and *resume* when the block ends.

    Without a number, call neither.
    """
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, halt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # else one that is just going off would stop what is asked next
        resume()


class StoppableSearch:
    """A search that another thread may stop by the flag `stop`, uint8[1]."""

    def __init__(self) -> None:
        self.stop = np.zeros(1, np.uint8)

    def limited(self, seconds: float | None) -> AbstractContextManager[None]:
        """Return a context that stops searches after *seconds*; without a number, there is no limit."""
        return limited(seconds, self.halt, self.resume)

    def halt(self) -> None:
        self.stop[0] = True

    def resume(self) -> None:
        """Allow searching again after `halt`."""
        self.stop[0] = False
