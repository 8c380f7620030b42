"""The model of a player that moves by depth-limited search (see `search/depth/`).

Positions at the depth limit have the game's `estimate`. Equally good moves have equal weight.
"""

import threading

from retrograde.games.contract.game import Game
from retrograde.solver.metrics.models.model import Model, Weights
from retrograde.solver.search.depth.names import AdaptiveDepthSearch, DepthLimits

SLACK = 1e-9
"""Difference below which means of points count as equal."""


class Deep(Model):
    """Chooses by a search to a fixed depth. Each thread has its own search, since searches keep state."""

    def __init__(self, depth: int):
        self.name = f"depth:{depth}"
        self.limits = DepthLimits(depth, None)
        self.own = threading.local()

    def weights(self, game: Game, position: int) -> Weights:
        if getattr(self.own, "search", None) is None or self.own.search.game is not game:
            self.own.search = AdaptiveDepthSearch(game)
        scores = self.own.search.ask(lambda search: search.scores(position, self.limits.depth))
        best = max(score for _, score in scores)
        slack = SLACK if isinstance(best, float) else 0
        return {move: int(score >= best - slack) for move, score in scores}
