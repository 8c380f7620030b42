"""Makes rules that would end the process raise a Fault instead.

Otherwise `os._exit(0)` in a rule would look like a command that has succeeded. This is no protection against malicious
rules: code inside a process cannot be contained there.
"""

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from retrograde.solver.rules.examine import Fault

WAYS_OUT = ("_exit", "abort", "execv", "execve")
"""Functions of `os` that end or replace the process without running any more Python code."""

really_exit = os._exit
"""Ends the process at once, even inside `no_exit`."""


class Doors:
    """The functions that end the process, replaced as long as at least one `no_exit` is active."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0
        self.modules = [os, importlib.import_module(os.name)]  # os imports them from posix or nt
        self.saved: list[tuple[Any, str, Callable[..., Any]]] = []

    def close(self) -> None:
        """Replace the functions, unless another `no_exit` has done so."""
        with self.lock:
            self.wanted += 1
            if self.wanted == 1:
                for module in self.modules:
                    for name in filter(vars(module).__contains__, WAYS_OUT):
                        self.saved.append((module, name, getattr(module, name)))
                        setattr(module, name, closed(name))

    def open(self) -> None:
        """Put the functions back when the last `no_exit` ends."""
        with self.lock:
            self.wanted -= 1
            while not self.wanted and self.saved:
                setattr(*self.saved.pop())

    def after_fork(self) -> None:
        """Put the functions back in a forked process, so that workers of a pool can exit."""
        self.lock, self.wanted = threading.Lock(), 1
        self.open()


DOORS = Doors()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DOORS.after_fork)


def closed(name: str) -> Callable[..., NoReturn]:
    """Return the replacement of a function that ends the process: it raises a Fault."""

    def complain(*_: object, **__: object) -> NoReturn:
        raise Fault(f"rules must not end the process, as os.{name}() does")

    return complain


@contextmanager
def no_exit() -> Iterator[None]:
    """Make os._exit() and similar functions raise a Fault inside this context, in all threads."""
    DOORS.close()
    try:
        yield
    finally:
        DOORS.open()
