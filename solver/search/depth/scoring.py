"""What depth-limited search maximizes: values or points. Numba compiles the search of `kernels.py` once for each.

By value: who wins, how soon, and otherwise the game's estimate (see `scores.py`). A win one ply farther away counts one
less. By points: what the side to move is paid, less what the other side gets. The sides are the two players, or one
player, `me`, and all others, who play against `me`. If it is chance's turn, a position counts as player 0's, or `me`'s.

Each function that `by_scoring` makes runs one of two functions. The type of its last argument decides at compile time.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from retrograde.games.contract.game import CHANCE, LOSE, WIN
from retrograde.solver.rules.positions import whole
from retrograde.solver.rules.turns import is_players, turns
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.depth.scores import DECIDED, FAR, INFINITE, MOST_POINTS, POINT
from retrograde.solver.search.hashing import hash_of

OWN, NONE, RANDOM = range(3)
"""Kinds of estimates.

    OWN         the game's own
    NONE        always 0, so that only ends count
    RANDOM      a meaningless number that depends on the position
"""
GIVEN, BEST, WORST = range(3)
"""Move orders: as the rules generate them; by true worth, best first; by true worth, worst first."""
EXACT, LOWER, UPPER = range(3)
"""What a score is: exact, a lower bound, an upper bound."""
NOBODY = -1
"""The value of `me` in games for one player or two."""


class ValueScoring(NamedTuple):
    """Settings of a search by value: kind of estimate, plies of quiescence search, and move order for counting."""

    estimate: int
    quiescence: int
    order: int = GIVEN


class PointScoring(NamedTuple):
    """Settings of a search by points.

    The kind of estimate; plies of quiescence search; greatest points of a position; number of players; whether two
    players alternate; the player against all others, or NOBODY.
    """

    estimate: int
    quiescence: int
    most: float
    players: int
    alternating: bool
    me: int


def by_scoring(by_value: Any, by_points: Any) -> Any:
    """Return a function that runs one of two, by the type of its last argument."""

    def run(*arguments: Any) -> Any:
        return (by_points if isinstance(arguments[-1], PointScoring) else by_value)(*arguments)

    @overload(run, strict=False)  # type: ignore[untyped-decorator]  # numba's; not strict: argument names differ
    def _(*arguments: Any) -> Any:
        chosen = by_points if arguments[-1].instance_class is PointScoring else by_value
        return getattr(chosen, "py_func", chosen)

    return run


# By value


@kernel
def value_of_end(game, position, scoring):
    """Return the score of a position in which the game is over."""
    value = whole(game.primitive(position))
    return FAR if value == WIN else -FAR if value == LOSE else 0


@kernel
def estimate_of(game, position, scoring):
    """Return the estimate of a position, of the kind that *scoring* names."""
    if scoring.estimate == OWN:
        return whole(game.estimate(position))
    return hash_of(position, 16) - 0x8000 if scoring.estimate == RANDOM else 0


@kernel
def farther(score, gain, scoring):
    """Return the bound for a child that `nearer` turns into *score* for its parent."""
    if abs(score) >= FAR:
        return score
    return score + 1 if score > DECIDED else score - 1 if score < -DECIDED else score


@kernel
def nearer(score, gain, scoring):
    """Convert a child's score to the parent's ply: a win or loss is one ply farther away there."""
    return score - 1 if score > DECIDED else score + 1 if score < -DECIDED else score


# By points


@kernel
def points_of_end(game, position, scoring):
    """Return what an end pays the side to move, less the other side's share."""
    side = side_of(game, position, scoring)
    if scoring.me != NOBODY:
        pays = whole(game.payoff(position, scoring.me))
        return float(-pays if side else pays)
    pays = whole(game.payoff(position, side))
    if scoring.players == 2:
        pays -= whole(game.payoff(position, 1 - side))
    return float(pays)


@kernel
def estimated_points(game, position, scoring):
    """Return the estimate of an undecided position for the side to move, in points."""
    points = estimate_of(game, position, scoring) / POINT
    if scoring.me == NOBODY or max(0, whole(game.turn(position))) == scoring.me:
        return points
    shared = points / (scoring.players - 1)  # the estimate of another player is a loss shared by all others
    return -shared if side_of(game, position, scoring) == 0 else shared


