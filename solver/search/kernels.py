"""The compiled search: negamax with null windows over the plain rules of any game.

`at_least` answers one question: is a position worth at least *bound* (see `bounds.py`)? A move proves it if its child
is not worth `bound_for_child(bound)` to the opponent. If no move does, the question is refuted. An answer rests only on
finished answers and on ends of the game, never on a position still on the search path. So cycles cannot produce a
wrong answer: a search that runs in a circle gets deeper until it gives up (TOO_DEEP).

Move ordering: first the hash move, then by the game's `promise`. If the game defines no `promise`, by the history
heuristic (Schaeffer, 1989), with the changed bits of the position in place of the move. History added to promises made
the search of Connect Four three to five times slower, so history is not updated then.

Kernels pass raw addresses instead of arrays (see `memory.py`): `memory` is a SearchMemory. `ply` counts from the root.
The workspace of a thread has a row for each ply, with a word for each field of a child, and as many as a position has
for the child and for its key. A child takes *stride* words, so field RANK of child i is `row[stride * i + RANK]`::

    row of a ply:   | child 0: NUMBER COUNTER RANK CHILD key | child 1: … | …
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from retrograde.games.contract.game import DRAW, LOSE, MOST_WORDS, TIE, WIN, Game, Traits, is_none
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import as_position, no_position, position_in, put, stands_at, whole
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.bounds import ANY_WIN, DEEPENING, NO_LOSS, ONE_QUESTION, SOON, SOON_FIRST
from retrograde.solver.search.endgame_tables import DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.hashing import hash_of, permute
from retrograde.solver.search.memory import changed_bits, prefetch, words_at, words_of
from retrograde.solver.search.table import BEST_BITS, TranspositionTable

NODES, TROUBLE, ENDS, IN_TABLES, STOP, MOST_NODES, SHARED, POSITION = range(8)
"""Indices into the `counters` of a thread, int64[].

    NODES       positions searched
    TROUBLE     why the search gave up, 0 if it did not
    ENDS        kinds of drawn ends met: bits DRAWS and TIES
    IN_TABLES   positions found in endgame tables
    STOP        nonzero to stop
    MOST_NODES  node limit
    SHARED      address of the memory that threads share, or 0
    POSITION    the position at which it gave up: up to MOST_WORDS words
    HISTORY     start of the history table
"""
HISTORY = POSITION + MOST_WORDS
NUMBER, COUNTER, RANK, CHILD = range(4)
"""Fields of a child in a row of the workspace.

    NUMBER      number of the move to it
    COUNTER     index of its history counter in `counters`
    RANK        move ordering: the greatest first; before `sort_children`, the move itself
    CHILD       the position, and behind it its key in the transposition table
"""
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
MOST_DEFERRED = 62
"""Number of moves that can be deferred because another thread searches them: one bit each in an int64."""
TRIED = -(1 << 62)
"""Value of RANK for a child that was searched without success."""
NO_BEST = (1 << BEST_BITS) - 1
NO_KEY, UNSEEN = -1, -2
"""In `SHARED`: no published position. As a count of children: they are not generated yet."""
NO_LIMIT = 1 << 62
"""A node limit that no search reaches."""


class SearchMemory(NamedTuple):
    """A table's layout (see `table.py`), a workspace's size (`plies` × `moves`), and addresses of int64 words."""

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
    """A thread's workspace: `rows` int64[plies, moves, stride], and `counters` int64[HISTORY + 2 × 2^HISTORY_BITS]."""

    rows: Array
    counters: Array


def make_workspace(plies: int, moves: int, stride: int, shared: Array | None = None) -> ThreadWorkspace:
    """Return the workspace of a thread, for *plies* plies and *moves* children of *stride* words each. Threads publish
    in *shared* the positions they search: int64[2^SHARED_BITS] of NO_KEY. It is None for one thread."""
    counters = np.zeros(HISTORY + (2 << HISTORY_BITS), np.int64)
    counters[MOST_NODES] = NO_LIMIT
    counters[SHARED] = 0 if shared is None else shared.ctypes.data
    return ThreadWorkspace(np.empty((plies, moves, stride), np.int64), counters)


