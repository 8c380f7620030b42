"""Nimbers of impartial games: the heap of Nim that a position is equal to in any sum of games.

    0   1   2 …        the least number that no child has: 0 where the player to move loses
    −1 − bits          infinite, where play can repeat: bit n is set if a child has the nimber n

In a sum of games the player to move chooses one game and moves there. By the theorem of Sprague and Grundy its nimber
is the xor of the nimbers. By that of Smith and of Fraenkel this also holds with one infinite summand
(`values/sums.py`). Value and remoteness are computed separately, because nimbers do not give the distance to the end.
"""

import numpy as np

from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.solver.metrics import graph_kernels
from retrograde.solver.metrics.explored_game import ExploredBlock, ExploredGame, graph_of
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.metrics.score import score_all, values_of
from retrograde.solver.metrics.score_kernels import ScoreArrays
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable

MOST = 61
"""Greatest nimber that has a bit in the code of an infinite one."""
BYTES_A_POSITION = 60
"""Memory for each position, in bytes: columns and work arrays."""


def measure(explored: ExploredGame, options: MetricOptions, phase: Phase) -> MetricResult:
    """Return the nimbers of all positions; raise MetricNotApplicable if the game is not impartial."""
    if explored.game.players != 2:
        raise MetricNotApplicable(f"nimbers are of games for two players, and this one is for {explored.game.players}")
    count = len(explored)
    explored.work.budget.check(BYTES_A_POSITION * count, f"finding the nimbers of {count:,} positions")
    nimbers = np.zeros(count, np.int64)
    cyclic = any(explored.space.has_cycles(k) for k in range(len(explored.space.tiers)))

    def read_block(own: ScoreArrays, explored: ExploredGame, block: ExploredBlock) -> Array:
        if not cyclic:  # then the children have their nimbers already
            graph_kernels.sweep(nimbers, block)
        return check_ends(own, explored, block)

    own = score_all(explored, phase, read_block)
    if not explored.alternating:
        refuse_moves_again(explored, own)
    if cyclic:
        nimbers = nimbers_with_cycles(explored)
    return MetricResult(values_of(own), own.plies, {"nimber": nimbers})


def check_ends(own: ScoreArrays, explored: ExploredGame, block: ExploredBlock) -> Array:
    """Return -1 for each position, which is the score of its ends; write the movers to *own*. Raise MetricNotApplicable
    if an end is not a loss, if there is chance, or if a move pays."""
    wrong = (block.primitives != UNDECIDED) & (block.primitives != LOSE)
    if wrong.any():
        position = explored.game.write(explored.position_at(block.begin + np.flatnonzero(wrong)[0]))
        raise MetricNotApplicable(
            f"nimbers need a game in which a player who cannot move loses; position {position} ends in another way"
        )
    if (block.movers < 0).any():
        raise MetricNotApplicable("nimbers are of games without chance; where there is chance, compute expectation")
    if len(block.rewards):
        raise MetricNotApplicable("nimbers are of games in which moves pay nothing; compute scores")
    own.movers[block.begin : block.end] = block.movers
    return np.full(block.end - block.begin, -1, np.int64)


def refuse_moves_again(explored: ExploredGame, own: ScoreArrays) -> None:
    """Raise MetricNotApplicable if the same player moves again after some move."""
    for k in explored.tiers_backwards():
        for block in explored.blocks(k):
            if (own.movers[block.children] == np.repeat(block.movers, np.diff(block.begins))).any():
                raise MetricNotApplicable("nimbers need a game in which players take turns; here a player moves again")


def nimbers_with_cycles(explored: ExploredGame) -> Array:
    """Return the nimbers of a game where play can repeat; infinite ones are coded as in the module's table."""
    graph = graph_of(explored)
    labels = graph_kernels.label(graph)
    coded, greatest = graph_kernels.code_infinite(graph, labels, MOST)
    if greatest > MOST:
        raise MetricNotApplicable(f"an infinite nimber can go to {greatest}, and what is stored of it ends at {MOST}")
    return np.asarray(coded)
