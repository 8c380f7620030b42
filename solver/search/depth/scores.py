"""Scores: what a search to a depth thinks of a position, in one number, the greater the better for the player to move.

    WIN in n plies     FAR - n      the sooner the better
    estimate           from -ESTIMATE_LIMIT to ESTIMATE_LIMIT, as the game says it
    TIE or DRAW        0
    LOSE in n plies    n - FAR      the later the better

A win within the depth is one whatever the opponent does; all else is an opinion.
"""

from retrograde.games.contract.game import LOSE, WIN, Value

DEEPEST = 100
"""Plies that may be asked for."""
FAR = 1 << 40
INFINITE = 1 << 41
DECIDED = 1 << 39
"""Scores beyond this are wins, those below its opposite losses."""


def score_of(value: Value, plies: int = 0) -> int:
    """Return the score of an end that is so many plies away.

    >>> [score_of(value, 3) - sign * FAR for value, sign in ((Value.WIN, 1), (Value.TIE, 0), (Value.LOSE, -1))]
    [-3, 0, 3]
    """
    if value == WIN:
        return FAR - plies
    return plies - FAR if value == LOSE else 0


def plies_to_end(score: int) -> int | None:
    """Return in how many plies a win or a loss is there; None for an estimate.

    >>> plies_to_end(FAR - 3), plies_to_end(7 - FAR), plies_to_end(12)
    (3, 7, None)
    """
    return FAR - abs(score) if abs(score) > DECIDED else None
