"""Computes the expected payoffs of two players who both play by models. (A match only samples them.)

Both players' moves are then random, and nobody has a choice. The bounds are proven, as in any game with chance.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, PositionError
from retrograde.games.contract.unfolded import unfolded
from retrograde.solver.metrics.expectation import measure
from retrograde.solver.metrics.explored_game import ExploredGame, explore
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.progress import Listener
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.measures import facts_of

Facts = dict[str, Any]


def expected(
    game: Game,
    first: Model,
    second: Model,
    position: int | None = None,
    *,
    workers: int | None = None,
    listener: Listener | None = None,
) -> Facts:
    """Return the expected payoff of the first of two players, less the second's, from a position on.

    The default position is the start. The facts have `expectation`, `low` and `high` for the case that the first player
    is to move there, and the same under `waiting` for the other case. Raises NoModel, PositionError if play never
    reaches the position, and what a solve raises for rules that break the contract.
    """
    game = game if first.symmetric and second.symmetric else unfolded(game)
    workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as executor:
        work = Work(executor, workers, MemoryBudget(), None, Path(os.devnull), listener)
        explored = explore(game, work)
        phase = work.phase("solving", len(explored))
        found = measure(explored, MetricOptions("expectation", against=second, playing=first), phase)
        phase.end()
    return facts_at(explored, found, game.start if position is None else position)


def facts_at(explored: ExploredGame, found: MetricResult, position: int) -> Facts:
    """Return the expected payoff of a position, with its bounds; raise PositionError if play never reaches it."""
    game = explored.game
    indices = np.flatnonzero(explored.positions == game.canonical(position))
    if not len(indices):
        raise PositionError(f"position {game.write(position)!r} of {variant(game)} cannot be reached from the start")
    measures = [int(column[indices[0]]) for column in found.columns.values()]
    return facts_of("expectation", found.details, measures)
