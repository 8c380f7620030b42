"""Ways to a tie, compiled: play from a TIE to its end, in which each move keeps the tie.

How far the end of a TIE is, is no contest, since both sides rather have it soon: it is the length of the shortest path
through positions that are ties. Of the children of a TIE none is a LOSE for who is to move there, for then it were a
WIN; so one question to the search, whether a child is a WIN, tells whether it is a tie as well. Children of which the
table knows that are tried first, and of the others only those are asked about that have not been refuted already.

What is refuted is kept in a memory of fixed size, in two words for a position::

    | key of the position, plus 1 |          0: empty
    | plies within which no tie ends |
"""

import numpy as np

from retrograde.games.contract.game import POSITION_LIMIT, TIE, UNDECIDED, Game
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.kernels import (
    BROKEN,
    CHILD,
    GOOD,
    KEY,
    MANY_MOVES,
    NO_KEY,
    NODES,
    PARTS,
    POSITION,
    TROUBLE,
    UNSEEN,
    Array,
    Stack,
    bounds_of,
    by_children,
    find,
    key_of,
    no_room,
    row_of,
    shape_of,
    write_keys,
)
from retrograde.solver.search.memory import words_at
from retrograde.solver.search.table import Table
from retrograde.solver.search.worth import ANY_WIN

MEMORY_BITS = 20
"""Positions, as a power of two, that the memory of what is refuted has room for."""
NO_WAY, GIVEN_UP, ENDED = 0, -1, -2
QUESTION, UNKNOWN = np.int64(ANY_WIN), np.int64(UNSEEN)
"""As int64: with literals a recursive kernel is compiled once more, for these, and its code on disk is of no use."""
KNOWN, OPEN = 0, 1
"""What is known of a child: that it is a tie; or nothing."""
OWN_KEY, COUNT, NEXT = range(3)
"""What the trail holds for a ply: the key of its position, how many children are to be tried, and which one is next."""
STEP = 3


def make_memory() -> Array:
    """Return an empty memory, int64[2 × positions]."""
    return np.zeros(2 << MEMORY_BITS, np.int64)


def plies_of_way(game: Game, position: int, plies: int, table: Table, stack: Stack, memory: Array) -> int:
    """Return the plies of a way from a TIE to its end, of so many at most; NO_WAY where there is none, or GIVEN_UP."""
    shape = shape_of(table, stack)
    words, room, marks = table.words.ctypes.data, stack.room.ctypes.data, stack.marks.ctypes.data
    trail = np.empty(STEP * shape.plies, np.int64)
    return int(way(game, position, plies, shape, words, room, marks, memory.ctypes.data, trail.ctypes.data))


@kernel
def way(game, position, plies, shape, words, room, marks, memory, trail):
    """Return the plies of a way to the end of a tie, of so many at most; NO_WAY where there is none, or GIVEN_UP."""
    if no_room(position, 0, shape, marks):
        return GIVEN_UP
    key = key_of(game, position, shape, marks)
    if key == NO_KEY:
        return GIVEN_UP
    if is_refuted(key, plies, memory):
        return NO_WAY
    ply, steps = 0, words_at(trail)
    while True:
        count = entered(game, position, plies - ply, ply, shape, words, room, marks, memory)
        if count < 0:
            return ply + 1 if count == ENDED else GIVEN_UP
        steps[STEP * ply + OWN_KEY], steps[STEP * ply + COUNT], steps[STEP * ply + NEXT] = key, count, 0
        i = next_tie(game, plies - ply, ply, shape, words, room, marks, memory, trail)
        while i == count:
            note_refuted(key, plies - ply, memory)
            if ply == 0:
                return NO_WAY
            ply -= 1
            key, count = steps[STEP * ply + OWN_KEY], steps[STEP * ply + COUNT]
            i = next_tie(game, plies - ply, ply, shape, words, room, marks, memory, trail)
        if i == GIVEN_UP:
            return GIVEN_UP
        row = row_of(room, ply, shape)
        position, key, ply = row[PARTS * i + CHILD], row[PARTS * i + KEY], ply + 1


@kernel
def next_tie(game, plies, ply, shape, words, room, marks, memory, trail):
    """Return the number of the next child that is a tie, from which an end may come in time; how many there are where
    none is left, or GIVEN_UP."""
    row, steps, mark = row_of(room, ply, shape), words_at(trail), words_at(marks)
    count = steps[STEP * ply + COUNT]
    for i in range(steps[STEP * ply + NEXT], count):
        child, key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
        if is_refuted(key, plies - 1, memory):  # since it was written
            continue
        if row[PARTS * i + GOOD] == OPEN:
            wins = by_children(game, child, key, QUESTION, UNKNOWN, ply + 1, shape, words, room, marks)
            if mark[TROUBLE]:
                return GIVEN_UP
            if wins:
                continue
        steps[STEP * ply + NEXT] = i + 1
        return i
    steps[STEP * ply + NEXT] = count
    return count


@kernel
def place_of(key):
    """Return where the memory has what is refuted of a position."""
    return (key & (1 << MEMORY_BITS) - 1) << 1


@kernel
def is_refuted(key, plies, memory):
    """Return whether it is known that no way from a tie ends within so many plies."""
    place, refuted = place_of(key), words_at(memory)
    return refuted[place] == key + 1 and refuted[place + 1] >= plies


@kernel
def note_refuted(key, plies, memory):
    """Note that no way from a tie ends within so many plies."""
    place, refuted = place_of(key), words_at(memory)
    refuted[place], refuted[place + 1] = key + 1, plies


@kernel
def entered(game, position, plies, ply, shape, words, room, marks, memory):
    """Return how many children of a tie are in the room of this *ply*, to be tried, those first that are known to be
    ties; ENDED where a move ends the game with a tie, or GIVEN_UP."""
    mark = words_at(marks)
    if no_room(position, ply + 1, shape, marks):
        return GIVEN_UP
    mark[NODES] += 1
    count = open_children(game, position, ply, shape, room, marks)
    if count < 0 or plies == 1:
        return min(count, 0)
    if not write_keys(game, count, ply, shape, words, room, marks):
        return GIVEN_UP
    left, row = 0, row_of(room, ply, shape)
    for i in range(count):
        child, key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
        low, high, _ = bounds_of(find(words, key, shape), shape)
        if low >= ANY_WIN or is_refuted(key, plies - 1, memory):
            continue
        kind = KNOWN if high < ANY_WIN else OPEN
        j = left - 1
        while j >= 0 and row[PARTS * j + GOOD] > kind:
            for part in (CHILD, KEY, GOOD):
                row[PARTS * (j + 1) + part] = row[PARTS * j + part]
            j -= 1
        row[PARTS * (j + 1) + CHILD], row[PARTS * (j + 1) + KEY], row[PARTS * (j + 1) + GOOD] = child, key, kind
        left += 1
    return left


@kernel
def open_children(game, position, ply, shape, room, marks):
    """Return how many children were written in which the game goes on; ENDED where a move ends it with a tie, or
    GIVEN_UP."""
    count, row, mark = 0, row_of(room, ply, shape), words_at(marks)
    for move in game.generate_moves(position):
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            mark[TROUBLE], mark[POSITION] = BROKEN, position
            return GIVEN_UP
        value = whole(game.primitive(child))
        if value == TIE:
            return ENDED
        if value == UNDECIDED:
            if count == shape.moves:
                mark[TROUBLE], mark[POSITION] = MANY_MOVES, position
                return GIVEN_UP
            row[PARTS * count + CHILD] = child
            count += 1
    return count
