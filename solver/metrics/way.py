"""The method that solves a game by another metric than remoteness.

It explores the game, then calls the metric. A metric is a module of this package, named after it, with a function
`measure(explored, demand, phase)` that returns Measured.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from retrograde.databases.write import SolvedRecords
from retrograde.games.contract.game import Game
from retrograde.solver.metrics.explored import Explored, explore
from retrograde.solver.metrics.measured import Demand, Measured, refuse_partisan, solved_from
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work


class Measure(Protocol):
    """The `measure` function of a metric's module."""

    def __call__(self, explored: Explored, demand: Demand, phase: Phase) -> Measured:
        """Return the measures of all positions; raise MetricNotApplicable if the metric does not apply to the game."""


@dataclass(frozen=True)
class ByMetric:
    """Solves a game by a metric, with positions as sorted lists in memory."""

    demand: Demand

    @property
    def name(self) -> str:
        return self.demand.metric

    def solve(self, game: Game, work: Work) -> SolvedRecords:
        """Return the solved game; raise MetricNotApplicable if the metric does not apply."""
        measure = cast(Measure, import_module(f"retrograde.solver.metrics.{self.demand.metric}").measure)
        if self.demand.metric == "nimber":
            refuse_partisan(game)
        explored = explore(game, work)
        phase = work.phase("solving", len(explored))
        measured = measure(explored, self.demand, phase)
        phase.end()
        return solved_from(explored, measured, self.demand.metric)
