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

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, WIN
from retrograde.solver.metrics import graph_kernels
from retrograde.solver.metrics.explored_game import ExploredBlock, ExploredGame, graph_of
from retrograde.solver.metrics.graph_kernels import DrawLevels
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.metrics.score import score_all, values_of
from retrograde.solver.metrics.score_kernels import NONE, ScoreArrays
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable

BYTES_A_POSITION = 60
"""Memory for each position, in bytes: columns and work arrays."""


def measure(explored: ExploredGame, options: MetricOptions, phase: Phase) -> MetricResult:
    """Return the draw levels of all positions; raise MetricNotApplicable unless two players alternate."""
    if explored.game.players != 2 or not explored.alternating:
        raise MetricNotApplicable("draw levels are of games in which two players take turns, move by move")
    count = len(explored)
    explored.work.budget.check(BYTES_A_POSITION * count, f"finding the draw levels of {count:,} positions")
    own = score_all(explored, phase, win_or_loss)
    values = values_of(own)
    draws = DrawLevels(values, np.zeros(count, np.int64), *np.full((2, count), -1, np.int64))
    if (values == DRAW).any():
        graph = graph_of(explored)
        graph_kernels.level_draws(graph, draws)
        graph_kernels.remove_impure(graph, draws)
    columns = {"draw": draws.kinds, "drawlevel": draws.levels, "drawremoteness": draws.plies}
    return MetricResult(values, own.plies, columns)


def win_or_loss(own: ScoreArrays, explored: ExploredGame, block: ExploredBlock) -> Array:
    """Return the score of each position as an end: 1 for a win, -1 for a loss, NONE for a draw, 0 otherwise. Raise
    MetricNotApplicable if moves pay."""
    if len(block.rewards):
        raise MetricNotApplicable("draw levels are of games in which moves pay nothing; compute scores")
    return np.select([block.primitives == value for value in (WIN, LOSE, DRAW)], [1, -1, NONE], 0).astype(np.int64)
