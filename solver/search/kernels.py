"""The compiled search: negamax with null windows over the plain rules of any game.

`at_least` answers one question: is a position worth at least *bound* (see `bounds.py`)? A move proves it if its child
is not worth `for_child(bound)` to the opponent. If no move does, the question is refuted. An answer rests only on
finished answers and on ends of the game, never on a position still on the search path. So cycles cannot produce a
wrong answer: a search that runs in a circle gets deeper until it gives up (TOO_DEEP).

Move ordering: first the hash move, then by the game's `promise`. If the game defines no `promise`, by the history
heuristic (Schaeffer, 1989), with the changed bits of the position in place of the move. History added to promises made
the search of Connect Four three to five times slower, so history is not updated then.

Kernels pass raw addresses instead of arrays (see `memory.py`). The workspace of a thread has a row for each ply,
with PARTS words for each child::

    row of a ply:   | child 0: CHILD NUMBER COUNTER KEY GOOD | child 1: … | …
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.games.contract.game import DRAW, LOSE, POSITION_LIMIT, TIE, WIN, Game, Traits
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import whole
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.endgame_tables import DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.hashing import hash_of, permute
from retrograde.solver.search.memory import prefetch, words_at
from retrograde.solver.search.table import BEST_BITS, TranspositionTable

Array = np.ndarray[Any, Any]

NODES, TROUBLE, POSITION, ENDS, IN_TABLES, STOP, MOST_NODES, SHARED, HISTORY = range(9)
"""Indices into the `counters` of a thread, int64[].

    NODES       positions searched
    TROUBLE     why the search gave up, 0 if it did not
    POSITION    the position at which it gave up
    ENDS        kinds of drawn ends met: bits DRAWS and TIES
    IN_TABLES   positions found in endgame tables
    STOP        nonzero to stop
    MOST_NODES  node limit
    SHARED      address of the memory that threads share, or 0
    HISTORY     start of the history table
"""
CHILD, NUMBER, COUNTER, KEY, GOOD = range(5)
"""Fields of a child in a row of the workspace.

    CHILD       the position
    NUMBER      number of the move to it
    COUNTER     index of its history counter in `counters`
    KEY         key in the transposition table
    GOOD        move ordering score; before `put_in_order`, the move itself
"""
PARTS = 5
DRAWS, TIES = 1, 2
STOPPED, NODE_LIMIT, TOO_DEEP, TOO_WIDE, MANY_MOVES, BROKEN = range(1, 7)
"""Why a search gave up.

    STOPPED     out of time, or another thread has the answer
    NODE_LIMIT  node limit reached
    TOO_DEEP    deeper than the workspace
    TOO_WIDE    a position too long for the table
    MANY_MOVES  more moves than the workspace holds
    BROKEN      rules that return no valid position
"""
HISTORY_BITS = 12
SHARED_BITS, SHARED_PLIES = 14, 32
"""Size of the memory that threads share.

