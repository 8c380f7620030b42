"""Compiles the loops of the solver once before all tests run in several processes, each of which would compile them.

Two processes share the work of `retrograde warm`. A third one imports the tests, whose assertions pytest rewrites and
keeps. A note in pytest's cache says what is compiled, so that the next run begins at once.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from retrograde.solver.runtime.sources import digest
from tests.helpers.paths import ROOT

NOTE = "retrograde/compiled"
"""The name under which pytest's cache has the digest of the sources that are compiled."""

SECOND = "large games, ", "men on a board"
"""How the names of the second process's small solves begin. With the searches they are half of the work."""


def compile_loops(cache: pytest.Cache) -> None:
    """Compile all loops if they have changed since; what fails here fails in test_warm.py each night."""
    files = [file for folder in ("solver", "databases", "games") for file in (ROOT / folder).rglob("*.py")]
    now = f"{digest(files)} {version('numba')} {sys.version}"
    if cache.get(NOTE, "") == now:
        return
    command = [sys.executable, "-W", "ignore", "-m", "tests.helpers.compiling"]
    running = [subprocess.Popen([*command, part], cwd=ROOT) for part in ("first", "second")]
    collect = [sys.executable, "-m", "pytest", "--collect-only", "--numprocesses", "0"]
    subprocess.run(collect, cwd=ROOT, stdout=subprocess.DEVNULL)
    if [process.wait() for process in running] == [0, 0]:
        cache.set(NOTE, now)


def compile_part(second: bool) -> None:
    """Compile the loops of one of the two processes."""
    from retrograde.solver.warm import SOLVES, search_all, solve_small  # loads the compiler

    with TemporaryDirectory() as folder:
        for each in SOLVES:
            if each.name.startswith(SECOND) == second:
                solve_small(each, Path(folder))
    if second:
        search_all()


if __name__ == "__main__":
    compile_part(sys.argv[1] == "second")
