"""Tasks given to an executor: a function, which a module defines, for each of some items.

Whether the executor has threads, processes or machines makes no difference: what a task needs is in its item, and all
that it finds out is what it returns.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from retrograde.solver.runtime.parcels import Parcel

Array = np.ndarray[Any, Any]

Item = TypeVar("Item")
Result = TypeVar("Result")

IN_FLIGHT = 16
"""Tasks given to an executor whose results are not used yet, so that these do not pile up."""


class Remote(Executor):
    """An executor whose workers share files with this process, and no memory; they may be on other machines."""

    @property
    def workers(self) -> int:
        """How many tasks it runs at once, which may change."""
        raise NotImplementedError

    @property
    def sharing(self) -> int:
        """How many workers share the memory of one machine, at most."""
        return self.workers

    @property
    def apart(self) -> bool:
        """Whether some worker may be on another machine, and sees what a file holds only once it is written out."""
        raise NotImplementedError


def in_order(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], most: int = IN_FLIGHT,
    warm: set[Any] | None = None,
) -> Iterator[Result]:  # fmt: skip
    """Yield the results for some items in their order, with a bounded number of them under way.

    Where *warm* is given, the first task of a function that is not in there is under way alone: its worker compiles
    what others then find compiled.
    """
    waiting = iter(items)
    first = list(islice(waiting, 2))
    if len(first) < 2:  # to hand it over would cost more than it saves
        yield from map(function, first)
        return
    flying: deque[Future[Result]] = deque()
    try:
        for item in chain(first, waiting):
            flying.append(executor.submit(function, item))
            warm_up(function, flying[0], warm)
            if len(flying) >= most:
                yield result_of(flying.popleft())
        while flying:
            yield result_of(flying.popleft())
    finally:
        for future in flying:
            future.cancel()


def as_completed(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], most: int = IN_FLIGHT,
    warm: set[Any] | None = None,
) -> Iterator[Result]:  # fmt: skip
    """Yield the results for some items as they come, with a bounded number of them under way; *warm* as above.

    Where it ends early, those under way are waited for.
    """
    flying: set[Future[Result]] = set()
    try:
        for item in items:
            future = executor.submit(function, item)
            flying.add(future)
            warm_up(function, future, warm)
            if len(flying) >= most:
                done, flying = wait(flying, return_when=FIRST_COMPLETED)
                for future in done:
                    yield result_of(future)
        while flying:
            done, flying = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                yield result_of(future)
    finally:
        wait({future for future in flying if not future.cancel()})  # nobody may tell of those that are cancelled


def warm_up(function: Any, future: Future[Any], warm: set[Any] | None) -> None:
    """Wait for the first task of a function, and note that it has run."""
    if warm is not None and (whole := whole_of(function)) not in warm:
        wait((future,))
        warm.add(whole)


def result_of(future: Future[Any]) -> Any:
    """Return the result of a task, whichever way it came."""
    result = future.result()
    if not isinstance(result, Parcel):
        return result
    try:
        return result.open()
    finally:
        result.drop()


def whole_of(function: Any) -> Any:
    """Return a function, or the one of which part of the arguments are given.

    >>> whole_of(partial(print, 1, 2)) is print
    True
    """
    return function.func if isinstance(function, partial) else function


class Rooms(threading.local):
    """Arrays that each thread has for itself, and uses again and again."""

    def __init__(self) -> None:
        self.rooms: dict[str, Array] = {}


ROOMS = Rooms()


def room(name: str, length: int, dtype: Any = np.int64) -> Array:
    """Return an array of at least some length, with anything in it, for this thread alone to work in."""
    found = ROOMS.rooms.get(name)
    if found is None or len(found) < length:
        found = ROOMS.rooms[name] = np.empty(length, dtype)
    return found


def clear_rooms(name: str) -> None:
    """Let go of the arrays of this thread whose names begin so: a thread that goes on would keep them."""
    for known in [known for known in ROOMS.rooms if known.startswith(name)]:
        del ROOMS.rooms[known]
