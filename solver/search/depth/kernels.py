"""The compiled depth-limited searches: alpha-beta with a transposition table, for play, by value or by points.

Also max^n for several players, and minimax, to count positions.

Scores are relative to the position searched, so a table entry holds wherever its position occurs. An entry is used only
at exactly the depth it was made with, so the table changes nothing but the time. The same is true of null windows,
killers and the history heuristic, which searches with a table use.

At depth 0 and below the search continues in positions that are not quiet, down to depth -quiescence (quiescence
search). If the game has `exchanges`, it also continues in quiet positions with the moves that gain something, unless
the player would rather stop (stand pat).

A search may *select* moves. In each position with two plies left or more, it first searches all moves to half the
depth. A player who keeps the best N then searches these alone (forward pruning). A move that is better than all others
by a margin, or the only one, is *singular* and takes half a ply off the depth, not a whole one (singular extension).
What is selected depends on the position and the depth alone, so a table entry still holds wherever it occurs.

In the kernels, `scoring` is a Scoring, `workspace` a DepthWorkspace, `low` and `high` are the window of alpha-beta, and
`ply` counts from the root.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import UNDECIDED, Game, Traits
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import as_position, put, stands_at, whole
from retrograde.solver.rules.turns import is_players, turns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import inlined_kernel, kernel, lean_kernel
from retrograde.solver.search.depth.scores import FAR, INFINITE, POINT
from retrograde.solver.search.depth.scoring import (
    BEST,
    EXACT,
    GIVEN,
    LOWER,
    NO_MOVE,
    POINTS,
    UPPER,
    VALUES,
    estimate_of,
    estimated_score,
    gain_of,
    keeps_side,
    nearer,
    score_for_parent,
    score_of_end,
    selects_at,
    settings_of,
    star1_mean,
    star1_window,
    units_per_ply,
    value_of_end,
    window_for_child,
    write_odds,
)
from retrograde.solver.search.endgame_tables import DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.hashing import hash_of

NODES, ESTIMATED, TROUBLE = range(3)
"""Indices into `counts`.

    NODES       positions searched
    ESTIMATED   1 if an estimate was used
    TROUBLE     why the search gave up, 0 if it did not
"""
STOPPED, MANY_MOVES, CHANCE_MOVES = 1, 2, 3
"""Why a search gave up.

    STOPPED         out of time
    MANY_MOVES      more moves than the workspace holds
    CHANCE_MOVES    a position in which it is chance's turn
"""
HASH_MOVE_FIRST = 1 << 62
"""The rank of the hash move: greater than any other."""
RANK_SHIFT = 24
"""Bits of a rank below the promise. They hold the history of the move, or KILLER_RANK."""
KILLER_RANK = (1 << RANK_SHIFT) - 1
HISTORY = 1 << 12
"""Entries of the history table, by the lower bits of moves."""
ROOT = np.int64(0)
"""The first ply, as int64: for a literal, numba would compile the recursive kernel once more."""
NO_ENTRY = 0, NO_MOVE, False
"""What a probe returns if there is no entry."""
NO_POSITION = -1
"""A word of an empty key; no position has it."""
HASH_BITS = 35
"""Bits of the hash that chooses a slot: more than any table has."""
ESTIMATED_SHIFT, BOUND_SHIFT = 11, 9
DEPTH_MASK, DEPTH_OFFSET = 0x1FF, 128
"""Layout of a table entry's `facts`; see `DepthWorkspace`."""


class DepthWorkspace(NamedTuple):
    """The workspace of a search, with its transposition table.

    `moves` and `promises` are int64[plies, moves]; `counts` int64[3]; `stop` uint8[1], nonzero to stop. The table's
    `keys`, `bests`, `facts` are int64[entries], a power of two, or 0 for a search without a table; `scores` are
    float64[entries]. A key is a whole position, or NO_POSITION if the entry is empty; `keys` has another axis for
    positions of several words. `facts`::

        | whether an estimate is in it: bit 11 | EXACT, LOWER or UPPER: bits 10 and 9 | depth + 128: bits 8 to 0 |

    `killers`, int64[plies, 2], are the moves that have lately refuted others at a ply. `history`, int64[2, HISTORY],
    says how often a move has done so, at even and at odd plies. It is empty without a table or estimates, where it
    would only disturb the order of the rules, and in a search that selects: there the order must not depend on the
    past.

    `shares`, float64[plies, 2, players], are for max^n. They hold what each player gets in the position of a ply: the
    result, and the best or sum so far. A search that selects has the scores at half the depth in `shares[ply, 0]`, for
    as many moves as the workspace holds.

    `endgame_tables` is their address, or None (see `search/endgame_tables.py`). Only searches by value have them.
    """

    moves: Array
    promises: Array
    counts: Array
    stop: Array
    keys: Array
    scores: Array
    bests: Array
    facts: Array
    killers: Array
    history: Array
    shares: Array
    endgame_tables: int | None


