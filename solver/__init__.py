"""The solver: solves games, estimates, verifies and plays.

    engine.py         solve(game) -> path of the database: solves, writes, verifies a sample
    options.py        the options of `solve`
    selection.py      the methods to try for a game
    interpreted.py    small games, solved in plain Python without compiling their rules
    variants.py       many variants at once on a cluster, one whole solve for each task

The sub-packages are described in docs/architecture.md. The names below are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrograde.solver.conformance.check import check
    from retrograde.solver.engine import solve
    from retrograde.solver.estimation.estimate import estimate
    from retrograde.solver.play.solution import open_solution
    from retrograde.solver.verification.verify import verify

__all__ = ["check", "estimate", "open_solution", "solve", "verify"]

MODULES = {
    "check": "conformance.check",
    "estimate": "estimation.estimate",
    "open_solution": "play.solution",
    "solve": "engine",
    "verify": "verification.verify",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in MODULES:
        return getattr(import_module(f"retrograde.solver.{MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
