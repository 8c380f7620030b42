"""Kernels get a wrapper for calls from Python only when Python calls them, and their machine code is kept on disk."""

import os
import subprocess
import sys

import pytest

from tests.helpers.paths import ROOT

pytestmark = pytest.mark.long


@pytest.fixture
def run(tmp_path):
    """A function that calls kernels of these names in a new process, and returns the lines that it prints."""

    def lines(*names: str) -> list[str]:
        command = [sys.executable, "-m", "tests.helpers.doubling", *names]
        kept = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(command, cwd=ROOT, env=kept, text=True, capture_output=True, check=True)
        return done.stdout.splitlines()

    return lines


def test_a_kernel_that_only_kernels_call_has_no_wrapper_until_python_calls_it(run):
    assert run("doubled") == ["32", "0 False", "0 True"]
    assert run("doubled") == ["32", "1 True"], "the caller has all that it needs"
    assert run("tripled") == ["48", "1 False", "0 True"], "a new caller gets a copy of what was kept"
    assert run("added", "doubled") == ["16", "32", "0 True", "1 True"], "Python cannot call what was kept"
    assert run("added", "doubled") == ["16", "32", "1 True", "1 True"], "both are kept"


@pytest.mark.thorough
def test_python_may_call_a_kernel_that_a_kernel_called_before(run):
    assert run("doubled", "added", "doubled") == ["32", "16", "32", "0 True", "0 True"]


@pytest.mark.thorough
def test_a_kernel_with_a_wrapper_serves_other_kernels_too(run):
    assert run("added", "doubled") == ["16", "32", "0 True", "0 True"]
    assert run("added") == ["16", "1 True"]
