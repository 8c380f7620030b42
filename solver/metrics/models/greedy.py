"""The greedy player: takes the move that brings most at once, then the one that looks best.

What a move *brings* is what it pays the player at once (`reward`), and what the end pays if it ends the game
(`payoff`), both less what the other player gets. If the rules do not define what ends pay, a win is the most, a loss
the least, and a tie equals going on. How it *looks* is the game's `estimate` after the move, negated if the other
player moves next. It is 0 at an end and in games without an estimate. Moves equal in both have equal weight.
"""

from collections.abc import Callable

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, same_mover
from retrograde.solver.metrics.models.model import Array, Model, Weights


class Greedy(Model):
    """Looks one ply ahead."""

    name = "greedy"

    def weights(self, game: Game, position: int) -> Weights:
        keys = {move: appeal(game, position, move) for move in game.generate_moves(position)}
        best = max(keys.values())
        return {move: int(key == best) for move, key in keys.items()}

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        from retrograde.solver.metrics.models.kernels import mark_greedy
        from retrograde.solver.rules.expansion import compiling  # here because numba takes a while to import

        marks, trouble = np.zeros(children.shape, np.int64), np.zeros(2, np.int64)
        appeals = np.empty((2, len(children)), np.int64)
        with compiling(game, trouble):
            mark_greedy(game, positions, turns, Traits.of(game).alternates, CHANCE, appeals, marks, trouble)
        return marks


def appeal(game: Game, position: int, move: int) -> tuple[int, int]:
    """Return what a move brings the mover at once, and how good it looks afterwards."""
    child = game.do_move(position, move)
    mover = game.turn(position)
    brings = ahead(game, lambda player: game.reward(position, move, player), mover)
    if game.primitive(child) == UNDECIDED:
        looks = game.estimate(child)
        return brings, looks if same_mover(game, position, child) else -looks
    there = 1 if Traits.of(game).alternates else mover  # the mover's number at the child
    return brings + ahead(game, lambda player: game.payoff(child, player), there), 0


def ahead(game: Game, paid: Callable[[int], int], player: int) -> int:
    """Return what a player is paid less what the best paid other player is, if there is one."""
    others = [paid(other) for other in range(game.players) if other != player]
    return int(paid(player)) - max(others, default=0)