log2 of the slots in which threads publish the positions they search; and the number of plies from the root where they
do so.
"""
MOST_LATE = 62
"""Number of moves that can be deferred because another thread searches them: one bit each in an int64."""
TRIED = -(1 << 62)
"""Value of GOOD for a child that was searched without success."""
NO_BEST = (1 << BEST_BITS) - 1
NO_KEY, UNSEEN = -1, -2
ANY_NUMBER = 1 << 62


class SearchMemory(NamedTuple):
    """What a thread searches with: layout and address of the transposition table (see `table.py`), and its workspace.

    `plies` and `moves` are the size of the workspace. `table`, `rows` and `counters` are addresses of int64 words, and
    `endgame_tables` is one or None (see `endgame_tables.py`).
    """

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int
    plies: int
    moves: int
    table: int
    rows: int
    counters: int
    endgame_tables: int | None


class ThreadWorkspace(NamedTuple):
    """A thread's workspace: `rows` int64[plies, moves, parts], and `counters` int64[HISTORY + 2 × 2^HISTORY_BITS].

    Kernels receive the addresses of these arrays (see `memory.py`) and of the table's words.
    """

    rows: Array
    counters: Array


def make_shared() -> Array:
    """Return the memory, int64[2^SHARED_BITS], in which threads publish the positions they search."""
    return np.full(1 << SHARED_BITS, NO_KEY, np.int64)


def make_workspace(plies: int, moves: int, shared: Array | None = None, parts: int = PARTS) -> ThreadWorkspace:
    """Return the workspace of one thread for searches of *plies* plies and *moves* moves.

    *shared* is the memory of `make_shared`, or None for a single thread.
    """
    counters = np.zeros(HISTORY + (2 << HISTORY_BITS), np.int64)
    counters[MOST_NODES] = ANY_NUMBER
    counters[SHARED] = 0 if shared is None else shared.ctypes.data
    return ThreadWorkspace(np.empty((plies, moves, parts), np.int64), counters)


def memory_of(table: TranspositionTable, workspace: ThreadWorkspace) -> SearchMemory:
    """Return what kernels need to know of a table and a workspace. Keep both alive while kernels run."""
    addresses = table.words.ctypes.data, workspace.rows.ctypes.data, workspace.counters.ctypes.data
    plies, moves = workspace.rows.shape[:2]
    return SearchMemory(*table.layout, plies, moves, *addresses, table.endgame_tables)


def at_least(game: Game, position: int, bound: int, table: TranspositionTable, workspace: ThreadWorkspace) -> bool:
    """Return whether an undecided position is worth at least *bound*; also False if the search gives up."""
    far = table.layout.far
    if bound >= far or bound <= 1 - far:
        return bound < far
    with compilable(game):
        return bool(prove_bound(rules_for(game), position, NO_KEY, bound, UNSEEN, 0, memory_of(table, workspace)))


@kernel
def prove_bound(game, position, key, bound, count, ply, memory):
    """Return whether a position is worth at least *bound*; it means nothing if the search gives up.

    *count* is UNSEEN, or the caller has already called `look_ahead`: then no end one move ahead decides the question,
    and *count* undecided children stand in the row of this *ply*. *key* may be NO_KEY if it is not computed yet.
    """
    far, mark, begun = memory.far, words_at(memory.counters), ply
    # Step 1: generate the children, unless the caller did, and follow forced moves.
    answer = False
    if count < 2:
        answer, position, key, bound, ply, count = expand(game, position, key, bound, count, ply, memory)
    turned = (ply - begun) & 1 == 1  # the question is about the other player now
    if count == 0:
        return answer != turned
    # Step 2: answer without search if the bound is out of range; give up if the workspace is full.
    asked = for_child(bound)
    if is_trivial(asked, far):
        return (asked >= far) != turned
    if count < 0 or must_give_up(position, ply + 1, memory):
        return False
    # Step 3: probe the transposition table.
    if key == NO_KEY:
        key = key_of(game, position, memory)
        if key == NO_KEY:
            return False
    low, high, best = bounds_of(find(key, memory), memory)
    if low >= bound or high < bound:
        return (low >= bound) != turned
    # Step 4: sort the moves. Table entries of children may already answer the question.
    proved, count = put_in_order(game, position, asked, count, best, ply, memory)
    if proved or count < 0:
        return proved != turned
    # Step 5: search the children. The first pass defers those that another thread searches now (bits of *late*); the
    # second pass searches the deferred ones.
    best, late, row = NO_BEST, 0, row_of(ply, memory)
    for again in range(2):
        for i in range(count):
            child, its_key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
            if skips_child(i, again, late, its_key, ply, mark):
                late |= 0 if again else 1 << i
                continue
            # An end one ply below the child may prove its question: then this move fails, without recursion.
            mark[NODES] += 1
            decided, more = look_ahead(game, child, asked, ply + 1, memory)
            if decided:
                continue
            publish(its_key, ply, mark)
            # A child without a proving end and without undecided children fails its question. That proves this one.
            proved = more == 0 or not prove_bound(game, child, its_key, asked, more, ply + 1, memory)
            unpublish(its_key, ply, mark)
            if mark[TROUBLE]:
                return False
            if proved:
                best = row[PARTS * i + NUMBER]
                break
            row[PARTS * i + GOOD] = TRIED
        if proved or late == 0:
            break
    # Step 6: update the history heuristic and store the bound that was proved.
    if proved and not has_promise(game):
        update_history(best, count, row, mark)
    store_answer(key, bound, proved, best, memory)
    return proved != turned


@kernel
def expand(game, position, key, bound, count, ply, memory):
    """Generate the children of a position, unless *count* is known, and follow forced moves.

    Return (answer, position, key, bound, ply, number of children). The answer counts if the number is 0. The number is
    below 0 if the search gives up. Following stops at a position with no or several undecided children, at a trivial
    bound, or if the workspace is full.
    """
    answer, mark = False, words_at(memory.counters)
    if count == UNSEEN and not must_give_up(position, ply, memory):
        mark[NODES] += 1
        answer, count = look_ahead(game, position, bound, ply, memory)
    # A single undecided child: no recursion and no table entry.
    while count == 1:
        asked = for_child(bound)
        if is_trivial(asked, memory.far) or must_give_up(position, ply + 1, memory):
            break
        position, key, bound, ply = row_of(ply, memory)[CHILD], NO_KEY, asked, ply + 1
        mark[NODES] += 1
        answer, count = look_ahead(game, position, bound, ply, memory)
    return answer, position, key, bound, ply, count


@kernel
def look_ahead(game, position, bound, ply, memory):
    """Return whether an end one move ahead proves the question, and the number of undecided children.

    It writes these children and their moves to the row of *ply*. The number is negative if the search gives up.
    """
    count, row, mark = 0, row_of(ply, memory), words_at(memory.counters)
    for move in game.generate_moves(position):
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            mark[TROUBLE], mark[POSITION] = BROKEN, position
            return False, -1
        value = whole(game.primitive(child))
        # Case: the child is lost for the opponent, so the player to move wins.
        if value == LOSE:
            return True, 0
        # Case: a drawn end, which is enough if the question is "no loss".
        if value in (TIE, DRAW):
            mark[ENDS] |= TIES if value == TIE else DRAWS
            if bound <= 0:
                return True, 0
        elif value != WIN:
            # Case: the game goes on. Probe the endgame tables, if any, as if the child were an end.
            worth = probe_tables(game, child, memory.far, memory.endgame_tables)
            if worth != UNKNOWN:
                mark[IN_TABLES] += 1
                if worth in (0, DRAWN):
                    mark[ENDS] |= DRAWS if worth else TIES
                    worth = 0
                if worth < for_child(bound):
                    return True, 0
                continue
            # Keep the child for the search. GOOD holds its move until `put_in_order`.
            if count == memory.moves:
                mark[TROUBLE], mark[POSITION] = MANY_MOVES, position
                return False, -1
            row[PARTS * count + CHILD], row[PARTS * count + GOOD] = child, move
            count += 1
    return False, count


@kernel
def is_trivial(bound, far):
    """Return whether all undecided positions have the same answer to this question."""
    return bound >= far or bound <= 1 - far


@kernel
def must_give_up(position, ply, memory):
    """Return whether the search must give up, and write the reason.

    Reasons: it is stopped, it reached its node limit, or the workspace has no row for *ply*.
    """
    mark = words_at(memory.counters)
    if not mark[STOP] and ply < memory.plies and mark[NODES] <= mark[MOST_NODES]:
        return False
    mark[TROUBLE], mark[POSITION] = TOO_DEEP, position
    if mark[STOP]:
        mark[TROUBLE] = STOPPED
    elif mark[NODES] > mark[MOST_NODES]:
        mark[TROUBLE] = NODE_LIMIT
    return True


def has_promise(game: Game) -> bool:
    """Return whether the game defines `promise`."""
    return Traits.of(game).has_promise


@overload(has_promise)
def _(game):
    return lambda game: game.has_promise != 0


@kernel
def update_history(best, count, row, mark):
    """Update the history heuristic after move number *best* proved the question.

    Each child that was searched without success loses 1. The best move gains as many points as there were such
    children.
    """
    tried = counter = 0
    for i in range(count):
        if row[PARTS * i + GOOD] == TRIED:
            mark[row[PARTS * i + COUNTER]] -= 1
            tried += 1
        elif row[PARTS * i + NUMBER] == best:
            counter = row[PARTS * i + COUNTER]
    mark[counter] += tried


# Cooperation of threads: they publish the positions they search


@kernel
def is_elsewhere(key, ply, mark):
    """Return whether another thread searches this position now, so that other moves should come first."""
    return mark[SHARED] != 0 and ply < SHARED_PLIES and words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] == key


@kernel
def publish(key, ply, mark):
    """Publish that this thread searches a position. The slot is the low bits of its key."""
    if mark[SHARED] != 0 and ply < SHARED_PLIES:
        words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] = key


@kernel
def unpublish(key, ply, mark):
    """Clear the slot, unless another thread has overwritten it."""
    if mark[SHARED] != 0 and ply < SHARED_PLIES and words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] == key:
        words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] = NO_KEY


@kernel
def skips_child(i, again, late, key, ply, mark):
    """Return whether a pass over the children leaves out child number *i*.

    The first pass leaves out what another thread searches now. The second pass, *again*, searches only these, the bits
    of *late*.
    """
    if again:
        return late >> min(i, MOST_LATE) & 1 == 0
    return 0 < i < MOST_LATE and is_elsewhere(key, ply, mark)


@kernel
def row_of(ply, memory):
    """Return the workspace row of a ply; 8 bytes a word."""
    return words_at(memory.rows + 8 * PARTS * ply * memory.moves)


@kernel
def for_child(bound):
    """Return the bound for the children: the parent reaches *bound* if a child does not reach this.

    Win within n plies becomes "not lose within n - 1" for the child, and the other way round. See `bounds.py`.
    """
    if bound > 1:
        return -bound
    return 1 - bound if bound >= 0 else 2 - bound


@kernel
def write_keys(game, count, ply, memory):
    """Write the table keys of a ply's children and prefetch their buckets; return False if the search gives up."""
    row = row_of(ply, memory)
    for i in range(count):
        key = key_of(game, row[PARTS * i + CHILD], memory)
        if key == NO_KEY:
            return False
        row[PARTS * i + KEY] = key
        prefetch(memory.table, bucket_of(key, memory))
    return True


