"""Scores: the best difference of payoffs that the player to move can force, and how soon the game ends then.

Whoever is ahead hurries and whoever is behind delays; where it is level, both would rather have an end, and soon. What
goes on for ever is worth 0, a DRAW. The value of a position is the sign of its score.

A tier that no move stays in takes one sweep. In one with cycles the best child says nothing by itself: each of two
positions may look as good as the other because of the other. So it is asked, from the greatest amount down, who can
*force* that much: the ends that pay it, then whoever can move to where it is forced, or cannot but move there
(`score_kernels.force`). What nobody can force an amount of is worth 0. Then the plies are counted, from the ends back,
along those moves alone that keep the score (`score_kernels.count_plies`). A score that is not 0 has its plies even if
play goes on for ever after the last move that pays: they are counted up to there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
from retrograde.solver.methods.listed.kernels import reverse
from retrograde.solver.metrics import score_kernels
from retrograde.solver.metrics.explored import Explored, Look
from retrograde.solver.metrics.measured import Demand, Measured, Unsuited
from retrograde.solver.metrics.score_kernels import NONE, Own, Tier
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 13
"""What all positions take each: a score, a remoteness, a mover."""
BYTES_IN_A_TIER = 80
"""What the positions of a tier with cycles take each, beside their children."""
BYTES_A_CHILD = 20


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the scores of all positions; raise Unsuited where there is chance, or a third player."""
    if explored.game.players > 2:
        raise Unsuited(f"scores are for one player or two, not for {explored.game.players}; compute utilities")
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
    """Note who moves in a block; return what each position is paid if it is an end, as seen by its player."""
    if (look.movers < 0).any():
        raise Unsuited("scores are of games without chance; where there is chance, compute expectation")
    own.movers[look.begin : look.end] = look.movers
    if explored.game.players == 1:
        return np.asarray(look.pays[:, 0])
    mine = np.take_along_axis(look.pays, look.movers[:, None].astype(np.int64), 1)[:, 0]
    return np.asarray(2 * mine - look.pays.sum(1))


def gains_of(look: Look) -> Array:
    """Return what each move of a block pays who makes it, less what the other gets; no rows where nothing is paid."""
    if look.rewards.shape[2] == 1:
        return np.ascontiguousarray(look.rewards[:, :, 0])
    mine = look.movers[look.origins] == 0
    first = look.rewards[:, :, 0] - look.rewards[:, :, 1]
    return np.where(mine, first, -first) if len(first) else first


Paid = Callable[[Own, Explored, Look], Array]
"""Notes who moves in a block, and returns what each position would be paid as an end."""


def sweep(explored: Explored, own: Own, k: int, phase: Phase, paid: Paid = take) -> None:
    """Score a tier that no move stays in."""
    for look in explored.looks(k):
        own.scores[look.begin : look.end] = paid(own, explored, look)
        own.plies[look.begin : look.end] = 0
        score_kernels.sweep(own, look.begin, look.places, look.origins, gains_of(look))
        phase.advance(look.end - look.begin, int(explored.space.tiers[k]))


def solve_cycles(explored: Explored, own: Own, k: int, phase: Phase, paid: Paid = take) -> None:
    """Score a tier in which moves may stay; what its ends pay is asked block by block."""
    low, high = explored.space.stretch(k)
    count = high - low
    explored.work.budget.check(BYTES_IN_A_TIER * count, f"scoring {count:,} positions of a tier with cycles")
    looks, ends = [], np.full(count, NONE, np.int64)
    for look in explored.looks(k):
        over = look.primitives > 0
        ends[look.begin - low : look.end - low][over] = paid(own, explored, look)[over]
        looks.append(look)
    tier = tier_of(explored, own, looks, ends, low, high)
    brought = np.where(ends != NONE, ends, np.where(tier.best != NONE, tier.best, 0))
    scores = score_kernels.force(tier, np.argsort(-abs(brought), kind="stable"))
    own.scores[low:high] = scores
    score_kernels.count_plies(tier, scores, own.plies[low:high])
    phase.advance(count, int(explored.space.tiers[k]))


def tier_of(explored: Explored, own: Own, looks: list[Look], ends: Array, low: int, high: int) -> Tier:
    """Return a tier with cycles, with what its children of later tiers are worth, and the parents of those within."""
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
            raise Unsuited(
                "a move pays at once and stays in its tier(), so that play might come back to it, and what "
                "can be won has no limit; where moves pay, let tier() rise with each"
            )
        lists.append(links[:found].copy())
    children = np.concatenate(lists)
    explored.work.budget.check(BYTES_A_CHILD * len(children), f"linking {count:,} positions of a tier with cycles")
    parents, begins = np.empty(len(children), np.int64), np.zeros(count + 2, np.int64)
    reverse(children, np.cumsum(counts), parents, begins)
    return Tier(own.alternating, own.movers[low:high], ends, best, nearest, farthest, counts, parents, begins)
