"""Work: how a solve is run, limited, told and kept; one object that goes wherever a solve does."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isqrt
from pathlib import Path
from typing import Any, Protocol, TypeVar

from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.runtime import tasks
from retrograde.solver.runtime.arrays import Shared, publish
from retrograde.solver.runtime.journal import Entries, Journal, Log
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.progress import Course, Listener, Phase
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.tasks import Remote

TASKS_EACH = 4
"""Tasks that each worker of a cluster has of a wave, where they are large enough: for each worker that waits for the
next one there must be..."""
ITEMS_SENT = 100_000
"""...items in a task, positions or children, which take as long as it takes to send one: 5 ms."""
LARGER = 16
"""How many times as large tasks may be on a cluster as on threads, where memory allows."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None: ...


Open = TypeVar("Open", bound=Closable)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worth_sending(total: int, least: int, workers: int) -> int:
    """Return how many items to give to a task on a cluster, of so many in all and so many at *least*.

    Small ones are balanced better, but all are sent by one process: no more workers have work than are sent tasks while
    one of them is at his.

    >>> [worth_sending(total, 1 << 15, workers=10) for total in (10_000, 10**6, 10**7, 10**9)]
    [32768, 300000, 1000000, 25000000]
    """
    fed = min(workers, isqrt(total // ITEMS_SENT))
    return max(least, total // (TASKS_EACH * workers), ITEMS_SENT * fed)


class Outlook(Protocol):
    """Estimates how large a running solve will be. Raises DiskTooSmall if the disk cannot hold the least of it."""

    def waves(self) -> list[int]:
        """Return the estimated positions of each wave, or an empty list while the estimate is not ready."""

    def check_records(self, records: int) -> None:
        """Check that the disk can hold the results of a streamed solve with so many records."""

    def plain_waves(self, written: int) -> list[int]:
        """Return the estimated positions of each wave of a game with plain rules.

        *written* bytes of the results are on disk already.
        """


class NotApplicable(Exception):
    """A game cannot be solved in this way, or better in another, for a *reason* in words that follow "since"."""

    def __init__(self, reason: str):
        super().__init__(reason)


def too_small(records: int, sizes: Sizes) -> NotApplicable:
    """Return the error that a game has too few positions for a stream."""
    return NotApplicable(
        f"it has only {records:,} positions, and those of up to {sizes.in_memory:,} are listed in memory"
    )


class MetricNotApplicable(RetrogradeError, ValueError):
    """A metric says nothing of such a game."""


@dataclass(frozen=True)
class Work:
    """What a solve works with.

    Tasks run on the *executor*, which has so many *workers*; *scratch* is the folder for what is put aside. What is
    done is kept in the *journal*, and the *listener* is told how far it has come.
    """

    executor: Executor
    workers: int
    budget: MemoryBudget
    journal: Journal | None
    scratch: Path
    listener: Listener | None = None
    sizes: Sizes = field(default_factory=Sizes)
    course: Course = field(default_factory=Course)
    """The phases, which a way plans when it begins."""
    open: ExitStack = field(default_factory=ExitStack)
    """What is to be closed once the database is written."""

    known: set[Any] = field(default_factory=set)
    """Functions that a task has run already."""

    @property
    def warmed(self) -> set[Any] | None:
        """The functions of which other processes find the machine code; None where all is in one process."""
        return None if self.shares_memory else self.known

    @property
    def sharing(self) -> int:
        """How many workers share the memory of this machine, or of another."""
        return self.executor.sharing if isinstance(self.executor, Remote) else self.workers

    @property
    def workers_now(self) -> int:
        """How many workers there are now: of a cluster they may become more or fewer."""
        return self.executor.workers if isinstance(self.executor, Remote) else self.workers

    @property
    def shares_memory(self) -> bool:
        """Whether tasks run in this process."""
        return isinstance(self.executor, ThreadPoolExecutor)

    @property
    def apart(self) -> bool:
        """Whether a worker may be on another machine, and sees what is in a file only once it is written out."""
        return isinstance(self.executor, Remote) and self.executor.apart

    @property
    def ranged_from(self) -> int | None:
        """From how many slots on a tier lies in ranges; None where none does, for workers share our memory."""
        return None if self.shares_memory else self.sizes.ranged_slots

    @property
    def larger(self) -> int:
        """How many times as large as usual tasks may be."""
        return LARGER if isinstance(self.executor, Remote) else 1

    @property
    def in_flight(self) -> int:
        """How many tasks are to be under way, so that no worker waits."""
        return 2 * self.workers_now + 2

    def together(self, total: int, least: int) -> int:
        """Return how many items to give to a task, of so many in all and so many at *least*: no more than that where
        tasks cost little."""
        return worth_sending(total, least, self.workers_now) if isinstance(self.executor, Remote) else least

    def block(self, total: int, usual: int) -> int:
        """Return how many items to give to a task, of so many in all: as *usual*, or more where tasks are sent."""
        return min(self.together(total, usual), self.larger * usual)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function for some items, in their order. What was written to shared arrays before, the
        tasks read."""
        self.prepare()
        most = max(tasks.IN_FLIGHT, self.in_flight if isinstance(self.executor, Remote) else 0)
        return tasks.in_order(self.executor, function, items, most, self.warmed)

    def map_here(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the same of a function that is given much and takes little time: where workers are in other processes,
        by threads of this one."""
        if not isinstance(self.executor, Remote):
            yield from self.map(function, items)
            return
        with ThreadPoolExecutor(cores()) as threads:
            yield from tasks.in_order(threads, function, items)

    def as_completed(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function for some items, as they come; else as `map`."""
        self.prepare()
        return tasks.as_completed(self.executor, function, items, self.in_flight, self.warmed)

    def prepare(self) -> None:
        """See to it that tasks on other machines read what is in shared arrays."""
        if self.apart:
            publish()

    def zeros(self, name: str, length: int, dtype: Any) -> Shared:
        """Return an array of zeros that all tasks can read; where they share no memory, it is a file of that name."""
        return Shared.zeros(length, dtype, None if self.shares_memory else self.scratch / name)

    def until_written(self, resource: Open) -> Open:
        """Return a resource that is closed once the database is written, or the solve has failed."""
        self.open.callback(resource.close)
        return resource

    def log(self, name: str, kept: bool = True) -> Log:
        """Return the entries of a name in the journal, to be read and added to; where there is no journal, or it is not
        to be *kept*, none."""
        pause = self.sizes.journal_seconds
        if self.journal and kept:
            return self.journal.log(name, pause)
        return Log(None, name, Entries(self.scratch, []), pause)

    def phase(self, name: str, total: int | None = None) -> Phase:
        """Return the count of a new phase, which has so many records in all."""
        return Phase(name, self.listener, total, self.course)
