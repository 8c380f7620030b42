"""A position's *worth*: value and remoteness as one number for the player to move. Greater is better.

    WIN in n plies     far - n        above 0: a win, the sooner the better
    TIE or DRAW        0
    LOSE in n plies    n - far        below 0: a loss, the later the better

`far` is greater than any number of plies that the transposition table can hold. A null-window search answers one
question: is the position worth at least *bound*? A bound asks the player to move:

    far - n       do you win within n plies?
    1             do you win?
    0             do you not lose?
    n + 1 - far   do you not lose within n plies?

`bound_for_child` of `kernels.py` turns a bound into the bound for the children. At every ply, "do you win?" turns into
"does the opponent not lose?", and the other way round.
"""

from retrograde.games.contract.game import LOSE, WIN, Value

ANY_WIN, NO_LOSS = 1, 0
"""Questions without a distance."""
SOON = 8, 16
"""Plies within which a search looks for a win or a loss before it asks without a distance."""
SOON_FIRST, ANY_DISTANCE, DEEPENING, ONE_QUESTION = range(4)
"""Orders of questions while the value is unknown.

    SOON_FIRST      a win or loss within SOON plies, then without a distance
    ANY_DISTANCE    without a distance
    DEEPENING       a win within 1 ply, a loss within 1 ply, within 2, 3, …
    ONE_QUESTION    only the question that the caller gives
"""


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