@kernel
def put_in_order(game, position, asked, count, best, ply, memory):
    """Return whether a table entry of a child proves the question, and the number of children left to search.

    It sorts the children by move ordering score; the hash move, number *best*, comes first. It removes children that
    already reach *asked*, since they cannot prove the question. The number is negative if the search gives up.
    """
    row, mark = row_of(ply, memory), words_at(memory.counters)
    if not write_keys(game, count, ply, memory):
        return False, -1
    # The history has two halves, for even and odd plies.
    side = HISTORY + ((ply & 1) << HISTORY_BITS)
    kept = 0
    for i in range(count):
        child, key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
        # Enhanced transposition cutoff: probe each child before any is searched.
        low, high, _ = bounds_of(find(key, memory), memory)
        if high < asked:
            return True, 0
        if low >= asked:
            continue
        counter = side + hash_of(position ^ child, HISTORY_BITS)
        good = mark[counter] + whole(game.promise(position, row[PARTS * i + GOOD]))
        # Insertion sort; rows are short. Removed children leave a gap, so row j is always free.
        j = kept - 1
        while j >= 0 and row[PARTS * j + NUMBER] != best and (i == best or row[PARTS * j + GOOD] < good):
            for part in range(PARTS):
                row[PARTS * (j + 1) + part] = row[PARTS * j + part]
            j -= 1
        row[PARTS * (j + 1) + CHILD], row[PARTS * (j + 1) + NUMBER] = child, min(i, NO_BEST)
        row[PARTS * (j + 1) + COUNTER], row[PARTS * (j + 1) + KEY], row[PARTS * (j + 1) + GOOD] = counter, key, good
        kept += 1
    return False, kept


