"""Bounds that searches ask for. A position's *worth* is value and remoteness as one number, greater is better.

    WIN in n plies     far - n        above 0: a win, the sooner the better
    TIE or DRAW        0
    LOSE in n plies    n - far        below 0: a loss, the later the better

`far` is greater than any number of plies that the table can hold. A search answers questions of the form "is the
position worth at least *bound*?":

    far - n       does the player to move win within n plies?
    1             does the player to move win?
    0             does the player to move not lose?
    n + 1 - far   does the player to move not lose within n plies?

The bound for the children follows from the bound of the parent (see `for_child` in `kernels.py`). Questions 1 and 0
become each other, at every ply.
"""

from retrograde.games.contract.game import LOSE, WIN, Value

ANY_WIN, NO_LOSS = 1, 0
"""Questions without a distance."""


def win_within(plies: int, far: int) -> int:
    """Return the bound of the question "win within *plies* plies?"."""
    return far - plies


def no_loss_within(plies: int, far: int) -> int:
    """Return the bound of the question "no loss within *plies* plies?"."""
    return plies + 1 - far


def worth_of(value: Value, remoteness: int, far: int) -> int:
    """Return the worth of a value at a remoteness.

    >>> [worth_of(value, 3, 100) for value in (Value.WIN, Value.TIE, Value.LOSE)]
    [97, 0, -97]
    """
    if value == WIN:
        return far - remoteness
    return remoteness - far if value == LOSE else 0
