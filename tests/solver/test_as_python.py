"""Loops run as Python, on small games: in seconds, where it would take longer to compile them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import LATE
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.long

MARK = "pytest.mark.as_python"


def test_small_games_are_right_with_loops_run_as_python():
    """In a process of its own: numba looks at the variable once."""
    tests = sorted({*(ROOT / "tests").rglob("test_*.py")} - {Path(__file__)})
    files = [file for file in tests if MARK in file.read_text("utf-8")]
    assert len(files) > 5
    options = "-n", "0", "-m", "as_python and not thorough and not slow"
    command = [sys.executable, "-m", "pytest", *options, *map(str, files)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LATE)
    assert done.returncode == 0, done.stdout
