"""A limit of time on what is searched."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def limited(seconds: float | None, halt: Callable[[], None], resume: Callable[[], None]) -> Iterator[None]:
    """Call *halt* after some seconds, if what is done within takes so long, and *resume* at the end.

    Without a number nothing is called.
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
