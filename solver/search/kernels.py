"""The compiled search: negamax with null windows, over the plain rules of any game.

`at_least` proves or refutes one question about a position (see `worth.py`): a move that leads to a child which is not
worth so much to the opponent proves it, and it is refuted when no move does. A proof rests on proofs that were ended
before it and on ends of the game alone, never on a position that is still being looked at, so that cycles cannot
deceive: a search that runs in a circle only gets deeper, until it is given up (ENDLESS).

Moves are tried in the order: the best one that the table knows; then by history, how often a move that changed the
position in the same way was the best so far on this side (Schaeffer, 1989, for moves).
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import DRAW, LOSE, POSITION_LIMIT, TIE, WIN
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.whole import whole
from retrograde.solver.search.table import BEST_BITS
from retrograde.solver.work.kernel import kernel

Array = np.ndarray[Any, Any]

NODES, TROUBLE, POSITION, ENDS = range(4)
"""What the counts of a search are: positions looked at; why it was given up, and where; ends met that are no wins."""
DRAWS, TIES = 1, 2
STOPPED, ENDLESS, WIDE, MANY_MOVES, BROKEN = range(1, 6)
"""Why a search is given up: out of time; deeper than there is room; a position of more bits than the table has; more
moves than there is room; rules that give what is no position."""
HISTORY_BITS = 12
NO_BEST = (1 << BEST_BITS) - 1


class Stack(NamedTuple):
    """A thread's own memory: int64[plies, moves] `children`, `numbers` of their moves, and `places` in the history;
    `history` int64[2 × 2^HISTORY_BITS]; `counts` int64[4]. `stop` uint8[1] is shared, and not 0 to stop."""

    children: Array
    numbers: Array
    places: Array
    history: Array
    counts: Array
    stop: Array


def make_stack(plies: int, moves: int, stop: Array, seed: int) -> Stack:
    """Return the memory for a search so deep and wide; a *seed* other than 0 shuffles the moves a little."""
    room = np.empty((3, plies, moves), np.int64)
    history = np.zeros(2 << HISTORY_BITS, np.int64)
    if seed:
        history += np.random.default_rng(seed).integers(0, 32, len(history))
    return Stack(room[0], room[1], room[2], history, np.zeros(4, np.int64), stop)


@kernel
def at_least(game, position, bound, ply, table, stack):
    """Return whether a position, which is not primitive, is worth *bound* at least; False, too, if it is given up."""
    counts = stack.counts
    counts[NODES] += 1
    far = table.far
    if bound >= far:
        return False
    if bound <= 1 - far:
        return True
    if stack.stop[0] or ply == len(stack.children):
        counts[TROUBLE], counts[POSITION] = (STOPPED if stack.stop[0] else ENDLESS), position
        return False
    children = stack.children[ply]
    decided, count = look_ahead(game, position, bound, children, stack)
    if decided or count == 0:
        return decided
    if count < 0 or bound == far - 1:
        return False
    asked = for_child(bound)
    if count == 1:
        return not at_least(game, children[0], asked, ply + 1, table, stack) and not counts[TROUBLE]
    least, _ = canonical(game, position)
    if not 0 <= least < 1 << table.position_bits:
        counts[TROUBLE], counts[POSITION] = (BROKEN, position) if least < 0 else (WIDE, least)
        return False
    key = mixed(least, table.position_bits)
    word = find(table, key)
    low, high, best = bounds_of(word, table)
    if low >= bound:
        return True
    if high < bound:
        return False
    put_in_order(position, count, best, ply, stack)
    history, places = stack.history, stack.places[ply]
    proved, best = False, NO_BEST
    for i in range(count):
        if not at_least(game, children[i], asked, ply + 1, table, stack):
            if counts[TROUBLE]:
                return False
            for j in range(i):
                history[places[j]] -= 1
            history[places[i]] += i
            proved, best = True, stack.numbers[ply, i]
            break
    if counts[TROUBLE]:
        return False
    keep(table, key, bound if proved else -far, far if proved else bound - 1, best)
    return proved


@kernel
def look_ahead(game, position, bound, children, stack):
    """Return whether an end one move ahead decides the question, and how many other children were written.

    The count is negative where the search is given up.
    """
    count = 0
    for move in game.generate_moves(position):
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            stack.counts[TROUBLE], stack.counts[POSITION] = BROKEN, position
            return False, -1
        value = whole(game.primitive(child))
        if value == LOSE:
            return True, 0
        if value in (TIE, DRAW):
            stack.counts[ENDS] |= TIES if value == TIE else DRAWS
            if bound <= 0:
                return True, 0
        elif value != WIN:
            if count == len(children):
                stack.counts[TROUBLE], stack.counts[POSITION] = MANY_MOVES, position
                return False, -1
            children[count] = child
            count += 1
    return False, count


@kernel
def for_child(bound):
    """Return what no child that proves the question may be worth at least."""
    if bound > 1:
        return -bound
    return 1 - bound if bound >= 0 else 2 - bound


@kernel
def put_in_order(position, count, best, ply, stack):
    """Sort children by history, and the one whose move has the number *best* first."""
    children, numbers, places = stack.children[ply], stack.numbers[ply], stack.places[ply]
    history = stack.history
    side = (ply & 1) << HISTORY_BITS
    for i in range(count):
        child = children[i]
        place = side | hashed(position ^ child)
        good = history[place]
        j = i - 1
        while j >= 0 and numbers[j] != best and (i == best or history[places[j]] < good):
            children[j + 1], numbers[j + 1], places[j + 1] = children[j], numbers[j], places[j]
            j -= 1
        children[j + 1], numbers[j + 1], places[j + 1] = child, min(i, NO_BEST), place


# The table


@kernel
def hashed(change):
    """Return a number of HISTORY_BITS bits for the bits that a move has changed."""
    change = (change ^ change >> 31) * 0x1D8E4E27C47D124F
    change = (change ^ change >> 29) * 0x6B49D20F59FA6D2B
    return change >> 40 & (1 << HISTORY_BITS) - 1


@kernel
def mixed(position, bits):
    """Return a position mixed: another number of so many bits, by a bijection."""
    mask = (1 << bits) - 1
    half = (bits + 1) // 2
    position ^= position >> half
    position = position * 0x1D8E4E27C47D124F & mask
    position ^= position >> half
    position = position * 0x6B49D20F59FA6D2B & mask
    return position ^ position >> half


@kernel
def find(table, key):
    """Return the word of a position by its key; 0 where it is not there."""
    bucket = (key & (1 << table.bucket_bits) - 1) << 1
    rest = key >> table.bucket_bits
    shift = 2 * table.bound_bits + BEST_BITS
    for place in (bucket, bucket + 1):
        word = table.words[place]
        if word and word >> shift == rest:
            return word
    return 0


@kernel
def bounds_of(word, table):
    """Return the least and the most that a position is worth, and the number of its best move."""
    bits, far = table.bound_bits, table.far
    if word == 0:
        return -far, far, NO_BEST
    mask = (1 << bits) - 1
    return (word & mask) - far, (word >> bits & mask) - far, word >> 2 * bits & NO_BEST


@kernel
def keep(table, key, low, high, best):
    """Write what was found of a position: the least and the most that it is worth, and its best move."""
    bits, far = table.bound_bits, table.far
    known = bounds_of(find(table, key), table)
    low, high = max(low, known[0]), min(high, known[1])
    if best == NO_BEST:
        best = known[2]
    word = key >> table.bucket_bits << 2 * bits + BEST_BITS | best << 2 * bits | high + far << bits | low + far
    bucket = (key & (1 << table.bucket_bits) - 1) << 1
    before = table.words[bucket]
    if before >> 2 * bits + BEST_BITS != key >> table.bucket_bits:
        table.words[bucket + 1] = before
    table.words[bucket] = word
