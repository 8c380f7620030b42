"""Nimbers of impartial games: to which heap of Nim a position is equal, whatever is played beside it.

    0   1   2 …        the least number that no child has: 0 where the player to move loses
    −1 − bits          infinite, where play can go round: bit n is set where a child has the nimber n

By the theorem of Sprague and Grundy a sum of games, in which who is to move chooses one of them, is worth the xor of
their nimbers; by that of Smith and of Fraenkel it is so with one infinite summand, too (`values/sums.py`). Value and
remoteness are computed as ever: nimbers do not tell how far the end is.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN
from retrograde.solver.metrics import graph_kernels, score_kernels
from retrograde.solver.metrics.explored import Explored, Look, links_of
from retrograde.solver.metrics.measured import Demand, Measured, Unsuited
from retrograde.solver.metrics.score import solve_cycles
from retrograde.solver.metrics.score_kernels import Own
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

MOST = 61
"""The greatest nimber that the set of an infinite one has a bit for."""
NO_GAINS = np.zeros((0, 0), np.int64)
BYTES_A_POSITION = 60


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the nimbers of all positions; raise Unsuited where the game is not impartial."""
    if explored.game.players != 2:
        raise Unsuited(f"nimbers are of games for two players, and this one is for {explored.game.players}")
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
    """Return -1 for each position, what ends are worth; raise Unsuited where one is not lost for who is to move."""
    wrong = (look.primitives != UNDECIDED) & (look.primitives != LOSE)
    if wrong.any():
        position = explored.game.write(int(explored.positions[look.begin + np.flatnonzero(wrong)[0]]))
        raise Unsuited(f"nimbers are of games in which who cannot move has lost; in position {position} it is not so")
    if (look.movers < 0).any():
        raise Unsuited("nimbers are of games without chance; where there is chance, compute expectation")
    if len(look.rewards):
        raise Unsuited("nimbers are of games in which moves pay nothing; compute scores")
    own.movers[look.begin : look.end] = look.movers
    return np.full(look.end - look.begin, -1, np.int64)


def refuse_moves_again(explored: Explored, own: Own) -> None:
    """Raise Unsuited where a move leaves the turn with who made it."""
    for k in explored.tiers_backwards():
        for look in explored.looks(k):
            turns = own.movers[look.places] == own.movers[look.begin + look.origins]
            if (turns & (look.places >= 0)).any():
                raise Unsuited("nimbers are of games in which players take turns; in this one somebody moves again")


def with_cycles(explored: Explored) -> Array:
    """Return the nimbers of a game in which play can go round, those that are infinite coded as above."""
    links = links_of(explored)
    labels = graph_kernels.label(*links)
    coded, greatest = graph_kernels.sets_of(links.children, links.ends, labels, MOST)
    if greatest > MOST:
        raise Unsuited(f"an infinite nimber can go to {greatest}, and what is stored of it ends at {MOST}")
    return np.asarray(coded)
