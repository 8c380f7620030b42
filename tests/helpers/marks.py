"""Marks of cases: which of a list run in the plain tests, and which only where thorough ones do."""

from collections.abc import Iterable
from typing import Any

import pytest


def thorough_but(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return cases for `parametrize`, of which all are thorough but those kept, and those that have marks already.

    A tuple is a case of several values.
    """
    return [case if case in kept or hasattr(case, "marks") else thorough(case) for case in cases]


def thorough(case: Any) -> Any:
    """Return a case as a thorough one."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
