"""The compiled depth-limited searches by points (see `textbook_points.py` for obvious versions).

`expect` is alpha-beta with Star1 and a transposition table. It maximises what one side is paid less what the other
gets. The sides are the two players, or one player, `me`, and all others, who play against `me`. `share` is max^n. If it
is chance's turn, a position counts as player 0's, or as `me`'s.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED
from retrograde.solver.rules.positions import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.depth.kernels import (
    ESTIMATED,
    EXACT,
    LEAST,
    MOST,
    NO_BEST,
    NODES,
    STOPPED,
    TROUBLE,
    estimate_of,
    recalled,
    write_moves,
)
from retrograde.solver.search.depth.textbook_points import INFINITE, POINT

Array = np.ndarray[Any, Any]

NOBODY = -1
"""The value of `me` in games for one player or two."""


class View(NamedTuple):
    """Settings of a search by points.

    The kind of estimate; plies of quiescence search; greatest points of a position; number of players; whether two
    players alternate; the player against all others, or NOBODY.
    """

    estimate: int
    more: int
    most: float
    players: int
    alternating: bool
    me: int


class Room(NamedTuple):
    """The workspace of a search, like `kernels.Room`, but `scores` are float64[entries].

    `shares`, float64[plies, 2, players], hold what each player gets in the position of a ply: the result, and the best
    or sum so far.
    """

    moves: Array
    children: Array
    promises: Array
    counts: Array
    stop: Array
    keys: Array
    scores: Array
    bests: Array
    facts: Array
    shares: Array


def make_room(plies: int, moves: int, entries: int, players: int, stop: Array) -> Room:
    """Return the workspace for *plies* plies and *moves* moves, with a table of *entries* entries."""
    wide = np.zeros((3, plies, moves), np.int64)
    table = np.zeros((3, entries), np.int64)
    shares = np.zeros((plies, 2, players))
    counts = np.zeros(3, np.int64)
    return Room(wide[0], wide[1], wide[2], counts, stop, table[0], np.zeros(entries), table[1], table[2], shares)


# Two sides


@kernel
def expect(game, position, depth, low, high, ply, view, room):
    """Return the points of a position for the side to move, or a bound beyond *low* or *high*.

    The result means nothing if `counts[TROUBLE]` is set.
    """
    counts = room.counts
    counts[NODES] += 1
    # Step 1: the game is over, or the depth is reached and the position is quiet.
    if whole(game.primitive(position)) != UNDECIDED:
        return paid(game, position, view)
    if depth <= -view.more or (depth <= 0 and game.quiet(position)):
        counts[ESTIMATED] = 1
        return thought(game, position, view)
    if room.stop[0]:
        counts[TROUBLE] = STOPPED
        return 0.0
    # Step 2: probe the transposition table.
    place, first, known = recalled(position, depth, low, high, room)
    if known:
        return room.scores[place]
    # Step 3: write the moves. *total* is the sum of chance's weights, 0 if a player moves.
    count = write_moves(game, position, first, ply, room)
    before, counts[ESTIMATED] = counts[ESTIMATED], 0
    total = rest = odds_of(game, position, count, ply, room)
    best, best_move, known, kind = -INFINITE, NO_BEST, 0.0, EXACT
    for i in range(count):
        # Step 4: search the moves. For a player, the window is that of alpha-beta.
        move, child, weight = room.moves[ply, i], room.children[ply, i], room.promises[ply, i]
        floor, ceiling = max(low, best), high
        if total:
            # Star1: the child's window within which the mean can still lie between *low* and *high*, if every move not
            # searched yet brings between -most and most.
            rest -= weight
            floor = (low * total - known - rest * view.most) / weight
            ceiling = (high * total - known + rest * view.most) / weight
        gain = gained(game, position, move, view)
        if side(game, position, view) == side(game, child, view) and not view.alternating:
            brings = gain + expect(game, child, depth - 1, floor - gain, ceiling - gain, ply + 1, view, room)
        else:
            brings = gain - expect(game, child, depth - 1, gain - ceiling, gain - floor, ply + 1, view, room)
        if counts[TROUBLE]:
            break
        # Chance: add to the sum; stop if the mean is beyond the window. A player: keep the best.
        if total:
            known += weight * brings
            best, kind = bounded(known, rest * view.most, total, brings, floor, ceiling)
            if kind != EXACT:
                break
        elif brings > best:
            best, best_move = brings, move
            if best >= high:
                break
    # Step 5: store the score.
    if not total:
        kind = LEAST if best >= high else MOST if best <= low else EXACT
    if not counts[TROUBLE]:
        room.keys[place], room.scores[place], room.bests[place] = position + 1, best, best_move
        room.facts[place] = counts[ESTIMATED] << 10 | kind << 8 | depth + 128
    counts[ESTIMATED] |= before
    return best


@kernel
def bounded(known, rest, total, brings, floor, ceiling):
    """Return (mean of chance's moves so far, EXACT or a kind of bound).

    *rest* is the most that the moves not searched yet add to the weighted sum. The result is a bound if the last move
    brought no more than *floor* or no less than *ceiling*.
    """
    if brings <= floor:
        return (known + rest) / total, MOST
    if brings >= ceiling:
        return (known - rest) / total, LEAST
    return known / total, EXACT


@kernel
def odds_of(game, position, count, ply, room):
    """Write the odds of chance's moves to `promises` and return their sum; 0 if a player moves."""
    total = 0
    if whole(game.turn(position)) == CHANCE:
        for i in range(count):
            room.promises[ply, i] = whole(game.odds(position, room.moves[ply, i]))
            total += room.promises[ply, i]
    return total


@kernel
def side(game, position, view):
    """Return which side is to move: 0 for player 0 or `me`, 1 for the others."""
    turn = whole(game.turn(position))
    if view.me == NOBODY:
        return max(0, turn) if view.players == 2 else 0
    return 0 if turn in (view.me, CHANCE) else 1


@kernel
def gained(game, position, move, view):
    """Return what a move pays the side to move at once, less the other side's share."""
    own = side(game, position, view)
    if view.me != NOBODY:
        brings = whole(game.reward(position, move, view.me))
        return float(-brings if own else brings)
    brings = whole(game.reward(position, move, own))
    if view.players == 2:
        brings -= whole(game.reward(position, move, 1 - own))
    return float(brings)


@kernel
def paid(game, position, view):
    """Return what an end pays the side to move, less the other side's share."""
    own = side(game, position, view)
    if view.me != NOBODY:
        pays = whole(game.payoff(position, view.me))
        return float(-pays if own else pays)
    pays = whole(game.payoff(position, own))
    if view.players == 2:
        pays -= whole(game.payoff(position, 1 - own))
    return float(pays)


@kernel
def thought(game, position, view):
    """Return the estimate of an undecided position for the side to move, in points."""
    good = estimate_of(game, position, view.estimate) / POINT
    if view.me == NOBODY or max(0, whole(game.turn(position))) == view.me:
        return good
    shared = good / (view.players - 1)  # the estimate of another player is a loss shared by all others
    return -shared if side(game, position, view) == 0 else shared


# Any number of players


@kernel
def share(game, position, depth, ply, view, room):
    """Write what each player gets if each maximises their own share.

    It means nothing if `counts[TROUBLE]` is set.
    """
    counts, shares, found = room.counts, room.shares[ply, 0], room.shares[ply, 1]
    counts[NODES] += 1
    # Step 1: the game is over, or the depth is reached and the position is quiet.
    if whole(game.primitive(position)) != UNDECIDED:
        for player in range(view.players):
            shares[player] = whole(game.payoff(position, player))
        return
    turn = whole(game.turn(position))
    if depth <= -view.more or (depth <= 0 and game.quiet(position)):
        counts[ESTIMATED] = 1
        # The estimate for one player is shared as a loss among all others.
        good = estimate_of(game, position, view.estimate) / POINT
        for player in range(view.players):
            shares[player] = good if player == max(0, turn) else -good / (view.players - 1)
        return
    if room.stop[0]:
        counts[TROUBLE] = STOPPED
        return
    # Step 2: search every move; add what it pays to what follows.
    count = write_moves(game, position, NO_BEST, ply, room)
    total = odds_of(game, position, count, ply, room)
    found[:] = 0.0
    for i in range(count):
        move = room.moves[ply, i]
        share(game, room.children[ply, i], depth - 1, ply + 1, view, room)
        if counts[TROUBLE]:
            return
        below = room.shares[ply + 1, 0]
        for player in range(view.players):
            below[player] += whole(game.reward(position, move, player))
        # Chance takes the weighted sum; a player takes the first move with the greatest own share.
        if total:
            for player in range(view.players):
                found[player] += room.promises[ply, i] * below[player]
        elif i == 0 or below[turn] > found[turn]:
            found[:] = below
    # Step 3: the mean for chance.
    for player in range(view.players):
        shares[player] = found[player] / total if total else found[player]
