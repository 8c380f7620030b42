"""Players that search to a limited depth, by name.

`depth:4` searches 4 plies, `time:0.5` half a second a move. `paranoid:4` does so too, and assumes that all other
players play against it.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from retrograde.games.contract.game import Game
from retrograde.solver.search.depth.scores import DEEPEST, counts_points
from retrograde.solver.search.monte_carlo import by_monte_carlo

if TYPE_CHECKING:
    from retrograde.solver.search.depth.searcher import DepthSearch
    from retrograde.solver.search.endgame_tables import EndgameTables

Answer = TypeVar("Answer")


class DepthLimits(NamedTuple):
    """Limits of a search: plies, or seconds; *paranoid*: all other players count as one side."""

    depth: int | None
    seconds: float | None
    paranoid: bool = False


def read_name(text: str) -> DepthLimits | None:
    """Return the limits that a name stands for; None if it is no such name.

    >>> [limits and limits[:] for limits in map(read_name, ("depth:4", "time:0.5", "paranoid:2", "depth:0", "perfect"))]
    [(4, None, False), (None, 0.5, False), (2, None, True), None, None]
    """
    kind, _, amount = text.partition(":")
    with suppress(ValueError):
        if kind in ("depth", "paranoid") and 1 <= int(amount) <= DEEPEST:
            return DepthLimits(int(amount), None, kind == "paranoid")
        if kind == "time" and 0 < float(amount) < math.inf:
            return DepthLimits(None, float(amount))
    return None


def searcher_named(name: str, game: Game, chance: Random) -> Callable[[int], int] | None:
    """Return a function from a position to a move for a name such as `depth:4` or `mcts:1000`. Return None for other
    names.

    Searches to a depth or for a time probe the databases of smaller games in the home folder.
    """
    kind, _, amount = name.partition(":")
    if kind == "mcts" and amount.isdecimal() and int(amount):
        return by_monte_carlo(game, int(amount), chance)
    if (limits := read_name(name)) is None:
        return None
    from retrograde.solver.search.probing.tables import find_tables  # here because numba takes a while to import

    search = AdaptiveDepthSearch(game, limits.paranoid, find_tables(game))

    def choose(position: int) -> int:
        seed = chance.getrandbits(32)
        return search.ask(lambda depth_search: depth_search.find(position, limits.depth, limits.seconds, seed)).move

    return choose


class AdaptiveDepthSearch:
    """The depth-limited search that fits a game; by points once it meets chance that the rules did not announce."""

    def __init__(self, game: Game, paranoid: bool = False, tables: "EndgameTables | None" = None):
        self.game = game
        self.search = depth_search_for(game, paranoid, tables)

    def ask(self, question: Callable[["DepthSearch"], Answer]) -> Answer:
        """Return *question* of the search, again by points if that meets chance."""
        from retrograde.solver.search.depth.searcher import MetChance  # here because numba takes a while to import

        try:
            return question(self.search)
        except MetChance:
            self.search = point_search_for(self.game)
            return question(self.search)

    def halt(self) -> None:
        """Stop the search, which another thread runs."""
        self.search.halt()

    def resume(self) -> None:
        """Allow searching again after `halt`."""
        self.search.resume()


def depth_search_for(game: Game, paranoid: bool = False, tables: "EndgameTables | None" = None) -> "DepthSearch":
    """Return the search that fits a game: by value, by points, or max^n for several players unless *paranoid*.

    Only the search by value probes endgame *tables*.
    """
    from retrograde.solver.search.depth.searcher import MaxNSearch, ValueSearch

    if game.players > 2 and not paranoid:
        return MaxNSearch(game)
    return point_search_for(game) if counts_points(game) else ValueSearch(game, tables=tables)


def point_search_for(game: Game) -> "DepthSearch":
    """Return the depth-limited search by points."""
    from retrograde.solver.search.depth.searcher import PointSearch

    return PointSearch(game)
