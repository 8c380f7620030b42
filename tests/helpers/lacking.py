"""Skips tests that need what this machine lacks. In CI on Linux they fail; without a browser, in CI on any system."""

import os
import sys
from typing import NoReturn

import pytest


def in_ci(everywhere: bool = False) -> bool:
    """Return whether all tools must be there: in CI on Linux, or on any system for what is needed *everywhere*."""
    return (everywhere or sys.platform == "linux") and os.environ.get("CI", "").lower() not in ("", "0", "false")


def need_cluster(name: str) -> None:
    """Skip the test that runs, or the module, if *name* speaks of a kind of cluster whose library is not installed."""
    for kind, library in (("dask", "distributed"), ("mpi", "mpi4py")):
        if f"cluster.{kind}" in name:
            pytest.importorskip(library, reason=f"solving on such a cluster needs the extra {kind}")


def lacking(what: str, everywhere: bool = False) -> NoReturn:
    """Skip the test that runs, or fail it where all tools must be there."""
    if in_ci(everywhere):
        pytest.fail(f"{what}; in CI the workflow must install it", pytrace=False)
    pytest.skip(what)
