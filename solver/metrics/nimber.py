"""Nimbers of impartial games: the heap of Nim that a position is equal to in any sum of games.

    0   1   2 …        the least number that no child has: 0 where the player to move loses
    −1 − bits          infinite, where play can repeat: bit n is set if a child has the nimber n

In a sum of games the player to move chooses one game and moves there. By the theorem of Sprague and Grundy its nimber
is the xor of the nimbers. By that of Smith and of Fraenkel this also holds with one infinite summand
(`values/sums.py`). Value and remoteness are computed separately, because nimbers do not give the distance to the end.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN
from retrograde.solver.metrics import graph_kernels, score_kernels
from retrograde.solver.metrics.explored import Explored, Look, links_of
from retrograde.solver.metrics.measured import Demand, Measured, MetricNotApplicable
from retrograde.solver.metrics.score import solve_cycles
from retrograde.solver.metrics.score_kernels import Own
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

MOST = 61
"""Greatest nimber that has a bit in the set of an infinite one."""
NO_GAINS = np.zeros((0, 0), np.int64)
BYTES_A_POSITION = 60
"""Memory per position, in bytes, of the columns and work arrays."""


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the nimbers of all positions; raise MetricNotApplicable if the game is not impartial."""
    if explored.game.players != 2:
        raise MetricNotApplicable(f"nimbers are of games for two players, and this one is for {explored.game.players}")
    count = len(explored)
    explored.work.budget.check(BYTES_A_POSITION * count, f"finding the nimbers of {count:,} positions")
    own = Own(True, np.zeros(count, np.int64), np.full(count, -1, np.int32), np.zeros(count, np.int8))
    nimbers = np.zeros(count, np.int64)
    cyclic = any(explored.space.has_cycles(k) for k in range(len(explored.space.tiers)))
    for k in explored.tiers_backwards():
        if explored.space.has_cycles(k):
            solve_cycles(explored, own, k, phase, lost)
            continue
        for look in explored.looks(k):
            own.scores[look.begin : look.end] = lost(own, explored, look)
            own.plies[look.begin : look.end] = 0
            score_kernels.sweep(own, look.begin, look.places, look.origins, NO_GAINS)
            if not cyclic:
                graph_kernels.sweep(nimbers, look.begin, look.places, look.origins)
            phase.advance(look.end - look.begin, int(explored.space.tiers[k]))
    if not explored.alternating:
        refuse_moves_again(explored, own)
    if cyclic:
        nimbers = with_cycles(explored)
    values = np.select([own.scores > 0, own.scores < 0], [WIN, LOSE], DRAW)
    return Measured(values.astype(np.uint8), own.plies, {"nimber": nimbers})


def lost(own: Own, explored: Explored, look: Look) -> Array:
    """Return -1 for each position, the score of ends here; raise MetricNotApplicable if an end is not a loss.

    Also raise MetricNotApplicable if there is chance or a move pays. Writes the movers to *own*.
    """
    wrong = (look.primitives != UNDECIDED) & (look.primitives != LOSE)
    if wrong.any():
        position = explored.game.write(int(explored.positions[look.begin + np.flatnonzero(wrong)[0]]))
        raise MetricNotApplicable(
            f"nimbers are of games in which who cannot move has lost; in position {position} it is not so"
        )
    if (look.movers < 0).any():
        raise MetricNotApplicable("nimbers are of games without chance; where there is chance, compute expectation")
    if len(look.rewards):
        raise MetricNotApplicable("nimbers are of games in which moves pay nothing; compute scores")
    own.movers[look.begin : look.end] = look.movers
    return np.full(look.end - look.begin, -1, np.int64)


def refuse_moves_again(explored: Explored, own: Own) -> None:
    """Raise MetricNotApplicable if the same player moves again after some move."""
    for k in explored.tiers_backwards():
        for look in explored.looks(k):
            turns = own.movers[look.places] == own.movers[look.begin + look.origins]
            if (turns & (look.places >= 0)).any():
                raise MetricNotApplicable(
                    "nimbers are of games in which players take turns; in this one somebody moves again"
                )


def with_cycles(explored: Explored) -> Array:
    """Return the nimbers of a game where play can repeat; infinite ones are coded as in the module's table."""
    links = links_of(explored)
    labels = graph_kernels.label(*links)
    coded, greatest = graph_kernels.sets_of(links.children, links.ends, labels, MOST)
    if greatest > MOST:
        raise MetricNotApplicable(f"an infinite nimber can go to {greatest}, and what is stored of it ends at {MOST}")
    return np.asarray(coded)
