"""The compiled loops of the exploration that ask the rules of a game, a block of a list at a time.

Each variant has its own. They are many small ones, because compiling takes longer than in proportion. How one ended,
and where, is written to *trouble*, int64[4]: a Trouble, the position looked at, the row in question, and the move.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, POSITION_LIMIT, UNDECIDED
from retrograde.solver.methods.streamed.lists import ASCENDS, BLOCK, FROM, MASK, MOVE, TO, WHERE, blocks_of, unpack
from retrograde.solver.methods.streamed.steps import count_in
from retrograde.solver.rules.kernels import canonical, count_images
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, room_for_runs

Array = np.ndarray[Any, Any]

ALL, READY = -1, -2
"""Stand for a move where all moves are meant, and where the positions of a list are children already."""
BAD_VALUE = 5
"""Stands for a primitive value that is none."""
MOST_SAME = 64
"""Moves that are remembered of a tier whose positions all have the same."""

TIER, LISTS, LISTS_END, LOW, HIGH, TARGET = range(6)
"""Columns of the table of lists to be made: the tier; the rows of the arena to take the children of, from one to
another; the least child to take and the one to stop before."""


class Pulled(NamedTuple):
    """Children of lists, int64[n]: those of each list make a run, which ends in `bounds` and is not in order where it
    is `unsorted`. After each target the number of runs so far is in `runs`."""

    numbers: Array
    bounds: Array
    unsorted: Array
    runs: Array


class Found(NamedTuple):
    """Sorted lists, one after another: the `numbers` int64[n], and where each list `ends`.

    For each list `moves` int64[k, MOST_SAME] become those of its first position, `leads` the tiers to which they lead,
    and `shared` how many they are if all positions have them, else -1. Positions where the game is over are counted in
    `over`, a tally by primitive value (see steps.py).
    """

    numbers: Array
    ends: Array
    moves: Array
    leads: Array
    shared: Array
    over: Array


@kernel
def move_all(game, positions, move, tier, children, trouble):
    """Write the children of positions by one move; return whether all are in a tier, as they should be."""
    other = broken = False
    for i in range(len(positions)):
        trouble[1] = positions[i]
        child = whole(game.do_move(positions[i], move))
        broken |= (child < 0) | (child >= POSITION_LIMIT)
        child, child_tier = canonical(game, child)
        broken |= child < 0
        other |= child_tier != tier
        children[i] = child
    trouble[0] = Trouble.BROKEN if broken else Trouble.OTHER_TIER if other else Trouble.FINE
    return not (broken or other)


@kernel
def values_of(game, positions, values, trouble):
    """Write the primitive values of positions; BAD_VALUE for what is none."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        value = whole(game.primitive(positions[i]))
        values[i] = value if 0 <= value < BAD_VALUE else BAD_VALUE


@kernel
def sizes_of(game, positions, images, sizes):
    """Write how many positions are equal to each by symmetry."""
    for i in range(len(positions)):
        sizes[i] = count_images(game, positions[i], images)


