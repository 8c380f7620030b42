"""The compiled tie search: paths from a TIE to its end on which every move keeps the tie.

Both players want a tie to end soon, so its remoteness is a shortest path through positions that are ties. No child of a
TIE is a LOSE for the opponent, because the TIE would then be a WIN. So one question per child suffices: is it a WIN for
the opponent? If not, it is a tie. The search first tries children that the transposition table knows to be ties. It
asks about the others only if they are not refuted yet.

A memory of fixed size holds refuted positions, two words each::

    | key of the position, plus 1 |          0: empty
    | plies within which no tie ends |
"""

import numpy as np

from retrograde.games.contract.game import POSITION_LIMIT, TIE, UNDECIDED, Game
from retrograde.solver.rules.positions import whole
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
"""log2 of the number of refuted positions that the memory holds."""
NO_WAY, GIVEN_UP, ENDED = 0, -1, -2
"""Results in place of a length or a count.

    NO_WAY      no path
    GIVEN_UP    the search gave up
    ENDED       a move ends the game with a tie
"""
QUESTION, UNKNOWN = np.int64(ANY_WIN), np.int64(UNSEEN)
"""As int64, for the types of a recursive kernel.

With literals numba would compile it once more for these types, and the code in the cache would be of no use.
"""
KNOWN, OPEN = 0, 1
"""Kinds of children: known to be a tie; unknown. KNOWN sorts first."""
OWN_KEY, COUNT, NEXT = range(3)
"""Fields of the trail for each ply.

    OWN_KEY     key of its position
    COUNT       number of its children
    NEXT        the next child to try
"""
STEP = 3
"""Number of fields of the trail for each ply."""


def make_memory() -> Array:
    """Return an empty memory of refuted positions, int64[2 × positions]."""
    return np.zeros(2 << MEMORY_BITS, np.int64)


def plies_of_way(game: Game, position: int, plies: int, table: Table, stack: Stack, memory: Array) -> int:
    """Return the length of a path from a TIE to its end, or NO_WAY or GIVEN_UP; *plies* is the limit."""
    shape = shape_of(table, stack)
    words, room, marks = table.words.ctypes.data, stack.room.ctypes.data, stack.marks.ctypes.data
    trail = np.empty(STEP * shape.plies, np.int64)
    return int(way(game, position, plies, shape, words, room, marks, memory.ctypes.data, trail.ctypes.data))


@kernel
def way(game, position, plies, shape, words, room, marks, memory, trail):
    """Return the length of a path from a TIE to its end, or NO_WAY or GIVEN_UP; *plies* is the limit.

    It is a depth-first search with an explicit stack, the *trail*.
    """
    if no_room(position, 0, shape, marks):
        return GIVEN_UP
    key = key_of(game, position, shape, marks)
    if key == NO_KEY:
        return GIVEN_UP
    if is_refuted(key, plies, memory):
        return NO_WAY
    # Step 1: expand the position of this ply. A move that ends in a tie completes the path.
    ply, steps = 0, words_at(trail)
    while True:
        count = entered(game, position, plies - ply, ply, shape, words, room, marks, memory)
        if count < 0:
            return ply + 1 if count == ENDED else GIVEN_UP
        # Step 2: choose the next child that is a tie.
        steps[STEP * ply + OWN_KEY], steps[STEP * ply + COUNT], steps[STEP * ply + NEXT] = key, count, 0
        i = next_tie(game, plies - ply, ply, shape, words, room, marks, memory, trail)
        # Step 3: no child is left. Note the refutation and backtrack.
        while i == count:
            note_refuted(key, plies - ply, memory)
            if ply == 0:
                return NO_WAY
            ply -= 1
            key, count = steps[STEP * ply + OWN_KEY], steps[STEP * ply + COUNT]
            i = next_tie(game, plies - ply, ply, shape, words, room, marks, memory, trail)
        if i == GIVEN_UP:
            return GIVEN_UP
        # Step 4: descend into the child.
        row = row_of(room, ply, shape)
        position, key, ply = row[PARTS * i + CHILD], row[PARTS * i + KEY], ply + 1


@kernel
def next_tie(game, plies, ply, shape, words, room, marks, memory, trail):
    """Return the number of the next child of a ply to descend into.

    It is a tie, and no refutation excludes an end in time. Return the number of children if none is left, or GIVEN_UP.
    """
    row, steps, mark = row_of(room, ply, shape), words_at(trail), words_at(marks)
    count = steps[STEP * ply + COUNT]
    for i in range(steps[STEP * ply + NEXT], count):
        child, key = row[PARTS * i + CHILD], row[PARTS * i + KEY]
        if is_refuted(key, plies - 1, memory):  # refuted since it was written
            continue
        # An unknown child: ask the value search whether the opponent wins there.
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
    """Return the index of a key in the memory of refuted positions."""
    return (key & (1 << MEMORY_BITS) - 1) << 1


@kernel
def is_refuted(key, plies, memory):
    """Return whether the memory excludes paths of at most *plies* plies from this position."""
    place, refuted = place_of(key), words_at(memory)
    return refuted[place] == key + 1 and refuted[place + 1] >= plies


@kernel
def note_refuted(key, plies, memory):
    """Store that no path from this position ends within *plies* plies. Overwrites what its slot held."""
    place, refuted = place_of(key), words_at(memory)
    refuted[place], refuted[place + 1] = key + 1, plies


@kernel
def entered(game, position, plies, ply, shape, words, room, marks, memory):
    """Write the children of a tie to the row of *ply* and return how many; known ties come first.

    Return ENDED if a move ends the game with a tie, or GIVEN_UP.
    """
    mark = words_at(marks)
    if no_room(position, ply + 1, shape, marks):
        return GIVEN_UP
    # Step 1: write the undecided children. With one ply left, only an end would help.
    mark[NODES] += 1
    count = open_children(game, position, ply, shape, room, marks)
    if count < 0 or plies == 1:
        return min(count, 0)
    # Step 2: keep the children that may be ties and may still end in time, known ties first (insertion sort).
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
    """Write the undecided children and return how many; ENDED if a move ends in a tie, or GIVEN_UP."""
    count, row, mark = 0, row_of(room, ply, shape), words_at(marks)
    for move in game.generate_moves(position):
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            mark[TROUBLE], mark[POSITION] = BROKEN, position
            return GIVEN_UP
        value = whole(game.primitive(child))
        # Case: this move completes the path.
        if value == TIE:
            return ENDED
        # Case: the game goes on. Other ends do not keep the tie, so they are skipped.
        if value == UNDECIDED:
            if count == shape.moves:
                mark[TROUBLE], mark[POSITION] = MANY_MOVES, position
                return GIVEN_UP
            row[PARTS * count + CHILD] = child
            count += 1
    return count