def make_workspace(
    size: tuple[int, int], entries: int, stop: Array, game: Game, tables: int | None = None, selects: bool = False
) -> DepthWorkspace:
    """Return a workspace for (plies, moves), a table of *entries* entries, and the address of endgame *tables*.

    *selects*: the search selects moves.
    """
    words = (Traits.of(game).width,) if Traits.of(game).width else ()
    moves, promises = np.zeros((2, *size), np.int64)
    keys = np.full((entries, *words), NO_POSITION, np.int64)
    bests, facts = np.zeros((2, entries), np.int64)
    killers = np.full((size[0], 2), NO_MOVE)
    history = np.zeros((2, HISTORY if entries and not selects and Traits.of(game).has_estimate else 0), np.int64)
    scores, shares = np.zeros(entries), np.zeros((size[0], 2, size[1] if selects else game.players))
    counts = np.zeros(3, np.int64)
    return DepthWorkspace(moves, promises, counts, stop, keys, scores, bests, facts, killers, history, shares, tables)


@lean_kernel
def search_move(game, position, move, depth, low, high, scoring, workspace):
    """Return a move's score at a depth if between *low* and *high*, else a bound. It is void if `counts[TROUBLE]` is
    set."""
    child, gain, same_side = after_move(game, position, move, scoring)
    least, most = window_for_child(low, high, gain, same_side, scoring)
    score = alpha_beta(game, child, depth - units_per_ply(scoring), least, most, ROOT, scoring, workspace)
    return score_for_parent(score, gain, same_side, scoring)


