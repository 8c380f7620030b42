"""The base of executors on clusters: packs tasks with what their workers must have in common with the solve.

It takes tasks only within `attached`, where the folder of the solve is known.
"""

import pickle
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retrograde.databases.lock import Lock
from retrograde.solver.runtime.cluster.site import run, site_of
from retrograde.solver.runtime.parcels import Parcel, pack
from retrograde.solver.runtime.tasks import Remote, inner_function


class ClusterExecutor(Remote):
    """Runs tasks on workers elsewhere, within `attached`."""

    def __init__(self) -> None:
        self.site = b""
        """The pickled `Site` that each task carries."""
        self.parcels: Path | None = None
        """The folder for data too large for the network, or None."""

    @contextmanager
    def attached(self, lock: Lock, parcels: Path | None = None) -> Iterator["ClusterExecutor"]:
        """Let workers run tasks of the solve that holds *lock*. Raise ClusterError if a worker is unfit.

        *parcels* is the folder for large data; it is deleted before and after.
        """
        before = self.site, self.parcels
        self.site, self.parcels = pickle.dumps(site_of(lock, self.apart, parcels)), parcels
        if parcels:
            shutil.rmtree(parcels, ignore_errors=True)  # from a killed solve
        try:
            self.greet_all()
            yield self
        finally:
            self.site, self.parcels = before  # those of the outer solve, if there is one
            if parcels:
                shutil.rmtree(parcels, ignore_errors=True)

    def greet_all(self) -> None:
        """Check the present workers. Later ones are checked with their first task."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> "Future[Any]":
        """Run a task, and return the future of its result, or of the parcel that holds it."""
        task = pack((function, args, options), self.parcels)
        future = self.send(inner_function(function).__name__, args, run, self.site, task)
        if isinstance(task, Parcel):
            future.add_done_callback(lambda _: task.drop())
        return future

    def send(self, name: str, args: tuple[Any, ...], function: Callable[..., Any], *packed: Any) -> "Future[Any]":
        """Run a function of packed arguments; *name* and *args* are those of the task inside."""
        raise NotImplementedError


def count_workers(workers: int, machines: int) -> str:
    """Return the number of workers in words.

    >>> count_workers(8, 1)
    '8 workers on 1 machine'
    """
    return f"{workers:,} worker{'s' * (workers != 1)} on {machines:,} machine{'s' * (machines != 1)}"
