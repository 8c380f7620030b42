"""Compiles the loops of the solver once before all tests run in several processes, each of which would compile them.

This is what `retrograde warm` does, in two processes, but for code that no test of the plain run needs. A third process
imports the tests, whose assertions pytest rewrites and keeps. A note in pytest's cache says what is compiled, so that
the next run begins at once.
"""

import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver import warm
from retrograde.solver.runtime.sources import digest
from retrograde.solver.search.depth.names import depth_search_for
from retrograde.solver.search.probing.tables import LoadedTables
from tests.helpers.paths import ROOT

NOTE = "retrograde/compiled"
"""The name under which pytest's cache has the digest of the sources that are compiled."""


def compile_loops(cache: pytest.Cache) -> None:
    """Compile all loops if they have changed since; what fails here fails in test_warm.py each night."""
    files = [file for folder in ("solver", "databases", "games") for file in (ROOT / folder).rglob("*.py")]
    now = f"{digest(files)} {version('numba')} {sys.version}"
    if cache.get(NOTE, "") == now:
        return
    command = "from tests.helpers.compiling import compile_for_tests; compile_for_tests()"
    warming = subprocess.Popen([sys.executable, "-W", "ignore", "-c", command], cwd=ROOT)
    collect = [sys.executable, "-m", "pytest", "--collect-only", "--numprocesses", "0"]
    subprocess.run(collect, cwd=ROOT, stdout=subprocess.DEVNULL)
    if warming.wait() == 0:
        cache.set(NOTE, now)


def compile_for_tests() -> None:
    """Compile the loops that tests of the plain run need."""
    first, *others = steps_for_tests()
    with TemporaryDirectory(prefix="retrograde-") as folder:
        warm.run_step(first, Path(folder))
        list(warm.share_steps(others, Path(folder), 2))


def steps_for_tests() -> list[warm.Step]:
    """Return the steps of `warm`, without searches of chess that probe no tables, and with fewer compiled rules."""
    replaced = {"searches to a depth": search_chess}
    puzzle = next(small for small in warm.SOLVES if small.variant.startswith("pocketcube"))
    replaced[puzzle.name] = partial(warm.solve_small, puzzle._replace(compiles_rules=False))
    return [(name, replaced.get(name, step)) for name, step in warm.all_steps() if name != "checks"]


def search_chess(folder: Path) -> None:
    """Search the whole of chess to a depth as the engine does, which probes tables."""
    chess = load_game("chess")
    depth_search_for(chess, tables=LoadedTables(chess)).find(chess.start, 3)
