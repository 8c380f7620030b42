"""Remoteness of a TIE: the fewest plies to its end by moves that keep the tie.

First find any path to an end. Then do a binary search between the lengths that are refuted and the shortest path::

    plies   1 2 3 4 5 6 7 8 9 10 11 12 13 14
            `- no path -´ ?              ^ the shortest path so far

Both players want a tie to end soon, so its remoteness is a shortest path through positions that are ties. No child of a
TIE is a LOSE for the opponent, because the TIE would then be a WIN. So one question per child suffices: is it a WIN for
the opponent? If not, it is a tie. The search first tries children that the transposition table knows to be ties. It
asks about the others only if they are not *refuted*: no path from there to a tie is short enough.

A memory of fixed size holds refuted positions, two words each, or more if positions have several words::

    | plies within which no tie ends |          0: empty
    | key of the position |

In the kernels, `memory` is a SearchMemory (see `kernels.py`), `refuted` the address of that memory, and `trail` the
address of the search's stack. `ply` counts from the root; `plies` are those left for the path.
"""

import numpy as np

from retrograde.games.contract.game import TIE, UNDECIDED, Game, is_none
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import as_position, position_in, put, stands_at, whole
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.search import kernels as search
from retrograde.solver.search.bounds import ANY_WIN
from retrograde.solver.search.memory import words_at, words_in, words_of
from retrograde.solver.search.table import TranspositionTable

REFUTED_BITS = 20
"""log2 of the number of refuted positions that the memory holds."""
NO_PATH, GIVEN_UP, ENDED = 0, -1, -2
"""Results in place of a length or a count.

    NO_PATH     no path
    GIVEN_UP    the search gave up
    ENDED       a move ends the game with a tie
"""
ASK_WIN, UNSEEN = np.int64(ANY_WIN), np.int64(search.UNSEEN)
"""As int64, for the types of a recursive kernel.

With literals numba would compile it once more for these types, and the code in the cache would be of no use.
"""
KNOWN, OPEN = 0, 1
"""Kinds of children: known to be a tie; unknown. KNOWN sorts first."""
COUNT, NEXT, OWN_KEY = range(3)
"""Fields of a level of the trail: the position at a ply.

    COUNT       number of its children
    NEXT        the next child to try
    OWN_KEY     key of its position, of one word or several
"""


def make_refuted(game: Game) -> Array:
    """Return an empty memory of refuted positions, int64[]."""
    return np.zeros((1 + words_of(game)) << REFUTED_BITS, np.int64)


def path_length(
    game: Game,
    position: int,
    plies: int,
    table: TranspositionTable,
    workspace: search.ThreadWorkspace,
    refuted: Array,
) -> int:
    """Return the length of a path of at most *plies* plies from a TIE to its end, or NO_PATH or GIVEN_UP.

    *refuted* is the memory of `make_refuted`, which later calls may use again.
    """
    memory = search.memory_of(table, workspace)
    trail = np.empty((OWN_KEY + words_of(game)) * memory.plies, np.int64)
    with compilable(game):
        return int(find_path(rules_for(game), position, plies, memory, refuted.ctypes.data, trail.ctypes.data))


@kernel
def find_path(game, position, plies, memory, refuted, trail):
    """Like `path_length`: a depth-first search. *trail* is the address of its stack, *refuted* that of the memory."""
    if search.must_give_up(position, 0, memory):
        return GIVEN_UP
    key = search.table_key(game, position, memory)
    if is_none(key):
        return GIVEN_UP
    if is_refuted(key, plies, refuted):
        return NO_PATH
    ply, levels, level_words = ZERO, words_at(trail), OWN_KEY + words_of(game)
    while True:
        # Step 1: expand the position of this ply. A move that ends in a tie completes the path.
        count = write_candidates(game, position, plies - ply, ply, memory, refuted)
        if count < 0:
            return ply + 1 if count == ENDED else GIVEN_UP
        # Step 2: choose the next child that is a tie.
        offset = level_words * ply  # of this ply's level
        levels[offset + COUNT], levels[offset + NEXT] = count, 0
        put(levels, offset + OWN_KEY, key)
        i = next_tie(game, plies - ply, ply, memory, refuted, trail)
        # Step 3: no child is left. Note the refutation and backtrack.
        while i == count:
            note_refuted(key, plies - ply, refuted)
            if ply == 0:
                return NO_PATH
            ply -= 1
            offset = level_words * ply
            key, count = position_in(game, levels, offset + OWN_KEY), levels[offset + COUNT]
            i = next_tie(game, plies - ply, ply, memory, refuted, trail)
        if i == GIVEN_UP:
            return GIVEN_UP
        # Step 4: descend into the child.
        row = search.row_of(game, ply, memory)
        position, key, ply = search.child_at(game, row, i), search.key_at(game, row, i), ply + 1


