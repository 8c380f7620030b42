"""An executor over a cluster: it begins where the folder of a solve is known, and sends tasks along with what its
workers must have."""

import pickle
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retrograde.databases.lock import Lock
from retrograde.solver.runtime.cluster.site import run, site_of
from retrograde.solver.runtime.parcels import Parcel, packed
from retrograde.solver.runtime.tasks import Remote, whole_of


class ClusterExecutor(Remote):
    """An executor of tasks on workers elsewhere; within `begun` alone it takes some."""

    def __init__(self) -> None:
        self.site = b""
        """What each task travels with, pickled."""
        self.parcels: Path | None = None
        """The folder for what is too large for the wire, if there is one."""

    @contextmanager
    def begun(self, lock: Lock, parcels: Path | None = None) -> Iterator["ClusterExecutor"]:
        """Take tasks of the solve that holds a lock, which may use a folder for *parcels*; raise ClusterError where a
        worker is not fit for them."""
        before = self.site, self.parcels
        self.site, self.parcels = pickle.dumps(site_of(lock, self.apart, parcels)), parcels
        if parcels:
            shutil.rmtree(parcels, ignore_errors=True)  # of a solve that was killed
        try:
            self.greet_all()
            yield self
        finally:
            self.site, self.parcels = before  # of the set that this solve is of, if it is
            if parcels:
                shutil.rmtree(parcels, ignore_errors=True)

    def greet_all(self) -> None:
        """Make sure that the workers that there are now are fit; others are looked at with their first task."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> "Future[Any]":
        """Have a task run, and return what will be its result, or the parcel in which it is."""
        task = packed((function, args, options), self.parcels)
        future = self.send(whole_of(function).__name__, args, run, self.site, task)
        if isinstance(task, Parcel):
            future.add_done_callback(lambda _: task.drop())
        return future

    def send(self, name: str, args: tuple[Any, ...], function: Callable[..., Any], *packed: Any) -> "Future[Any]":
        """Have a function of packed arguments run; *name* and *args* are those of the task in there."""
        raise NotImplementedError


def told(workers: int, machines: int) -> str:
    """Return in words how many workers there are.

    >>> told(8, 1)
    '8 workers on 1 machine'
    """
    return f"{workers:,} worker{'s' * (workers != 1)} on {machines:,} machine{'s' * (machines != 1)}"
