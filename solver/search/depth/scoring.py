"""What the scores of a depth-limited search mean: its *domain*, VALUES or POINTS.

By value: who wins, how soon, and otherwise the game's estimate (see `scores.py`). A win one ply farther away counts one
less. By points: what the side to move is paid, less what the other side gets. The sides are the two players, or one
player, `me`, and all others, who play against `me`. If it is chance's turn, a position counts as player 0's, or `me`'s.

A score is a float64, which holds every score by value exactly. The search of `kernels.py` is the same for both domains;
it calls the functions below. They get the settings of the search as `scoring`, a Scoring.
"""

from typing import NamedTuple

from numba import types
from numba.extending import overload

from retrograde.games.contract.game import CHANCE, LOSE, WIN
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import whole
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.kernel import inlined_kernel, kernel
from retrograde.solver.search.depth.scores import DECIDED, FAR, INFINITE, POINT, Selection
from retrograde.solver.search.hashing import hash_of

VALUES, POINTS = range(2)
"""Domains."""
OWN, NONE, RANDOM = range(3)
"""Kinds of estimates.

    OWN         the game's own
    NONE        always 0, so that only ends count
    RANDOM      a meaningless number that depends on the position
"""
GIVEN, BEST, WORST = range(3)
"""Move orders: by the game's promise; by true worth, best first; by true worth, worst first."""
EXACT, LOWER, UPPER = range(3)
"""What a score is: exact, a lower bound, an upper bound."""
NOBODY = -1
"""The value of `me` in games for one player or two."""
NO_MOVE = -1


class Scoring(NamedTuple):
    """Settings of a search.

    *most* are the greatest points of a position, and *me* is the player against all others, or NOBODY: both for points
    only. *exchanges* is the game's, if its own estimate is used. *selection* is None or (keep, margin), as in
    `Selection`, the margin in scores. Depths and *quiescence* are in the units of `settings_of`.
    """

    domain: int
    estimate: int = OWN
    quiescence: int = 0
    order: int = GIVEN
    most: float = INFINITE
    me: int = NOBODY
    exchanges: bool = False
    selection: tuple[int, float] | None = None

    def with_selection(self, selection: Selection) -> "Scoring":
        """Return the settings of the same search, but one that selects moves."""
        if not any(selection):
            return self
        in_scores = selection.keep, selection.margin / (POINT if self.domain == POINTS else 1)
        _, _, units = settings_of(in_scores)
        return self._replace(selection=in_scores, quiescence=self.quiescence * units)


def settings_of(selection):
    """Return (keep, margin, units of depth per ordinary move). An ordinary move takes 2 units if the search looks for
    singular moves (margin > 0), which take 1; otherwise 1.

    If *selection* is None, these are constants. Then numba compiles no code for selections, which would slow other
    searches by some percent.
    """
    return (0, 0.0, 1) if selection is None else (*selection, 2 if selection[1] > 0 else 1)


@overload(settings_of)
def compile_settings_of(selection):
    if isinstance(selection, types.NoneType):
        return lambda selection: (0, 0.0, 1)
    return lambda selection: (selection[0], selection[1], 2 if selection[1] > 0 else 1)


@inlined_kernel
def selects_at(depth, scoring):
    """Return whether a search selects moves at a depth."""
    keep, margin, ply = settings_of(scoring.selection)
    return (keep > 0 or margin > 0) and depth >= 2 * ply


@inlined_kernel
def units_per_ply(scoring):
    """Return the units of depth that a move takes."""
    return settings_of(scoring.selection)[2]


@kernel
def score_of_end(game, position, scoring):
    """Return the score of an end for the side to move: by value, or its payoff."""
    if scoring.domain == POINTS:
        return points_from(game, position, NO_MOVE, scoring)
    return float(value_of_end(game, position))


@kernel
def estimated_score(game, position, scoring):
    """Return the estimate of an undecided position as a score for the side to move. By points, it is in points."""
    estimate = estimate_of(game, position, scoring.estimate)
    if scoring.domain == VALUES:
        return float(estimate)
    points = estimate / POINT
    if scoring.me == NOBODY or max(0, whole(game.turn(position))) == scoring.me:
        return points
    shared = points / (game.players - 1)  # the estimate of another player is a loss shared by all others
    # If it is chance's turn, the estimate is player 0's, and the side to move is that of *me*, another player.
    return -shared if side_of(game, position, scoring) == 0 else shared


