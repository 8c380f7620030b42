"""The compiled depth-limited searches by value: alpha-beta with a transposition table, for play.

Also minimax and alpha-beta as in textbooks, to count the positions they search.

Scores are as in `scores.py`, relative to the position searched, so a table entry holds wherever its position occurs. An
entry is used only at exactly the depth it was made with, so the table changes nothing but the time. At depth 0 and
below the search continues in positions that are not quiet, down to depth -more (quiescence search).
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.solver.rules.positions import whole
from retrograde.solver.rules.turns import is_players, turns
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.depth.scores import DECIDED, FAR, INFINITE
from retrograde.solver.search.mixing import mixed

Array = np.ndarray[Any, Any]

NODES, ESTIMATED, TROUBLE = range(3)
"""Indices into `counts`.

    NODES       positions searched
    ESTIMATED   1 if an estimate was used
    TROUBLE     why the search gave up, 0 if it did not
"""
STOPPED, MANY_MOVES, CHANCES = 1, 2, 3
"""Why a search gave up.

    STOPPED     out of time
    MANY_MOVES  more moves than the workspace holds
    CHANCES     a position in which it is chance's turn
"""
OWN, NONE, CHANCE = range(3)
"""Kinds of estimates.

    OWN         the game's own
    NONE        always 0, so that only ends count
    CHANCE      a meaningless number that depends on the position
"""
GIVEN, BEST, WORST = range(3)
"""Move orders: as the rules generate them; by true worth, best first; by true worth, worst first."""
EXACT, LEAST, MOST = range(3)
"""What a table entry's score is: exact, a lower bound, an upper bound."""
NO_BEST = -1


class Sight(NamedTuple):
    """Settings of a search: the kind of estimate, and the plies of quiescence search."""

    estimate: int
    more: int