# The transposition table


@kernel
def key_of(game, position, memory):
    """Return the table key of a position's canonical image; NO_KEY if the search gives up.

    The key is a permutation of the canonical position, so different positions have different keys.
    """
    least, _ = canonical(game, position)
    if 0 <= least < 1 << memory.position_bits:
        return permute(least, memory.position_bits)
    mark = words_at(memory.counters)
    mark[TROUBLE], mark[POSITION] = (BROKEN, position) if least < 0 else (TOO_WIDE, least)
    return NO_KEY


@kernel
def store_answer(key, bound, proved, best, memory):
    """Store whether a position is worth at least *bound*, and its best move."""
    store(key, bound if proved else -memory.far, memory.far if proved else bound - 1, best, memory)


@kernel
def bucket_of(key, memory):
    """Return the index of the first word of the key's bucket."""
    return (key & (1 << memory.bucket_bits) - 1) << 1


@kernel
def find(key, memory):
    """Return the word of a key in the transposition table, or 0."""
    bucket = bucket_of(key, memory)
    rest = key >> memory.bucket_bits
    shift = 2 * memory.bound_bits + BEST_BITS
    for slot in (bucket, bucket + 1):
        word = words_at(memory.table)[slot]
        if word and word >> shift == rest:
            return word
    return 0


@kernel
def bounds_of(word, memory):
    """Return (lower bound, upper bound, number of the best move) of a table word."""
    bits, far = memory.bound_bits, memory.far
    if word == 0:
        return -far, far, NO_BEST
    mask = (1 << bits) - 1
    return (word & mask) - far, (word >> bits & mask) - far, word >> 2 * bits & NO_BEST


@kernel
def store(key, low, high, best, memory):
    """Store bounds and best move of a key, combined with what the table knows already.

    The newest entry comes first in its bucket. The former first entry moves to the second slot, unless it is the same
    position.
    """
    bits, far = memory.bound_bits, memory.far
    known = bounds_of(find(key, memory), memory)
    low, high = max(low, known[0]), min(high, known[1])
    if best == NO_BEST:
        best = known[2]
    word = key >> memory.bucket_bits << 2 * bits + BEST_BITS | best << 2 * bits | high + far << bits | low + far
    bucket, table = bucket_of(key, memory), words_at(memory.table)
    before = table[bucket]
    if before >> 2 * bits + BEST_BITS != key >> memory.bucket_bits:
        table[bucket + 1] = before
    table[bucket] = word
