"""`Oracle`, the interface of every source of answers about positions: a database, a search, or both.

Players, queries, the page, matches and scorecards ask an `Oracle`. A database knows the value and the remoteness of
every position. A search proves what it can in its time. So an answer may be bounds only, and says how it is known::

    at_least   at_most
    WIN        WIN       a win; in `remoteness` plies, or unknown if that is None
    DRAW       WIN       unknown, but the player to move does not lose
    LOSE       WIN       unknown
    DRAW       TIE       nobody wins; whether play comes to an end is unknown

Where a value is required, as in a `Choice`, an unknown one is UNDECIDED.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from retrograde.databases import Outcome
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.games.contract.raised import given_start

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


class Evidence(NamedTuple):
    """How something is known: the source, the positions searched, the seconds, and hits in endgame tables."""

    source: str
    nodes: int = 0
    seconds: float = 0.0
    in_tables: int = 0


def total_evidence(source: str, parts: Sequence[Evidence]) -> Evidence:
    """Return the work of several answers together, as that of a source."""
    return Evidence(source, *map(sum, zip(*(part[1:] for part in parts), strict=True)))  # all fields but the sources


class ValueBounds(NamedTuple):
    """The worst and the best value that a position may still have, for the player to move.

    Neither side can force a win within `no_end_within` plies, if only that is known.
    """

    at_least: Value
    at_most: Value
    remoteness: int | None
    evidence: Evidence
    no_end_within: int = 0

    @property
    def value(self) -> Value:
        """The value; UNDECIDED if unknown."""
        return self.at_least if self.at_least == self.at_most else UNDECIDED

    @property
    def proved(self) -> bool:
        return self.at_least == self.at_most

    @property
    def is_exact(self) -> bool:
        """Whether the value is known, and the remoteness if there is one."""
        return self.proved and (self.remoteness is not None or self.at_least == DRAW)

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.value, self.remoteness)


def exact_bounds(outcome: Outcome, evidence: Evidence) -> ValueBounds:
    """Return a known outcome as a `ValueBounds`.

    >>> exact_bounds(Outcome(WIN, 5), Evidence(DATABASE)).proved
    True
    """
    return ValueBounds(outcome.value, outcome.value, outcome.remoteness, evidence)


def bounds_of_finding(found: "SearchResult") -> ValueBounds:
    """Return the result of a search as a `ValueBounds`.

    >>> from retrograde.solver.search.searcher import SearchResult
    >>> bounds_of_finding(SearchResult(None, None, DRAW, WIN, 0, 9, 0.5)).proved
    False
    """
    # A value proved without searching a position is that of an end, which the rules know.
    source = RULES if found.proved and not found.nodes else SEARCH
    evidence = Evidence(source, found.nodes, found.seconds, found.in_tables)
    return ValueBounds(found.at_least, found.at_most, found.remoteness, evidence, found.no_end_within)


def bounds_for_mover(child: ValueBounds, again: bool = False) -> ValueBounds:
    """Return what a move brings the player who makes it, by the bounds after it. With *again*, the same player moves
    there.

    >>> unproved, proved = (LOSE, TIE, None, Evidence(SEARCH)), (LOSE, LOSE, 2, Evidence(DATABASE))
    >>> bounds_for_mover(ValueBounds(*unproved))[:2], bounds_for_mover(ValueBounds(*proved))[:3]
    ((<Value.DRAW: 2>, <Value.WIN: 4>), (<Value.WIN: 4>, <Value.WIN: 4>, 3))
    """
    plies = None if child.remoteness is None else child.remoteness + 1
    if again:
        return child._replace(remoteness=plies)
    if child.proved:
        value = FLIPPED[child.value]
        return ValueBounds(value, value, plies, child.evidence)
    return ValueBounds(LEAST[child.at_most], MOST[child.at_least], None, child.evidence, child.no_end_within)


class Oracle(ABC):
    """Answers questions about the positions of a game; a context manager.

    A question may limit the *seconds* of search: None for the oracle's own limit, 0 for what is known already.
    """

    game: Game
    source: str
    """The source that it asks first."""
    seconds: float
    """The oracle's own limit for a question; 0 for a database."""

    @property
    @abstractmethod
    def variant(self) -> str:
        """The variant whose positions it knows."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """The metric of the database, one of METRICS; remoteness if positions are searched."""

    @property
    def start(self) -> int | None:
        """The first position of the game, if it has one."""
        start: int | None = given_start(self.game)
        return start

    @property
    @abstractmethod
    def start_or_example(self) -> int:
        """The first position, or some position if there is none."""

    @abstractmethod
    def __contains__(self, position: object) -> bool:
        """Return whether it answers for a position; a database does not for positions that play never reaches."""

    @abstractmethod
    def probe(self, position: int, seconds: float | None = None, distance: bool = True) -> ValueBounds:
        """Return what is known of a position; without *distance* the value suffices."""

    def value(self, position: int) -> Outcome:
        """Return value and remoteness: UNDECIDED and None if unknown."""
        return self.probe(position).outcome

    def worth(self, position: int) -> dict[str, Any]:
        """Return what the metric adds to value and remoteness, ready for JSON: `{"score": 3}`."""
        return {}

    def estimate(self, position: int) -> int | None:
        """Return the estimate of a position in a book of estimates, which proves nothing; None if there is none."""
        return None

    @abstractmethod
    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return all moves of a position, the best known ones first; none if the game is over."""

    @abstractmethod
    def best(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return the best moves if known at once, else the first one found, or the one about which most is known."""

    @abstractmethod
    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position, as far as it is known."""

    @abstractmethod
    def close(self) -> None:
        """Close everything that is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
