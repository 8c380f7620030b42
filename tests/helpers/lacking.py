"""Skips tests that need a tool this machine lacks; in CI on Linux, whose workflows install every tool, they fail."""

import os
import sys
from typing import NoReturn

import pytest


def in_ci() -> bool:
    """Return whether all tools must be there."""
    return sys.platform == "linux" and os.environ.get("CI", "").lower() not in ("", "0", "false")


def lacking(what: str) -> NoReturn:
    """Skip the test that runs, or fail it where all tools must be there."""
    if in_ci():
        pytest.fail(f"{what}; in CI the workflow must install it", pytrace=False)
    pytest.skip(what)
