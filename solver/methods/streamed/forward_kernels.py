"""The compiled loops of the exploration that call a game's rules, a block of a list at a time.

There are many small kernels, because a long one takes more than proportionally long to compile. A kernel reports in
*trouble*, int64[4], how it ended: (a Trouble, the position, the row in question, the move).
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, POSITION_LIMIT, UNDECIDED
from retrograde.solver.methods.streamed.lists import ASCENDS, BLOCK, FROM, MASK, MOVE, TO, WHERE, blocks_of, unpack
from retrograde.solver.methods.streamed.steps import count_in
from retrograde.solver.rules.kernels import canonical, count_images
from retrograde.solver.rules.positions import whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer

ALL, READY = -1, -2
"""Used in place of a move. ALL: make all moves. READY: the positions of the list are children already."""
BAD_VALUE = 5
"""Stands for anything that is not a primitive value."""
MOST_SAME = 64
"""Moves that are stored for a tier in which all positions have the same moves."""

TIER, LISTS, LISTS_END, LOW, HIGH, TARGET = range(6)
"""Columns of the table of targets, the lists to be made.

TIER: the tier. LISTS and LISTS_END: the rows of the arena whose children are wanted. LOW and HIGH: the children
wanted, from LOW up to but not including HIGH.
"""


class NewLists(NamedTuple):
    """Sorted lists, one after another: `numbers` int64[n], and where each list `ends`.

    For each list `remove_finished` fills in: `moves`, int64[k, MOST_SAME], of its first position; `next_tiers`, the
    tiers that they lead to; and `shared`, how many they are if all positions have these moves, else -1. `over`, a tally
    by primitive value, counts positions in which the game is over.
    """

    numbers: Array
    ends: Array
    moves: Array
    next_tiers: Array
    shared: Array
    over: Array


@kernel
def move_all(game, positions, move, tier, children, trouble):
    """Write the children of some positions by one move; return whether all are valid and in the expected tier."""
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
    """Write the primitive values of some positions; BAD_VALUE for anything else."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        value = whole(game.primitive(positions[i]))
        values[i] = value if 0 <= value < BAD_VALUE else BAD_VALUE


@kernel
def sizes_of(game, positions, images, sizes):
    """Write for each position how many positions equal it by symmetry, itself included."""
    for i in range(len(positions)):
        sizes[i] = count_images(game, positions[i], images)


@kernel
def have_moves(game, positions, moves, trouble):
    """Return whether all positions have exactly these moves, in this order."""
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
    """Return (canonical child of a position by a move, its tier)."""
    return canonical(game, whole(game.do_move(position, move)))


@kernel
def append_children(game, positions, target, numbers, end, trouble):
    """Append the children of some positions by all moves, as far as a target wants them; return the end, or -1. -1
    means that the rules broke the contract, or that the buffer is full (see *trouble*)."""
    tier, low, high = target[TIER], target[LOW], target[HIGH]
    for i in range(len(positions)):
        # BROKEN until all children of this position turn out well.
        trouble[0] = Trouble.BROKEN
        trouble[1] = positions[i]
        none = True
        for move in game.generate_moves(positions[i]):
            none = False
            # Check the move and the child. `canonical` returns a negative number if images break the contract.
            child = whole(game.do_move(positions[i], move))
            if whole(move) < 0 or not 0 <= child < POSITION_LIMIT:
                return -1
            child, child_tier = canonical(game, child)
            if child < 0:
                return -1
            # Keep the child if the target wants it.
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
def make_children(game, arena, targets, numbers, ends, trouble):
    """Write the children that each target wants, unsorted, and where they end. Returns early unless all is FINE."""
    workspace = make_runs_buffer()
    keys, moved = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    end = ZERO
    for k in range(len(targets)):
        tier, low, high = targets[k, TIER], targets[k, LOW], targets[k, HIGH]
        for row in range(targets[k, LISTS], targets[k, LISTS_END]):
            trouble[2] = row
            move = arena.table[row, MOVE]
            runs = find_runs(arena.table[row, MASK], workspace)
            before = np.int64(-1)
            disorder = move == ALL  # children by all moves are never in order
            for block in range(arena.table[row, FROM], arena.table[row, TO]):
                count = unpack(arena, row, block, runs, keys)
                # Case: all moves. Each child may lead to another tier, so `append_children` checks each of them.
                if move == ALL:
                    end = append_children(game, keys[:count], targets[k], numbers, end, trouble)
                    if end < 0:
                        return
                    continue
                # Case: one move for all positions of the list, or children that are ready.
                if end + count > len(numbers):
                    trouble[0] = Trouble.NO_ROOM
                    return
                if move != READY and not move_all(game, keys[:count], move, tier, moved, trouble):
                    return
                children = keys if move == READY else moved
                # Write every child, but advance only past those in range.
                for i in range(count):
                    child = children[i]
                    disorder |= child < before
                    before = child
                    numbers[end] = child
                    end += (child >= low) & (child < high)
            # Only part of this list was read, which is wrong if its children do not ascend. The caller reads it whole
            # next time.
            if disorder and arena.table[row, ASCENDS]:
                trouble[0] = Trouble.UNSORTED
                return
        ends[k] = end
    trouble[0] = Trouble.FINE


