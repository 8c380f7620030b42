"""The way of solving a game by another metric than remoteness: exploration, and then what the metric says of it.

A metric is a module of this room of the same name, with a function `measure(explored, demand, phase)`, which returns
Measured.
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
    """What a module of a metric has."""

    def __call__(self, explored: Explored, demand: Demand, phase: Phase) -> Measured:
        """Return what the metric says of each position; raise Unsuited where it says nothing of such a game."""


@dataclass(frozen=True)
class ByMetric:
    """Positions as sorted lists in memory, and a metric over them."""

    demand: Demand

    @property
    def name(self) -> str:
        return self.demand.metric

    def solve(self, game: Game, work: Work) -> SolvedRecords:
        """Return the solved game."""
        measure = cast(Measure, import_module(f"retrograde.solver.metrics.{self.demand.metric}").measure)
        if self.demand.metric == "nimber":
            refuse_partisan(game)
        explored = explore(game, work)
        phase = work.phase("solving", len(explored))
        measured = measure(explored, self.demand, phase)
        phase.end()
        return solved_from(explored, measured, self.demand.metric)
