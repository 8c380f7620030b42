"""Depth-limited search by value: who wins, how soon, and otherwise the game's `estimate`.

For one player or two, who may move several times in a row, without chance (see `kernels.py`).
"""

from retrograde.games.contract.game import UNDECIDED, Game, same_mover
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth import kernels
from retrograde.solver.search.depth.ahead import ENTRIES, MORE, Ahead
from retrograde.solver.search.depth.scores import DECIDED, DEEPEST, FAR, INFINITE, score_of


class Lookahead(Ahead):
    """A depth-limited search with an estimate: the game's own, unless *estimate* names another kind."""

    LOWEST = -INFINITE

    def __init__(self, game: Game, estimate: int = kernels.OWN):
        if game.players > 2:
            raise NotForSearch("values are for one player or two; look ahead by points")
        super().__init__(game)
        self.sight = kernels.Sight(estimate, self.more(estimate))

    def make_room(self) -> None:
        self.room = kernels.make_room(DEEPEST + MORE + 2, self.widest, ENTRIES, self.stop)

    @property
    def counts(self) -> kernels.Array:
        return self.room.counts

    def look(self, position: int, move: int, child: int, depth: int, low: float) -> int:
        least, most = kernels.farther(int(low)), kernels.farther(INFINITE)
        if same_mover(self.game, position, child):
            score = kernels.look(self.game, child, depth - 1, least, most, 0, self.sight, self.room)
        else:
            score = -kernels.look(self.game, child, depth - 1, -most, -least, 0, self.sight, self.room)
        return int(kernels.nearer(score))

    @staticmethod
    def is_decided(score: float) -> bool:
        return abs(score) > DECIDED

    @staticmethod
    def is_best(score: float) -> bool:
        return score == FAR - 1

    def score(self, position: int, depth: int) -> float:
        """Return the score of a position at a depth."""
        if (end := self.game.primitive(position)) != UNDECIDED:
            return score_of(end)
        return max(score for _, score in self.scores(position, depth))

    def count(self, position: int, depth: int, order: int, sight: kernels.Sight) -> int:
        """Return the number of positions that alpha-beta without a table searches, with moves in *order*."""
        while True:
            self.room.counts[:] = 0
            kernels.alpha_beta(self.game, position, depth, -INFINITE, INFINITE, 0, order, sight, self.room)
            if not self.room.counts[kernels.TROUBLE]:
                return int(self.room.counts[kernels.NODES])
            self.widen()
