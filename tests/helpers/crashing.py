"""Solves that fail at every write, renaming, deletion and fsync in turn, or whenever the memory budget is asked.

A solve does what any does up to some point. There it writes half of what it was to write and is gone (mode `crash`), or
the operating system refuses (`refuse`), or no memory is left (`memory`). Then another solve goes on to the end. Crashes
are of forked processes, and forked by a process that has no other threads:

    python -m tests.helpers.crashing KIND FOLDER
"""

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from retrograde.games import RetrogradeError
from retrograde.solver.rules.no_exit import really_exit
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit
from tests.helpers.disk import KINDS, Kind, Shim
from tests.helpers.powercut import databases_in, spread

CRASHED = 77


class Fault(Shim):
    """Counts operations, and fails at one of them."""

    def __init__(self, point: int, mode: str):
        self.point, self.mode, self.count = point, mode, 0

    def before(self, operation: str, halfway: Callable[[], object] = lambda: None) -> None:
        """Count an operation that touches the disk, and fail if it is the one."""
        if self.mode == "memory" or not self.is_here():
            return
        if self.mode == "refuse":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        halfway()
        really_exit(CRASHED)

    def is_here(self) -> bool:
        """Count an operation, and tell whether it is the one to fail."""
        self.count += 1
        return self.count == self.point

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Count all operations of this process meanwhile."""
        left, check, check_used = MemoryBudget.free_bytes, MemoryBudget.check, MemoryBudget.check_used

        def none_left(budget: MemoryBudget) -> int:
            return 0 if self.is_here() else left(budget)

        def refused(budget: MemoryBudget, more: int, why: str) -> None:
            if self.is_here():
                raise MemoryLimit(why)
            check(budget, more, why)

        def used(budget: MemoryBudget, doing: str) -> None:
            if self.is_here():
                raise MemoryLimit(doing)
            check_used(budget, doing)

        with super().installed(), pytest.MonkeyPatch.context() as patch:
            if self.mode == "memory":
                for name, function in (("free_bytes", none_left), ("check", refused), ("check_used", used)):
                    patch.setattr(MemoryBudget, name, function)
            yield


def in_process(function: Callable[[], int]) -> int:
    """Run something, and return its exit status."""
    try:
        return function()
    except BaseException:
        traceback.print_exc()
        return 1


def in_child(function: Callable[[], int]) -> int:
    """Run something in a process of its own, and return its exit status."""
    child = os.fork()
    if child == 0:
        really_exit(in_process(function))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def operations(kind: Kind, path: Path, mode: str) -> int:
    """Return how many operations there are in a solve."""
    fault = Fault(0, mode)
    with fault.installed():
        kind.solve(path)
    return fault.count


def wrong_everywhere(kind: Kind, folder: Path, mode: str, most: int = 10**9) -> list[str]:
    """Let a solve fail at all points, or so many, as far apart as can be; return what was not as it should be."""
    path = folder / "game.h5"
    kind.solve(path)
    whole = databases_in(folder)
    for other in whole:
        (folder / other).unlink()
    wrong = []
    for point in spread(list(range(1, operations(kind, path, mode) + 1)), most):
        for other in whole:
            (folder / other).unlink(missing_ok=True)
        if what := wrong_at(point, kind, path, mode, whole):
            wrong.append(f"{mode} at {point}: {what}")
    for other in whole:
        (folder / other).unlink(missing_ok=True)
    return wrong


def wrong_at(point: int, kind: Kind, path: Path, mode: str, whole: dict[str, bytes]) -> str:
    """Let a solve fail at a point, and then another go on; return what was not as it should be."""

    def fail() -> int:
        try:
            with Fault(point, mode).installed():
                return solve()
        except RetrogradeError:
            return CRASHED

    def solve() -> int:
        kind.solve(path)
        return 0

    run = in_child if mode == "crash" else in_process
    status = run(fail)  # to have gone another way is no fault, nor to have failed where it does not matter
    if broken := [name for name, content in databases_in(path.parent).items() if content != whole[name]]:
        return f"{broken} is no database"
    if status not in (0, CRASHED):
        return f"ended with {status}"
    there = tuple(databases_in(path.parent))
    if run(solve) or databases_in(path.parent) != whole:
        return "was not gone on with"
    files = sorted(file.name for file in path.parent.iterdir() if file.suffix != ".h5")
    left = [name for name in files if not name.startswith(there)]  # nobody looks at what was there already
    return f"left {left}" if left else ""


if __name__ == "__main__":
    print("\n".join(wrong_everywhere(KINDS[sys.argv[1]], Path(sys.argv[2]), "crash")))
