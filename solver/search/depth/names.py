"""Players that search to a limited depth, by name.

`depth:4` searches 4 plies, `time:0.5` half a second a move. `paranoid:4` does so too, and assumes that all other
players play against it. Options follow after commas: `depth:6,best=4` searches only the best 4 moves of each position,
and `depth:6,singular=50` searches a move deeper that is better than all others by 50 units of the estimate.
`depth:6,book` plays the best moves of the game's book of estimates, and searches where the book ends.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from retrograde.games.contract.game import ESTIMATE_LIMIT, Game
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth.estimated_book import require_estimates
from retrograde.solver.search.depth.scores import DEEPEST, NO_SELECTION, Selection, counts_points
from retrograde.solver.search.monte_carlo import by_monte_carlo

if TYPE_CHECKING:
    from retrograde.solver.search.depth.searcher import DepthSearch
    from retrograde.solver.search.endgame_tables import EndgameTables

Answer = TypeVar("Answer")

MOST_SECONDS = 1e8
"""The greatest time limit, three years: all clocks of the operating system can count that."""


class DepthLimits(NamedTuple):
    """Limits of a search: plies, or seconds; *paranoid*: all other players count as one side; the moves it selects.

    *book*: the player uses the book of estimates first.
    """

    depth: int | None
    seconds: float | None
    paranoid: bool = False
    selection: Selection = NO_SELECTION
    book: bool = False


OPTIONS = {"best": "keep", "singular": "margin"}
"""The options in names of players, and what they set in `Selection`."""
FROM_BOOK = "book"
"""The option of players that use the book of estimates."""


def read_name(text: str) -> DepthLimits | None:
    """Return the limits that a name stands for; None if it is no such name.

    >>> [limits and limits[:3] for limits in map(read_name, ("depth:4", "time:0.5", "paranoid:2", "depth:0", "first"))]
    [(4, None, False), (None, 0.5, False), (2, None, True), None, None]
    >>> read_name("depth:4,best=3,singular=50").selection
    Selection(keep=3, margin=50)
    >>> read_name("time:0.5,book").book
    True
    """
    name, *options = text.split(",")
    kind, _, amount = name.partition(":")
    book = options.count(FROM_BOOK) == 1
    if book:
        options.remove(FROM_BOOK)
    with suppress(ValueError, KeyError):
        selection = read_selection(options)
        if kind in ("depth", "paranoid") and 1 <= int(amount) <= DEEPEST:
            return DepthLimits(int(amount), None, kind == "paranoid", selection, book)
        if kind == "time" and 0 < float(amount) <= MOST_SECONDS:
            return DepthLimits(None, float(amount), False, selection, book)
    return None


def read_selection(options: list[str]) -> Selection:
    """Return what options such as `best=3` select; raise ValueError or KeyError if one is unknown, twice or not
    above 0.

    >>> read_selection(["best=3", "singular=50"])
    Selection(keep=3, margin=50)
    """
    numbers = {OPTIONS[name]: int(number) for name, _, number in (option.partition("=") for option in options)}
    if len(numbers) < len(options) or not all(0 < number <= ESTIMATE_LIMIT for number in numbers.values()):
        raise ValueError(options)
    return Selection(**numbers)


def searcher_named(name: str, game: Game, chance: Random) -> Callable[[int], int] | None:
    """Return a function from a position to a move for a name such as `depth:4` or `mcts:1000`. Return None for other
    names.

    Searches to a depth or for a time probe the databases of smaller games in the home folder. Raise NoEstimates if the
    game lacks the book of estimates that the name wants.
    """
    kind, _, amount = name.partition(":")
    if kind == "mcts" and amount.isdecimal() and int(amount):
        return by_monte_carlo(game, int(amount), chance)
    if (limits := read_name(name)) is None:
        return None
    from retrograde.solver.search.probing.tables import find_tables  # here because numba takes a while to import

    search = AdaptiveDepthSearch(game, limits.paranoid, find_tables(game), limits.selection)
    book = require_estimates(game) if limits.book else None

    def choose(position: int) -> int:
        if book and (best := book.best_moves(position)):
            return chance.choice(best)
        seed = chance.getrandbits(32)
        return search.ask(lambda depth_search: depth_search.find(position, limits.depth, limits.seconds, seed)).move

    return choose


class AdaptiveDepthSearch:
    """The depth-limited search that fits a game; by points once it meets chance that the rules did not announce. If
    *paranoid*, all other players count as one side."""

    def __init__(
        self, game: Game, paranoid: bool = False, tables: "EndgameTables | None" = None,
        selection: Selection = NO_SELECTION,
    ):  # fmt: skip
        self.game, self.selection = game, selection
        self.search = depth_search_for(game, paranoid, tables, selection)

    def ask(self, question: Callable[["DepthSearch"], Answer]) -> Answer:
        """Return the answer to *question*, a function of the search; if that meets chance, ask a search by points."""
        from retrograde.solver.search.depth.searcher import MetChance  # here because numba takes a while to import

        try:
            return question(self.search)
        except MetChance:
            self.search = point_search_for(self.game, self.selection)
            return question(self.search)

    def halt(self) -> None:
        """Stop the search, which another thread runs."""
        self.search.halt()

    def resume(self) -> None:
        """Allow searching again after `halt`."""
        self.search.resume()


def depth_search_for(
    game: Game, paranoid: bool = False, tables: "EndgameTables | None" = None, selection: Selection = NO_SELECTION
) -> "DepthSearch":
    """Return the search that fits a game: by value, by points, or max^n for several players unless *paranoid*. Only the
    search by value probes endgame *tables*. Raises NotForSearch if max^n should select moves."""
    from retrograde.solver.search.depth.searcher import MaxNSearch, ValueSearch

    if game.players > 2 and not paranoid:
        if any(selection):
            raise NotForSearch("with more than two players, only `paranoid` searches take `best` and `singular`")
        return MaxNSearch(game)
    if counts_points(game):
        return point_search_for(game, selection)
    return ValueSearch(game, tables=tables, selection=selection)


def point_search_for(game: Game, selection: Selection = NO_SELECTION) -> "DepthSearch":
    """Return the depth-limited search by points."""
    from retrograde.solver.search.depth.searcher import PointSearch

    return PointSearch(game, selection=selection)
