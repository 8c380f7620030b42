"""Runs tasks on the workers of Dask, which repeats a dead worker's tasks elsewhere.

Tasks travel as bytes, so that Dask does not look into them. Its dashboard groups them by function, and by the wave or
file that they name.
"""

import asyncio
import ipaddress
import logging
import os
import re
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import resource_tracker
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from retrograde.solver.runtime.cluster.executor import ClusterExecutor, count_workers
from retrograde.solver.runtime.cluster.site import ClusterError, greet

try:
    import dask
    import distributed
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker
    from distributed.utils import get_mp_context
except ImportError as error:
    raise ClusterError("a cluster of Dask needs distributed; get it with: pip install distributed") from error

FRESH = 5.0
"""Seconds after which the workers are counted again."""
PATIENCE = 60.0
"""Seconds to wait for a first worker."""
ANSWER = 10.0
"""Seconds to wait for an answer of the scheduler."""
LONELY = 15.0
"""Seconds without a result after which to check that there are workers."""
LOCAL = re.compile(r"local:([1-9]\d{0,3})")
"""The name of a cluster of n processes on this machine: `local:n`."""
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.deploy.lost-worker-timeout": "1 day",
}
"""Settings for local workers.

By default they profile themselves a hundred times a second. A worker that is restarted a quarter of a minute after one
of its name has ended would be given up for good.
"""
PRELOADED = [
    "distributed.nanny",
    *(f"retrograde.solver.methods.{method}.method" for method in ("setwise", "streamed", "listed", "numbered")),
]
"""Modules that local workers inherit from the process that they are forked from, and need not import."""
GONE = distributed.CancelledError, CommClosedError
"""How a task ends if its scheduler disappears: cancelled, or its result does not arrive."""
KEPT = "What is done is kept: the same command goes on from there"
LABELS = ("wave", "name")
"""The attributes in which tasks name their wave or file."""


