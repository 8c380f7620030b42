"""Compiles the loops of the solver once before all tests run in several processes, each of which would compile them.

This is what `retrograde warm` does, in two processes. A third one imports the tests, whose assertions pytest rewrites
and keeps. A note in pytest's cache says what is compiled, so that the next run begins at once.
"""

import subprocess
import sys
from importlib.metadata import version

import pytest

from retrograde.solver.runtime.sources import digest
from tests.helpers.paths import ROOT

NOTE = "retrograde/compiled"
"""The name under which pytest's cache has the digest of the sources that are compiled."""


def compile_loops(cache: pytest.Cache) -> None:
    """Compile all loops if they have changed since; what fails here fails in test_warm.py each night."""
    files = [file for folder in ("solver", "databases", "games") for file in (ROOT / folder).rglob("*.py")]
    now = f"{digest(files)} {version('numba')} {sys.version}"
    if cache.get(NOTE, "") == now:
        return
    command = "from retrograde.solver.warm import warm; list(warm(2))"
    warming = subprocess.Popen([sys.executable, "-W", "ignore", "-c", command], cwd=ROOT)
    collect = [sys.executable, "-m", "pytest", "--collect-only", "--numprocesses", "0"]
    subprocess.run(collect, cwd=ROOT, stdout=subprocess.DEVNULL)
    if warming.wait() == 0:
        cache.set(NOTE, now)
