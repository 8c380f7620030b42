"""A `Choice` is a move with its result. Choices sort by what they bring the player who moves.

An unknown result (UNDECIDED) is better than a loss, and worse than all else.
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import NamedTuple

from retrograde.games.contract.game import FLIPPED, UNDECIDED, Value
from retrograde.games.contract.marks import value_html, worth_key


class Choice(NamedTuple):
    """A move, and the position after it with its value for the player to move *there*; UNDECIDED if unknown."""

    move: int
    name: str
    position: int
    value: Value
    remoteness: int | None
    again: bool = False
    """Whether the same player moves again, so that the value is his own."""
    rank: tuple[int, ...] = ()
    """Sorts before the value, if the metric is not remoteness."""
    worth: str = ""
    """The metric's verdict on the move, in short."""
    far: str = ""
    """The distance to the end in words, for metrics with words of their own."""
    gives: Value = UNDECIDED
    """What the move brings the player who makes it, if the value does not say so (games of several players)."""

    @property
    def brings(self) -> Value:
        """What the move brings the player who makes it."""
        if self.gives != UNDECIDED:
            return self.gives
        return self.value if self.again else FLIPPED[self.value]

    def _repr_html_(self) -> str:
        """Return the move and what it brings the player who makes it, for notebooks."""
        plies = None if self.remoteness is None or self.far else self.remoteness + 1
        others = " ".join(filter(None, (self.worth, self.far)))
        return f"{escape(self.name)} {value_html(self.brings, plies)} {escape(others)}".rstrip()


def preference(choice: Choice) -> tuple[int, ...]:
    """Return the sorting key of `ranked`; equally good moves have equal keys.

    >>> from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
    >>> [preference(Choice(0, "", 0, *child)) for child in [(LOSE, 2), (TIE, 5), (DRAW, None), (WIN, 9), (WIN, 3)]]
    [(0, 2), (1, 5), (2, 0), (4, -9), (4, -3)]
    """
    return *choice.rank, *worth_key(choice.brings, choice.remoteness)


def ranked(choices: Iterable[Choice]) -> list[Choice]:
    """Return choices, the best first; equally good ones keep the order of the rules. All code that ranks moves calls
    this."""
    return sorted(choices, key=preference)


def equally_good(choices: list[Choice]) -> list[Choice]:
    """Return the first of ranked choices, and all that are as good."""
    return [choice for choice in choices if preference(choice) == preference(choices[0])]


def follow_best(moves: Callable[[int], list[Choice]], position: int, limit: int) -> list[Choice]:
    """Return a line of best moves, always the first that *moves* gives, to *limit* plies or a position met before."""
    line: list[Choice] = []
    met = {position}
    while len(line) < limit and (choices := moves(position)):
        line.append(choices[0])
        position = choices[0].position
        if position in met:
            break
        met.add(position)
    return line
