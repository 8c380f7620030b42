"""A choice is a move and what it leads to; choices sort by what they are worth to who has to choose.

What is not known (UNDECIDED) is better than to lose, and worse than all else.
"""

from typing import NamedTuple

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Value


class Choice(NamedTuple):
    """A move and where it leads: the position reached, and what that is worth to the player to move *there*.

    UNDECIDED stands for a value that is not known.
    """

    move: int
    name: str
    position: int
    value: Value
    remoteness: int | None


def preference(choice: Choice) -> tuple[int, int]:
    """Return a key by which choices sort, the best first.

    >>> [preference(Choice(0, "", 0, *child)) for child in [(LOSE, 2), (TIE, 5), (DRAW, None), (WIN, 9), (WIN, 3)]]
    [(0, 2), (1, 5), (2, 0), (4, -9), (4, -3)]
    """
    plies = choice.remoteness or 0
    return (LOSE, TIE, DRAW, UNDECIDED, WIN).index(choice.value), -plies if choice.value == WIN else plies
