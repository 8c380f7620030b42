"""Draw levels, as in GamesmanClassic's analysis of pure draws: which draws are held by whom, how deep, and how far.

In a draw somebody may yet err: there are moves after which the other one wins. Who has such a move where play is drawn
is the one who has to be careful. So take as *lost* those draws from which a move leads to a win of the other player:
they are the *fringe* of level 0. Among the other draws, who can move to a lost one has *won*, and who can move to won
ones alone has lost, as ever: that is level 0, with remoteness counted from the fringe. Draws that are left, and have a
move to one won at level 0, are the fringe of level 1; and so on.

    draw        WIN, LOSE         a draw that is won or lost in that sense, at a level, in so many plies from its fringe
                DRAW              a draw that is not *pure*
                UNDECIDED         no draw

This says something only where who has lost can but move to where the other one has won. Two lost draws, the one a child
of the other, spoil it: whoever is at the first has a move that leaves it to the other to be careful. So the second of
them is not *pure*, nor is a draw from which no fringe can be reached at all, nor any from which moves among draws lead
to one that is not pure. Of these neither level nor remoteness is told.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
from retrograde.solver.metrics import graph_kernels, score
from retrograde.solver.metrics.explored import Explored, Look, links_of
from retrograde.solver.metrics.measured import Demand, Measured, Unsuited
from retrograde.solver.metrics.score_kernels import Own
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 60


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the draw levels of all positions; raise Unsuited where two players do not take turns."""
    if explored.game.players != 2 or not explored.alternating:
        raise Unsuited("draw levels are of games in which two players take turns, move by move")
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
    """Return what the end of each position is worth to who is to move: 1 where it is won, -1 where it is lost."""
    if len(look.rewards):
        raise Unsuited("draw levels are of games in which moves pay nothing; compute scores")
    return np.select([look.primitives == WIN, look.primitives == LOSE], [1, -1], 0).astype(np.int64)
