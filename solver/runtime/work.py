"""`Work`, the resources of a solve: executor, memory, journal, scratch folder, listener and sizes."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import isqrt
from pathlib import Path
from typing import Any, Protocol, TypeVar

from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.runtime import tasks
from retrograde.solver.runtime.arrays import SharedArray, publish
from retrograde.solver.runtime.journal import Entries, Journal, Log
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.progress import Course, Listener, Phase
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.tasks import Remote

TASKS_EACH = 4
"""The number of tasks for each worker of a cluster and wave, if tasks are then large enough; see ITEMS_SENT."""
ITEMS_SENT = 100_000
"""Items (positions or children) that take as long to process as a task takes to send: 5 ms. A task must have this many
for each busy worker, since the others wait for tasks while it runs.
"""
LARGER = 16
"""How many times larger than on threads a task on a cluster may be, if memory allows."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Closable(Protocol):
    """Anything with a `close` method."""

    def close(self) -> None: ...


Open = TypeVar("Open", bound=Closable)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cluster_task_size(total: int, least: int, workers: int) -> int:
    """Return how many of *total* items a task on a cluster should have, at least *least*.

    Small tasks balance better, but one process sends them all: it keeps only as many workers busy as it can send tasks
    to while one task runs.

    >>> [cluster_task_size(total, 1 << 15, workers=10) for total in (10_000, 10**6, 10**7, 10**9)]
    [32768, 300000, 1000000, 25000000]
    """
    # With n busy workers, a task needs n * ITEMS_SENT items; each then gets one task if total = n² * ITEMS_SENT.
    busy_workers = min(workers, isqrt(total // ITEMS_SENT))
    return max(least, total // (TASKS_EACH * workers), ITEMS_SENT * busy_workers)


class Outlook(Protocol):
    """Estimates how large a running solve will be; raises DiskTooSmall if the disk cannot hold it."""

    def waves(self) -> list[int]:
        """Return the estimated positions of each wave; empty while the estimate is not ready."""

    def check_records(self, records: int) -> None:
        """Check that the disk can hold the results of a streamed solve with so many records."""

    def plain_waves(self, written: int) -> list[int]:
        """Return the estimated positions of each wave of a game with plain rules; *written* bytes of results are on
        disk."""


class NotApplicable(Exception):
    """A method does not apply to a game, or another is better; *reason* is worded to follow "since"."""

    def __init__(self, reason: str):
        super().__init__(reason)


def too_small(records: int, sizes: Sizes) -> NotApplicable:
    """Return the error for a game with too few positions for a streamed solve."""
    return NotApplicable(
        f"it has only {records:,} positions, and those of up to {sizes.in_memory:,} are listed in memory"
    )


class MetricNotApplicable(RetrogradeError, ValueError):
    """A metric is not defined for a game."""


@dataclass(frozen=True)
class Work:
    """The resources of a solve."""

    executor: Executor
    workers: int
    budget: MemoryBudget
    journal: Journal | None
    scratch: Path
    listener: Listener | None = None
    sizes: Sizes = field(default_factory=Sizes)
    course: Course = field(default_factory=Course)
    """The phases of the solve, which each method plans when it begins."""
    open: ExitStack = field(default_factory=ExitStack)
    """Resources to close after the database is written."""

    functions_run: set[Any] = field(default_factory=set)
    """The functions that some task has run already."""

    @property
    def warm(self) -> set[Any] | None:
        """The functions whose machine code other processes find cached; None if all runs in this process."""
        return None if self.shares_memory else self.functions_run

    @property
    def sharing(self) -> int:
        """The number of workers that share one machine's memory."""
        return self.executor.sharing if isinstance(self.executor, Remote) else self.workers

    @property
    def workers_now(self) -> int:
        """The number of workers now, which changes on a cluster."""
        return self.executor.workers if isinstance(self.executor, Remote) else self.workers

    @property
    def shares_memory(self) -> bool:
        """Whether tasks run in this process."""
        return isinstance(self.executor, ThreadPoolExecutor)

    @property
    def apart(self) -> bool:
        """Whether a worker may be on another machine, and sees a file's content only after it is written out."""
        return isinstance(self.executor, Remote) and self.executor.apart

    @property
    def ranged_from(self) -> int | None:
        """The size in slots from which a tier is solved in ranges; None if workers share our memory."""
        return None if self.shares_memory else self.sizes.ranged_slots

    @property
    def task_factor(self) -> int:
        """How many times larger than on threads a task may be."""
        return LARGER if isinstance(self.executor, Remote) else 1

    @property
    def in_flight(self) -> int:
        """The number of tasks to have submitted, so that no worker waits."""
        return 2 * self.workers_now + 2

    def task_size(self, total: int, least: int) -> int:
        """Return how many of *total* items to give to a task: *least* on threads, more on a cluster."""
        return cluster_task_size(total, least, self.workers_now) if isinstance(self.executor, Remote) else least

    def block_size(self, total: int, usual: int) -> int:
        """Like `task_size`, for *usual* items on threads; on a cluster at most LARGER times as many."""
        return min(self.task_size(total, usual), self.task_factor * usual)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield a function's results for items, in order. Tasks see what was written to shared arrays before."""
        self.prepare()
        most = max(tasks.IN_FLIGHT, self.in_flight if isinstance(self.executor, Remote) else 0)
        return tasks.in_order(self.executor, function, items, most, self.warm)

    def starmap(self, function: Callable[..., Result], items: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
        """Like `map`, for a function of several arguments; each item has them all."""
        return self.map(partial(tasks.call, function), items)

    def map_here(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map`, but never in other processes: for cheap functions with large arguments."""
        if self.shares_memory:
            yield from self.map(function, items)
            return
        with ThreadPoolExecutor(cores()) as threads:
            yield from tasks.in_order(threads, function, items)

    @property
    def map_in_process(self) -> Callable[[Callable[[Item], Result], Iterable[Item]], Iterator[Result]]:
        """A `map` for tasks that write to arrays of this process. It runs them on threads, or one after another if the
        workers are other processes of this machine, which have its cores."""
        return self.map_here if isinstance(self.executor, ThreadPoolExecutor | Remote) else map

    def as_completed(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map`, but yield results as soon as they are done."""
        self.prepare()
        return tasks.as_completed(self.executor, function, items, self.in_flight, self.warm)

    def prepare(self) -> None:
        """Write out shared arrays, if tasks on other machines must see them."""
        if self.apart:
            publish()

    def zeros(self, name: str, length: int, dtype: Any) -> SharedArray:
        """Return an array of zeros that all tasks can read; a file named *name* if workers are other processes."""
        return SharedArray.zeros(length, dtype, None if self.shares_memory else self.scratch / name)

    def until_written(self, resource: Open) -> Open:
        """Close a resource after the database is written or the solve has failed; return it."""
        self.open.callback(resource.close)
        return resource

    def log(self, name: str, kept: bool = True) -> Log:
        """Return the journal's log of a name. Without a journal, or if not *kept*, return a log that writes nothing."""
        pause = self.sizes.journal_seconds
        if self.journal and kept:
            return self.journal.log(name, pause)
        return Log(None, name, Entries(self.scratch, []), pause)

    def resumes(self, name: str) -> bool:
        """Return whether an earlier run has written entries of a name to the journal that nothing has read yet."""
        return self.journal is not None and name in self.journal.found

    def phase(self, name: str, total: int | None = None) -> Phase:
        """Start a phase of *total* records, and return its progress counter."""
        return Phase(name, self.listener, total, self.course)
