"""What tests of expectations share: the bounds of all positions of a game, computed without a database."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

from retrograde.solver.metrics.expectation import measure
from retrograde.solver.metrics.explored_game import explore
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.work import Work

Bounds = dict[int, tuple[Fraction, Fraction]]


def measured(game, workers=2) -> tuple[list[int], MetricResult]:
    """Return the positions of a game, and what was found of them."""
    with ThreadPoolExecutor(workers) as executor:
        work = Work(executor, workers, MemoryBudget(), None, Path("nowhere"))
        explored = explore(game, work)
        found = measure(explored, MetricOptions("expectation"), work.phase("solving", len(explored)))
    return explored.positions.tolist(), found


def bounds(game) -> Bounds:
    """Return the bounds of the expectation of who is to move, of every canonical position that play reaches."""
    positions, found = measured(game)
    grain = Fraction(1, found.details["scale"])
    low, high = (found.columns[name].tolist() for name in ("low", "high"))
    return {p: (a * grain, b * grain) for p, a, b in zip(positions, low, high, strict=True)}