class DaskExecutor(ClusterExecutor):
    """Runs tasks on the workers of a Dask cluster, through its client."""

    def __init__(self, client: "distributed.Client"):
        super().__init__()
        if client.asynchronous:
            raise ClusterError("a client that is asynchronous cannot be waited for; give one that is not")
        self.client = client
        self.address = str(client.scheduler_info()["address"])
        self.numbers = count()
        self.token = token_hex(4)
        self.counted_at, self.counts = -FRESH, Counter[str]()
        self.alone = False
        """Whether there was no worker at the last check."""

    @property
    def threads(self) -> "Counter[str]":
        """The number of worker threads on each machine."""
        if time.monotonic() >= self.counted_at + FRESH:
            self.counts = Counter()
            for address, threads in self.client.nthreads().items():
                self.counts[host_of(address)] += threads
            self.counted_at = time.monotonic()
        return self.counts

    @property
    def workers(self) -> int:
        """The number of tasks that run at once."""
        return max(1, self.threads.total())

    @property
    def sharing(self) -> int:
        """The most workers that share one machine's memory."""
        return max(self.threads.values(), default=1)

    @property
    def apart(self) -> bool:
        """Whether workers may be on other machines: they are not if the scheduler's address is the loopback."""
        with suppress(ValueError):
            return not ipaddress.ip_address(host_of(self.address)).is_loopback
        return not self.address.startswith("inproc")

    def greet_all(self) -> None:
        """Wait for a worker, and check all workers; raise ClusterError if one is unfit."""
        self.wait_for_one()
        for answer in self.client.run(greet, self.site, on_error="return").values():
            if isinstance(answer, ClusterError):
                raise answer
            if isinstance(answer, Exception) and not isinstance(answer, OSError):  # OSError: it has gone
                what = f"{type(answer).__name__}: {answer}"
                raise ClusterError(f"a worker cannot run retrograde: {what}; install this version there") from answer

    def wait_for_one(self) -> None:
        """Wait for a first worker; raise ClusterError if none comes."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ClusterError(f"the scheduler at {self.address} has no workers; start some") from error
        self.counted_at = -FRESH  # so that `threads` counts the workers anew

    def __str__(self) -> str:
        return f"{count_workers(self.workers, len(self.threads))}; dashboard at {self.client.dashboard_link}"

    def send(self, name: str, args: tuple[Any, ...], function: Callable[..., Any], *packed: Any) -> "Future[Any]":
        """Run a task on some worker."""
        group = next((getattr(arg, label) for arg in args for label in LABELS if hasattr(arg, label)), "all")
        key = (f"{name}-{group}-{self.token}", next(self.numbers))  # the dashboard groups by the text
        return asyncio.run_coroutine_threadsafe(self.run(key, function, packed), self.client.loop.asyncio_loop)

    async def run(self, key: tuple[str, int], function: Callable[..., Any], packed: tuple[Any, ...]) -> Any:
        """Return the result of a task; raise ClusterError if there is none."""
        future = self.client.submit(function, *packed, key=key, pure=False)
        result = asyncio.ensure_future(future)  # also of an awaitable that is no coroutine
        try:
            while not (await asyncio.wait({result}, timeout=LONELY))[0]:
                await self.look_for_workers()
            return await result
        except KilledWorker as error:
            raise ClusterError(
                f"{error.allowed_failures + 1} workers ended at one task, the last at {error.last_worker.address}; "
                f"have they enough memory? {KEPT}"
            ) from error
        except GONE as error:
            raise ClusterError(f"the scheduler at {self.address} has gone. {KEPT}") from error
        finally:
            result.cancel()

    async def look_for_workers(self) -> None:
        """Warn if there are no workers left, once until there is one again."""
        with suppress(*GONE, OSError):  # the tasks themselves report a scheduler that is gone
            has_workers = bool(await self.client.nthreads())
            if not has_workers and not self.alone:
                warnings.warn(f"the scheduler at {self.address} has no workers left; one is waited for", stacklevel=2)
            self.alone = not has_workers


def host_of(address: str) -> str:
    """Return the machine in an address.

    >>> host_of("tcp://10.0.0.7:8786"), host_of("tls://[::1]:8786"), host_of("tls://[::1]"), host_of("inproc://h/12/1")
    ('10.0.0.7', '::1', '::1', 'h')
    """
    return urlsplit(address).hostname or ""


@contextmanager
def connected(text: str) -> Iterator[DaskExecutor]:
    """Give the executor of a cluster; raise ClusterError if it cannot be reached.

    *text* is the scheduler's address, its file, or `local:4` for that many local processes. After Ctrl-C nothing is
    waited for: the scheduler drops the tasks of a vanished client.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we report what matters
    warnings.filterwarnings("ignore", "Sending large graph")
    # Step 1: start or reach the cluster.
    local = LOCAL.fullmatch(text)
    try:
        cluster = local_cluster(int(local[1])) if local else None
        client = client_of(text, cluster)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no scheduler answers at {text!r}: {str(error) or type(error).__name__}") from error
    try:
        # Step 2: wait for a worker, and give the executor.
        executor = DaskExecutor(client)
        executor.wait_for_one()
        yield executor
    except KeyboardInterrupt:
        # Closing would wait for tasks.
        raise
    except BaseException:
        close(client, cluster)
        raise
    else:
        close(client, cluster)


def client_of(text: str, cluster: Any) -> "distributed.Client":
    """Return a client of a local cluster, or of the scheduler that *text* names."""
    if cluster is not None:
        return distributed.Client(cluster, set_as_default=False)
    if "://" in text:
        return distributed.Client(text, timeout=ANSWER, set_as_default=False)
    if Path(text).is_file():
        return distributed.Client(scheduler_file=text, timeout=ANSWER, set_as_default=False)
    raise ClusterError(f"{text!r} is no cluster; give tcp://host:port, a scheduler's file, or local:4")


def local_cluster(processes: int) -> Any:
    """Return a cluster of *processes* on this machine, which are restarted if they die."""
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")  # it lists open resources after Ctrl-C
    dask.config.set(SETTINGS)  # globally: some are looked up later
    if sys.platform == "linux":  # elsewhere libraries do not survive a fork
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload(PRELOADED)
    with ignore_interrupts():
        return distributed.LocalCluster(
            n_workers=processes, threads_per_worker=1, processes=True, memory_limit=0, dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )  # fmt: skip


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Make processes and threads started here ignore Ctrl-C: their parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting later, it would unblock SIGINT in the thread that starts processes
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def close(client: "distributed.Client", cluster: Any) -> None:
    """Leave a cluster; end it if it is ours."""
    for connection in (client, cluster):
        with suppress(Exception):  # errors while closing do not matter
            if connection is not None:
                connection.close(timeout=ANSWER)