@kernel
def estimate_of(game, position, kind):
    """Return the estimate of a position, of the kind OWN, NONE or RANDOM."""
    if kind == OWN:
        return whole(game.estimate(position))
    return hash_of(key_of(position), 16) - (1 << 15) if kind == RANDOM else 0


@kernel
def keeps_side(game, position, child, scoring):
    """Return whether the same side is to move in a child."""
    if scoring.me == NOBODY:
        return not turns(game, position, child)
    return side_of(game, position, scoring) == side_of(game, child, scoring)


@kernel
def gain_of(game, position, move, scoring):
    """Return what a move pays the side to move at once."""
    return points_from(game, position, move, scoring) if scoring.domain == POINTS else 0.0


@inlined_kernel
def window_for_child(low, high, gain, same_side, scoring):
    """Return the window of a child that `score_for_parent` turns into (*low*, *high*).

    *same_side*: the same side is to move in the child.
    """
    least, most = bound_for_child(low, gain, scoring), bound_for_child(high, gain, scoring)
    return (least, most) if same_side else (-most, -least)


@kernel
def bound_for_child(score, gain, scoring):
    """Return the bound of a child that belongs to a parent's bound, both for the side to move in the parent."""
    if scoring.domain == POINTS:
        return score - gain
    if abs(score) >= FAR:
        return score
    if score > DECIDED:
        return score + 1
    return score - 1 if score < -DECIDED else score


@inlined_kernel
def score_for_parent(score, gain, same_side, scoring):
    """Return the score of a move from that of its child. By value, a win or loss is one ply farther away."""
    score = score if same_side else -score
    if scoring.domain == POINTS:
        return score + gain
    return nearer(score)


# Only by value


@kernel
def value_of_end(game, position):
    """Return the score of an end by value."""
    value = whole(game.primitive(position))
    if value == WIN:
        return FAR
    return -FAR if value == LOSE else 0


@kernel
def nearer(score):
    """Convert a child's score to the parent's ply: a win or loss is one ply farther away there."""
    if score > DECIDED:
        return score - 1
    return score + 1 if score < -DECIDED else score


# Only by points


@kernel
def side_of(game, position, scoring):
    """Return which side is to move: 0 for player 0 or `me`, 1 for the others."""
    turn = whole(game.turn(position))
    if scoring.me == NOBODY:
        return max(0, turn) if game.players == 2 else 0
    return 0 if turn in (scoring.me, CHANCE) else 1


@kernel
def points_from(game, position, move, scoring):
    """Return what a move, or an end (NO_MOVE), pays the side to move, less the other side's share."""
    side = side_of(game, position, scoring)
    if scoring.me != NOBODY:
        points = points_of(game, position, move, scoring.me)
        return float(-points if side else points)
    points = points_of(game, position, move, side)
    if game.players == 2:
        points -= points_of(game, position, move, 1 - side)
    return float(points)


@kernel
def points_of(game, position, move, player):
    """Return what a move, or an end (NO_MOVE), pays a player."""
    return whole(game.payoff(position, player) if move == NO_MOVE else game.reward(position, move, player))


@kernel
def write_odds(game, position, count, ply, workspace):
    """Write the odds of chance's moves to `promises` and return their sum; 0 if a player moves."""
    total = 0
    if whole(game.turn(position)) == CHANCE:
        for i in range(count):
            workspace.promises[ply, i] = whole(game.odds(position, workspace.moves[ply, i]))
            total += workspace.promises[ply, i]
    return total


@kernel
def star1_window(low, high, chances, weight, scoring):
    """Return the window of chance's next move, by Star1 (Ballard, 1983). Beyond it the mean is below *low* or above
    *high*, whatever the moves left bring. *weight* is the odds of the next move.

    *chances* are (sum of all odds, odds of the moves not searched yet, weighted sum of the scores so far). No score
    exceeds `scoring.most`.
    """
    total, odds_left, weighted_sum = chances
    margin = odds_left * scoring.most
    return (low * total - weighted_sum - margin) / weight, (high * total - weighted_sum + margin) / weight


@kernel
def star1_mean(score, floor, ceiling, chances, scoring):
    """Return (mean of chance's moves so far, EXACT or a kind of bound). It is a bound if the last left its window."""
    total, odds_left, weighted_sum = chances
    if score <= floor:
        return (weighted_sum + odds_left * scoring.most) / total, UPPER
    if score >= ceiling:
        return (weighted_sum - odds_left * scoring.most) / total, LOWER
    return weighted_sum / total, EXACT
