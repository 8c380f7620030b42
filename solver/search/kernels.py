"""The compiled search: negamax with null windows, over the plain rules of any game.

`at_least` proves or refutes one question about a position (see `worth.py`): a move that leads to a child which is not
worth so much to the opponent proves it, and it is refuted when no move does. A proof rests on proofs that were ended
before it and on ends of the game alone, never on a position that is still being looked at, so that cycles cannot
deceive: a search that runs in a circle only gets deeper, until it is given up (ENDLESS).

Moves are tried in the order: the best one that the table knows; then by what the game promises, or, where it promises
nothing, by history: how often a move that changed the position in the same way was the best so far on this side
(Schaeffer, 1989, for moves). History added to promises made the search of Connect Four three to five times as long.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.games.contract.game import DRAW, LOSE, POSITION_LIMIT, TIE, WIN, Game, defines
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.memory import prefetch, words_at
from retrograde.solver.search.mixing import mixed, permuted
from retrograde.solver.search.table import BEST_BITS, Table
from retrograde.solver.search.worth import DRAWN, UNTOLD, told

Array = np.ndarray[Any, Any]

NODES, TROUBLE, POSITION, ENDS, LEAVES, STOP, MOST, SHARED, HISTORY = range(9)
"""What stands where in the marks of a thread: positions looked at; why it gave up, and where; ends met that are no
wins; positions found in tables; whether it is to stop; how many positions it may look at; the address of what threads
tell one another, 0 for none; and from there on the history."""
CHILD, NUMBER, PLACE, KEY, GOOD = range(5)
"""What stands in the room of a ply for each child: itself, the number of its move, its place in the history, its key in
the table, and how good it looks; before they are put in order, the move itself stands for the last."""
PARTS = 5
DRAWS, TIES = 1, 2
STOPPED, SPENT, ENDLESS, WIDE, MANY_MOVES, BROKEN = range(1, 7)
"""Why a search is given up: out of time; as many positions looked at as it may; deeper than there is room; a position
of more bits than the table has; more moves than there is room; rules that give what is no position."""
HISTORY_BITS = 12
SHARED_BITS, SHARED_PLIES = 14, 32
"""Room for the positions that threads are at, and for how many plies they tell one another."""
MOST_LATE = 62
"""Moves that may be put off because another thread is at them."""
TRIED = -(1 << 62)
"""Stands in the place of how good a child looks once it has been tried in vain."""
NO_BEST = (1 << BEST_BITS) - 1
NO_KEY, UNSEEN = -1, -2
ANY_NUMBER = 1 << 62


class Shape(NamedTuple):
    """The shape of a table, and how many plies and moves there is room for."""

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int
    plies: int
    moves: int


class ShapeWithLeaves(NamedTuple):
    """The same for a search that asks tables: another type, so that without them nothing is passed on, or compiled."""

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int
    plies: int
    moves: int
    leaves: Any


class Stack(NamedTuple):
    """A thread's own memory: `room` int64[plies, moves, parts], and `marks` int64[HISTORY + 2 × 2^HISTORY_BITS].

    Kernels take their addresses (see `memory.py`), and that of the table's words.
    """

    room: Array
    marks: Array


def make_shared() -> Array:
    """Return the memory in which threads tell one another at which positions they are."""
    return np.full(1 << SHARED_BITS, NO_KEY, np.int64)


def make_stack(plies: int, moves: int, shared: Array | None = None, parts: int = PARTS) -> Stack:
    """Return the memory for a search so deep and wide, by one thread or by one of those that use what is *shared*."""
    marks = np.zeros(HISTORY + (2 << HISTORY_BITS), np.int64)
    marks[MOST] = ANY_NUMBER
    marks[SHARED] = 0 if shared is None else shared.ctypes.data
    return Stack(np.empty((plies, moves, parts), np.int64), marks)


def shape_of(table: Table, stack: Stack) -> Shape | ShapeWithLeaves:
    """Return the shape of a search in a table, by a thread."""
    plies, moves = stack.room.shape[:2]
    if table.leaves is None:
        return Shape(*table.shape, plies, moves)
    return ShapeWithLeaves(*table.shape, plies, moves, table.leaves)


def at_least(game: Game, position: int, bound: int, table: Table, stack: Stack) -> bool:
    """Return whether a position, which is not primitive, is worth *bound* at least; False, too, if it is given up."""
    far = table.shape.far
    if bound >= far or bound <= 1 - far:
        return bound < far
    shape = shape_of(table, stack)
    room, marks = stack.room.ctypes.data, stack.marks.ctypes.data
    return bool(by_children(game, position, NO_KEY, bound, UNSEEN, 0, shape, table.words.ctypes.data, room, marks))


@kernel
def by_children(game, position, key, bound, count, ply, shape, words, room, marks):
    """Return whether a position is worth *bound* at least; False, too, if the search is given up.

    Unless its children are UNSEEN, no end one move ahead decides it, and the *count* others are in the room of this
    *ply*; its key may be known already.
    """
    far, mark = shape.far, words_at(marks)
    turned = False
    if count == UNSEEN and not no_room(position, ply, shape, marks):
        mark[NODES] += 1
        decided, count = look_ahead(game, position, bound, ply, shape, room, marks)
        if decided or count == 0:
            return decided
    if count == 1:
        begun = ply
        decided, position, bound, ply, count = follow(game, position, bound, ply, shape, room, marks)
        turned, key = (ply - begun) & 1 == 1, NO_KEY  # turned: the question is about the other player now
        if count == 0:
            return decided != turned
    asked = for_child(bound)
    if is_trivial(asked, far):
        return (asked >= far) != turned
    if count < 0 or no_room(position, ply + 1, shape, marks):
        return False
    if key == NO_KEY:
        key = key_of(game, position, shape, marks)
        if key == NO_KEY:
            return False
    low, high, best = bounds_of(find(words, key, shape), shape)
    if low >= bound or high < bound:
        return (low >= bound) != turned
    proved, count = put_in_order(game, position, asked, count, best, ply, shape, words, room, marks)
    if proved or count < 0:
        return proved != turned and count >= 0
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
            mark[NODES] += 1
            decided, more = look_ahead(game, child, asked, ply + 1, shape, room, marks)
            if decided:
                continue
            begin_with(its_key, ply, mark)
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
    if proved and not promises(game):
        reward(best, count, row, mark)
    keep(words, key, bound if proved else -far, far if proved else bound - 1, best, shape)
    return proved != turned


@kernel
def look_ahead(game, position, bound, ply, shape, room, marks):
    """Return whether an end one move ahead decides the question, and how many other children were written.

    The count is negative where the search is given up.
    """
    count, row, mark = 0, row_of(room, ply, shape), words_at(marks)
    for move in game.generate_moves(position):
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            mark[TROUBLE], mark[POSITION] = BROKEN, position
            return False, -1
        value = whole(game.primitive(child))
        if value == LOSE:
            return True, 0
        if value in (TIE, DRAW):
            mark[ENDS] |= TIES if value == TIE else DRAWS
            if bound <= 0:
                return True, 0
        elif value != WIN:
            worth = leaf_worth(game, child, shape)
            if worth != UNTOLD:
                mark[LEAVES] += 1
                if worth in (0, DRAWN):
                    mark[ENDS] |= DRAWS if worth else TIES
                    worth = 0
                if worth < for_child(bound):
                    return True, 0
                continue
            if count == shape.moves:
                mark[TROUBLE], mark[POSITION] = MANY_MOVES, position
                return False, -1
            row[PARTS * count + CHILD], row[PARTS * count + GOOD] = child, move
            count += 1
    return False, count


def leaf_worth(game: Game, position: int, shape: Shape | ShapeWithLeaves) -> int:
    """Return what tables say of an undecided position (see `told`)."""
    return told(game, position, shape.far, shape.leaves) if isinstance(shape, ShapeWithLeaves) else UNTOLD


@overload(leaf_worth)
def _(game, position, shape):
    if shape.instance_class is ShapeWithLeaves:
        return lambda game, position, shape: told(game, position, shape.far, shape.leaves)
    return lambda game, position, shape: UNTOLD


@kernel
def follow(game, position, bound, ply, shape, room, marks):
    """Return where forced moves lead: whether an end decides it, the position, its question, its ply, its children."""
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
    """Return whether the answer to a question is the same in all positions that are not primitive."""
    return bound >= far or bound <= 1 - far


@kernel
def no_room(position, ply, shape, marks):
    """Return whether the search is given up: it is stopped, has looked at enough, or there is no room for a ply."""
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
    """Tell whether a game says how good moves look; known when rules are compiled."""
    return defines(game, "promise")


@overload(promises)
def _(game):
    told = defines(game.game, "promise")
    return lambda game: told


@kernel
def reward(best, count, row, mark):
    """Write into the history that the move number *best* was the best of those tried."""
    tried = place = 0
    for i in range(count):
        if row[PARTS * i + GOOD] == TRIED:
            mark[row[PARTS * i + PLACE]] -= 1
            tried += 1
        elif row[PARTS * i + NUMBER] == best:
            place = row[PARTS * i + PLACE]
    mark[place] += tried


# What other threads are at


@kernel
def is_elsewhere(key, ply, mark):
    """Return whether another thread is at a position, so that it is better to look at others first."""
    return mark[SHARED] != 0 and ply < SHARED_PLIES and words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] == key


@kernel
def begin_with(key, ply, mark):
    """Let other threads know at which position this one is."""
    if mark[SHARED] != 0 and ply < SHARED_PLIES:
        words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] = key


@kernel
def end_with(key, ply, mark):
    """Let other threads know that this one is at a position no more."""
    if mark[SHARED] != 0 and ply < SHARED_PLIES and words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] == key:
        words_at(mark[SHARED])[key & (1 << SHARED_BITS) - 1] = NO_KEY


@kernel
def row_of(room, ply, shape):
    """Return the room of a ply."""
    return words_at(room + 8 * PARTS * ply * shape.moves)


@kernel
def for_child(bound):
    """Return what no child that proves the question may be worth at least."""
    if bound > 1:
        return -bound
    return 1 - bound if bound >= 0 else 2 - bound


@kernel
def write_keys(game, count, ply, shape, words, room, marks):
    """Write the keys of the children of a ply, and have their words fetched; False where the search is given up."""
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
    """Return whether the table knows a child that is not worth *asked*, and how many are left to be searched.

    They are sorted by how good they look, the one whose move has the number *best* first; those that are worth it are
    left out. The count is negative where the search is given up.
    """
    row, mark = row_of(room, ply, shape), words_at(marks)
    if not write_keys(game, count, ply, shape, words, room, marks):
        return False, -1
    side = HISTORY + ((ply & 1) << HISTORY_BITS)
    left = 0
    for i in range(count):
        child, key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
        low, high, _ = bounds_of(find(words, key, shape), shape)
        if high < asked:
            return True, 0
        if low >= asked:
            continue
        place = side + mixed(position ^ child, HISTORY_BITS)
        good = mark[place] + whole(game.promise(position, row[PARTS * i + GOOD]))
        j = left - 1
        while j >= 0 and row[PARTS * j + NUMBER] != best and (i == best or row[PARTS * j + GOOD] < good):
            for part in range(PARTS):
                row[PARTS * (j + 1) + part] = row[PARTS * j + part]
            j -= 1
        row[PARTS * (j + 1) + CHILD], row[PARTS * (j + 1) + NUMBER] = child, min(i, NO_BEST)
        row[PARTS * (j + 1) + PLACE], row[PARTS * (j + 1) + KEY], row[PARTS * (j + 1) + GOOD] = place, key, good
        left += 1
    return False, left


# The table


@kernel
def key_of(game, position, shape, marks):
    """Return the key of a position, or of those equal to it by symmetry; NO_KEY where the search is given up."""
    least, _ = canonical(game, position)
    if 0 <= least < 1 << shape.position_bits:
        return permuted(least, shape.position_bits)
    mark = words_at(marks)
    mark[TROUBLE], mark[POSITION] = (BROKEN, position) if least < 0 else (WIDE, least)
    return NO_KEY


@kernel
def bucket_of(key, shape):
    """Return the place of the first word of a position's bucket."""
    return (key & (1 << shape.bucket_bits) - 1) << 1


@kernel
def find(words, key, shape):
    """Return the word of a position by its key; 0 where it is not there."""
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
    """Return the least and the most that a position is worth, and the number of its best move."""
    bits, far = shape.bound_bits, shape.far
    if word == 0:
        return -far, far, NO_BEST
    mask = (1 << bits) - 1
    return (word & mask) - far, (word >> bits & mask) - far, word >> 2 * bits & NO_BEST


@kernel
def keep(words, key, low, high, best, shape):
    """Write what was found of a position: the least and the most that it is worth, and its best move."""
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
