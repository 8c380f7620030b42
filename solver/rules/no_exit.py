"""Makes rules that would end the process raise a Fault instead; used wherever rules run interpreted.

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

NAMES = ("_exit", "abort", "execv", "execve")
"""Functions of `os` that end or replace the process without running any more Python code."""

really_exit = os._exit
"""Ends the process at once, even inside `no_exit`."""


class ExitFunctions:
    """The functions of `os` that end the process, replaced while a `no_exit` is active."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.modules = [os, importlib.import_module(os.name)]  # os imports them from posix or nt
        self.saved: list[tuple[Any, str, Callable[..., Any]]] = []

    def replace(self) -> None:
        """Replace the functions, unless another `no_exit` has done so."""
        with self.lock:
            self.users += 1
            if self.users == 1:
                for module in self.modules:
                    for name in set(NAMES) & vars(module).keys():
                        self.saved.append((module, name, getattr(module, name)))
                        setattr(module, name, refusal_of(name))

    def restore(self) -> None:
        """Put the functions back when the last `no_exit` ends."""
        with self.lock:
            self.users -= 1
            while not self.users and self.saved:
                setattr(*self.saved.pop())

    def after_fork(self) -> None:
        """Put the functions back in a forked process, so that workers of a pool can exit."""
        self.lock, self.users = threading.Lock(), 1
        self.restore()


EXIT_FUNCTIONS = ExitFunctions()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=EXIT_FUNCTIONS.after_fork)


def refusal_of(name: str) -> Callable[..., NoReturn]:
    """Return the replacement of a function that ends the process: it raises a Fault."""

    def complain(*_: object, **__: object) -> NoReturn:
        raise Fault(f"rules must not end the process, as os.{name}() does")

    return complain


@contextmanager
def no_exit() -> Iterator[None]:
    """Make os._exit() and similar functions raise a Fault inside this context, in all threads."""
    EXIT_FUNCTIONS.replace()
    try:
        yield
    finally:
        EXIT_FUNCTIONS.restore()
