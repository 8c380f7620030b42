"""What searches share that can be stopped, by another thread or by a time limit."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class StoppableSearch:
    """A search that another thread may stop by the flag `stop`, uint8[1], which is nonzero then."""

    def __init__(self) -> None:
        self.stop = np.zeros(1, np.uint8)

    @contextmanager
    def limit_time(self, seconds: float | None) -> Iterator[None]:
        """Stop searches after *seconds* unless the block ends earlier; without a number, there is no limit."""
        if seconds is None:
            yield
            return
        timer = threading.Timer(seconds, self.halt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # else a timer that goes off now would stop the next search
            self.resume()

    def halt(self) -> None:
        """Stop the search; the running question raises OutOfTime."""
        self.stop[0] = True

    def resume(self) -> None:
        """Allow searching again after `halt`."""
        self.stop[0] = False