def memory_of(table: TranspositionTable, workspace: ThreadWorkspace) -> SearchMemory:
    """Return the SearchMemory of a table and a workspace. Keep both alive while kernels run."""
    addresses = table.words.ctypes.data, workspace.rows.ctypes.data, workspace.counters.ctypes.data
    plies, moves = workspace.rows.shape[:2]
    return SearchMemory(*table.layout, plies, moves, *addresses, table.endgame_tables)


def at_least(game: Game, position: int, bound: int, table: TranspositionTable, workspace: ThreadWorkspace) -> bool:
    """Return whether an undecided position is worth at least *bound*; also False if the search gives up."""
    far = table.layout.far  # more plies than the table can hold: a win in n is worth far - n (see `bounds.py`)
    if bound >= far or bound <= 1 - far:  # no position reaches the former, and all undecided ones reach the latter
        return bound < far
    return bounds_from(game, position, bound, ONE_QUESTION, False, table, workspace)[0] >= bound


def bounds_from(
    game: Game,
    position: int,
    bound: int,
    order: int,
    distance: bool,
    table: TranspositionTable,
    workspace: ThreadWorkspace,
) -> tuple[int, int]:
    """Return (low, high) bounds of an undecided position's worth, by questions from *bound* on.

    *order* (see `bounds.py`) and *distance* say which questions follow; see `next_bound`.
    """
    memory, key, far = memory_of(table, workspace), no_position(position), table.layout.far
    with compilable(game):
        low, high = narrow_bounds(rules_for(game), position, key, bound, (1 - far, far - 1), order, distance, memory)
    return int(low), int(high)


@register_jitable
def next_bound(low, high, order, distance, far):
    """Return the next question about a position worth *low* to *high*; *far* if nothing is left to ask.

    *order* is one of those in `bounds.py`. Without *distance*, nothing is left once the value is known.

    >>> [next_bound(-98, high, SOON_FIRST, True, 99) for high in (98, 90)]  # win within 8? loss within 8?
    [91, -90]
    >>> next_bound(83, 90, SOON_FIRST, True, 99)  # a win within 16 and not within 8: within 12?
    87
    """
    # The player to move cannot force a win within *unwon* plies, nor the opponent within *unlost*. The bound
    # far - plies asks "win within plies?", and plies + 1 - far "no loss within plies?" (see `bounds.py`).
    unwon, unlost = far - high - 1, low + far - 1
    if low == high or order == ONE_QUESTION or (not distance and (low > 0 or high < 0)):
        return far
    # Case: a win or a loss. Double the plies until they suffice, then do a binary search between the last two.
    if low > 0 or high < 0:
        few, many = (unwon, far - low) if low > 0 else (unlost, high + far)  # few do not suffice, many do
        plies = (few + many) // 2 if many < far - 1 else max(SOON[0], 2 * few)
        if plies >= far - 1:
            return far  # farther than the table can hold
        return far - plies if low > 0 else plies + 1 - far
    # Case: the value is unknown, and play may repeat.
    if order == DEEPENING:
        plies = min(unwon, unlost) + 1
        if plies >= far - 1:
            return far
        return far - plies if unwon < plies else plies + 1 - far
    # Case: the value is unknown. Wins and losses that are near take few positions to find.
    if order == SOON_FIRST:
        for plies in SOON:
            if min(unwon, unlost) < plies < far - 1:
                return far - plies if unwon < plies else plies + 1 - far
    return ANY_WIN if high > 0 else NO_LOSS


