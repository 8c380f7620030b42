"""The compiled search: negamax with null windows over the plain rules of any game.

`at_least` answers one question: is a position worth at least *bound* (see `worth.py`)? A move proves it if its child is
not worth `for_child(bound)` to the opponent. If no move does, the question is refuted. An answer rests only on finished
answers and on ends of the game, never on a position still on the search path. So cycles cannot produce a wrong answer:
a search that runs in a circle gets deeper until it gives up (ENDLESS).

Move ordering: first the hash move, then by the game's `promise`. If the game defines no `promise`, by the history
heuristic (Schaeffer, 1989), with the changed bits of the position in place of the move. History added to promises made
the search of Connect Four three to five times slower, so history is not updated then.

Kernels pass raw addresses instead of arrays (see `memory.py`). The workspace `room` of a thread has a row for each ply,
with PARTS words for each child::

    row of a ply:   | child 0: CHILD NUMBER PLACE KEY GOOD | child 1: … | …
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.games.contract.game import DRAW, LOSE, POSITION_LIMIT, TIE, WIN, Game, Traits
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.positions import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.hashing import hash_of, permute
from retrograde.solver.search.memory import prefetch, words_at
from retrograde.solver.search.table import BEST_BITS, Table
from retrograde.solver.search.worth import DRAWN, UNTOLD, told

Array = np.ndarray[Any, Any]

NODES, TROUBLE, POSITION, ENDS, LEAVES, STOP, MOST, SHARED, HISTORY = range(9)
"""Indices into the `marks` of a thread, int64[].

    NODES       positions searched
    TROUBLE     why the search gave up, 0 if it did not
    POSITION    the position at which it gave up
    ENDS        kinds of drawn ends met: bits DRAWS and TIES
    LEAVES      positions found in endgame tables
    STOP        nonzero to stop
    MOST        node limit
    SHARED      address of the memory that threads share, or 0
    HISTORY     start of the history table
"""
CHILD, NUMBER, PLACE, KEY, GOOD = range(5)
"""Fields of a child in a row of `room`.

    CHILD       the position
    NUMBER      number of the move to it
    PLACE       index of its history counter in `marks`
    KEY         key in the transposition table
    GOOD        move ordering score; before `put_in_order`, the move itself
"""
PARTS = 5
DRAWS, TIES = 1, 2
STOPPED, SPENT, ENDLESS, WIDE, MANY_MOVES, BROKEN = range(1, 7)
"""Why a search gave up.

    STOPPED     out of time, or another thread has the answer
    SPENT       node limit reached
    ENDLESS     deeper than the workspace
    WIDE        a position too long for the table
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


class Shape(NamedTuple):
    """Layout of the transposition table (see `table.py`), and the size of the workspace in plies and moves."""

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int
    plies: int
    moves: int


class ShapeWithLeaves(NamedTuple):
    """A Shape with endgame tables. It is a separate type so that searches without tables compile no code for them."""

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int
    plies: int
    moves: int
    leaves: Any


class Stack(NamedTuple):
    """A thread's workspace: `room` int64[plies, moves, parts], and `marks` int64[HISTORY + 2 × 2^HISTORY_BITS].

    Kernels receive the addresses of these arrays (see `memory.py`) and of the table's words.
    """

    room: Array
    marks: Array


def make_shared() -> Array:
    """Return the memory, int64[2^SHARED_BITS], in which threads publish the positions they search."""
    return np.full(1 << SHARED_BITS, NO_KEY, np.int64)


def make_stack(plies: int, moves: int, shared: Array | None = None, parts: int = PARTS) -> Stack:
    """Return the workspace of one thread for searches of *plies* plies and *moves* moves.

    *shared* is the memory of `make_shared`, or None for a single thread.
    """
    marks = np.zeros(HISTORY + (2 << HISTORY_BITS), np.int64)
    marks[MOST] = ANY_NUMBER
    marks[SHARED] = 0 if shared is None else shared.ctypes.data
    return Stack(np.empty((plies, moves, parts), np.int64), marks)


def shape_of(table: Table, stack: Stack) -> Shape | ShapeWithLeaves:
    """Return the Shape for this table and workspace."""
    plies, moves = stack.room.shape[:2]
    if table.leaves is None:
        return Shape(*table.shape, plies, moves)
    return ShapeWithLeaves(*table.shape, plies, moves, table.leaves)


