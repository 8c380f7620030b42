"""A choice is a move and what it leads to; choices sort by what they are worth to who has to choose.

What is not known (UNDECIDED) is better than to lose, and worse than all else.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Value

BEST_FIRST = (WIN, TIE, DRAW, UNDECIDED, LOSE)
"""What a move may bring who makes it."""


class Choice(NamedTuple):
    """A move and where it leads: the position reached, and what that is worth to the player to move *there*.

    UNDECIDED stands for a value that is not known.
    """

    move: int
    name: str
    position: int
    value: Value
    remoteness: int | None
    again: bool = False
    """Whether who makes the move is to move there, too, so that the value is his own."""
    rank: tuple[int, ...] = ()
    """By what moves sort first, where another metric than remoteness says it."""
    worth: str = ""
    """What that metric says of the move, in short."""
    far: str = ""
    """How far the end is for who makes the move, where the game's own words are for another metric."""
    gives: Value = UNDECIDED
    """What the move brings who makes it, where that does not follow from the value: of several players."""

    @property
    def brings(self) -> Value:
        """What the move brings who makes it."""
        if self.gives != UNDECIDED:
            return self.gives
        return self.value if self.again else FLIPPED[self.value]


def worth_key(brings: Value, plies: int | None) -> tuple[int, int]:
    """Return a key by which what moves bring sorts, the best first: a win or a tie soon, a loss late."""
    far = plies or 0
    return BEST_FIRST.index(brings), -far if brings == LOSE else far


def preference(choice: Choice) -> tuple[int, ...]:
    """Return the key by which `ranked` sorts; equal for moves that are equally good.

    >>> [preference(Choice(0, "", 0, *child)) for child in [(LOSE, 2), (TIE, 5), (DRAW, None), (WIN, 9), (WIN, 3)]]
    [(0, 2), (1, 5), (2, 0), (4, -9), (4, -3)]
    """
    return *choice.rank, *worth_key(choice.brings, choice.remoteness)


def ranked(choices: Iterable[Choice]) -> list[Choice]:
    """Return moves, the best first. Equal ones keep the order in which the rules generate them.

    Whoever ranks moves calls this function, so that all answers about a position name the same move first.
    """
    return sorted(choices, key=preference)


def equally_good(choices: list[Choice]) -> list[Choice]:
    """Return the first of ranked moves and those that are as good."""
    return [choice for choice in choices if preference(choice) == preference(choices[0])]


def followed(moves: Callable[[int], list[Choice]], position: int, limit: int) -> list[Choice]:
    """Return the first of the best moves, ply by ply, as *moves* gives them: to where it gives none, or to a position
    met before, so many plies at most."""
    line: list[Choice] = []
    met = {position}
    while len(line) < limit and (choices := moves(position)):
        line.append(choices[0])
        position = choices[0].position
        if position in met:
            break
        met.add(position)
    return line