@kernel
def narrow_bounds(game, position, key, bound, bounds, order, distance, memory):
    """Narrow the *bounds* (low, high) of a position's worth, by questions from *bound* on; return what is left. Stops
    early if `counters[TROUBLE]` is set. *key* may be `no_position`, as in `prove_bound`."""
    low, high = bounds
    while bound < memory.far:  # `next_bound` returns *far* if nothing is left to ask
        answer = prove_bound(game, position, key, bound, np.int64(UNSEEN), np.int64(0), memory)
        if words_at(memory.counters)[TROUBLE]:
            break
        low, high = (bound, high) if answer else (low, bound - 1)
        bound = next_bound(low, high, order, distance, memory.far)
    return low, high


@kernel
def prove_bound(game, position, key, bound, count, ply, memory):
    """Return whether a position is worth at least *bound*; meaningless if `counters[TROUBLE]` is set.

    *count* is UNSEEN if the children are not generated yet. Otherwise the caller has called `look_ahead`: no end
    decided the question, and *count* undecided children are in the row of this *ply*. *key* may be `no_position` if it
    is not computed yet.
    """
    far, counters, first_ply = memory.far, words_at(memory.counters), ply
    # Step 1: generate the children, unless the caller did, and follow forced moves.
    answer = False
    if count < 2:  # UNSEEN (-2), or a single child: a forced move
        answer, position, key, bound, ply, count = expand(game, position, key, bound, count, ply, memory)
    flipped = ((ply - first_ply) & 1) == 1  # the question is about the other player now, so its answer is negated
    if count == 0:  # ends alone give the answer
        return answer != flipped
    # Step 2: answer without search if the bound is out of range; give up if the workspace is full.
    child_bound = bound_for_child(bound)
    if is_trivial(child_bound, far):
        return (child_bound >= far) != flipped
    if count < 0 or must_give_up(position, ply + 1, memory):  # a negative count: `expand` gave up
        return False  # TROUBLE is set, so this is no answer
    # Step 3: probe the transposition table.
    if is_none(key):
        key = table_key(game, position, memory)
        if is_none(key):
            return False
    low, high, best = bounds_of(find(key, memory), memory)
    if low >= bound or high < bound:
        return (low >= bound) != flipped
    # Step 4: sort the moves. Table entries of children may already answer the question.
    proved, count = sort_children(game, position, child_bound, count, best, ply, memory)
    if proved or count < 0:
        return proved != flipped
    # Step 5: search the children. The first pass defers those that another thread searches now: bit i of *deferred* is
    # child i. The second pass searches the deferred ones.
    best, deferred, row, stride = NO_BEST, 0, row_of(game, ply, memory), words_per_child(game)
    for second_pass in range(2):
        for i in range(count):
            child, child_key = child_at(game, row, i), key_at(game, row, i)
            if skips_child(i, second_pass, deferred, child_key, ply, counters):
                deferred |= 0 if second_pass else 1 << i
                continue
            # An end one ply below the child may prove its question: then this move fails, without recursion.
            counters[NODES] += 1
            child_proved, grandchildren = look_ahead(game, child, child_bound, ply + 1, memory)
            if child_proved:
                continue
            publish(child_key, ply, counters)
            # A child without a proving end and without undecided children fails its question. That proves this one.
            proved = grandchildren == 0 or not prove_bound(
                game, child, child_key, child_bound, grandchildren, ply + 1, memory
            )
            unpublish(child_key, ply, counters)
            if counters[TROUBLE]:  # the child's search gave up
                return False
            if proved:
                best = row[stride * i + NUMBER]
                break
            row[stride * i + RANK] = TRIED
        if proved or deferred == 0:
            break
    # Step 6: update the history heuristic and store the bound that was proved.
    if proved and not has_promise(game):
        update_history(best, count, row, stride, counters)
    store_answer(key, bound, proved, best, memory)
    return proved != flipped