def at_least(game: Game, position: int, bound: int, table: Table, stack: Stack) -> bool:
    """Return whether an undecided position is worth at least *bound*; also False if the search gives up."""
    far = table.shape.far
    if bound >= far or bound <= 1 - far:
        return bound < far
    shape = shape_of(table, stack)
    room, marks = stack.room.ctypes.data, stack.marks.ctypes.data
    return bool(by_children(game, position, NO_KEY, bound, UNSEEN, 0, shape, table.words.ctypes.data, room, marks))


@kernel
def by_children(game, position, key, bound, count, ply, shape, words, room, marks):
    """Return whether a position is worth at least *bound*; also False if the search gives up.

    *count* is UNSEEN, or the caller has already called `look_ahead`: then no end one move ahead decides the question,
    and *count* undecided children stand in the row of this *ply*. *key* may be NO_KEY if it is not computed yet.
    """
    far, mark = shape.far, words_at(marks)
    # Step 1: generate the children, unless the caller did, and look for an end that decides at once.
    turned = False
    if count == UNSEEN and not no_room(position, ply, shape, marks):
        mark[NODES] += 1
        decided, count = look_ahead(game, position, bound, ply, shape, room, marks)
        if decided or count == 0:
            return decided
    # Step 2: a single undecided child. Follow forced moves without recursion and table entries.
    if count == 1:
        begun = ply
        decided, position, bound, ply, count = follow(game, position, bound, ply, shape, room, marks)
        turned, key = (ply - begun) & 1 == 1, NO_KEY  # turned: the question is about the other player now
        if count == 0:
            return decided != turned
    # Step 3: answer without search if the bound is out of range; give up if the workspace is full.
    asked = for_child(bound)
    if is_trivial(asked, far):
        return (asked >= far) != turned
    if count < 0 or no_room(position, ply + 1, shape, marks):
        return False
    # Step 4: probe the transposition table.
    if key == NO_KEY:
        key = key_of(game, position, shape, marks)
        if key == NO_KEY:
            return False
    low, high, best = bounds_of(find(words, key, shape), shape)
    if low >= bound or high < bound:
        return (low >= bound) != turned
    # Step 5: sort the moves. Table entries of children may already answer the question.
    proved, count = put_in_order(game, position, asked, count, best, ply, shape, words, room, marks)
    if proved or count < 0:
        return proved != turned and count >= 0
    # Step 6: search the children. The first pass defers those that another thread searches now (bits of *late*); the
    # second pass searches the deferred ones.
    best, late, row = NO_BEST, 0, row_of(room, ply, shape)
    for again in range(2):
        for i in range(count):
            child, its_key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
            if again:
                if late >> min(i, MOST_LATE) & 1 == 0:
                    continue
            elif 0 < i < MOST_LATE and is_elsewhere(its_key, ply, mark):
                late |= 1 << i
                continue
            # An end one ply below the child may prove its question: then this move fails, without recursion.
            mark[NODES] += 1
            decided, more = look_ahead(game, child, asked, ply + 1, shape, room, marks)
            if decided:
                continue
            begin_with(its_key, ply, mark)
            # A child without a proving end and without undecided children fails its question. That proves this one.
            proved = more == 0 or not by_children(game, child, its_key, asked, more, ply + 1, shape, words, room, marks)
            end_with(its_key, ply, mark)
            if mark[TROUBLE]:
                return False
            if proved:
                best = row[PARTS * i + NUMBER]
                break
            row[PARTS * i + GOOD] = TRIED
        if proved or late == 0:
            break
    # Step 7: update the history heuristic and store the bound that was proved.
    if proved and not promises(game):
        reward(best, count, row, mark)
    keep(words, key, bound if proved else -far, far if proved else bound - 1, best, shape)
    return proved != turned


@kernel
def look_ahead(game, position, bound, ply, shape, room, marks):
    """Return whether an end one move ahead proves the question, and the number of undecided children.

    It writes these children and their moves to the row of *ply*. The number is negative if the search gives up.
    """
    count, row, mark = 0, row_of(room, ply, shape), words_at(marks)
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
            worth = leaf_worth(game, child, shape)
            if worth != UNTOLD:
                mark[LEAVES] += 1
                if worth in (0, DRAWN):
                    mark[ENDS] |= DRAWS if worth else TIES
                    worth = 0
                if worth < for_child(bound):
                    return True, 0
                continue
            # Keep the child for the search. GOOD holds its move until `put_in_order`.
            if count == shape.moves:
                mark[TROUBLE], mark[POSITION] = MANY_MOVES, position
                return False, -1
            row[PARTS * count + CHILD], row[PARTS * count + GOOD] = child, move
            count += 1
    return False, count


