"""The options `--cluster` and `--mpi`: which machines a solve runs on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from retrograde.cli.interrupt import WATCH

if TYPE_CHECKING:
    from retrograde.solver.runtime.cluster.executor import ClusterExecutor

Command = TypeVar("Command", bound=Callable[..., Any])


def cluster_options(command: Command) -> Command:
    """Add `--cluster`, a text, and `--mpi`, an executor or None, to a command; see `executor_for`."""
    command = click.option(
        "--mpi", is_flag=True, is_eager=True, callback=executor_over_ranks,
        help="Run under mpiexec: the first process solves, the others work for it. Needs mpi4py, the extra `mpi`.",
    )(command)  # fmt: skip
    return click.option(
        "--cluster", metavar="ADDRESS",
        help="Run on a Dask cluster: tcp://host:port, a scheduler file, or local:4 for four processes on this "
        "machine. Needs distributed, the extra `dask`.",
    )(command)  # fmt: skip


def executor_over_ranks(ctx: click.Context, param: click.Parameter, wanted: bool) -> "ClusterExecutor | None":
    """Return the executor over the ranks of an MPI job in the first rank. All other ranks work for it, and end.

    None without `--mpi`, and while the shell completes a line. It runs before other options are read, so that only one
    rank reports errors in them.
    """
    if not wanted or ctx.resilient_parsing:
        return None
    from retrograde.solver.runtime.cluster.mpi import ranks, serves

    if serves():  # this rank works for the first one, which handles Ctrl-C
        WATCH.stop()
    executor = ctx.with_resource(ranks())
    if executor is None:
        ctx.exit(0)
    return executor


@contextmanager
def executor_for(cluster: str | None, mpi: "ClusterExecutor | None") -> Iterator["ClusterExecutor | None"]:
    """Yield the executor that the options choose; None for threads."""
    if cluster is None:
        yield mpi
        return
    from retrograde.solver.runtime.cluster.dask import connected

    with connected(cluster) as executor:
        yield executor
