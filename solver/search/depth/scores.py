"""Scores of depth-limited search: one number, greater is better for the player to move.

    WIN in n plies     FAR - n      the sooner the better
    estimate           from -ESTIMATE_LIMIT to ESTIMATE_LIMIT, as the game says it
    TIE or DRAW        0
    LOSE in n plies    n - FAR      the later the better

In a search by points, scores are points.

A win within the depth holds whatever the opponent does; everything else is an estimate.
"""

from typing import NamedTuple

from retrograde.games.contract.game import LOSE, WIN, Game, Traits, Value, metric_of

DEEPEST = 100
"""Greatest depth that can be asked for, in plies."""
FAR = 1 << 40
DECIDED = 1 << 39
"""Scores above this are wins; scores below its negative are losses."""
POINT = 100
"""Units of an estimate per point."""
INFINITE = 2.0**50
"""More than any score, and than any payoff."""


class Selection(NamedTuple):
    """Which moves a search selects in each position; see `kernels.py`. Both are 0 if it searches all moves alike."""

    keep: int = 0
    """How many of the best moves are searched. 0: all."""
    margin: int = 0
    """By how much a singular move is better than all others, in units of the estimate. 0: no move is singular."""


NO_SELECTION = Selection()


def score_of(value: Value, plies: int = 0) -> int:
    """Return the score of an end that is *plies* plies away.

    >>> [score_of(value, 3) - sign * FAR for value, sign in ((Value.WIN, 1), (Value.TIE, 0), (Value.LOSE, -1))]
    [-3, 0, 3]
    """
    if value == WIN:
        return FAR - plies
    return plies - FAR if value == LOSE else 0


def score_of_move(child: int) -> int:
    """Return the score of a move, from that of the position after it, where the other player is to move.

    >>> score_of_move(12), score_of_move(3 - FAR) - FAR, score_of_move(FAR - 3) + FAR
    (-12, -4, 4)
    """
    if abs(child) > DECIDED:
        return 1 - child if child > 0 else -1 - child
    return -child


def estimate_text(score: int) -> str:
    """Return an estimate in words, for the player to move.

    >>> [estimate_text(score) for score in (12, -6, 0, FAR - 7, 4 - FAR)]
    ['+12', '-6', '0', 'a win in 7', 'a loss in 4']
    """
    plies = plies_to_end(score)
    if plies is None:
        return f"{score:+d}" if score else "0"
    return f"a {'win' if score > 0 else 'loss'} in {plies}"


def plies_to_end(score: int) -> int | None:
    """Return the plies to a win or loss; None for an estimate.

    >>> plies_to_end(FAR - 3), plies_to_end(7 - FAR), plies_to_end(12)
    (3, 7, None)
    """
    return FAR - abs(score) if abs(score) > DECIDED else None


def counts_points(game: Game) -> bool:
    """Return whether searches maximise points, and not values."""
    traits = Traits.of(game)
    pays = traits.has_odds or traits.has_rewards or metric_of(game) in ("score", "expectation")
    return game.players > 2 or pays


def most_points(game: Game) -> float:
    """Return the most points that a position can have; INFINITE if unknown. Without payoffs, a win pays 1 and a loss
    -1."""
    traits = Traits.of(game)
    if traits.has_payoffs or traits.has_rewards or traits.has_estimate:
        return INFINITE
    return 2.0 if game.players == 2 else 1.0