def leaf_worth(game: Game, position: int, shape: Shape | ShapeWithLeaves) -> int:
    """Return the worth of an undecided position by the endgame tables, DRAWN, or UNTOLD (see `told`)."""
    return told(game, position, shape.far, shape.leaves) if isinstance(shape, ShapeWithLeaves) else UNTOLD


@overload(leaf_worth)
def _(game, position, shape):
    if shape.instance_class is ShapeWithLeaves:
        return lambda game, position, shape: told(game, position, shape.far, shape.leaves)
    return lambda game, position, shape: UNTOLD


@kernel
def follow(game, position, bound, ply, shape, room, marks):
    """Follow forced moves and return (decided, position, bound, ply, number of children) at their end.

    It stops at a position with no or several undecided children, at a trivial bound, or if the workspace is full.
    """
    decided, count = False, 1
    while count == 1:
        asked = for_child(bound)
        if is_trivial(asked, shape.far) or no_room(position, ply + 1, shape, marks):
            break
        position, bound, ply = row_of(room, ply, shape)[CHILD], asked, ply + 1
        words_at(marks)[NODES] += 1
        decided, count = look_ahead(game, position, bound, ply, shape, room, marks)
    return decided, position, bound, ply, count


@kernel
def is_trivial(bound, far):
    """Return whether all undecided positions have the same answer to this question."""
    return bound >= far or bound <= 1 - far


@kernel
def no_room(position, ply, shape, marks):
    """Return whether the search must give up, and write the reason.

    Reasons: it is stopped, it reached its node limit, or the workspace has no row for *ply*.
    """
    mark = words_at(marks)
    if not mark[STOP] and ply < shape.plies and mark[NODES] <= mark[MOST]:
        return False
    mark[TROUBLE], mark[POSITION] = ENDLESS, position
    if mark[STOP]:
        mark[TROUBLE] = STOPPED
    elif mark[NODES] > mark[MOST]:
        mark[TROUBLE] = SPENT
    return True


def promises(game: Game) -> bool:
    """Return whether the game defines `promise`; a constant in compiled code."""
    return Traits.of(game).has_promise


@overload(promises)
def _(game):
    told = Traits.of(game.game).has_promise
    return lambda game: told


@kernel
def reward(best, count, row, mark):
    """Update the history heuristic after move number *best* proved the question.

    Each child that was searched without success loses 1. The best move gains as many points as there were such
    children.
    """
    tried = place = 0
    for i in range(count):
        if row[PARTS * i + GOOD] == TRIED:
            mark[row[PARTS * i + PLACE]] -= 1
            tried += 1
        elif row[PARTS * i + NUMBER] == best:
            place = row[PARTS * i + PLACE]
    mark[place] += tried


# Cooperation of threads: they publish the positions they search


@kernel
def is_elsewhere(key, ply, mark):
    """Return whether another thread searches this position now, so that other moves should come first."""
    return mark[SHARED] != 0 and ply < SHARED_PLIES and words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] == key


@kernel
def begin_with(key, ply, mark):
    """Publish that this thread searches a position. The slot is the low bits of its key."""
    if mark[SHARED] != 0 and ply < SHARED_PLIES:
        words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] = key


@kernel
def end_with(key, ply, mark):
    """Clear the slot, unless another thread has overwritten it."""
    if mark[SHARED] != 0 and ply < SHARED_PLIES and words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] == key:
        words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] = NO_KEY


@kernel
def row_of(room, ply, shape):
    """Return the workspace row of a ply; 8 bytes a word."""
    return words_at(room + 8 * PARTS * ply * shape.moves)


@kernel
def for_child(bound):
    """Return the bound for the children: the parent reaches *bound* if a child does not reach this.

    Win within n plies becomes "not lose within n - 1" for the child, and the other way round. See `worth.py`.
    """
    if bound > 1:
        return -bound
    return 1 - bound if bound >= 0 else 2 - bound