@kernel
def restrict_blocks(game, arena, row, last, target, trouble):
    """Restrict a list to the blocks that have children for a target; return whether the children seem to ascend. Only
    the first position of each block is moved. *last* is the last position of the list. Sets FROM and TO."""
    words, table = arena
    begin, end = 0, 0
    first = table[row, WHERE] >> 3
    before = np.int64(-1)
    move = table[row, MOVE]
    # `begin` becomes the last block whose first child is below LOW, `end` the one after the last below HIGH.
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
def remove_finished(game, tiers, lists, trouble):
    """Remove positions in which the game is over from sorted lists, and find the moves of each list.

    The lists are closed up in place, and `lists.ends` changes. `NewLists` says what is filled in. If the rules break
    the contract, *trouble* has the position. (Splitting this kernel in three makes compilation take twice as long.)
    """
    numbers, ends, moves, next_tiers, shared, over = lists
    keys, sizes, values = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint8)
    images = np.empty(MOST_IMAGES, np.int64)
    end = begin = 0
    for k in range(len(ends)):
        tier = tiers[k]
        new_begin = end
        # Step 1: Ask for the primitive values of the list, block by block.
        for first in range(begin, ends[k], BLOCK):
            count = min(BLOCK, ends[k] - first)
            for i in range(count):
                keys[i] = numbers[first + i]
            values_of(game, keys[:count], values, trouble)
            # Move undecided positions down in the list. Collect decided ones at the front of `keys`.
            decided = 0
            for i in range(count):
                numbers[end] = keys[i]
                keys[decided] = keys[i]
                is_over = values[i] != UNDECIDED
                values[decided] = values[i]
                end += not is_over
                decided += is_over
            # Count the decided ones in the tally.
            sizes_of(game, keys[:decided], images, sizes)
            for i in range(decided):
                value, position = values[i], keys[i]
                if value == BAD_VALUE:
                    trouble[0], trouble[1] = Trouble.BAD_PRIMITIVE, position
                    return
                count_in(over, value, tier, position, sizes[i])
        # Step 2: Find the moves of the first remaining position, and where they lead.
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
                    next_tiers[k, shared[k]] = child_by(game, numbers[new_begin], move)[1]
                shared[k] += 1
            if shared[k] == 0:
                trouble[0] = Trouble.NO_MOVES
                return
            # Step 3: Check whether all others have the same moves.
            known = moves[k, : min(shared[k], MOST_SAME)]
            if shared[k] > MOST_SAME or not have_moves(game, numbers[new_begin:end], known, trouble):
                shared[k] = -1
    trouble[0] = Trouble.FINE


@kernel
def count_by_tier(game, arena, tiers, trouble):
    """Count the children of a loaded list by tier in rows (tier, count) of *tiers*. Return how many rows, -1 if there
    are more."""
    runs = find_runs(arena.table[0, MASK], make_runs_buffer())
    keys = np.empty(BLOCK, np.int64)
    count = 0
    for block in range(blocks_of(arena, 0)):
        for i in range(unpack(arena, 0, block, runs, keys)):
            trouble[1] = keys[i]
            for move in game.generate_moves(keys[i]):
                tier = child_by(game, keys[i], move)[1]
                # Find the tier's row, or add one.
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
    """Write the children of some positions that a target wants, by one move or ALL; return how many were written."""
    if move == ALL:
        end = append_children(game, positions, target, out, ZERO, trouble)
        return len(out) if trouble[0] == Trouble.NO_ROOM else max(end, 0)
    end = 0
    for position in positions:
        trouble[1] = position
        child, tier = child_by(game, position, move)
        out[end] = child
        end += tier == target[TIER]
    return end
