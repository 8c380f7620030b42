"""Scores: the best difference of payoffs that the player to move can force, and the plies to the end.

A player who is ahead hurries, and a player who is behind delays. At equal payoffs both prefer an early end. Endless
play is worth 0, a DRAW. The value of a position is the sign of its score.

A tier without cycles takes one sweep. In a tier with cycles the best child proves nothing by itself: two positions may
each look good only because of the other. The steps for such a tier:

1. Force amounts, the greatest first (`score_kernels.force`). A position forces an amount if it is an end that pays it,
   if it can move to such a position, or if all its moves lead to one. What nobody can force is worth 0.
2. Count plies backwards from the ends, only along moves that keep the score (`score_kernels.count_plies`).

If play goes on forever after the last move that pays, a nonzero score counts its plies up to that move.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
from retrograde.solver.methods.listed.kernels import reverse
from retrograde.solver.metrics import score_kernels
from retrograde.solver.metrics.explored import Explored, Look
from retrograde.solver.metrics.measured import Demand, Measured, MetricNotApplicable
from retrograde.solver.metrics.score_kernels import NONE, Own, Tier
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 13
"""Memory for each position, in bytes: a score, a remoteness, a mover."""
BYTES_IN_A_TIER = 80
"""Memory for each position of a tier with cycles, in bytes, without its children."""
BYTES_A_CHILD = 20
"""Memory for each child within such a tier, in bytes."""


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the scores of all positions; raise MetricNotApplicable if there is chance or a third player."""
    if explored.game.players > 2:
        raise MetricNotApplicable(
            f"scores are for one player or two, not for {explored.game.players}; compute utilities"
        )
    explored.work.budget.check(BYTES_A_POSITION * len(explored), f"scoring {len(explored):,} positions")
    own = Own(
        explored.alternating,
        np.zeros(len(explored), np.int64),
        np.full(len(explored), -1, np.int32),
        np.zeros(len(explored), np.int8),
    )
    for k in explored.tiers_backwards():
        (solve_cycles if explored.space.has_cycles(k) else sweep)(explored, own, k, phase)
    values = np.select([own.scores > 0, own.scores < 0, own.plies >= 0], [WIN, LOSE, TIE], DRAW)
    return Measured(values.astype(np.uint8), own.plies, {"score": own.scores})


def take(own: Own, explored: Explored, look: Look) -> Array:
    """Write the movers of a block; return what each position pays as an end, for its player to move.

    Raise MetricNotApplicable if there is chance.
    """
    if (look.movers < 0).any():
        raise MetricNotApplicable("scores are of games without chance; where there is chance, compute expectation")
    own.movers[look.begin : look.end] = look.movers
    if explored.game.players == 1:
        return np.asarray(look.pays[:, 0])
    mine = np.take_along_axis(look.pays, look.movers[:, None].astype(np.int64), 1)[:, 0]
    return np.asarray(2 * mine - look.pays.sum(1))


def gains_of(look: Look) -> Array:
    """Return what each move of a block pays the mover, less what the other player gets.

    The result has no rows if moves pay nothing.
    """
    if look.rewards.shape[2] == 1:
        return np.ascontiguousarray(look.rewards[:, :, 0])
    mine = look.movers[look.origins] == 0
    first = look.rewards[:, :, 0] - look.rewards[:, :, 1]
    return np.where(mine, first, -first) if len(first) else first


Paid = Callable[[Own, Explored, Look], Array]
"""Writes the movers of a block, and returns what each position would pay as an end."""


def sweep(explored: Explored, own: Own, k: int, phase: Phase, paid: Paid = take) -> None:
    """Score a tier without cycles."""
    for look in explored.looks(k):
        own.scores[look.begin : look.end] = paid(own, explored, look)
        own.plies[look.begin : look.end] = 0
        score_kernels.sweep(own, look.begin, look.places, look.origins, gains_of(look))
        phase.advance(look.end - look.begin, int(explored.space.tiers[k]))


def solve_cycles(explored: Explored, own: Own, k: int, phase: Phase, paid: Paid = take) -> None:
    """Score a tier with cycles; *paid* gives what its ends pay."""
    low, high = explored.space.stretch(k)
    count = high - low
    explored.work.budget.check(BYTES_IN_A_TIER * count, f"scoring {count:,} positions of a tier with cycles")
    # Step 1: collect the blocks of the tier and what its ends pay.
    looks, ends = [], np.full(count, NONE, np.int64)
    for look in explored.looks(k):
        over = look.primitives > 0
        ends[look.begin - low : look.end - low][over] = paid(own, explored, look)[over]
        looks.append(look)
    # Step 2: build the graph within the tier.
    tier = tier_of(explored, own, looks, ends, low, high)
    # Step 3: force amounts from the greatest down, then count plies.
    brought = np.where(ends != NONE, ends, np.where(tier.best != NONE, tier.best, 0))
    scores = score_kernels.force(tier, np.argsort(-abs(brought), kind="stable"))
    own.scores[low:high] = scores
    score_kernels.count_plies(tier, scores, own.plies[low:high])
    phase.advance(count, int(explored.space.tiers[k]))


def tier_of(explored: Explored, own: Own, looks: list[Look], ends: Array, low: int, high: int) -> Tier:
    """Return the tier's graph: the best scores from later tiers, and the predecessor lists within."""
    count = high - low
    best = np.full(count, NONE, np.int64)
    nearest, farthest = np.full((2, count), -1, np.int32)
    counts, lists = np.zeros(count, np.int64), [np.empty(0, np.int64)]
    for look in looks:
        links = np.empty(look.places.size, np.int64)
        found = score_kernels.divide(
            own,
            look.begin,
            look.places,
            look.origins,
            gains_of(look),
            low,
            high,
            (best, nearest, farthest, counts),
            links,
        )
        if found < 0:
            raise MetricNotApplicable(
                "a move pays at once and stays in its tier(), so that play might come back to it, and what "
                "can be won has no limit; where moves pay, let tier() rise with each"
            )
        lists.append(links[:found].copy())
    children = np.concatenate(lists)
    explored.work.budget.check(BYTES_A_CHILD * len(children), f"linking {count:,} positions of a tier with cycles")
    parents, begins = np.empty(len(children), np.int64), np.zeros(count + 2, np.int64)
    reverse(children, np.cumsum(counts), parents, begins)
    return Tier(own.alternating, own.movers[low:high], ends, best, nearest, farthest, counts, parents, begins)