@kernel
def side_of(game, position, scoring):
    """Return which side is to move: 0 for player 0 or `me`, 1 for the others."""
    turn = whole(game.turn(position))
    if scoring.me == NOBODY:
        return max(0, turn) if scoring.players == 2 else 0
    return 0 if turn in (scoring.me, CHANCE) else 1


@kernel
def is_same_side(game, position, child, scoring):
    """Return whether the same side is to move in a child."""
    return side_of(game, position, scoring) == side_of(game, child, scoring) and not scoring.alternating


@kernel
def points_gained(game, position, move, scoring):
    """Return what a move pays the side to move at once, less the other side's share."""
    side = side_of(game, position, scoring)
    if scoring.me != NOBODY:
        gain = whole(game.reward(position, move, scoring.me))
        return float(-gain if side else gain)
    gain = whole(game.reward(position, move, side))
    if scoring.players == 2:
        gain -= whole(game.reward(position, move, 1 - side))
    return float(gain)


@kernel
def write_odds(game, position, count, ply, workspace, scoring):
    """Write the odds of chance's moves to `promises` and return their sum; 0 if a player moves."""
    total = 0
    if whole(game.turn(position)) == CHANCE:
        for i in range(count):
            workspace.promises[ply, i] = whole(game.odds(position, workspace.moves[ply, i]))
            total += workspace.promises[ply, i]
    return total


@kernel
def star1_window(low, high, chances, weight, scoring):
    """Return the window of chance's next move, by Star1 (Ballard, 1983).

    Within it the mean can still lie between *low* and *high*, if every move not searched yet brings between -most and
    most. *chances* are (sum of all odds, odds of the moves not searched yet, weighted sum of the scores so far).
    """
    total, rest, known = chances
    return (low * total - known - rest * scoring.most) / weight, (high * total - known + rest * scoring.most) / weight


@kernel
def star1_mean(score, floor, ceiling, chances, scoring):
    """Return (mean of chance's moves so far, EXACT or a kind of bound).

    It is a bound if the last move brought no more than *floor* or no less than *ceiling*.
    """
    total, rest, known = chances
    if score <= floor:
        return (known + rest * scoring.most) / total, UPPER
    if score >= ceiling:
        return (known - rest * scoring.most) / total, LOWER
    return known / total, EXACT


# By either

least_score = by_scoring(lambda scoring: -INFINITE, lambda scoring: -MOST_POINTS)
"""Less than any score."""
end_score = by_scoring(value_of_end, points_of_end)
"""The score of a position in which the game is over."""
estimated_score = by_scoring(estimate_of, estimated_points)
"""The estimate of an undecided position as a score."""
can_search = by_scoring(
    lambda game, position, scoring: is_players(game, position), lambda game, position, scoring: True
)
"""Whether the search handles who is to move: by value it does not handle chance."""
keeps_side = by_scoring(lambda game, position, child, scoring: not turns(game, position, child), is_same_side)
"""Whether the same side is to move in a child."""
gain_of = by_scoring(lambda game, position, move, scoring: 0, points_gained)
"""What a move pays at once."""
bound_for_child = by_scoring(farther, lambda score, gain, scoring: score - gain)
"""The bound for a child that `score_for_parent` turns into *score*."""
score_for_parent = by_scoring(nearer, lambda score, gain, scoring: score + gain)
"""The score of a move, from the score of its child."""
odds_of = by_scoring(lambda game, position, count, ply, workspace, scoring: 0, write_odds)
"""The sum of the odds of chance's moves; 0 if a player moves."""
chance_window = by_scoring(lambda low, high, chances, weight, scoring: (low, high), star1_window)
"""The window of chance's next move."""
chance_mean = by_scoring(lambda score, floor, ceiling, chances, scoring: (score, EXACT), star1_mean)
"""The mean of chance's moves so far, and whether it is exact or a bound."""
