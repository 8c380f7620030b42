"""Rules that would end the process, and so pass for a command that has done its work, raise a Fault instead.

This is no wall against rules that mean harm, which no process can be for what runs inside it.
"""

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from retrograde.solver.rules.examine import Fault

WAYS_OUT = ("_exit", "abort", "execv", "execve")
"""Functions of `os` after which nothing of Python's runs any more."""

really_exit = os._exit
"""What ends the process at once, also while rules must not."""


class Doors:
    """The functions that end the process: closed as long as anyone wants them closed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0
        self.modules = [os, importlib.import_module(os.name)]  # what os takes them from: posix, or nt
        self.saved: list[tuple[Any, str, Callable[..., Any]]] = []

    def close(self) -> None:
        with self.lock:
            self.wanted += 1
            if self.wanted == 1:
                for module in self.modules:
                    for name in filter(vars(module).__contains__, WAYS_OUT):
                        self.saved.append((module, name, getattr(module, name)))
                        setattr(module, name, closed(name))

    def open(self) -> None:
        with self.lock:
            self.wanted -= 1
            while not self.wanted and self.saved:
                setattr(*self.saved.pop())

    def after_fork(self) -> None:
        """Let a process that was forked, as those of a pool are, end as they do."""
        self.lock, self.wanted = threading.Lock(), 1
        self.open()


DOORS = Doors()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DOORS.after_fork)


def closed(name: str) -> Callable[..., NoReturn]:
    """Return what stands in for a way out."""

    def complain(*_: object, **__: object) -> NoReturn:
        raise Fault(f"rules must not end the process, as os.{name}() does")

    return complain


@contextmanager
def no_exit() -> Iterator[None]:
    """Let os._exit() and its like raise a Fault within, in all threads."""
    DOORS.close()
    try:
        yield
    finally:
        DOORS.open()