class Room(NamedTuple):
    """The workspace of a search, with its transposition table.

    `moves`, `children` and `promises` are int64[plies, moves]; `counts` int64[3]; `stop` uint8[1], nonzero to stop. The
    table's `keys`, `scores`, `bests`, `facts` are int64[entries], a power of two. A key is the position plus 1; 0 is
    empty. A fact::

        | whether an estimate is in it: bit 10 | EXACT, LEAST or MOST: bits 9 and 8 | depth + 128: bits 7 to 0 |
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


def make_room(plies: int, moves: int, entries: int, stop: Array) -> Room:
    """Return the workspace for *plies* plies and *moves* moves, with a table of *entries* entries."""
    wide = np.zeros((3, plies, moves), np.int64)
    table = np.zeros((4, entries), np.int64)
    return Room(wide[0], wide[1], wide[2], np.zeros(3, np.int64), stop, table[0], table[1], table[2], table[3])


# For play


@kernel
def look(game, position, depth, low, high, ply, sight, room):
    """Return the score of a position at a depth if between *low* and *high*; else a bound beyond them.

    Fail-soft alpha-beta. The result means nothing if `counts[TROUBLE]` is set.
    """
    counts = room.counts
    counts[NODES] += 1
    value = whole(game.primitive(position))
    # Step 1: the game is over, or the depth is reached and the position is quiet.
    if value != UNDECIDED:
        return FAR if value == WIN else -FAR if value == LOSE else 0
    if depth <= -sight.more or (depth <= 0 and game.quiet(position)):
        counts[ESTIMATED] = 1
        return estimate_of(game, position, sight.estimate)
    # Step 2: give up if time is out or chance moves.
    if room.stop[0]:
        counts[TROUBLE] = STOPPED
        return 0
    if not is_players(game, position):
        counts[TROUBLE] = CHANCES
        return 0
    # Step 3: probe the transposition table.
    place, first, known = recalled(position, depth, low, high, room)
    if known:
        return room.scores[place]
    # Step 4: search the moves, the hash move first. ESTIMATED is cleared to find out whether this subtree uses an
    # estimate.
    count = write_moves(game, position, first, ply, room)
    before, counts[ESTIMATED] = counts[ESTIMATED], 0
    best, best_move, floor = -INFINITE, NO_BEST, low
    for i in range(count):
        if counts[TROUBLE]:
            break
        # A win one ply farther away is worth one less, so bounds move by one ply, too.
        child, least, most = room.children[ply, i], farther(floor), farther(high)
        if turns(game, position, child):
            score = nearer(-look(game, child, depth - 1, -most, -least, ply + 1, sight, room))
        else:
            score = nearer(look(game, child, depth - 1, least, most, ply + 1, sight, room))
        if score > best:
            best, best_move = score, room.moves[ply, i]
            floor = max(floor, best)
            if best >= high:
                break
    # Step 5: store the score.
    if not counts[TROUBLE]:
        kind = LEAST if best >= high else MOST if best <= low else EXACT
        room.keys[place], room.scores[place], room.bests[place] = position + 1, best, best_move
        room.facts[place] = counts[ESTIMATED] << 10 | kind << 8 | depth + 128
    counts[ESTIMATED] |= before
    return best


@kernel
def recalled(position, depth, low, high, room):
    """Probe the transposition table: return (slot, hash move or NO_BEST, whether the entry's score suffices).

    It suffices at this exact depth if it is exact or a bound beyond *low* or *high*. Then note in `counts` whether the
    entry rests on an estimate.
    """
    place = mixed(position, 35) & len(room.keys) - 1
    if room.keys[place] != position + 1:
        return place, NO_BEST, False
    fact, known = room.facts[place], False
    if (fact & 0xFF) - 128 == depth:
        score, kind = room.scores[place], fact >> 8 & 3
        known = kind == EXACT or (kind == LEAST and score >= high) or (kind == MOST and score <= low)
        if known:
            room.counts[ESTIMATED] |= fact >> 10 & 1
    return place, room.bests[place], known


@kernel
def write_moves(game, position, first, ply, room):
    """Write the moves and children of a position to the row of *ply* and return how many.

    Move ordering: *first*, then by the game's promise.
    """
    moves, children, promises = room.moves[ply], room.children[ply], room.promises[ply]
    count = 0
    for given in game.generate_moves(position):
        move = whole(given)
        if count == len(moves):
            room.counts[TROUBLE] = MANY_MOVES
            return 0
        promise = INFINITE if move == first else whole(game.promise(position, move))
        i = count
        while i > 0 and promises[i - 1] < promise:
            moves[i], children[i], promises[i] = moves[i - 1], children[i - 1], promises[i - 1]
            i -= 1
        moves[i], children[i], promises[i] = move, whole(game.do_move(position, move)), promise
        count += 1
    return count


@kernel
def nearer(score):
    """Convert a child's score to the parent's ply: a win or loss is one ply farther away there."""
    return score - 1 if score > DECIDED else score + 1 if score < -DECIDED else score


@kernel
def farther(score):
    """Return the bound for a child that `nearer` turns into *score* for its parent."""
    if abs(score) >= FAR:
        return score
    return score + 1 if score > DECIDED else score - 1 if score < -DECIDED else score


@kernel
def estimate_of(game, position, kind):
    """Return the estimate of a position, of the given kind."""
    if kind == OWN:
        return whole(game.estimate(position))
    return mixed(position, 16) - 0x8000 if kind == CHANCE else 0


@kernel
def hints(game, position, moves, promises):
    """Write the promise of each move; return the position's estimate and whether it is quiet."""
    for i in range(len(moves)):
        promises[i] = whole(game.promise(position, moves[i]))
    return whole(game.estimate(position)), whole(game.quiet(position))


# Textbook versions


@kernel
def minimax(game, position, depth, sight, counts):
    """Return the score of a position at a depth; search every position."""
    counts[NODES] += 1
    value = whole(game.primitive(position))
    if value != UNDECIDED:
        return FAR if value == WIN else -FAR if value == LOSE else 0
    if depth <= -sight.more or (depth <= 0 and game.quiet(position)):
        return estimate_of(game, position, sight.estimate)
    best = -INFINITE
    for move in game.generate_moves(position):
        best = max(best, nearer(-minimax(game, whole(game.do_move(position, move)), depth - 1, sight, counts)))
    return best


@kernel
def alpha_beta(game, position, depth, low, high, ply, order, sight, room):
    """Like `minimax`, by alpha-beta without a table, with moves in one of the given orders.

    Sorting by worth costs nothing that is counted.
    """
    room.counts[NODES] += 1
    value = whole(game.primitive(position))
    if value != UNDECIDED:
        return FAR if value == WIN else -FAR if value == LOSE else 0
    if depth <= -sight.more or (depth <= 0 and game.quiet(position)):
        return estimate_of(game, position, sight.estimate)
    count = write_moves(game, position, NO_BEST, ply, room)
    if order != GIVEN:
        by_truth(game, count, depth, ply, order, sight, room)
    best, floor = -INFINITE, low
    for i in range(count):
        child = room.children[ply, i]
        score = -alpha_beta(game, child, depth - 1, -farther(high), -farther(floor), ply + 1, order, sight, room)
        best = max(best, nearer(score))
        floor = max(floor, best)
        if best >= high:
            break
    return best


@kernel
def by_truth(game, count, depth, ply, order, sight, room):
    """Sort the moves of a position by their minimax score at this depth, best or worst first."""
    moves, children, worths = room.moves[ply], room.children[ply], room.promises[ply]
    uncounted = np.zeros(3, np.int64)
    for i in range(count):
        move, child = moves[i], children[i]
        worth = -minimax(game, child, depth - 1, sight, uncounted)
        worth = worth if order == BEST else -worth
        j = i
        while j > 0 and worths[j - 1] < worth:
            moves[j], children[j], worths[j] = moves[j - 1], children[j - 1], worths[j - 1]
            j -= 1
        moves[j], children[j], worths[j] = move, child, worth
