"""Players that look ahead, by their names: `depth:4` looks at four plies, `time:0.5` for half a second a move, and so
does `paranoid:4`, to whom all other players are against him."""

import math
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from retrograde.games.contract.game import Game, defines, metric_of
from retrograde.solver.search.depth.scores import DEEPEST

if TYPE_CHECKING:
    from retrograde.solver.search.depth.ahead import Ahead

Answer = TypeVar("Answer")


class Limits(NamedTuple):
    """How far a player looks ahead: so many plies, or seconds; and whether he takes all others for one side."""

    depth: int | None
    seconds: float | None
    paranoid: bool = False


def read_name(text: str) -> Limits | None:
    """Return how far a name says to look; None where it says nothing of it.

    >>> [limits and limits[:] for limits in map(read_name, ("depth:4", "time:0.5", "paranoid:2", "depth:0", "perfect"))]
    [(4, None, False), (None, 0.5, False), (2, None, True), None, None]
    """
    kind, _, amount = text.partition(":")
    with suppress(ValueError):
        if kind in ("depth", "paranoid") and 1 <= int(amount) <= DEEPEST:
            return Limits(int(amount), None, kind == "paranoid")
        if kind == "time" and 0 < float(amount) < math.inf:
            return Limits(None, float(amount))
    return None


def searcher_named(name: str, game: Game, chance: Random) -> Callable[[int], int] | None:
    """Return what chooses a move by looking ahead, if that is what a name stands for."""
    if (limits := read_name(name)) is None:
        return None
    looking = Looking(game, limits.paranoid)

    def choose(position: int) -> int:
        seed = chance.getrandbits(32)
        return looking.ask(lambda ahead: ahead.find(position, limits.depth, limits.seconds, seed)).move

    return choose


class Looking:
    """The look ahead that fits a game; by points from when chance is met of which the rules had not told."""

    def __init__(self, game: Game, paranoid: bool = False):
        self.game = game
        self.ahead = ahead_of(game, paranoid)

    def ask(self, question: Callable[["Ahead"], Answer]) -> Answer:
        """Return the answer to a question about positions."""
        from retrograde.solver.search.depth.ahead import MetChance  # here because numba takes a while to import

        try:
            return question(self.ahead)
        except MetChance:
            self.ahead = by_points(self.game)
            return question(self.ahead)


def ahead_of(game: Game, paranoid: bool = False) -> "Ahead":
    """Return the look ahead that fits a game: by value where that is all, by points where these count, or there is
    chance; max^n where there are more than two players, unless *paranoid*."""
    from retrograde.solver.search.depth.lookahead import Lookahead
    from retrograde.solver.search.depth.points import SharesAhead

    if game.players > 2 and not paranoid:
        return SharesAhead(game)
    pays = defines(game, "odds") or defines(game, "reward") or metric_of(game) in ("score", "expectation")
    return by_points(game) if game.players > 2 or pays else Lookahead(game)


def by_points(game: Game) -> "Ahead":
    """Return the look ahead by points."""
    from retrograde.solver.search.depth.points import PointsAhead

    return PointsAhead(game)
