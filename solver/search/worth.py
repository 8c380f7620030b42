"""Worth: value and remoteness in one number for search, the greater the better for the player to move.

    WIN in n plies     far - n        above 0: a win, the sooner the better
    TIE or DRAW        0
    LOSE in n plies    n - far        below 0: a loss, the later the better

`far` is more than any number of plies that is told apart. A question to a search is "is it worth so much at least?":

    far - n       does the player to move win within n plies?
    1             does the player to move win?
    0             does the player to move not lose?
    n + 1 - far   does the player to move not lose within n plies?

What a position must be worth at least follows for its children from what it must be worth itself (see `for_child` of
`kernels.py`); questions 1 and 0 turn into one another, and are the same at every ply.
"""

from typing import TYPE_CHECKING, Any, Protocol

from numba import types
from numba.extending import overload

from retrograde.games.contract.game import LOSE, WIN, Game, Value

ANY_WIN, NO_LOSS = 1, 0
"""The questions that ask for no distance."""


if TYPE_CHECKING:
    from retrograde.databases import Outcome

BASE = 1 << 14
"""What stands for `far` in tables."""
DRAWN, UNTOLD = (1 << 15) - 1, -(1 << 15)
"""What tables say of a DRAW, and of what they do not know."""


class Leaves(Protocol):
    """Tables that a search asks as if they were ends (see `search/probing/`)."""

    @property
    def words(self) -> Any:
        """What kernels ask: the argument of `told`."""

    def get(self, position: int) -> "Outcome | None":
        """Return what a position is worth, if there is a table that has it."""


def told(game: Game, position: int, far: int, words: Any) -> int:
    """Return what tables say that an undecided position is worth, or DRAWN, or UNTOLD; without tables UNTOLD.

    Whoever has tables overloads it for theirs; where there are none, nothing is compiled for it.
    """
    return UNTOLD if words is None else int(words.told(game, position, far))


@overload(told)  # type: ignore[untyped-decorator]  # numba's
def _(game: Any, position: Any, far: Any, words: Any) -> Any:
    """Return what numba compiles in the place of `told` without tables; None with any."""

    def nothing(game: Any, position: Any, far: Any, words: Any) -> Any:
        return UNTOLD

    return nothing if isinstance(words, types.NoneType) else None


def win_within(plies: int, far: int) -> int:
    """Return what a position is worth at least if the player to move wins within so many plies."""
    return far - plies


def no_loss_within(plies: int, far: int) -> int:
    """Return what a position is worth at least if the player to move does not lose within so many plies."""
    return plies + 1 - far


def worth_of(value: Value, remoteness: int, far: int) -> int:
    """Return the worth of a position.

    >>> [worth_of(value, 3, 100) for value in (Value.WIN, Value.TIE, Value.LOSE)]
    [97, 0, -97]
    """
    if value == WIN:
        return far - remoteness
    return remoteness - far if value == LOSE else 0
