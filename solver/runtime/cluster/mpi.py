"""Runs tasks on the ranks of an MPI job, with mpi4py.futures: rank 0 solves, the others run its tasks.

A lost rank ends the job, as MPI prescribes; the same command resumes it.
"""

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from retrograde.solver.runtime.cluster.executor import ClusterExecutor, count_workers
from retrograde.solver.runtime.cluster.site import ClusterError, facts, machine

try:
    from mpi4py import MPI
    from mpi4py.futures import MPICommExecutor
except (ImportError, RuntimeError) as error:  # without an MPI library mpi4py raises either
    what = f"MPI needs mpi4py and a library of MPI ({error})"
    raise ClusterError(f"{what}; get them with: pip install mpi4py mpich") from error


PAUSE = 0.005
"""The most seconds that waiting ranks sleep between two polls. With a fifth of that, polling takes a twentieth of a
core.
"""


class MpiExecutor(ClusterExecutor):
    """Runs tasks on the other ranks of an MPI job; in a job of one rank, on a thread."""

    def __init__(self, inner: Any, machines: list[str]):
        """Wrap an executor over ranks; *machines* are the names of their machines, rank 0's first."""
        super().__init__()
        self.inner = inner
        self.machines = machines

    @property
    def workers(self) -> int:
        """The number of ranks that run tasks."""
        return max(1, len(self.machines) - 1)

    @property
    def sharing(self) -> int:
        """The most of these ranks that share one machine's memory."""
        return max(Counter(self.machines[1:] or self.machines).values())

    @property
    def apart(self) -> bool:
        """Whether the job has several machines."""
        return len(set(self.machines)) > 1

    def __str__(self) -> str:
        return f"MPI, {count_workers(self.workers, len(set(self.machines)))}"

    def send(self, name: str, args: tuple[Any, ...], function: Callable[..., Any], *packed: Any) -> "Future[Any]":
        """Run a task on some rank."""
        future: Future[Any] = self.inner.submit(function, *packed)
        return future


def serves() -> bool:
    """Return whether this process is a worker rank."""
    return bool(MPI.COMM_WORLD.rank)


@contextmanager
def ranks() -> Iterator[MpiExecutor | None]:
    """Give rank 0 an executor over the other ranks, which run tasks meanwhile and get None in the end.

    If the ranks have different versions, rank 0 raises ClusterError, and the others get None at once. Only rank 0
    reacts to Ctrl-C.
    """
    world = MPI.COMM_WORLD
    if world.rank:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Step 1: compare the versions of all ranks with rank 0's.
    gathered = world.allgather((machine(), facts()))
    machines, of_rank_0 = [name for name, _ in gathered], gathered[0][1]
    for rank, (name, of_rank) in enumerate(gathered):
        if differences := of_rank.differences(of_rank_0):
            if world.rank:
                yield None
                return
            raise ClusterError(f"rank {rank} on {name.split()[0]} has {differences}; install the same everywhere")
    # Step 2: rank 0 gets the executor, while the others run tasks inside `with`.
    pool: Any = MPICommExecutor(world, root=0, backoff=PAUSE)
    with pool as inner:
        if inner is not None:
            try:
                yield MpiExecutor(inner, machines)
            except BaseException:
                inner.shutdown(wait=False, cancel_futures=True)
                raise
    if world.rank:
        yield None