@kernel
def expand(game, position, key, bound, count, ply, memory):
    """Generate the children of a position, unless *count* is known, and follow forced moves.

    Return (answer, position, key, bound, ply, count) where following stops. The answer is that of the last position if
    count is 0; count is below 0 if the search gives up.
    """
    answer, counters = False, words_at(memory.counters)
    if count == UNSEEN and not must_give_up(position, ply, memory):
        counters[NODES] += 1
        answer, count = look_ahead(game, position, bound, ply, memory)
    # A single undecided child: no recursion and no table entry.
    while count == 1:
        child_bound = bound_for_child(bound)
        if is_trivial(child_bound, memory.far) or must_give_up(position, ply + 1, memory):
            break
        position, key = child_at(game, row_of(game, ply, memory), 0), no_position(position)
        bound, ply = child_bound, ply + 1
        counters[NODES] += 1
        answer, count = look_ahead(game, position, bound, ply, memory)
    return answer, position, key, bound, ply, count


@kernel
def look_ahead(game, position, bound, ply, memory):
    """Return (proved, count): whether a child answers the question at once, and how many children are undecided.

    A child answers it as an end, by endgame tables, or by what the rules know of it (`at_best`). Undecided children and
    their moves are written to the row of *ply*. The count is -1 if the search gives up.
    """
    count, row, counters, stride = 0, row_of(game, ply, memory), words_at(memory.counters), words_per_child(game)
    for move in game.generate_moves(position):
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            give_up(BROKEN, position, counters)
            return False, -1
        value = whole(game.primitive(child))
        # Case: the child is lost for the opponent, so the player to move wins.
        if value == LOSE:
            return True, 0
        # Case: a drawn end, which is enough if the question is "no loss".
        if value in (TIE, DRAW):
            counters[ENDS] |= TIES if value == TIE else DRAWS
            if bound <= 0:
                return True, 0
        elif value != WIN:
            # Case: the game goes on. Probe the endgame tables, if any, as if the child were an end. (An end that the
            # opponent wins is no use to the player to move.)
            worth = probe_tables(game, child, memory.far, memory.endgame_tables)
            if worth != UNKNOWN:
                counters[IN_TABLES] += 1
                if worth in (0, DRAWN):  # a tie is worth 0, and so is a draw from here on
                    counters[ENDS] |= DRAWS if worth == DRAWN else TIES
                    worth = 0
                if worth < bound_for_child(bound):
                    return True, 0
                continue
            # Case: the rules know that the opponent does not win, or loses. That may be enough.
            best = whole(game.at_best(child)) if has_at_best(game) else whole(WIN)
            if best == LOSE and bound <= ANY_WIN:
                return True, 0
            if best in (TIE, DRAW) and bound <= NO_LOSS:
                counters[ENDS] |= TIES if best == TIE else DRAWS
                return True, 0
            # Keep the child for the search. RANK holds its move until `sort_children`.
            if count == memory.moves:
                give_up(MANY_MOVES, position, counters)
                return False, -1
            put(row, stride * count + CHILD, child)
            row[stride * count + RANK] = move
            count += 1
    return False, count


@kernel
def is_trivial(bound, far):
    """Return whether all undecided positions have the same answer to this question: no from *far* on, else yes."""
    return bound >= far or bound <= 1 - far


@kernel
def must_give_up(position, ply, memory):
    """Return whether the search is stopped, at its node limit, or deeper than the workspace; if so, record why."""
    counters = words_at(memory.counters)
    if not counters[STOP] and ply < memory.plies and counters[NODES] <= counters[MOST_NODES]:
        return False
    trouble = NODE_LIMIT if counters[NODES] > counters[MOST_NODES] else TOO_DEEP
    give_up(STOPPED if counters[STOP] else trouble, position, counters)
    return True


@kernel
def give_up(trouble, position, counters):
    """Record why the search gives up, and at which position."""
    counters[TROUBLE] = trouble
    put(counters, POSITION, position)


def has_promise(game: Game) -> bool:
    """Return whether the rules define `promise`, which ranks moves."""
    return Traits.of(game).has_promise


@overload(has_promise)
def compile_has_promise(game):
    return lambda game: game.has_promise != 0


def has_at_best(game: Game) -> bool:
    """Return whether the rules define `at_best`, which may answer without a search."""
    return Traits.of(game).has_at_best


@overload(has_at_best)
def compile_has_at_best(game):
    return lambda game: game.has_at_best != 0


