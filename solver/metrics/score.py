"""Scores: the best difference of payoffs that the player to move can force, and the plies to the end.

A player who is ahead hurries, and a player who is behind delays. At equal payoffs both prefer an early end. Endless
play is worth 0, a DRAW. The value of a position is the sign of its score.

A tier without cycles takes one sweep. In a tier with cycles the best child proves nothing by itself: two positions may
each look good only because of the other. The steps for such a tier:

1. Force amounts, the greatest first (`score_kernels.force_scores`). A position forces an amount if it is an end that
   pays it, if it can move to such a position, or if all its moves lead to one. What nobody can force is worth 0.
2. Count plies backwards from the ends, only along moves that keep the score (`score_kernels.count_plies`).

If play goes on forever after the last move that pays, a nonzero score counts its plies up to that move.
"""

from collections.abc import Callable

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.metrics import score_kernels
from retrograde.solver.metrics.explored_game import ExploredBlock, ExploredGame, predecessors_of
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.metrics.score_kernels import NONE, ScoreArrays, ScoreTier
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable

BYTES_A_POSITION = 13
"""Memory for each position, in bytes: a score, a remoteness, a mover."""
BYTES_IN_A_TIER = 80
"""Memory for each position of a tier with cycles, in bytes, without its children."""
BYTES_A_CHILD = 20
"""Memory for each child within such a tier, in bytes."""
EndScores = Callable[[ScoreArrays, ExploredGame, ExploredBlock], Array]
"""Writes the movers of a block to the ScoreArrays, and returns what each position would pay its mover as an end. NONE
stands for an end that is worth no more than endless play."""


def measure(explored: ExploredGame, options: MetricOptions, phase: Phase) -> MetricResult:
    """Return the scores of all positions; raise MetricNotApplicable if there is chance or a third player."""
    if explored.game.players > 2:
        raise MetricNotApplicable(
            f"scores are for one player or two, not for {explored.game.players}; compute utilities"
        )
    explored.work.budget.check(BYTES_A_POSITION * len(explored), f"scoring {len(explored):,} positions")
    arrays = score_all(explored, phase, read_payoffs)
    return MetricResult(values_of(arrays), arrays.plies, {"score": arrays.scores})


def score_all(explored: ExploredGame, phase: Phase, score_ends: EndScores) -> ScoreArrays:
    """Return scores, plies and movers of all positions, by solving the tiers, last first."""
    count = len(explored)
    scores, plies, movers = np.zeros(count, np.int64), np.full(count, -1, np.int32), np.zeros(count, np.int8)
    arrays = ScoreArrays(explored.alternating, scores, plies, movers)
    for k in explored.tiers_backwards():
        solve_tier = solve_cycles if explored.space.has_cycles(k) else sweep_tier
        solve_tier(explored, arrays, k, phase, score_ends)
    return arrays


def values_of(arrays: ScoreArrays) -> Array:
    """Return the value of each position: the sign of its score; a score of 0 is a TIE if it has plies, else a DRAW."""
    values = np.full(len(arrays.scores), DRAW, np.uint8)
    values[arrays.plies >= 0] = TIE
    values[arrays.scores > 0] = WIN
    values[arrays.scores < 0] = LOSE
    return values


def read_payoffs(arrays: ScoreArrays, explored: ExploredGame, block: ExploredBlock) -> Array:
    """Write the movers of a block to *arrays*; return what each position pays its mover as an end.

    With two players it is the difference of their payoffs. Raise MetricNotApplicable for chance.
    """
    if (block.movers < 0).any():
        raise MetricNotApplicable("scores are of games without chance; where there is chance, compute expectation")
    arrays.movers[block.begin : block.end] = block.movers
    if explored.game.players == 1:
        return np.asarray(block.pays[:, 0])
    pay_of_mover = np.take_along_axis(block.pays, block.movers[:, None].astype(np.int64), 1)[:, 0]
    pay_of_other = block.pays.sum(1) - pay_of_mover
    return np.asarray(pay_of_mover - pay_of_other)


def sweep_tier(explored: ExploredGame, arrays: ScoreArrays, k: int, phase: Phase, score_ends: EndScores) -> None:
    """Score tier number *k*, which has no cycles: write its scores and plies to *arrays*."""
    for block in explored.blocks(k):
        pays = score_ends(arrays, explored, block)
        # Give all positions the score of an end there, and 0 plies; NONE is a draw, without plies. Then the kernel
        # overwrites those of positions that have children.
        arrays.scores[block.begin : block.end] = np.where(pays == NONE, 0, pays)
        arrays.plies[block.begin : block.end] = np.where(pays == NONE, -1, 0)
        score_kernels.sweep(arrays, block)
        phase.advance(block.end - block.begin, int(explored.space.tiers[k]))


def solve_cycles(explored: ExploredGame, arrays: ScoreArrays, k: int, phase: Phase, score_ends: EndScores) -> None:
    """Score tier number *k*, which has cycles: write its scores and plies to *arrays*."""
    low, high = explored.space.bounds_of(k)
    count = high - low
    explored.work.budget.check(BYTES_IN_A_TIER * count, f"scoring {count:,} positions of a tier with cycles")
    # Step 1: collect the blocks of the tier and what its ends pay.
    blocks, ends = [], np.full(count, NONE, np.int64)
    for block in explored.blocks(k):
        is_end = block.primitives != UNDECIDED
        ends[block.begin - low : block.end - low][is_end] = score_ends(arrays, explored, block)[is_end]
        blocks.append(block)
    # Step 2: build the graph within the tier.
    tier = tier_of(explored, arrays, blocks, ends, low)
    # Step 3: force amounts from the greatest down, then count plies. An amount is what the end pays, or the best that
    # later tiers bring; 0 if the position has neither.
    amounts = np.where(ends != NONE, ends, np.where(tier.best != NONE, tier.best, 0))
    scores = score_kernels.force_scores(tier, np.argsort(-abs(amounts), kind="stable"))
    arrays.scores[low:high] = scores
    score_kernels.count_plies(tier, scores, arrays.plies[low:high])
    phase.advance(count, int(explored.space.tiers[k]))


def tier_of(
    explored: ExploredGame, arrays: ScoreArrays, blocks: list[ExploredBlock], ends: Array, low: int
) -> ScoreTier:
    """Return the graph of the tier whose first index is *low*, with what its *ends* pay and later tiers bring."""
    count, high = len(ends), low + len(ends)
    best = np.full(count, NONE, np.int64)
    nearest, farthest = np.full((2, count), -1, np.int32)
    counts, children_by_block = np.zeros(count, np.int64), [np.empty(0, np.int64)]
    for block in blocks:
        within = np.empty(len(block.children), np.int64)
        outside = best, nearest, farthest, counts
        within_count = score_kernels.split_children(arrays, block, low, high, outside, within)
        if within_count < 0:
            raise MetricNotApplicable(
                "a move pays at once and stays in its tier(), so that play might come back to it, and what "
                "can be won has no limit; where moves pay, let tier() rise with each"
            )
        children_by_block.append(within[:within_count].copy())
    children = np.concatenate(children_by_block)
    explored.work.budget.check(BYTES_A_CHILD * len(children), f"linking {count:,} positions of a tier with cycles")
    parents, begins = predecessors_of(children, np.concatenate([[0], np.cumsum(counts)]))
    return ScoreTier(
        arrays.alternating, arrays.movers[low:high], ends, best, nearest, farthest, counts, parents, begins
    )
