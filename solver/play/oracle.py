"""`Oracle`, the interface of whatever answers for positions: a database, a search, or both.

Players, queries, the page, matches and scorecards ask an `Oracle`. A database knows the value and the remoteness of
every position. A search proves what it can in its time. So an answer may be bounds only, and says how it is known::

    at_least   at_most
    WIN        WIN       a win; in `remoteness` plies, or unknown if that is None
    DRAW       WIN       unknown, but the player to move does not lose
    LOSE       WIN       unknown
    DRAW       TIE       nobody wins; whether play comes to an end is unknown

Where a value is required, as in a `Choice`, an unknown one is UNDECIDED.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from retrograde.databases import Outcome
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.solver.play.choice import Choice

if TYPE_CHECKING:
    from retrograde.solver.search.searcher import SearchResult

LONGEST_LINE = 1000
"""The most plies of a line of best play, unless the caller asks for more."""

DATABASE, BOOK, CERTIFICATE, SEARCH, RULES = "database", "book", "certificate", "search", "rules"
"""The sources of an answer. The rules know the value where the game is over."""

LEAST = {WIN: LOSE, TIE: DRAW, DRAW: DRAW, LOSE: WIN}
"""What a move brings at least, by the most that the position it leads to is worth.

After a TIE or a DRAW nobody wins, but it is open whether play comes to an end; so both give DRAW.
"""
MOST = {LOSE: WIN, DRAW: TIE, TIE: TIE, WIN: LOSE}
"""What a move brings at most, by the least that the position it leads to is worth."""


class How(NamedTuple):
    """How something is known: the source, the positions searched, the seconds, and hits in endgame tables."""

    source: str
    nodes: int = 0
    seconds: float = 0.0
    leaves: int = 0


class Known(NamedTuple):
    """What is known of a position, for the player to move: the worst and the best value still possible.

    `no_end_within`: the plies within which neither side can force a win, if only that is known.
    """

    at_least: Value
    at_most: Value
    remoteness: int | None
    how: How
    no_end_within: int = 0

    @property
    def value(self) -> Value:
        """The value; UNDECIDED if unknown."""
        return self.at_least if self.at_least == self.at_most else UNDECIDED

    @property
    def proved(self) -> bool:
        """Whether the value is known."""
        return self.at_least == self.at_most

    @property
    def is_exact(self) -> bool:
        """Whether the value is known, and the remoteness if there is one."""
        return self.proved and (self.remoteness is not None or self.at_least == DRAW)

    @property
    def outcome(self) -> Outcome:
        """Value and remoteness."""
        return Outcome(self.value, self.remoteness)


def exactly(outcome: Outcome, how: How) -> Known:
    """Return a known outcome as a `Known`.

    >>> exactly(Outcome(WIN, 5), How(DATABASE)).proved
    True
    """
    return Known(outcome.value, outcome.value, outcome.remoteness, how)


def searched(found: "SearchResult") -> Known:
    """Return the result of a search as a `Known`.

    >>> from retrograde.solver.search.searcher import SearchResult
    >>> searched(SearchResult(None, None, DRAW, WIN, 0, 9, 0.5)).proved
    False
    """
    how = How(SEARCH if found.nodes or not found.proved else RULES, found.nodes, found.seconds, found.in_tables)
    return Known(found.at_least, found.at_most, found.remoteness, how, found.no_end_within)


def brought(child: Known, again: bool = False) -> Known:
    """Return what a move brings the player who makes it, from what is known of the position after it.

    *again*: the same player moves there.

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
    """Answers questions about the positions of a game.

    A question may limit the seconds; otherwise the oracle's own limit holds. With 0 seconds it answers what it knows
    already. A database needs no time.
    """

    game: Game
    source: str
    """The source that it asks first."""

    @property
    def variant(self) -> str:
        """The variant whose positions it knows."""

    @property
    def start(self) -> int | None:
        """The first position of the game, if it has one."""

    @property
    def start_or_example(self) -> int:
        """The first position, or some position if there is none."""

    def __contains__(self, position: object) -> bool:
        """Return whether it answers for a position; a database does not for positions that play never reaches."""

    def known(self, position: int, seconds: float | None = None, distance: bool = True) -> Known:
        """Return what is known of a position; without *distance* the value suffices."""

    def value(self, position: int) -> Outcome:
        """Return value and remoteness: UNDECIDED and None if unknown."""

    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return all moves of a position, the best first as far as known; none if the game is over."""

    def best(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return the best moves: all of them if known at once, else the first one found.

        If the time does not suffice to find a best move, return only the one of which most is known.
        """

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position, as far as it is known."""

    def close(self) -> None:
        """Close everything that is open."""