@kernel
def have_moves(game, positions, moves, trouble):
    """Tell whether all positions have these moves, in this order."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        k = 0
        for move in game.generate_moves(positions[i]):
            if k == len(moves) or whole(move) != moves[k]:
                return False
            k += 1
        if k != len(moves):
            return False
    return True


@kernel
def child_by(game, position, move):
    """Return the child of a position by a move, and its tier."""
    return canonical(game, whole(game.do_move(position, move)))


@kernel
def scatter(game, positions, target, numbers, end, trouble):
    """Add the children of positions by all moves that a target takes; return their end, or -1 where it is in vain."""
    tier, low, high = target[TIER], target[LOW], target[HIGH]
    for i in range(len(positions)):
        trouble[0] = Trouble.BROKEN
        trouble[1] = positions[i]
        none = True
        for move in game.generate_moves(positions[i]):
            none = False
            child = whole(game.do_move(positions[i], move))
            if whole(move) < 0 or not 0 <= child < POSITION_LIMIT:
                return -1
            child, child_tier = canonical(game, child)
            if child < 0:
                return -1
            if child_tier == tier and low <= child < high:
                if end == len(numbers):
                    trouble[0] = Trouble.NO_ROOM
                    return -1
                numbers[end] = child
                end += 1
        if none:
            return -1
    trouble[0] = Trouble.FINE
    return end


@kernel
def pull(game, arena, targets, pulled, trouble):
    """Write the children of the lists in an arena, for one target after another."""
    numbers, bounds, unsorted, ends = pulled
    room = room_for_runs()
    keys, moved = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    end = run = 0
    for k in range(len(targets)):
        tier, low, high = targets[k, TIER], targets[k, LOW], targets[k, HIGH]
        for row in range(targets[k, LISTS], targets[k, LISTS_END]):
            trouble[2] = row
            move = arena.table[row, MOVE]
            runs = find_runs(arena.table[row, MASK], room)
            begin = end
            before = np.int64(-1)
            disorder = move == ALL
            for block in range(arena.table[row, FROM], arena.table[row, TO]):
                count = unpack(arena, row, block, runs, keys)
                if move == ALL:
                    end = scatter(game, keys[:count], targets[k], numbers, end, trouble)
                    if end < 0:
                        return
                    continue
                if end + count > len(numbers):
                    trouble[0] = Trouble.NO_ROOM
                    return
                if move != READY and not move_all(game, keys[:count], move, tier, moved, trouble):
                    return
                children = keys if move == READY else moved
                for i in range(count):
                    child = children[i]
                    disorder |= child < before
                    before = child
                    numbers[end] = child
                    end += (child >= low) & (child < high)
            if disorder and arena.table[row, ASCENDS]:
                trouble[0] = Trouble.UNSORTED
                return
            if end > begin:
                bounds[run] = end
                unsorted[run] = disorder
                run += 1
        ends[k] = run
    trouble[0] = Trouble.FINE


@kernel
def narrow(game, arena, row, last, target, trouble):
    """Leave out the blocks of a list that have no children for a target; return whether they seem to ascend.

    *last* is the last position of the list.
    """
    words, _, table = arena
    begin, end = 0, 0
    first = table[row, WHERE] >> 3
    before = np.int64(-1)
    move = table[row, MOVE]
    for block in range(table[row, TO]):
        trouble[1] = child = words[first + block]
        if move != READY:
            child, _ = child_by(game, child, move)
        if child < before:
            return False
        before = child
        if child < target[LOW]:
            begin = block
        if child < target[HIGH]:
            end = block + 1
    table[row, FROM], table[row, TO] = begin, end
    return move == READY or child_by(game, last, move)[0] >= before


@kernel
def settle(game, tiers, found, trouble):
    """Keep of sorted lists in some tiers the undecided positions; move them together, and change where they end.

    Where the rules break the contract it is at the position in *trouble*. (Cut in three, it takes twice as long to
    compile.)
    """
    numbers, ends, moves, leads, shared, over = found
    keys, sizes, values = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint8)
    images = np.empty(MOST_IMAGES, np.int64)
    end = begin = 0
    for k in range(len(ends)):
        tier = tiers[k]
        new_begin = end
        for first in range(begin, ends[k], BLOCK):
            count = min(BLOCK, ends[k] - first)
            for i in range(count):
                keys[i] = numbers[first + i]
            values_of(game, keys[:count], values, trouble)
            decided = 0
            for i in range(count):
                numbers[end] = keys[i]
                keys[decided] = keys[i]
                is_over = values[i] != UNDECIDED
                values[decided] = values[i]
                end += not is_over
                decided += is_over
            sizes_of(game, keys[:decided], images, sizes)
            for i in range(decided):
                value, position = values[i], keys[i]
                if value == BAD_VALUE:
                    trouble[0], trouble[1] = Trouble.BAD_PRIMITIVE, position
                    return
                count_in(over, value, tier, position, sizes[i])
        begin = ends[k]
        ends[k] = end
        shared[k] = 0
        if end > new_begin:
            trouble[1] = numbers[new_begin]
            for move in game.generate_moves(numbers[new_begin]):
                if move < 0:
                    trouble[0] = Trouble.BAD_MOVE
                    return
                if shared[k] < MOST_SAME:
                    moves[k, shared[k]] = move
                    leads[k, shared[k]] = child_by(game, numbers[new_begin], move)[1]
                shared[k] += 1
            if shared[k] == 0:
                trouble[0] = Trouble.NO_MOVES
                return
            known = moves[k, : min(shared[k], MOST_SAME)]
            if shared[k] > MOST_SAME or not have_moves(game, numbers[new_begin:end], known, trouble):
                shared[k] = -1
    trouble[0] = Trouble.FINE


@kernel
def survey_tiers(game, arena, tiers, trouble):
    """Write the tiers to which the moves of all positions of a loaded list lead, and how many lead there.

    Returns how many tiers there are, or -1 if there are more than rows.
    """
    runs = find_runs(arena.table[0, MASK], room_for_runs())
    keys = np.empty(BLOCK, np.int64)
    count = 0
    for block in range(blocks_of(arena, 0)):
        for i in range(unpack(arena, 0, block, runs, keys)):
            trouble[1] = keys[i]
            for move in game.generate_moves(keys[i]):
                tier = child_by(game, keys[i], move)[1]
                k = 0
                while k < count and tiers[k, 0] != tier:
                    k += 1
                if k == len(tiers):
                    return -1
                if k == count:
                    tiers[k, 0] = tier
                    tiers[k, 1] = 0
                    count += 1
                tiers[k, 1] += 1
    return count


@kernel
def sample_children(game, positions, move, target, out, trouble):
    """Write the children of some positions that a target takes, by one move or ALL; return how many fit."""
    if move == ALL:
        end = scatter(game, positions, target, out, 0, trouble)
        return len(out) if trouble[0] == Trouble.NO_ROOM else max(end, 0)
    end = 0
    for position in positions:
        trouble[1] = position
        child, tier = child_by(game, position, move)
        out[end] = child
        end += tier == target[TIER]
    return end
