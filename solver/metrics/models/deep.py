"""Who looks so many plies ahead: of all moves one that is best by a search to a depth (see `search/depth/`).

What lies beyond is judged by the game's `estimate`. Among moves that are as good each has equal weight.
"""

import threading

from retrograde.games.contract.game import Game
from retrograde.solver.metrics.models.model import Model, Weights
from retrograde.solver.search.depth.names import Limits, Looking

SLACK = 1e-9
"""By how much means of points may differ that are as good."""


class Deep(Model):
    """Searches to a depth; each thread by a search of its own, for these remember what they have looked at."""

    def __init__(self, depth: int):
        self.name = f"depth:{depth}"
        self.limits = Limits(depth, None)
        self.own = threading.local()

    def weights(self, game: Game, position: int) -> Weights:
        if getattr(self.own, "looking", None) is None or self.own.looking.game is not game:
            self.own.looking = Looking(game)
        scores = self.own.looking.ask(lambda ahead: ahead.scores(position, self.limits.depth))
        best = max(score for _, score in scores)
        slack = SLACK if isinstance(best, float) else 0
        return {move: int(score >= best - slack) for move, score in scores}