@kernel
def update_history(best, count, row, stride, counters):
    """Update the history heuristic after a cutoff by move number *best*. The counter of each child that was searched in
    vain loses 1, and that of *best* gains what they lose in all."""
    tried = best_counter = 0
    for i in range(count):
        if row[stride * i + RANK] == TRIED:
            counters[row[stride * i + COUNTER]] -= 1
            tried += 1
        elif row[stride * i + NUMBER] == best:
            best_counter = row[stride * i + COUNTER]
    counters[best_counter] += tried


# Cooperation of threads: they publish the positions they search


@kernel
def publish(key, ply, counters):
    """Publish that this thread searches a position, near enough to the root."""
    if counters[SHARED] != 0 and ply < SHARED_PLIES:
        words_at(counters[SHARED])[shared_slot(key)] = key_of(key)


@kernel
def shared_slot(key):
    """Return the index at which threads publish a position: the low bits of its key."""
    return key_of(key) & ((1 << SHARED_BITS) - 1)


@kernel
def is_published(key, ply, counters):
    """Return whether a thread, this one or another, searches a position now."""
    return counters[SHARED] != 0 and ply < SHARED_PLIES and words_at(counters[SHARED])[shared_slot(key)] == key_of(key)


@kernel
def unpublish(key, ply, counters):
    """Withdraw a published position, unless another thread has overwritten its slot."""
    if is_published(key, ply, counters):
        words_at(counters[SHARED])[shared_slot(key)] = NO_KEY


@kernel
def skips_child(i, second_pass, deferred, key, ply, counters):
    """Return whether this pass over the children skips child *i*. The first pass skips those that another thread
    searches. The second pass (*second_pass* is 1) searches only these: bit i of *deferred* is child i."""
    if second_pass:
        return (deferred >> min(i, MOST_DEFERRED)) & 1 == 0
    return 0 < i < MOST_DEFERRED and is_published(key, ply, counters)


@kernel
def row_of(game, ply, memory):
    """Return the words of a ply's row in the workspace, 8 bytes each."""
    return words_at(memory.rows + 8 * words_per_child(game) * ply * memory.moves)


@kernel
def words_per_child(game, fields=CHILD):
    """Return the number of words of a child in a row: its *fields*, the child, and its key."""
    return fields + 2 * words_of(game)


@kernel
def child_at(game, row, i, fields=CHILD):
    """Return child number *i* of a row."""
    return position_in(game, row, words_per_child(game, fields) * i + fields)


@kernel
def key_at(game, row, i, fields=CHILD):
    """Return the table key of child number *i* of a row."""
    return position_in(game, row, words_per_child(game, fields) * i + fields + words_of(game))


@kernel
def put_key(game, row, i, key, fields=CHILD):
    """Write the table key of child number *i* of a row."""
    put(row, words_per_child(game, fields) * i + fields + words_of(game), key)


@kernel
def bound_for_child(bound):
    """Return the bound for the children: the parent reaches *bound* if some child fails this one.

    "Win within n plies?" becomes "no loss within n - 1?" for the child, and the other way round. See `bounds.py`.

    >>> bound_for_child(5), bound_for_child(-5)
    (-5, 7)
    """
    if bound > 1:  # a win within n plies: no loss within n - 1
        return -bound
    if bound >= 0:  # without a distance: ANY_WIN (1) becomes NO_LOSS (0), and NO_LOSS becomes ANY_WIN
        return 1 - bound
    return 2 - bound  # no loss within n plies: a win within n - 1


@kernel
def write_keys(game, count, ply, memory):
    """Write the table keys of a ply's children and prefetch their buckets; return False if the search gives up."""
    row = row_of(game, ply, memory)
    for i in range(count):
        key = table_key(game, child_at(game, row, i), memory)
        if is_none(key):
            return False
        put_key(game, row, i, key)
        prefetch(memory.table, bucket_of(key, memory))
    return True


