"""Solves many variants on a cluster, one whole solve for each task.

A variant waits for those earlier in the set that it rests on, and for those of its family whose first tier it has too,
because it copies tiers from their databases::

    KRK   KQK   KNK   KBK  -->  KPK, KRRK, KRNK, …  -->  KRPK, …        an arrow: the databases on the left are read

One worker solves each variant, on one thread, into a database with a lock and a journal of its own. So a worker that
starts a killed solve again resumes it.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from retrograde.databases.lock import Lock
from retrograde.games.catalog import load_game, own_tiers, rests_on, typed
from retrograde.games.contract.game import Traits
from retrograde.solver.engine import solve
from retrograde.solver.runtime.cluster.executor import ClusterExecutor
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit, peak_memory
from retrograde.solver.runtime.progress import Progress

PATIENCE = 86_400.0
"""Seconds that a worker waits for another one that solves the same variant, such as one that was thought lost."""


class VariantTask(NamedTuple):
    """A task for a worker: solve the variant *name* into *path*, with *memory* bytes; *fresh*: begin again."""

    name: str
    path: Path
    metric: str
    fresh: bool
    memory: int


class VariantReport(NamedTuple):
    """Seconds and peak memory in bytes of a solve; *resumed* and *explored* positions were done before it began."""

    seconds: float
    memory: int
    resumed: int
    explored: int


class MemoryShortage(NamedTuple):
    """Why a worker has too little memory: a result, because Dask cannot unpickle subclasses of MemoryError."""

    why: str


def solve_variant(task: VariantTask) -> VariantReport | MemoryShortage:
    """Solve a variant, unless another worker has done so meanwhile; return a report, or why memory is too small."""
    before: dict[str, int] = {}
    began = time.monotonic()

    def listen(progress: Progress) -> None:
        before[progress.phase] = progress.resumed

    try:
        # Another worker may solve the same variant, if this one was thought lost: wait, then see whether it is done.
        with Lock(task.path, PATIENCE) as lock:
            if task.fresh or not task.path.exists():
                solve(
                    load_game(task.name), task.path, workers=1, memory=task.memory, fresh=task.fresh,
                    metric=task.metric, listener=listen, lock=lock,
                )  # fmt: skip
    except MemoryLimit as error:
        return MemoryShortage(str(error))
    return VariantReport(time.monotonic() - began, peak_memory(), before.get("solving", 0), before.get("exploring", 0))


def prerequisites(names: Iterable[str]) -> dict[str, set[str]]:
    """Return for each variant, in solving order, the earlier ones that must be solved first.

    >>> prerequisites(["chess:KRK", "chess:KNK", "chess:KRNK"])["chess:KRNK"] == {"chess:KRK", "chess:KNK"}
    True

    Variants wait only for earlier ones, of their family or that they rest on. A game that does not number its positions
    waits for all earlier ones: its tiers are not known before it is explored.
    """
    needed: dict[str, set[str]] = {}
    by_first_tier: dict[tuple[str, int], str] = {}
    """The earlier variants, by family and first own tier."""
    for name in names:
        game: Any = load_game(name)
        if not Traits.of(game).is_numbered:
            needed[name] = set(needed)
            continue
        family = typed(game.family)
        shared = {(family, tier) for tier in game.tiers} & by_first_tier.keys()
        needed[name] = {by_first_tier[key] for key in shared} | (needed.keys() & {*rests_on(game)})
        by_first_tier[family, own_tiers(game)[0]] = name
    return needed


class VariantQueue:
    """Solves variants on the workers of an executor, each as soon as the variants it waits for are done."""

    def __init__(self, executor: ClusterExecutor, tasks: Iterable[VariantTask]):
        self.executor = executor
        self.tasks = {task.name: task for task in tasks}
        self.waiting = prerequisites(self.tasks)
        """The variants that have not begun, each with those that it waits for."""
        self.running: dict[Future[VariantReport | MemoryShortage], str] = {}
        self.finished: dict[str, Future[VariantReport | MemoryShortage]] = {}
        self.send()

    def send(self) -> None:
        """Give the executor the variants whose prerequisites are done."""
        for name in [name for name, needed in self.waiting.items() if needed <= self.finished.keys()]:
            del self.waiting[name]
            self.running[self.executor.submit(solve_variant, self.tasks[name])] = name

    def result(self, name: str, say: Callable[[str], None]) -> VariantReport:
        """Wait for a variant and return its report; *say* gets messages. Raise MemoryLimit, or the solve's error."""
        while name not in self.finished:
            say(f"solving {name}; {len(self.finished)} of {len(self.tasks)} are done")
            for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                self.finished[self.running.pop(future)] = future
            self.send()
        report = self.finished[name].result()
        if isinstance(report, MemoryShortage):
            raise MemoryLimit(report.why)
        return report

    def cancel(self) -> None:
        """Start no more solves."""
        for future in self.running:
            future.cancel()


@contextmanager
def solve_variants(executor: ClusterExecutor, path: Path, tasks: list[VariantTask]) -> Iterator[VariantQueue]:
    """Have workers solve the variants of *tasks*, in the folder of *path*, which is locked."""
    with Lock(path) as lock, executor.attached(lock):
        queue = VariantQueue(executor, tasks)
        try:
            yield queue
        finally:
            queue.cancel()


def memory_per_worker(executor: ClusterExecutor, most: int | None) -> int:
    """Return the bytes that each worker may use of *most*, or of what is free on a machine."""
    return MemoryBudget(most).free_bytes() // executor.sharing
