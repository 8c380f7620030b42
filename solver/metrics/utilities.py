"""Utilities: what each of any number of players gets if each plays for the most that he can get himself (max^n).

Luckhardt and Irani (1986). The utilities of a position are those of the move that is best for who is to move. Among
moves that are equally good for him it is a matter of taste, and what the others get depends on it, so this is said:

    first       the first of these moves, in the order in which the rules generate them
    leader      the one after which the other who gets the most gets the least; of several the first
    average     any of them with the same chance: the mean of their utilities

Or, with `paranoid` in their place, it is told what each player can force if all others stand together against him: for
each of them another game, in which he takes what brings him the most, and whoever else moves what brings him the least.
He gets no less with max^n, whichever move of several is made.

With an average, utilities are rounded to 1/`SCALE`, and moves are equally good where they differ by less than
`SLACK`/`SCALE`, so that rounding breaks no tie. Where play can go round, there need be no answer, and none is given.

The value of a position is WIN where the player to move gets, or can force, more than every other, LOSE where somebody
gets more than he, else TIE; of one player by the sign. The remoteness is how far the end is along the chosen move, or
along the longest way where several are.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.methods.listed.kernels import reverse
from retrograde.solver.metrics import graph_kernels
from retrograde.solver.metrics.explored import Explored, Look
from retrograde.solver.metrics.graph_kernels import AVERAGE, FIRST, LEADER, PARANOID
from retrograde.solver.metrics.measured import Demand, Measured, Unsuited
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]

TIES = {"first": FIRST, "leader": LEADER, "average": AVERAGE, "paranoid": PARANOID}
SCALE = 1 << 24
"""Into how many parts a point is divided where utilities are averages."""
SLACK = 1 << 10
MOST = 1 << 20
"""What ends may pay at most where utilities are averages: sums of many moves stay below 2**62."""
BYTES_A_CHILD = 24


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the utilities of all positions; raise Unsuited where there is chance, or play can go round."""
    ties = demand.ties or "first"
    if ties not in TIES:
        raise Unsuited(f"no ties {ties!r}; it is one of {', '.join(TIES)}")
    count, players = len(explored), explored.game.players
    explored.work.budget.check((8 * players + 6) * count, f"finding what {players} players get")
    scale = SCALE if ties == "average" else 1
    utilities, plies = np.zeros((count, players), np.int64), np.zeros(count, np.int32)
    movers = np.zeros(count, np.int8)
    for k in explored.tiers_backwards():
        low, high = explored.space.stretch(k)
        looks = list(explored.looks(k))
        for look in looks:
            take(look, movers, utilities, scale)
        children, ends = children_of(looks, low, high)
        order = order_in(explored, k, children, ends)
        slack = SLACK if ties == "average" else 0
        graph_kernels.maximise(order, children, ends, low, movers, TIES[ties], slack, utilities, plies)
        phase.advance(high - low, int(explored.space.tiers[k]))
    columns = {f"player{player}": utilities[:, player].copy() for player in range(players)}
    details = {"ties": ties, "scale": scale}
    return Measured(values_of(utilities, movers), plies, columns, details)


def take(look: Look, movers: Array, utilities: Array, scale: int) -> None:
    """Note who moves in a block, and what its ends pay."""
    if (look.movers < 0).any():
        raise Unsuited("utilities are of games without chance; this one has dice or cards")
    if len(look.rewards):
        raise Unsuited("utilities are of games in which ends alone pay, and moves nothing; let payoff() tell it all")
    if scale > 1 and (abs(look.pays) >= MOST).any():
        raise Unsuited(f"an end pays {MOST:,} or more, which is too much for averages; choose other ties")
    movers[look.begin : look.end] = look.movers
    utilities[look.begin : look.end] = scale * look.pays


def children_of(looks: list[Look], low: int, high: int) -> tuple[Array, Array]:
    """Return the places of all children in a tier, position by position in the order of the moves, and where those of
    each position end."""
    counts, lists = np.zeros(high - low, np.int64), [np.empty(0, np.int64)]
    for look in looks:
        by_position = look.places.T
        there = by_position >= 0
        counts[look.begin - low + look.origins] = there.sum(1)
        lists.append(by_position[there])
    return np.concatenate(lists), np.cumsum(counts)


def order_in(explored: Explored, k: int, children: Array, ends: Array) -> Array:
    """Return an order in which the positions of a tier come behind their children; raise Unsuited without one."""
    low, high = explored.space.stretch(k)
    if not explored.space.has_cycles(k):
        return np.arange(high - low)
    explored.work.budget.check(BYTES_A_CHILD * len(children), f"linking {high - low:,} positions")
    within = (children >= low) & (children < high)
    counts = np.diff(np.concatenate([[0], np.cumsum(within)])[np.concatenate([[0], ends])])
    parents, begins = np.empty(int(within.sum()), np.int64), np.zeros(high - low + 2, np.int64)
    reverse(children[within] - low, np.cumsum(counts), parents, begins)
    order = np.asarray(graph_kernels.order_of(children, ends, parents, begins, low))
    if len(order) < high - low:
        left = np.setdiff1d(np.arange(high - low), order)
        position = int(explored.positions[low + left[0]])
        raise Unsuited(
            f"play can go round from position {position}: what each gets there if each plays for himself need not be "
            "any one thing, so utilities are of games that come to an end"
        )
    return order


def values_of(utilities: Array, movers: Array) -> Array:
    """Return the values of positions by what everybody gets."""
    own = np.take_along_axis(utilities, movers[:, None].astype(np.int64), 1)[:, 0]
    others = utilities.copy()
    np.put_along_axis(others, movers[:, None].astype(np.int64), np.iinfo(np.int64).min, 1)
    best = others.max(1) if utilities.shape[1] > 1 else np.zeros(len(own), np.int64)
    return np.select([own > best, own < best], [WIN, LOSE], TIE).astype(np.uint8)