@kernel
def sort_children(game, position, child_bound, count, best, ply, memory):
    """Sort the children of a ply for the search. Return (proved, count); the count is -1 if the search gives up.

    *proved*: a child's table entry proves the question. *count*: the children left. The hash move, number *best*, comes
    first. Children known to reach *child_bound* prove nothing and are removed.
    """
    row, counters, stride = row_of(game, ply, memory), words_at(memory.counters), words_per_child(game)
    if not write_keys(game, count, ply, memory):
        return False, -1
    # The history has two halves, for even and odd plies.
    half = HISTORY + ((ply & 1) << HISTORY_BITS)
    left = 0
    for i in range(count):
        child, key = child_at(game, row, i), key_at(game, row, i)
        # Enhanced transposition cutoff: probe each child before any is searched. One that fails proves the question.
        low, high, _ = bounds_of(find(key, memory), memory)
        if high < child_bound:
            return True, 0
        if low >= child_bound:
            continue
        counter = half + hash_of(changed_bits(position, child), HISTORY_BITS)
        rank = counters[counter] + whole(game.promise(position, row[stride * i + RANK]))
        # Insertion sort; rows are short. Children 0 to left - 1 are sorted; child `left` is this one or removed.
        j = left - 1
        while j >= 0 and row[stride * j + NUMBER] != best and (i == best or row[stride * j + RANK] < rank):
            for word in range(stride):
                row[stride * (j + 1) + word] = row[stride * j + word]
            j -= 1
        free = stride * (j + 1)
        # A number that does not fit into BEST_BITS counts as unknown.
        row[free + NUMBER], row[free + COUNTER], row[free + RANK] = min(i, NO_BEST), counter, rank
        put(row, free + CHILD, child)
        put_key(game, row, j + 1, key)
        left += 1
    return False, left


# The transposition table


@kernel
def table_key(game, position, memory):
    """Return a position's key: its canonical int permuted, or its canonical tuple; `no_position` if the search gives
    up. Only symmetric positions have the same key."""
    least, _ = canonical(game, position)
    if is_in_table(least, memory):
        return permute_ints(least, memory.position_bits)
    counters = words_at(memory.counters)
    if is_none(least):
        give_up(BROKEN, position, counters)
    else:
        give_up(TOO_WIDE, least, counters)
    return no_position(position)


def is_in_table(position: Any, memory: SearchMemory) -> bool:
    """Return whether a position is valid and not too long for the table."""
    return is_position(position) and (isinstance(position, tuple) or position < 1 << memory.position_bits)


@overload(is_in_table)
def compile_is_in_table(position, memory):
    if isinstance(position, types.BaseTuple):
        return lambda position, memory: is_position(position)
    return lambda position, memory: 0 <= position < 1 << memory.position_bits


def permute_ints(position: Any, bits: int) -> Any:
    """Return an int of *bits* bits permuted by `permute`; a position of several words as it is."""
    return position if isinstance(position, tuple) else permute(position, bits)


@overload(permute_ints)
def compile_permute_ints(position, bits):
    if isinstance(position, types.BaseTuple):
        return lambda position, bits: position
    return lambda position, bits: permute(position, bits)


@kernel
def store_answer(key, bound, proved, best, memory):
    """Store whether a position is worth at least *bound*, and its best move."""
    store(key, bound if proved else -memory.far, memory.far if proved else bound - 1, best, memory)


@kernel
def bucket_of(key, memory):
    """Return the index of the first word of the key's bucket, of two entries."""
    return bucket_number(key, memory.bucket_bits) * 2 * entry_words(key)


def bucket_number(key: Any, bits: int) -> int:
    """Return the number of a key's bucket: its low bits, or a hash of a position of several words."""
    return int(hash_of(key_of(key), bits)) if isinstance(key, tuple) else key & ((1 << bits) - 1)


@overload(bucket_number)
def compile_bucket_number(key, bits):
    if isinstance(key, types.BaseTuple):
        return lambda key, bits: hash_of(key_of(key), bits)
    return lambda key, bits: key & ((1 << bits) - 1)


