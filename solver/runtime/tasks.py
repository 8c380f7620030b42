"""Runs tasks on an executor: a module-level function, once for each of some items.

The executor may have threads, processes or machines. A task's input is its item, and its only output is what it
returns.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.parcels import Parcel

Item = TypeVar("Item")
Result = TypeVar("Result")

IN_FLIGHT = 16
"""The most tasks submitted whose results are not used yet, so that results do not pile up."""


class Remote(Executor):
    """An executor whose workers share files with this process, but no memory. They may be on other machines."""

    @property
    def workers(self) -> int:
        """The number of tasks that run at once, which may change."""
        raise NotImplementedError

    @property
    def sharing(self) -> int:
        """The most workers that share one machine's memory."""
        return self.workers

    @property
    def apart(self) -> bool:
        """Whether a worker may be on another machine, and sees a file's content only after it is written out."""
        raise NotImplementedError


def in_order(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], limit: int = IN_FLIGHT,
    warm: set[Any] | None = None,
) -> Iterator[Result]:  # fmt: skip
    """Yield the results of a function for items, in order, with at most *limit* tasks submitted.

    A function that is not in *warm* first runs alone once: one worker compiles, and the others find the code cached.
    """
    waiting = iter(items)
    first_two = list(islice(waiting, 2))
    if len(first_two) < 2:  # sending a single item costs more than it saves
        yield from map(function, first_two)
        return
    running: deque[Future[Result]] = deque()
    try:
        for item in chain(first_two, waiting):
            running.append(executor.submit(function, item))
            warm_up(function, running[0], warm)
            if len(running) >= limit:
                yield result_of(running.popleft())
        while running:
            yield result_of(running.popleft())
    finally:
        for future in running:
            future.cancel()


def as_completed(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], limit: int = IN_FLIGHT,
    warm: set[Any] | None = None,
) -> Iterator[Result]:  # fmt: skip
    """Like `in_order`, but yield results as they are done. If the caller stops early, running tasks are waited for."""
    running: set[Future[Result]] = set()
    try:
        for item in items:
            future = executor.submit(function, item)
            running.add(future)
            warm_up(function, future, warm)
            # Wait for at least one result before submitting more.
            if len(running) >= limit:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield result_of(future)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield result_of(future)
    finally:
        wait({future for future in running if not future.cancel()})  # waiters are not notified about cancelled futures


def warm_up(function: Any, future: Future[Any], warm: set[Any] | None) -> None:
    """Wait for a function's first task and add the function to *warm*, unless it is there or *warm* is None."""
    if warm is not None and (inner := inner_function(function)) not in warm:
        wait((future,))
        warm.add(inner)


def result_of(future: Future[Any]) -> Any:
    """Return the result of a task. If it came in a file (a `Parcel`), read and delete that."""
    result = future.result()
    if not isinstance(result, Parcel):
        return result
    try:
        return result.open()
    finally:
        result.drop()


def group_by_weight(items: Iterable[tuple[Item, int]], least: int) -> Iterator[list[Item]]:
    """Group (item, weight) pairs into tasks with a weight of at least *least* each, except the last.

    >>> list(group_by_weight([("a", 2), ("b", 2), ("c", 1)], 3))
    [['a', 'b'], ['c']]
    """
    task: list[Item] = []
    total = 0
    for item, weight in items:
        task.append(item)
        total += weight
        if total >= least:
            yield task
            task, total = [], 0
    if task:
        yield task


def call(function: Callable[..., Result], arguments: Iterable[Any]) -> Result:
    """Call a function with a sequence of arguments, so that `partial(call, function)` takes one item."""
    return function(*arguments)


def inner_function(function: Any) -> Any:
    """Return the function itself, or the one inside a `partial` or a `partial` of `call`.

    >>> inner_function(partial(print, 1, 2)), inner_function(partial(call, print))
    (<built-in function print>, <built-in function print>)
    """
    if not isinstance(function, partial):
        return function
    return inner_function(function.args[0] if function.func is call else function.func)


class Workspaces(threading.local):
    """The workspace arrays of each thread, reused from task to task."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}


WORKSPACES = Workspaces()


def workspace(name: str, length: int, dtype: Any = np.int64) -> Array:
    """Return this thread's array of a name, with at least *length* items of arbitrary contents."""
    array = WORKSPACES.arrays.get(name)
    if array is None or len(array) < length:
        array = WORKSPACES.arrays[name] = np.empty(length, dtype)
    return array


def free_workspaces(name: str) -> None:
    """Free this thread's workspace arrays whose names begin with *name*; a living thread would keep them."""
    for full_name in [full_name for full_name in WORKSPACES.arrays if full_name.startswith(name)]:
        del WORKSPACES.arrays[full_name]
