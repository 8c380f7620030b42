"""Pauses Python's garbage collector, which may run at any allocation, in any thread."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CHANGING = threading.Lock()
"""Held while the number of pauses changes."""
pauses = 0
"""How many parts of the program want it paused now."""
was_enabled = True
"""Whether it ran before the first of them."""


@contextmanager
def without_garbage_collector() -> Iterator[None]:
    """Pause the garbage collector, also while other threads begin and end pauses of their own."""
    change_pauses(1)
    try:
        yield
    finally:
        change_pauses(-1)


def change_pauses(by: int) -> None:
    """Count a pause that begins or ends; the first stops the collector, and the last lets it go on."""
    global pauses, was_enabled
    with CHANGING:
        if pauses == 0:
            was_enabled = gc.isenabled()
            gc.disable()
        pauses += by
        if pauses == 0 and was_enabled:
            gc.enable()