def entry_words(key: Any) -> int:
    """Return the number of words of a table entry: 1 for an int, else 1 more than the position has."""
    return 1 + len(key) if isinstance(key, tuple) else 1


@overload(entry_words)
def compile_entry_words(key):
    words = 1 + len(key) if isinstance(key, types.BaseTuple) else 1
    return lambda key: words


def rest_of(key: Any, memory: SearchMemory) -> int:
    """Return the bits of a key above its bucket number, which the entry stores. 1 for a tuple, which stands behind the
    entry's first word."""
    return 1 if isinstance(key, tuple) else key >> memory.bucket_bits


@overload(rest_of)
def compile_rest_of(key, memory):
    if isinstance(key, types.BaseTuple):
        return lambda key, memory: 1
    return lambda key, memory: key >> memory.bucket_bits


def holds_tuple(table: Any, entry: int, key: Any) -> bool:
    """Return whether a key of several words stands behind the first word of an entry; True for an int."""
    return not isinstance(key, tuple) or stands_at(table, entry + 1, key)


@overload(holds_tuple)
def compile_holds_tuple(table, entry, key):
    if isinstance(key, types.BaseTuple):
        return lambda table, entry, key: stands_at(table, entry + 1, key)
    return lambda table, entry, key: True


@kernel
def find(key, memory):
    """Return a key's word in the transposition table, or 0."""
    bucket, table = bucket_of(key, memory), words_at(memory.table)
    rest = rest_of(key, memory)
    shift = 2 * memory.bound_bits + BEST_BITS
    for entry in (bucket, bucket + entry_words(key)):
        word = table[entry]
        if word and word >> shift == rest and holds_tuple(table, entry, key):
            return word
    return 0


@kernel
def bounds_of(word, memory):
    """Return (lower bound, upper bound, number of the best move) of a table word."""
    bits, far = memory.bound_bits, memory.far
    if word == 0:
        return -far, far, NO_BEST
    mask = (1 << bits) - 1
    return (word & mask) - far, ((word >> bits) & mask) - far, (word >> (2 * bits)) & NO_BEST


@kernel
def store(key, low, high, best, memory):
    """Store bounds and best move of a key as the first entry of its bucket, combined with those there. Another
    position's first entry moves to the second slot."""
    bits, far = memory.bound_bits, memory.far
    old_low, old_high, old_best = bounds_of(find(key, memory), memory)
    low, high = max(low, old_low), min(high, old_high)
    if best == NO_BEST:
        best = old_best
    rest, size, shift = rest_of(key, memory), entry_words(key), 2 * bits + BEST_BITS
    word = (rest << shift) | (best << (2 * bits)) | ((high + far) << bits) | (low + far)
    bucket, table = bucket_of(key, memory), words_at(memory.table)
    if table[bucket] >> shift != rest or not holds_tuple(table, bucket, key):
        for i in range(size):
            table[bucket + size + i] = table[bucket + i]
    table[bucket] = word
    put_behind(table, bucket, key)


@kernel
def copy_entries(old, memory):
    """Store all entries of a table for ints, *old*, in this one; the newer entry of each bucket last."""
    # The key of an entry is in two parts: its lower bits are the bucket, its upper ones stand above the bounds.
    table, shift = words_at(old.table), 2 * old.bound_bits + BEST_BITS
    for newer in range(2):
        for bucket in range(1 << old.bucket_bits):
            word = table[2 * bucket + 1 - newer]
            if word:
                low, high, best = bounds_of(word, old)
                store(((word >> shift) << old.bucket_bits) | bucket, low, high, best, memory)


def put_behind(table: Any, entry: int, key: Any) -> None:
    """Write the words of a key behind the word of an entry, if positions have several words."""
    if isinstance(key, tuple):
        put(table, entry + 1, key)


@overload(put_behind)
def compile_put_behind(table, entry, key):
    if isinstance(key, types.BaseTuple):
        return lambda table, entry, key: put(table, entry + 1, key)
    return lambda table, entry, key: None
