"""Models that look at what moves lead to: the greedy player, and depth-limited search (see `search/depth/`).

What a move *brings* is what it pays the player at once (`reward`), and what the end pays if it ends the game
(`payoff`), both less what the other player gets. If the rules do not define what ends pay, a win is the most, a loss
the least, and a tie equals going on. How it *looks* is the game's `estimate` after the move, negated if the other
player moves next. It is 0 at an end and in games without an estimate. Positions at the depth limit have the estimate as
well. Equally good moves have equal weight.
"""

import threading
from collections.abc import Callable

import numpy as np

from retrograde.games.contract.game import UNDECIDED, Game, Traits, same_mover
from retrograde.solver.metrics.models.model import Model, Weights, weigh_best
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.search.depth.names import AdaptiveDepthSearch, DepthLimits

SLACK = 1e-9
"""Difference below which means of points count as equal."""


class GreedyModel(Model):
    """Takes the move that brings most at once, and among these the one that looks best."""

    name = "greedy"

    def weights(self, game: Game, position: int) -> Weights:
        return weigh_best({move: appeal(game, position, move) for move in game.generate_moves(position)})

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        """Return weight 1 for each move that `weights` allows, by the compiled rules."""
        from retrograde.solver.metrics.models.greedy_kernels import mark_greedy
        from retrograde.solver.rules.expansion import compiling  # here because numba takes a while to import
        from retrograde.solver.rules.ports import rules_for
        from retrograde.solver.rules.running_kernels import trouble_array

        marks, trouble = np.zeros(children.shape[:2], np.int64), trouble_array(game)
        appeals = np.empty((2, len(children)), np.int64)
        with compiling(game, trouble):
            mark_greedy(rules_for(game), positions, turns, Traits.of(game).alternates, appeals, marks, trouble)
        return marks


def appeal(game: Game, position: int, move: int) -> tuple[int, int]:
    """Return (what a move brings the mover at once, how good the position looks afterwards)."""
    child = game.do_move(position, move)
    mover = game.turn(position)
    brings = lead_of(game, lambda player: game.reward(position, move, player), mover)
    if game.primitive(child) == UNDECIDED:
        looks = game.estimate(child)
        return brings, (looks if same_mover(game, position, child) else -looks)
    # Where players alternate, the player to move is always number 0. So the mover is number 1 after the move.
    player_after = 1 if Traits.of(game).alternates else mover
    return brings + lead_of(game, lambda player: game.payoff(child, player), player_after), 0


def lead_of(game: Game, pay_of: Callable[[int], int], player: int) -> int:
    """Return what a player is paid less what the best paid other player is, if there is one."""
    pays_of_others = [pay_of(other) for other in range(game.players) if other != player]
    return int(pay_of(player)) - max(pays_of_others, default=0)


class DepthModel(Model):
    """Chooses by a search to a fixed depth. Each thread has its own search, since searches keep state."""

    def __init__(self, depth: int):
        self.name = f"depth:{depth}"
        self.limits = DepthLimits(depth, None)
        self.thread_state = threading.local()

    def weights(self, game: Game, position: int) -> Weights:
        """Return weight 1 for each move with the best score of the search."""
        if getattr(self.thread_state, "search", None) is None or self.thread_state.search.game is not game:
            self.thread_state.search = AdaptiveDepthSearch(game)
        scores = self.thread_state.search.ask(lambda search: search.scores(position, self.limits.depth))
        best = max(score for _, score in scores)
        slack = SLACK if isinstance(best, float) else 0  # where there is chance, scores are means
        return {move: int(score >= best - slack) for move, score in scores}
