"""Depth-limited search by points: for games with payoffs, chance or more than two players (see `point_kernels.py`).

Points are what the player to move is paid, less what the other of two gets. Estimates are hundredths of points.
"""

from retrograde.games.contract.game import Game, Traits, mover
from retrograde.solver.search.depth import kernels, point_kernels
from retrograde.solver.search.depth.ahead import ENTRIES, MORE, Ahead
from retrograde.solver.search.depth.scores import DEEPEST
from retrograde.solver.search.depth.textbook_points import INFINITE

LEAST_ENTRIES = 1
"""Table entries of a search that uses no table."""


class PointsAhead(Ahead):
    """Expectiminimax with alpha-beta, Star1 and a table, for one player or two.

    With more players it is *paranoid*: all others play against the player who searches.
    """

    LOWEST = -INFINITE
    entries = ENTRIES

    def __init__(self, game: Game, most: float | None = None):
        """Prepare a search; *most* bounds the points of any position.

        By default it is 1 if the game defines no `payoff`, `reward` or `estimate`, else infinite.
        """
        traits = Traits.of(game)
        super().__init__(game)
        if most is None:
            most = INFINITE if traits.has_payoffs or traits.has_rewards else 1.0
        if traits.has_estimate:  # an estimate may exceed 1
            most = INFINITE
        nobody = point_kernels.NOBODY
        self.view = point_kernels.View(kernels.OWN, self.more(), most, game.players, traits.alternates, nobody)

    def make_room(self) -> None:
        self.room = point_kernels.make_room(DEEPEST + MORE + 2, self.widest, self.entries, self.game.players, self.stop)

    @property
    def counts(self) -> kernels.Array:
        return self.room.counts

    def begin(self, position: int) -> None:
        me = max(0, mover(self.game, position)) if self.game.players > 2 else point_kernels.NOBODY
        if me != self.view.me:
            self.view = self.view._replace(me=me)
            self.room.keys[:] = 0  # the table's scores are for another player

    def look(self, position: int, move: int, child: int, depth: int, low: float) -> float:
        game, view, room = self.game, self.view, self.room
        gain = point_kernels.gained(game, position, move, view)
        sides = [point_kernels.side(game, place, view) for place in (position, child)]
        if sides[0] == sides[1] and not view.alternating:
            return float(gain + point_kernels.expect(game, child, depth - 1, low - gain, INFINITE, 0, view, room))
        return float(gain - point_kernels.expect(game, child, depth - 1, -INFINITE, gain - low, 0, view, room))


class SharesAhead(PointsAhead):
    """Max^n: each of several players maximises their own share."""

    entries = LEAST_ENTRIES

    def look(self, position: int, move: int, child: int, depth: int, low: float) -> float:
        point_kernels.share(self.game, child, depth - 1, 0, self.view, self.room)
        who = max(0, mover(self.game, position))
        return float(self.room.shares[0, 0, who]) + self.game.reward(position, move, who)