@kernel
def write_keys(game, count, ply, shape, words, room, marks):
    """Write the table keys of a ply's children and prefetch their buckets; return False if the search gives up."""
    row = row_of(room, ply, shape)
    for i in range(count):
        key = key_of(game, row[PARTS * i + CHILD], shape, marks)
        if key == NO_KEY:
            return False
        row[PARTS * i + KEY] = key
        prefetch(words, bucket_of(key, shape))
    return True


@kernel
def put_in_order(game, position, asked, count, best, ply, shape, words, room, marks):
    """Return whether a table entry of a child proves the question, and the number of children left to search.

    It sorts the children by move ordering score; the hash move, number *best*, comes first. It removes children that
    already reach *asked*, since they cannot prove the question. The number is negative if the search gives up.
    """
    row, mark = row_of(room, ply, shape), words_at(marks)
    if not write_keys(game, count, ply, shape, words, room, marks):
        return False, -1
    # The history has two halves, for even and odd plies.
    side = HISTORY + ((ply & 1) << HISTORY_BITS)
    left = 0
    for i in range(count):
        child, key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
        # Enhanced transposition cutoff: probe each child before any is searched.
        low, high, _ = bounds_of(find(words, key, shape), shape)
        if high < asked:
            return True, 0
        if low >= asked:
            continue
        place = side + hash_of(position ^ child, HISTORY_BITS)
        good = mark[place] + whole(game.promise(position, row[PARTS * i + GOOD]))
        # Insertion sort; rows are short. Removed children leave a gap, so row j is always free.
        j = left - 1
        while j >= 0 and row[PARTS * j + NUMBER] != best and (i == best or row[PARTS * j + GOOD] < good):
            for part in range(PARTS):
                row[PARTS * (j + 1) + part] = row[PARTS * j + part]
            j -= 1
        row[PARTS * (j + 1) + CHILD], row[PARTS * (j + 1) + NUMBER] = child, min(i, NO_BEST)
        row[PARTS * (j + 1) + PLACE], row[PARTS * (j + 1) + KEY], row[PARTS * (j + 1) + GOOD] = place, key, good
        left += 1
    return False, left


# The transposition table


@kernel
def key_of(game, position, shape, marks):
    """Return the table key of a position's canonical image; NO_KEY if the search gives up.

    The key is a permutation of the canonical position, so different positions have different keys.
    """
    least, _ = canonical(game, position)
    if 0 <= least < 1 << shape.position_bits:
        return permute(least, shape.position_bits)
    mark = words_at(marks)
    mark[TROUBLE], mark[POSITION] = (BROKEN, position) if least < 0 else (WIDE, least)
    return NO_KEY


@kernel
def bucket_of(key, shape):
    """Return the index of the first word of the key's bucket."""
    return (key & (1 << shape.bucket_bits) - 1) << 1


@kernel
def find(words, key, shape):
    """Probe the transposition table: return the word of a key, or 0."""
    bucket = bucket_of(key, shape)
    rest = key >> shape.bucket_bits
    shift = 2 * shape.bound_bits + BEST_BITS
    for place in (bucket, bucket + 1):
        word = words_at(words)[place]
        if word and word >> shift == rest:
            return word
    return 0


@kernel
def bounds_of(word, shape):
    """Return (lower bound, upper bound, number of the best move) of a table word."""
    bits, far = shape.bound_bits, shape.far
    if word == 0:
        return -far, far, NO_BEST
    mask = (1 << bits) - 1
    return (word & mask) - far, (word >> bits & mask) - far, word >> 2 * bits & NO_BEST


@kernel
def keep(words, key, low, high, best, shape):
    """Store bounds and best move of a key, combined with what the table knows already.

    The newest entry comes first in its bucket. The former first entry moves to second place, unless it is the same
    position.
    """
    bits, far = shape.bound_bits, shape.far
    known = bounds_of(find(words, key, shape), shape)
    low, high = max(low, known[0]), min(high, known[1])
    if best == NO_BEST:
        best = known[2]
    word = key >> shape.bucket_bits << 2 * bits + BEST_BITS | best << 2 * bits | high + far << bits | low + far
    bucket, table = bucket_of(key, shape), words_at(words)
    before = table[bucket]
    if before >> 2 * bits + BEST_BITS != key >> shape.bucket_bits:
        table[bucket + 1] = before
    table[bucket] = word
