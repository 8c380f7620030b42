"""A time limit for a search."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
