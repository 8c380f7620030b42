"""Draw levels, as in GamesmanClassic's analysis of pure draws: who must be careful in a draw, and how soon.

In a draw a player may still err: some moves let the other player win. A player with such a move must be careful. So the
analysis plays a second game on the draws alone:

1. A draw with a move to a win of the other player counts as *lost*. These draws are the *fringe* of level 0.
2. Other draws are solved as usual: a draw with a move to a lost draw is won; a draw whose draw moves all lead to won
   draws is lost. They have level 0, and their remoteness is counted from the fringe.
3. Among the remaining draws, those with a move to a draw won at level 0 are the fringe of level 1; and so on.

Column `draw`::

    WIN, LOSE     won or lost in that sense, with a level and a remoteness from its fringe
    DRAW          a draw that is not *pure*
    UNDECIDED     no draw

The analysis only makes sense if a lost draw has no move to another lost draw: such a move would pass the burden to the
other player. If it has one, the child is not *pure*. Also not pure: draws from which no fringe can be reached, and
draws with draw moves that lead to a draw that is not pure, directly or not. These have no level and no remoteness.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
from retrograde.solver.metrics import graph_kernels, score
from retrograde.solver.metrics.explored import Explored, Look, links_of
from retrograde.solver.metrics.measured import Demand, Measured, MetricNotApplicable
from retrograde.solver.metrics.score_kernels import Own
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 60
"""Memory per position, in bytes, of the columns and work arrays."""


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the draw levels of all positions; raise MetricNotApplicable unless two players alternate."""
    if explored.game.players != 2 or not explored.alternating:
        raise MetricNotApplicable("draw levels are of games in which two players take turns, move by move")
    count = len(explored)
    explored.work.budget.check(BYTES_A_POSITION * count, f"finding the draw levels of {count:,} positions")
    own = Own(True, np.zeros(count, np.int64), np.full(count, -1, np.int32), np.zeros(count, np.int8))
    for k in explored.tiers_backwards():
        (score.solve_cycles if explored.space.has_cycles(k) else score.sweep)(explored, own, k, phase, decided)
    values = np.select([own.scores > 0, own.scores < 0, own.plies >= 0], [WIN, LOSE, TIE], DRAW).astype(np.uint8)
    kinds, levels, plies = np.zeros(count, np.int64), *np.full((2, count), -1, np.int64)
    if (values == DRAW).any():
        links = links_of(explored)
        graph_kernels.level_draws(*links, values, kinds, levels, plies)
        graph_kernels.take_back(*links, values, kinds, levels, plies)
    return Measured(values, own.plies, {"draw": kinds, "drawlevel": levels, "drawremoteness": plies})


def decided(own: Own, explored: Explored, look: Look) -> Array:
    """Return the score of each position as an end: 1 for a win, -1 for a loss, 0 otherwise.

    Raise MetricNotApplicable if moves pay.
    """
    if len(look.rewards):
        raise MetricNotApplicable("draw levels are of games in which moves pay nothing; compute scores")
    return np.select([look.primitives == WIN, look.primitives == LOSE], [1, -1], 0).astype(np.int64)
