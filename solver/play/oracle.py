"""An oracle answers for positions, whoever that is: a database, a search, or what is at hand first and a search beyond.

What is asked of a solution (players, queries, the page, matches, scorecards) is asked of an `Oracle`. A database knows
value and remoteness of every position; a search proves what it can in the time that it has. So what is known may be
bounds only, and each answer says how it is known::

    at_least   at_most
    WIN        WIN       a win; in `remoteness` plies, unless that is None, for not known
    DRAW       WIN       not known: the player to move does not lose
    LOSE       WIN       not known at all
    DRAW       TIE       nobody wins; whether play comes to an end is not known

A value that is not known is UNDECIDED where one must be told, as in a `Choice`.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from retrograde.databases import Outcome
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.solver.play.choice import Choice

if TYPE_CHECKING:
    from retrograde.solver.search.searcher import Finding

LONGEST_LINE = 1000
"""Plies of a line of best play that are shown unless more are asked for."""

DATABASE, BOOK, CERTIFICATE, SEARCH, RULES = "database", "book", "certificate", "search", "rules"
"""By what a position is known; the rules know the value of one in which the game is over."""

LEAST = {WIN: LOSE, TIE: DRAW, DRAW: DRAW, LOSE: WIN}
"""What a move brings at least, by what the position that it leads to is worth at most: nobody wins there, but whether
play comes to an end is another question."""
MOST = {LOSE: WIN, DRAW: TIE, TIE: TIE, WIN: LOSE}
"""What a move brings at most, by what the position that it leads to is worth at least."""


class How(NamedTuple):
    """How something is known: by what, after how many positions looked at, and how many seconds; and how many positions
    were found in tables on the way."""

    source: str
    nodes: int = 0
    seconds: float = 0.0
    leaves: int = 0


class Known(NamedTuple):
    """What is known of a position, for the player to move: the worst and the best value that are not ruled out.

    `no_end_within` says within how many plies neither side can force a win, where only that is known.
    """

    at_least: Value
    at_most: Value
    remoteness: int | None
    how: How
    no_end_within: int = 0

    @property
    def value(self) -> Value:
        """The value; UNDECIDED where it is not known."""
        return self.at_least if self.at_least == self.at_most else UNDECIDED

    @property
    def proved(self) -> bool:
        """Whether the value is known."""
        return self.at_least == self.at_most

    @property
    def is_exact(self) -> bool:
        """Whether the remoteness is known as well, if there is one."""
        return self.proved and (self.remoteness is not None or self.at_least == DRAW)

    @property
    def outcome(self) -> Outcome:
        """Value and remoteness."""
        return Outcome(self.value, self.remoteness)


def exactly(outcome: Outcome, how: How) -> Known:
    """Return what is known of a position whose outcome is.

    >>> exactly(Outcome(WIN, 5), How(DATABASE)).proved
    True
    """
    return Known(outcome.value, outcome.value, outcome.remoteness, how)


def searched(found: "Finding") -> Known:
    """Return what a search has found of a position as what is known of it.

    >>> from retrograde.solver.search.searcher import Finding
    >>> searched(Finding(None, None, DRAW, WIN, 0, 9, 0.5)).proved
    False
    """
    how = How(SEARCH if found.nodes or not found.proved else RULES, found.nodes, found.seconds, found.leaves)
    return Known(found.at_least, found.at_most, found.remoteness, how, found.no_end_within)


def brought(child: Known, again: bool = False) -> Known:
    """Return what a move brings who makes it, from what is known of the position that it leads to, where perhaps the
    same player is to move *again*.

    >>> brought(Known(LOSE, TIE, None, How(SEARCH)))[:2], brought(Known(LOSE, LOSE, 2, How(DATABASE)))[:3]
    ((<Value.DRAW: 2>, <Value.WIN: 4>), (<Value.WIN: 4>, <Value.WIN: 4>, 3))
    """
    far = None if child.remoteness is None else child.remoteness + 1
    if again:
        return child._replace(remoteness=far)
    if child.proved:
        value = FLIPPED[child.value]
        return Known(value, value, far, child.how)
    return Known(LEAST[child.at_most], MOST[child.at_least], None, child.how, child.no_end_within)


class Oracle(Protocol):
    """Whoever answers for the positions of a game.

    An answer takes so many seconds at most as the question allows, or else as the oracle was told to think; for 0, what
    is known already is told. A database needs no time.
    """

    game: Game
    source: str
    """What it asks first."""

    @property
    def variant(self) -> str:
        """The variant whose positions it knows."""

    @property
    def start(self) -> int | None:
        """The first position of the game, if it has one."""

    @property
    def start_or_example(self) -> int:
        """The first position, or where there is none, some position."""

    def __contains__(self, position: object) -> bool:
        """Tell whether it answers for a position: not where a database says that play never reaches it."""

    def known(self, position: int, seconds: float | None = None, distance: bool = True) -> Known:
        """Return what is known of a position; without *distance* its value will do."""

    def value(self, position: int) -> Outcome:
        """Return value and remoteness: UNDECIDED where the value is not known, None where the remoteness is not."""

    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return all moves of a position, the best first, as far as that is known; none where the game is over."""

    def best(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return moves than which none is better: all of them where that is known at once, else the one found first.

        Where nobody knows which are best in the time there is, the one of which the most is known, alone.
        """

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position, as far as it is known."""

    def close(self) -> None:
        """Close whatever is open."""
