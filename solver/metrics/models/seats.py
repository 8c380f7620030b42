"""Two players of whom one moves by a model: the game as the other one, the *responder*, sees it.

To him the modelled player's moves are chance, with the model's weights for odds, and so he plays alone. Each position
has two places beside one another, for either of the two may be the responder::

    place 2 i + b     of position i, where two players alternate: b = 0, the responder is to move; b = 1, the other one
                      where the rules say who is to move: the responder is player b

What is paid is what the responder gets, less what the other one does. A move from place 2 i + b leads to 2 j + b, or to
2 j + 1 - b where the players alternate. Moves of weight 0 are none.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.games.contract.game import CHANCE, Game
from retrograde.solver.methods.listed.weights import Weights
from retrograde.solver.metrics.models.model import MOST, Model, NoModel
from retrograde.solver.rules.expansion import Block

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Seats:
    """Who plays: a model, against a responder who plays as well as can be, or by a model as well."""

    against: Model
    playing: Model | None = None

    @property
    def details(self) -> dict[str, Any]:
        """What the file of a best response says of the model."""
        model = self.against
        return {"against": model.name, "model": model.digest, "symmetry": model.symmetric}

    def weigh(self, game: Game, positions: Array, weights: Weights, block: Block) -> tuple[Array, Array]:
        """Return with what weights both would move in the positions of a block in which the game goes on, first the
        modelled player: int64[rows, columns] each, and [0, 0] for a responder who plays as well as can be."""
        columns = block.columns
        task = game, positions[block.origins[:columns]], weights.turns, block.children[:, :columns]
        theirs = weighed(self.against, *task)
        own = weighed(self.playing, *task) if self.playing else np.zeros((0, 0), np.int64)
        return theirs, own


def weighed(model: Model, game: Game, positions: Array, turns: Array, children: Array) -> Array:
    """Return the weights of a model, which add up to what there is room for; raise NoModel where they do not."""
    weights = model.weigh(game, positions, turns, children)
    wrong = (turns != CHANCE) & ((weights.sum(0) <= 0) | (weights.sum(0) >= MOST) | (weights < 0).any(0))
    if wrong.any():
        position = int(positions[wrong.argmax()])
        what = "gives no weights that add up to more than 0 and less than 2**31"
        raise NoModel(f"the player {model.name!r} {what}: at position {position}")
    return weights
