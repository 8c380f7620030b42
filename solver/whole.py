"""Whole solves on the workers of a cluster, one a task: the variants of a set that need not wait for one another.

A variant waits for those before it in the set whose first tier it has too, or rests on::

    KRK   KQK   KNK   KBK  -->  KPK, KRRK, KRNK, …  -->  KRPK, …        an arrow: the databases on the left are read

Each is solved by one worker, on one thread, into a database of its own with a lock and a journal of its own: whoever
begins it again, after a kill, goes on.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from retrograde.databases.lock import Lock
from retrograde.games.catalog import load_game, own_tiers, rests_on
from retrograde.games.contract.game import is_numbered
from retrograde.solver.engine import solve
from retrograde.solver.runtime.cluster.executor import ClusterExecutor
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit, peak_memory
from retrograde.solver.runtime.progress import Progress

PATIENCE = 86_400.0
"""Seconds that a worker waits for another one that is solving the same, as one may that was taken to be lost."""


class Whole(NamedTuple):
    """The name of a variant to be solved, its database, the metric, whether to begin anew, and the memory of a worker
    in bytes."""

    name: str
    path: Path
    metric: str
    fresh: bool
    memory: int


class Came(NamedTuple):
    """What a solve has taken: seconds; the most memory of its process in bytes; and how many positions had been solved,
    and how many explored, before it began."""

    seconds: float
    memory: int
    resumed: int
    explored: int


class TooLarge(NamedTuple):
    """Why the memory of a worker does not suffice. (As an exception it does not travel: what Dask unpickles those with
    cannot make a child of MemoryError.)"""

    why: str


def solve_whole(task: Whole) -> Came | TooLarge:
    """Solve a variant, unless that has been done meanwhile."""
    before: dict[str, int] = {}
    began = time.monotonic()

    def listen(progress: Progress) -> None:
        before[progress.phase] = progress.resumed

    try:
        with Lock(task.path, PATIENCE) as lock:
            if task.fresh or not task.path.exists():
                solve(
                    load_game(task.name), task.path, workers=1, memory=task.memory, fresh=task.fresh,
                    metric=task.metric, listener=listen, lock=lock,
                )  # fmt: skip
    except MemoryLimit as error:
        return TooLarge(str(error))
    return Came(time.monotonic() - began, peak_memory(), before.get("solving", 0), before.get("exploring", 0))


def waits_for(names: Iterable[str]) -> dict[str, set[str]]:
    """Return for each of some variants, in the order in which to solve them, which before it must be solved first.

    >>> waits_for(["chess:KRK", "chess:KNK", "chess:KRNK"])["chess:KRNK"] == {"chess:KRK", "chess:KNK"}
    True
    """
    before: dict[str, set[str]] = {}
    firsts: dict[int, str] = {}
    for name in names:
        game: Any = load_game(name)
        if not is_numbered(game):  # of whose tiers nothing is known
            before[name] = set(before)
            continue
        before[name] = {firsts[tier] for tier in {*game.tiers} & firsts.keys()} | before.keys() & {*rests_on(game)}
        firsts[own_tiers(game)[0]] = name
    return before


class Ahead:
    """Variants that are being solved by the workers of an executor, each as soon as none is left that it waits for."""

    def __init__(self, executor: ClusterExecutor, tasks: Iterable[Whole]):
        self.executor = executor
        self.tasks = {task.name: task for task in tasks}
        self.left = waits_for(self.tasks)
        """Those that are not begun, and for which each still waits."""
        self.flying: dict[Future[Came | TooLarge], str] = {}
        self.ended: dict[str, Future[Came | TooLarge]] = {}
        self.send()

    def send(self) -> None:
        """Send those that wait for none any more."""
        for name in [name for name, before in self.left.items() if before <= self.ended.keys()]:
            del self.left[name]
            self.flying[self.executor.submit(solve_whole, self.tasks[name])] = name

    def result(self, name: str, tell: Callable[[str], None]) -> Came:
        """Return what a variant has taken, once it is solved; *tell* what is under way. Raises MemoryLimit where a
        worker has too little, and whatever else has come of it."""
        while name not in self.ended:
            tell(f"solving {name}; {len(self.ended)} of {len(self.tasks)} are done")
            for future in wait(self.flying, return_when=FIRST_COMPLETED).done:
                self.ended[self.flying.pop(future)] = future
            self.send()
        came = self.ended[name].result()
        if isinstance(came, TooLarge):
            raise MemoryLimit(came.why)
        return came

    def cancel(self) -> None:
        """Begin no more."""
        for future in self.flying:
            future.cancel()


@contextmanager
def solved_ahead(executor: ClusterExecutor, place: Path, tasks: list[Whole]) -> Iterator[Ahead]:
    """Have variants solved by the workers, whose databases are to lie in the folder of a path, which is locked."""
    with Lock(place) as lock, executor.begun(lock):
        ahead = Ahead(executor, tasks)
        try:
            yield ahead
        finally:
            ahead.cancel()


def memory_of_each(executor: ClusterExecutor, most: int | None) -> int:
    """Return how many bytes each worker may use, of so many, or of what is free, on a machine."""
    return MemoryBudget(most).left() // executor.sharing
