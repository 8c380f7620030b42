"""The interface of models of players: the weight with which each legal move of a position is made.

Weights are integers, and only their ratios matter: probabilities 4/5 and 1/5 have weights 4 and 1. A move of weight 0
is never made. There are two methods. `weigh` handles a block of positions while a game is solved. `weights` handles one
position by the interpreted rules, in play and when a database is verified.
"""

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import CHANCE, Game, RetrogradeError
from retrograde.solver.rules.examine import to_list
from retrograde.solver.runtime.array_type import Array

Weights = dict[int, int]
"""The weight of each legal move, in the order of the rules."""
MOST = 1 << 31
"""Limit of the sum of a position's weights, so that means fit into 64 bits."""


class NoModel(RetrogradeError, ValueError):
    """No such model of a player, or it does not fit this game."""


class Model:
    """A player whose move weights are known. A context manager that closes what the model opened."""

    name: str = ""
    """The name that users give, such as `random` or `skill:0.8`."""
    digest: str = ""
    """A digest of what the model depends on besides the rules: a database, a function's source. Empty if nothing."""
    symmetric: bool = True
    """Whether the model plays alike in symmetric positions."""

    def weights(self, game: Game, position: int) -> Weights:
        """Return the weight of each legal move in a position where a player moves; raise NoModel on failure."""
        raise NotImplementedError

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        """Return the weights of the moves of many positions, int64[rows, positions].

        *turns* says who is to move in each; weights of chance's positions are ignored. *children* int64[rows,
        positions] are the canonical positions that moves lead to, -1 after the last move. Both arrays have a further
        axis if positions have several words.
        """
        result = np.zeros(children.shape[:2], np.int64)
        for column, (position, turn) in enumerate(zip(to_list(positions), turns.tolist(), strict=True)):
            if turn != CHANCE:
                weights = [*self.weights(game, position).values()]
                result[: len(weights), column] = weights
        return result

    def close(self) -> None:
        """Close what the model has opened."""

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class UniformModel(Model):
    """Makes each legal move with equal weight."""

    name = "random"

    def weights(self, game: Game, position: int) -> Weights:
        return dict.fromkeys(game.generate_moves(position), 1)

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        return (first_words(children) >= 0).astype(np.int64)


def first_words(children: Array) -> Array:
    """Return the positions of a matrix, or the first word of each if they have several."""
    return children if children.ndim == 2 else children[..., 0]


def weigh_best(keys: Mapping[int, Any]) -> Weights:
    """Return weight 1 for each move with the greatest key, and 0 for all others."""
    best = max(keys.values())
    return {move: int(key == best) for move, key in keys.items()}


def valid_answer(name: str, game: Game, position: int, answer: Any) -> Weights:
    """Return the answer of a user's function as weights of all legal moves, 0 for moves not named; else raise NoModel.

    *name* is the model's. Fractions become integers in the same ratios.

    >>> from retrograde.games.catalog import load_game
    >>> valid_answer("mine", load_game("nim:heaps=3"), 3, {3: Fraction(1, 2), 35: Fraction(1, 3)})
    {67: 0, 35: 2, 3: 3}
    """
    where = f"the player {name!r} of {variant(game)}, position {game.write(position)}"
    legal = list(game.generate_moves(position))
    if not isinstance(answer, Mapping):
        raise NoModel(f"{where}: it gives {answer!r:.60}; it must give a weight for each move, as in {{3: 1, 5: 2}}")
    if unknown := [move for move in answer if move not in legal]:
        raise NoModel(f"{where}: it gives a weight to {unknown[0]!r:.60}, which is no legal move")
    if bad := [weight for weight in answer.values() if not is_weight(weight)]:
        raise NoModel(f"{where}: {bad[0]!r:.60} is no weight; weights are whole numbers or Fractions from 0 on")
    common_denominator = lcm(*(Fraction(weight).denominator for weight in answer.values()))
    weights = {move: int(answer.get(move, 0) * common_denominator) for move in legal}
    if not 0 < sum(weights.values()) < MOST:
        raise NoModel(f"{where}: its weights add up to {sum(weights.values())}; that must be above 0, and below 2**31")
    return weights


def is_weight(weight: Any) -> bool:
    """Return whether something is an integer or a Fraction, and not negative."""
    with suppress(TypeError, ValueError):  # what Fraction() raises if it takes no such object
        return not isinstance(weight, (float, str)) and Fraction(weight) >= 0
    return False
