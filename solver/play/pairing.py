"""What two players can expect of one another who both move by models: computed, where a match is a sample.

Both players' moves are chance then, and nobody has a choice; the bounds are proven as for any game with chance.
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
from retrograde.solver.metrics.explored import Explored, explore
from retrograde.solver.metrics.measured import Demand, Measured
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.progress import Listener
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.worth import facts_of

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
    """Return what the first of two players can expect to be paid, less what the second is, from a position on.

    By default that is the start. The facts are `expectation`, `low` and `high` where the first one is to move there,
    and the same under `waiting` where the second one is. Raises NoModel, PositionError where play never reaches the
    position, and what a solve raises for rules that break the contract.
    """
    game = game if first.symmetric and second.symmetric else unfolded(game)
    workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as executor:
        work = Work(executor, workers, MemoryBudget(), None, Path(os.devnull), listener)
        explored = explore(game, work)
        phase = work.phase("solving", len(explored))
        found = measure(explored, Demand("expectation", against=second, playing=first), phase)
        phase.end()
    return facts_at(explored, found, game.start if position is None else position)


def facts_at(explored: Explored, found: Measured, position: int) -> Facts:
    """Return what has been measured of a position; raise PositionError where play never reaches it."""
    game = explored.game
    places = np.flatnonzero(explored.positions == game.canonical(position))
    if not len(places):
        raise PositionError(f"position {game.write(position)!r} of {variant(game)} cannot be reached from the start")
    measures = [int(column[places[0]]) for column in found.columns.values()]
    return facts_of("expectation", found.details, measures)