@lean_kernel
def alpha_beta(game, position, depth, low, high, ply, scoring, workspace):
    """Return the score of a position at a depth if between *low* and *high*; else a bound beyond them. Fail-soft
    alpha-beta (Fishburn, 1983), with Star1 at chance's moves. The result is void if `counts[TROUBLE]` is set."""
    counts, with_table = workspace.counts, len(workspace.keys) > 0
    # Step 1: return a score if the search ends here. If not, but the player may stop here, *best* is the estimate.
    ends, may_stop, best = evaluate_leaf(game, position, depth, low, high, scoring, workspace)
    if ends:
        return best
    # Step 2: probe the transposition table.
    uses_table = with_table and not may_stop
    slot, hash_move, suffices = probe(position, depth, low, high, workspace) if uses_table else NO_ENTRY
    if suffices:
        return workspace.scores[slot]
    # Step 3: write the moves, the hash move first. *total* is the sum of chance's weights, 0 if a player moves.
    count, total = write_moves_and_odds(game, position, hash_move, depth, ply, scoring, workspace)
    odds_left, weighted_sum, estimated_before = total, 0.0, counts[ESTIMATED]
    floor, ceiling, best_move, kind, singular, dropped = max(low, best), high, NO_MOVE, EXACT, False, False
    # Step 4: search all moves to half the depth, to select from.
    if total == 0 and selects_at(depth, scoring):
        for i in range(count):
            move, least = workspace.moves[ply, i], score_to_exceed(i, ply, scoring, workspace)
            child, gain, same_side = after_move(game, position, move, scoring)
            window = window_for_child(least, INFINITE, gain, same_side, scoring)
            score = alpha_beta(game, child, depth // 2 - units_per_ply(scoring), *window, ply + 1, scoring, workspace)
            insert_move(i, move, score_for_parent(score, gain, same_side, scoring), least, ply, workspace)
        count, singular, dropped = select_moves(count, ply, scoring, workspace)
    # Step 5: search the moves; if the player may stop, those that gain. ESTIMATED shows if they use an estimate.
    counts[ESTIMATED] = may_stop or dropped
    for i in range(count):
        move, weight = workspace.moves[ply, i], workspace.promises[ply, i]  # weight: chance's odds, or a rank
        if counts[TROUBLE] or (may_stop and weight >> RANK_SHIFT <= 0):
            break
        if total:
            odds_left -= weight
            floor, ceiling = star1_window(low, high, (total, odds_left, weighted_sum), weight, scoring)
        child, gain, same_side = after_move(game, position, move, scoring)
        # A null window shows whether a move beats the best so far. Only then is its score searched, up to *ceiling*.
        null_window = with_table and i > 0 and scoring.domain == VALUES and ceiling > floor + 1
        top, cost = floor + 1 if null_window else ceiling, 1 if singular and i == 0 else units_per_ply(scoring)
        while True:
            least, most = window_for_child(floor, top, gain, same_side, scoring)
            score = alpha_beta(game, child, depth - cost, least, most, ply + 1, scoring, workspace)
            score = score_for_parent(score, gain, same_side, scoring)
            if not top <= score < ceiling:
                break
            top = ceiling
        # Case: chance's move. Add to the sum; stop if the mean is beyond the window.
        if total:
            weighted_sum += weight * score
            best, kind = star1_mean(score, floor, ceiling, (total, odds_left, weighted_sum), scoring)
        # Case: a player's move. Keep the best; the opponent avoids this position if it reaches *high*.
        elif score > best:
            best, best_move, floor = score, move, max(floor, score)
            if best >= high:
                note_cutoff(move, depth, ply, workspace)
                kind = LOWER
        if kind != EXACT:
            break
    # Step 6: store the score.
    if uses_table and not counts[TROUBLE]:
        store(slot, position, depth, (best, best_move, UPPER if not total and best <= low else kind), workspace)
    counts[ESTIMATED] |= estimated_before
    return best


@inlined_kernel
def after_move(game, position, move, scoring):
    """Return (child, gain, same_side): what the move pays, and whether the same side is to move in the child."""
    child = as_position(game.do_move(position, move))
    return child, gain_of(game, position, move, scoring), keeps_side(game, position, child, scoring)


@lean_kernel
def score_to_exceed(i, ply, scoring, workspace):
    """Return the score that move number *i* of a row must exceed at half the depth to be selected. The moves before it
    are sorted. To see whether the best is singular takes the scores of the best two."""
    keep, margin, _ = settings_of(scoring.selection)
    needed = max(keep, 2 if margin > 0 else 1)  # scores that `select_moves` needs
    return workspace.shares[ply, 0, needed - 1] if i >= needed else -INFINITE


@lean_kernel
def insert_move(i, move, score, least, ply, workspace):
    """Insert move number *i* of a row into the moves before it, which are sorted by their scores at half the depth.

    The best is first. A score that is not above *least* counts as the worst, so the move stays last.
    """
    moves, scores = workspace.moves[ply], workspace.shares[ply, 0]
    score = score if score > least else -INFINITE
    while i > 0 and scores[i - 1] < score:
        moves[i], scores[i] = moves[i - 1], scores[i - 1]
        i -= 1
    moves[i], scores[i] = move, score


@lean_kernel
def select_moves(count, ply, scoring, workspace):
    """Return (count, singular, dropped): moves of a row to search; is the first singular, and is any move dropped?"""
    (keep, margin, _), scores = settings_of(scoring.selection), workspace.shares[ply, 0]
    singular = margin > 0 and (count == 1 or scores[0] - scores[1] >= margin)
    dropped = 0 < keep < count
    return keep if dropped else count, singular, dropped


@lean_kernel
def write_moves_and_odds(game, position, first, depth, ply, scoring, workspace):
    """Write the moves in the order of the search, *first* ahead unless moves are selected at this depth. Return (count,
    sum of chance's weights or 0 for a player)."""
    count = write_moves(game, position, NO_MOVE if selects_at(depth, scoring) else first, ply, workspace)
    if scoring.order != GIVEN:
        sort_by_minimax(game, position, count, depth, ply, scoring, workspace)
    return count, write_odds(game, position, count, ply, workspace) if scoring.domain == POINTS else 0


@lean_kernel
def evaluate_leaf(game, position, depth, low, high, scoring, workspace):
    """Return (ends, may_stop, score): does the search end here, and may the player stop here and take the estimate?

    The score is that of the end, of a table, or the estimate; -INFINITE if the search goes on without one. After
    TROUBLE it means nothing.
    """
    counts = workspace.counts
    counts[NODES] += 1
    # Case: the game is over.
    if whole(game.primitive(position)) != UNDECIDED:
        return True, False, score_of_end(game, position, scoring)
    # Case: an endgame table knows the value.
    worth = probe_tables(game, position, FAR, workspace.endgame_tables)
    if worth != UNKNOWN:
        return True, False, 0.0 if worth == DRAWN else float(worth)
    # Case: the depth is reached and the position is quiet, or the quiescence search has reached its limit.
    best, may_stop = -INFINITE, depth <= -scoring.quiescence or (depth <= 0 and game.quiet(position))
    if may_stop:
        counts[ESTIMATED] = 1
        best = estimated_score(game, position, scoring)
        if not scoring.exchanges or depth <= -scoring.quiescence or best >= high:
            return True, True, best
    # Case: time is out, or chance moves and scores are values.
    if workspace.stop[0] or (scoring.domain == VALUES and not is_players(game, position)):
        counts[TROUBLE] = STOPPED if workspace.stop[0] else CHANCE_MOVES
        return True, False, low
    return False, bool(may_stop), best


@lean_kernel
def note_cutoff(move, depth, ply, workspace):
    """Remember a move that caused a cutoff: as first killer of its *ply*, and in the history, by *depth* squared."""
    killers, history = workspace.killers, workspace.history[ply & 1]
    if not len(history):  # the search keeps the order of the rules
        return
    if killers[ply, 0] != move:
        killers[ply, 1] = killers[ply, 0]
        killers[ply, 0] = move
    # The two killers of a ply rank KILLER_RANK and one less, so the history stays below both.
    entry = move & (HISTORY - 1)
    history[entry] = min(history[entry] + max(1, depth) ** 2, KILLER_RANK - 2)


@lean_kernel
def store(slot, position, depth, result, workspace):
    """Store an entry of the transposition table. *result* is (score, best move, EXACT or a kind of bound)."""
    put(workspace.keys, slot, position)
    score, workspace.bests[slot], kind = result
    workspace.scores[slot], estimated = score, workspace.counts[ESTIMATED]
    workspace.facts[slot] = (estimated << ESTIMATED_SHIFT) | (kind << BOUND_SHIFT) | (depth + DEPTH_OFFSET)


@lean_kernel
def probe(position, depth, low, high, workspace):
    """Probe the transposition table: return (slot, hash move or NO_MOVE, whether the entry's score suffices). It
    suffices at this depth if it is exact, or a bound beyond *low* or *high*. ESTIMATED is then as it was stored."""
    slot = hash_of(key_of(position), HASH_BITS) & (len(workspace.keys) - 1)
    if not stands_at(workspace.keys, slot, position):
        return slot, NO_MOVE, False
    facts, suffices = workspace.facts[slot], False
    if (facts & DEPTH_MASK) - DEPTH_OFFSET == depth:
        score, kind = workspace.scores[slot], (facts >> BOUND_SHIFT) & 3
        suffices = kind == EXACT or (kind == LOWER and score >= high) or (kind == UPPER and score <= low)
        if suffices:
            workspace.counts[ESTIMATED] |= (facts >> ESTIMATED_SHIFT) & 1
    return slot, workspace.bests[slot], suffices


@lean_kernel
def write_moves(game, position, first, ply, workspace):
    """Write the moves of a position to the row of *ply*, best first, with their ranks as promises. Return how many.
    Move ordering: *first*, then by the rules' `promise`, then killers and history."""
    moves, ranks, killers = workspace.moves[ply], workspace.promises[ply], workspace.killers[ply]
    with_history, count = workspace.history.shape[1] > 0, 0
    for given in game.generate_moves(position):
        move = whole(given)
        if count == len(moves):
            workspace.counts[TROUBLE] = MANY_MOVES
            return 0
        rank = whole(game.promise(position, move)) << RANK_SHIFT
        if move == first:
            rank = HASH_MOVE_FIRST
        elif with_history and (move == killers[0] or move == killers[1]):
            rank += KILLER_RANK if move == killers[0] else KILLER_RANK - 1
        elif with_history:
            rank += workspace.history[ply & 1, move & (HISTORY - 1)]
        i = count  # insertion sort
        while i > 0 and ranks[i - 1] < rank:
            moves[i], ranks[i] = moves[i - 1], ranks[i - 1]
            i -= 1
        moves[i], ranks[i] = move, rank
        count += 1
    return count


@lean_kernel
def max_n(game, position, depth, ply, scoring, workspace):
    """Write to `shares[ply, 0]` what each player gets if each maximises their own share; void if `counts[TROUBLE]` is
    set."""
    counts, shares, best_shares = workspace.counts, workspace.shares[ply, 0], workspace.shares[ply, 1]
    counts[NODES] += 1
    # Step 1: the game is over, or the depth is reached and the position is quiet.
    if whole(game.primitive(position)) != UNDECIDED:
        for player in range(game.players):
            shares[player] = whole(game.payoff(position, player))
        return
    turn = whole(game.turn(position))
    if depth <= -scoring.quiescence or (depth <= 0 and game.quiet(position)):
        counts[ESTIMATED] = 1
        # The estimate is for the player to move (at chance's turn, player 0). All others share it as a loss.
        points = estimate_of(game, position, scoring.estimate) / POINT
        for player in range(game.players):
            shares[player] = points if player == max(0, turn) else -points / (game.players - 1)
        return
    if workspace.stop[0]:
        counts[TROUBLE] = STOPPED
        return
    # Step 2: search every move; add what it pays to what follows.
    count = write_moves(game, position, NO_MOVE, ply, workspace)
    total = write_odds(game, position, count, ply, workspace)
    for player in range(game.players):
        best_shares[player] = 0.0
    for i in range(count):
        move = workspace.moves[ply, i]
        max_n(game, as_position(game.do_move(position, move)), depth - 1, ply + 1, scoring, workspace)
        if counts[TROUBLE]:
            return
        child_shares = workspace.shares[ply + 1, 0]
        for player in range(game.players):
            child_shares[player] += whole(game.reward(position, move, player))
        # Chance takes the weighted sum; a player takes the first move with the greatest own share.
        if total:
            for player in range(game.players):
                best_shares[player] += workspace.promises[ply, i] * child_shares[player]
        elif i == 0 or child_shares[turn] > best_shares[turn]:
            for player in range(game.players):
                best_shares[player] = child_shares[player]
    # Step 3: the mean for chance.
    for player in range(game.players):
        shares[player] = best_shares[player] / total if total else best_shares[player]


@kernel
def find_hints(game, position, moves, promises):
    """Write the promise of each move. Return (estimate, whether the position is quiet, least plies, best value)."""
    for i in range(len(moves)):
        promises[i] = whole(game.promise(position, moves[i]))
    estimate, quiet = whole(game.estimate(position)), whole(game.quiet(position))
    return estimate, quiet, whole(game.least_plies(position)), whole(game.at_best(position))


# To count positions, by value


@lean_kernel
def minimax(game, position, depth, estimate, counts):
    """Return the score of a position by a search of everything to a depth, with this kind of estimate."""
    counts[NODES] += 1
    if whole(game.primitive(position)) != UNDECIDED:
        return value_of_end(game, position)
    if depth <= 0:
        return estimate_of(game, position, estimate)
    best = -FAR
    for move in game.generate_moves(position):
        child = as_position(game.do_move(position, move))
        score = minimax(game, child, depth - 1, estimate, counts)
        best = max(best, nearer(-score if turns(game, position, child) else score))
    return best


@lean_kernel
def sort_by_minimax(game, position, count, depth, ply, scoring, workspace):
    """Sort the moves of a position by their minimax score, best or worst first, and count no positions. The scores
    replace the promises."""
    moves, scores = workspace.moves[ply], workspace.promises[ply]
    nodes_before = workspace.counts[NODES]
    for i in range(count):
        move = moves[i]
        child = as_position(game.do_move(position, move))
        score = minimax(game, child, depth - 1, scoring.estimate, workspace.counts)
        score = -score if turns(game, position, child) else score
        score = score if scoring.order == BEST else -score
        j = i
        while j > 0 and scores[j - 1] < score:
            moves[j], scores[j] = moves[j - 1], scores[j - 1]
            j -= 1
        moves[j], scores[j] = move, score
    workspace.counts[NODES] = nodes_before