@kernel
def next_tie(game, plies, ply, memory, refuted, trail):
    """Return the index of the next child in the row of *ply* that is a tie and not refuted.

    Move NEXT behind it. If no such child is left, return the number of children. Return GIVEN_UP if the search of a
    child gives up. The path may take *plies* more plies. *memory*, *refuted* and *trail* are those of the module's
    docstring.
    """
    row, levels, counters = search.row_of(game, ply, memory), words_at(trail), words_at(memory.counters)
    stride, offset = search.words_per_child(game), (OWN_KEY + words_of(game)) * ply
    count = levels[offset + COUNT]
    for i in range(levels[offset + NEXT], count):
        child, key = search.child_at(game, row, i), search.key_at(game, row, i)
        if is_refuted(key, plies - 1, refuted):  # refuted since it was written
            continue
        # An unknown child: ask the value search whether the opponent wins there.
        if row[stride * i + search.RANK] == OPEN:
            wins = search.prove_bound(game, child, key, ASK_WIN, UNSEEN, ply + 1, memory)
            if counters[search.TROUBLE]:
                return GIVEN_UP
            if wins:
                continue
        levels[offset + NEXT] = i + 1
        return i
    levels[offset + NEXT] = count
    return count


@kernel
def slot_of(key):
    """Return the index of a key in the memory of refuted positions."""
    return (key_of(key) & ((1 << REFUTED_BITS) - 1)) * (1 + words_in(key))


@kernel
def is_refuted(key, plies, refuted):
    """Return whether the memory says that no path of at most *plies* plies from this position ends in a tie."""
    slot, words = slot_of(key), words_at(refuted)
    return words[slot] >= plies and stands_at(words, slot + 1, key)


@kernel
def note_refuted(key, plies, refuted):
    """Store that no path from this position ends within *plies* plies. Overwrites what its slot held."""
    slot, words = slot_of(key), words_at(refuted)
    words[slot] = plies
    put(words, slot + 1, key)


@kernel
def write_candidates(game, position, plies, ply, memory, refuted):
    """Write the children that may be ties ending within *plies* - 1 plies to the row of *ply*; return their number.
    Known ties come first. Return ENDED if a move ends the game with a tie, or GIVEN_UP."""
    counters = words_at(memory.counters)
    if search.must_give_up(position, ply + 1, memory):
        return GIVEN_UP
    # Step 1: write the undecided children. With one ply left, only an end would help.
    counters[search.NODES] += 1
    count = write_open_children(game, position, ply, memory)
    if count < 0:
        return count
    if plies == 1:
        return 0
    # Step 2: keep the children that may be ties and may still end in time, known ties first (insertion sort). RANK
    # holds their kind: KNOWN or OPEN.
    if not search.write_keys(game, count, ply, memory):
        return GIVEN_UP
    left, row, stride = 0, search.row_of(game, ply, memory), search.words_per_child(game)
    for i in range(count):
        child, key = search.child_at(game, row, i), search.key_at(game, row, i)
        low, high, _ = search.bounds_of(search.find(key, memory), memory)
        if low >= ANY_WIN or is_refuted(key, plies - 1, refuted):
            continue
        kind = KNOWN if high < ANY_WIN else OPEN
        j = left - 1
        while j >= 0 and row[stride * j + search.RANK] > kind:
            # The words before RANK are not used here.
            for word in range(search.RANK, stride):
                row[stride * (j + 1) + word] = row[stride * j + word]
            j -= 1
        row[stride * (j + 1) + search.RANK] = kind
        put(row, stride * (j + 1) + search.CHILD, child)
        search.put_key(game, row, j + 1, key)
        left += 1
    return left


@kernel
def write_open_children(game, position, ply, memory):
    """Write the undecided children to the row of *ply*; return how many. ENDED if a move ends in a tie, or GIVEN_UP."""
    count, row, counters = 0, search.row_of(game, ply, memory), words_at(memory.counters)
    for move in game.generate_moves(position):
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            search.give_up(search.BROKEN, position, counters)
            return GIVEN_UP
        value = whole(game.primitive(child))
        # Case: this move completes the path.
        if value == TIE:
            return ENDED
        # Case: the game goes on. Other ends do not keep the tie, so they are skipped.
        if value == UNDECIDED:
            if count == memory.moves:
                search.give_up(search.MANY_MOVES, position, counters)
                return GIVEN_UP
            put(row, search.words_per_child(game) * count + search.CHILD, child)
            count += 1
    return count
