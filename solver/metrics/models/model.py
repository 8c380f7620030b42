"""A model of a player says with what weight each legal move of a position is made.

Weights are whole numbers, of which only the proportions count: what is made with probability 4/5 and what with 1/5
weigh 4 and 1. A move that weighs nothing is never made. A model is asked in two ways: about a whole block of positions
where a game is solved (`weigh`), and about one position by the rules as they stand (`weights`) where people play, and
where a database is verified.
"""

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import CHANCE, Game, RetrogradeError

Array = np.ndarray[Any, Any]
Weights = dict[int, int]
"""The weight of each legal move, in the order of the rules."""

MOST = 1 << 31
"""All weights of a position add up to less: what means are computed with has room in 64 bits then."""


class NoModel(RetrogradeError, ValueError):
    """No such model of a player, or none for this game."""


class Model:
    """What knows with what weights a player moves. A context manager, which closes what it has opened."""

    name: str = ""
    """What people call it: `random`, `skill:0.8`."""
    digest: str = ""
    """A digest of what it goes by beside the rules: of a database, of a function's source; nothing if there is none."""
    symmetric: bool = True
    """Whether it plays alike in positions that are equal by symmetry."""

    def weights(self, game: Game, position: int) -> Weights:
        """Return the weight of each legal move where it is a player's turn; raise NoModel where it says none."""
        raise NotImplementedError

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        """Return the weights of the moves of many positions, int64[rows, positions].

        *turns* says who is to move in each; where that is chance, weights are no matter. *children* int64[rows,
        positions] are the canonical positions that moves lead to, -1 where there are no more moves.
        """
        result = np.zeros(children.shape, np.int64)
        for column, (position, turn) in enumerate(zip(positions.tolist(), turns.tolist(), strict=True)):
            if turn != CHANCE:
                weights = [*self.weights(game, position).values()]
                result[: len(weights), column] = weights
        return result

    def close(self) -> None:
        """Close what the model asks."""

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Uniform(Model):
    """Makes each legal move with equal weight."""

    name = "random"

    def weights(self, game: Game, position: int) -> Weights:
        return dict.fromkeys(game.generate_moves(position), 1)

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        return (children >= 0).astype(np.int64)


def checked(name: str, game: Game, position: int, said: Any) -> Weights:
    """Return what a function has said of a position as weights of all its moves; raise NoModel where it is none.

    Moves that are not named weigh nothing. Fractions become whole numbers in the same proportions.

    >>> from retrograde.games.catalog import load_game
    >>> checked("mine", load_game("nim:heaps=3"), 3, {3: Fraction(1, 2), 35: Fraction(1, 3)})
    {67: 0, 35: 2, 3: 3}
    """
    where = f"the player {name!r} of {variant(game)}, position {game.write(position)}"
    legal = list(game.generate_moves(position))
    if not isinstance(said, Mapping):
        raise NoModel(f"{where}: it gives {said!r:.60}; it must give a weight for each move, as in {{3: 1, 5: 2}}")
    if unknown := [move for move in said if move not in legal]:
        raise NoModel(f"{where}: it gives a weight to {unknown[0]!r:.60}, which is no legal move")
    if bad := [weight for weight in said.values() if not is_weight(weight)]:
        raise NoModel(f"{where}: {bad[0]!r:.60} is no weight; weights are whole numbers or Fractions from 0 on")
    least = lcm(*(Fraction(weight).denominator for weight in said.values()))
    weights = {move: int(said.get(move, 0) * least) for move in legal}
    if not 0 < sum(weights.values()) < MOST:
        raise NoModel(f"{where}: its weights add up to {sum(weights.values())}; that must be above 0, and below 2**31")
    return weights


def is_weight(weight: Any) -> bool:
    """Tell whether something is a whole number or a Fraction, and not below 0."""
    with suppress(TypeError, ValueError):
        return not isinstance(weight, float) and Fraction(weight) >= 0 and not isinstance(weight, str)
    return False
