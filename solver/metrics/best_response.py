"""The game against a model, as the other player, the *responder*, sees it.

For the responder, the model's moves are chance, with the model's weights as odds. So the responder plays alone. Each
position has two nodes next to each other, because either player may be the responder::

    node 2 i + b     of position i, if two players alternate: b = 0: the responder is to move; b = 1: the other one
                     if the rules say who is to move: the responder is player b

Payments are what the responder gets, less what the other player gets. A move leads from node 2 i + b to 2 j + b, or to
2 j + 1 - b if the players alternate. Moves of weight 0 do not exist.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.games.contract.game import CHANCE, Game
from retrograde.solver.methods.listed.table import ListedTable
from retrograde.solver.metrics.explored_game import ExploredBlock, by_child
from retrograde.solver.metrics.models.model import MOST, Model, NoModel
from retrograde.solver.rules.expansion import ExpansionBlock
from retrograde.solver.rules.positions import position_in
from retrograde.solver.runtime.array_type import Array


@dataclass(frozen=True)
class ModelAndResponder:
    """The two players: the model *against*, and a responder that plays best, or by the model *playing*."""

    against: Model
    playing: Model | None = None

    @property
    def details(self) -> dict[str, Any]:
        """What the file of a best response records about the model."""
        model = self.against
        return {"against": model.name, "model": model.digest, "symmetry": model.symmetric}

    def weigh(self, table: ListedTable, begin: int, block: ExploredBlock, expanded: ExpansionBlock) -> list[Array]:
        """Return the weights of a block's moves, child by child: by the model, and by *playing* (empty if None)."""
        origins = expanded.origins[: expanded.columns]
        positions = table.space.positions[begin + origins].astype(np.int64)
        task = table.game, positions, block.movers[origins], expanded.children[:, : expanded.columns]
        players = self.against, self.playing
        return [by_child(valid_weights(one, *task), expanded) if one else np.zeros(0, np.int64) for one in players]


def valid_weights(model: Model, game: Game, positions: Array, turns: Array, children: Array) -> Array:
    """Return a model's weights; raise NoModel unless each position's sum is above 0 and below `MOST`.

    *turns* and *children* are as in `Model.weigh`.
    """
    weights = model.weigh(game, positions, turns, children)
    sums = weights.sum(0)
    wrong = (turns != CHANCE) & ((sums <= 0) | (sums >= MOST) | (weights < 0).any(0))
    if wrong.any():
        position = position_in(game, positions, wrong.argmax())
        what = "gives no weights that add up to more than 0 and less than 2**31"
        raise NoModel(f"the player {model.name!r} {what}: at position {position}")
    return weights
