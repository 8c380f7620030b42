"""Utilities: what each player gets if each maximises their own share (max^n; Luckhardt and Irani, 1986).

The utilities of a position are those of the best move for the player to move. If several moves are equally good for
this player, the choice changes what the others get. The option `ties` decides:

    first       the first of these moves, in the order in which the rules generate them
    leader      the one after which the other who gets the most gets the least; of several the first
    average     any of them with the same chance: the mean of their utilities

With `paranoid` instead, the utility of a player is what this player can force if all others play together against them.
For each player this is another game: the player maximises, and everyone else minimises that player's result. No player
gets less with max^n, however ties are decided.

With `average`, utilities are rounded to 1/`SCALE`. Moves within `SLACK`/`SCALE` count as equally good, so that rounding
breaks no tie. If play can repeat, there need be no answer, and the metric refuses the game.

The value of a position is WIN if the player to move gets, or can force, more than every other player; LOSE if some
player gets more; else TIE. With one player the sign decides. The remoteness is the plies to the end along the chosen
move, or along the longest of several.
"""

import numpy as np

from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.metrics import explored_game, graph_kernels
from retrograde.solver.metrics.graph_kernels import AVERAGE, FIRST, LEADER, PARANOID, PlayOrder
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable

TIES = {"first": FIRST, "leader": LEADER, "average": AVERAGE, "paranoid": PARANOID}
"""Names of the ways to decide ties."""
SCALE = 1 << 24
"""Parts of a point in averaged utilities."""
SLACK = 1 << 10
"""Difference, in these parts, below which moves count as equally good."""
MOST = 1 << 20
"""Limit of what ends may pay with averages: sums over many moves then stay below 2**62."""
BYTES_A_CHILD = 24
"""Memory for each child in a tier with possible cycles, in bytes."""


def measure(explored: explored_game.ExploredGame, options: MetricOptions, phase: Phase) -> MetricResult:
    """Return the utilities of all positions; raise MetricNotApplicable if there is chance or play can repeat."""
    ties = options.ties or "first"
    if ties not in TIES:
        raise MetricNotApplicable(f"no ties {ties!r}; it is one of {', '.join(TIES)}")
    count, players = len(explored), explored.game.players
    explored.work.budget.check((8 * players + 6) * count, f"finding what {players} players get")
    scale = SCALE if ties == "average" else 1
    utilities, plies = np.zeros((count, players), np.int64), np.zeros(count, np.int32)
    movers = np.zeros(count, np.int8)
    for k in explored.tiers_backwards():
        low, high = explored.space.bounds_of(k)
        blocks = list(explored.blocks(k))
        for block in blocks:
            read_payoffs(block, movers, utilities, scale)
        children, begins = explored_game.children_of(blocks)
        tier = PlayOrder(order_of_tier(explored, k, children, begins), children, begins, low)
        slack = SLACK if ties == "average" else 0
        graph_kernels.maximise(tier, movers, TIES[ties], slack, utilities, plies)
        phase.advance(high - low, int(explored.space.tiers[k]))
    columns = {f"player{player}": utilities[:, player].copy() for player in range(players)}
    details = {"ties": ties, "scale": scale}
    return MetricResult(values_of(utilities, movers), plies, columns, details)


def read_payoffs(block: explored_game.ExploredBlock, movers: Array, utilities: Array, scale: int) -> None:
    """Write the movers of a block to *movers*, and what its ends pay, times *scale*, to *utilities*. Raise
    MetricNotApplicable for chance, for moves that pay, and for payoffs too great for averages."""
    if (block.movers < 0).any():
        raise MetricNotApplicable("utilities are of games without chance; this one has dice or cards")
    if len(block.rewards):
        raise MetricNotApplicable(
            "utilities are of games in which ends alone pay, and moves nothing; let payoff() tell it all"
        )
    if scale > 1 and (abs(block.pays) >= MOST).any():
        raise MetricNotApplicable(f"an end pays {MOST:,} or more, which is too much for averages; choose other ties")
    movers[block.begin : block.end] = block.movers
    utilities[block.begin : block.end] = scale * block.pays


def order_of_tier(explored: explored_game.ExploredGame, k: int, children: Array, begins: Array) -> Array:
    """Return the positions of tier number *k*, numbered from 0, in an order with children first.

    *children* and *begins* are the lists of `explored_game.children_of`. Raise MetricNotApplicable if play can repeat.
    """
    low, high = explored.space.bounds_of(k)
    if not explored.space.has_cycles(k):  # no move stays in the tier
        return np.arange(high - low)
    explored.work.budget.check(BYTES_A_CHILD * len(children), f"linking {high - low:,} positions")
    # Predecessor lists within the tier: leave out the children in other tiers.
    within = (children >= low) & (children < high)
    begins_within = np.concatenate([[0], np.cumsum(within)])[begins]
    predecessors = explored_game.predecessors_of(children[within] - low, begins_within)
    graph = explored_game.PositionGraph(children, begins, *predecessors)
    order = np.asarray(graph_kernels.sort_topologically(graph, low))
    if len(order) < high - low:
        in_cycles = np.setdiff1d(np.arange(high - low), order)
        position = explored.position_at(low + in_cycles[0])
        raise MetricNotApplicable(
            f"play can go round from position {position}: utilities need not be unique there, and are only for games "
            "that come to an end"
        )
    return order


def values_of(utilities: Array, movers: Array) -> Array:
    """Return the value of each position, for its player to move, from all players' utilities.

    >>> values_of(np.array([[1, 0, 0], [1, 0, 1]]), np.array([0, 1]))
    array([4, 1], dtype=uint8)
    """
    columns = movers[:, None].astype(np.int64)
    for_mover = np.take_along_axis(utilities, columns, 1)[:, 0]
    without_mover = utilities.copy()
    np.put_along_axis(without_mover, columns, np.iinfo(np.int64).min, 1)
    # A single player is compared with 0.
    best_other = without_mover.max(1) if utilities.shape[1] > 1 else np.zeros(len(for_mover), np.int64)
    return np.select([for_mover > best_other, for_mover < best_other], [WIN, LOSE], TIE).astype(np.uint8)
