"""The compiled loops of the exploration that call a game's rules, a block of a list at a time.

There are many small kernels, because a long one takes more than proportionally long to compile. A kernel reports in
*trouble*, a `trouble_array`, how it ended: (a Trouble, the position, the row in question, the move).
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED, is_none
from retrograde.solver.methods.streamed.lists import ASCENDS, BLOCK, FROM, MASK, MOVE, TO, WHERE, blocks_of, unpack
from retrograde.solver.methods.streamed.steps import BITS, code_of, count_in
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.kernels import canonical, count_images
from retrograde.solver.rules.positions import (
    as_position,
    empty_positions,
    no_position,
    note,
    position_in,
    put,
    whole,
    words_in,
)
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer
from retrograde.solver.values.score_kernels import primitive_score

ALL, READY = -1, -2
"""Used in place of a move. ALL: make all moves. READY: the positions of the list are children already."""
BAD_VALUE = 5
"""Stands for anything that is not a primitive value."""
MOST_SAME = 64
"""Moves that are stored for a tier in which all positions have the same moves."""

TIER, LISTS, LISTS_END, LOW = range(4)
"""Columns of the table of targets, the lists to be made.

TIER: the tier. LISTS and LISTS_END: the rows of the arena whose children are wanted. LOW and the columns that follow:
the children wanted, from one position up to but not including another; a column for each of their words.
"""


class FinishedLists(NamedTuple):
    """Positions in which the game is over, and their codes (see steps.py), uint16[n]: list after list, which `ends`.

    The arrays of positions and codes are empty if positions have one word, and are not stored.
    """

    positions: Array
    codes: Array
    ends: Array


class NewLists(NamedTuple):
    """Sorted lists, one after another: `numbers` int64[n] or int64[n, words], and where each list `ends`.

    For each list `remove_finished` fills in: `moves`, int64[k, MOST_SAME], of its first position; `next_tiers`, the
    tiers that they lead to; and `shared`, how many they are if all positions have these moves, else -1. `over`, a tally
    by primitive value, counts positions in which the game is over, and `finished` lists them.
    """

    numbers: Array
    ends: Array
    moves: Array
    next_tiers: Array
    shared: Array
    over: Array
    finished: FinishedLists


@kernel
def move_all(game, positions, move, tier, children, trouble):
    """Write the children of some positions by one move; return whether all are valid and in the expected tier."""
    other_tier = broken = False
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        child = as_position(game.do_move(position, move))
        broken |= not is_position(child)
        child, child_tier = canonical(game, child)
        broken |= is_none(child)
        other_tier |= child_tier != tier
        put(children, i, child)
    trouble[0] = Trouble.FINE
    if broken:
        trouble[0] = Trouble.BROKEN
    elif other_tier:
        trouble[0] = Trouble.OTHER_TIER
    return not (broken or other_tier)


@kernel
def write_values(game, positions, values, trouble):
    """Write the primitive value of each position to *values*; BAD_VALUE for anything else."""
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        value = whole(game.primitive(position))
        values[i] = value if 0 <= value < BAD_VALUE else BAD_VALUE


@kernel
def write_sizes(game, positions, images, sizes):
    """Write to *sizes* how many positions equal each position by symmetry, itself included."""
    for i in range(len(positions)):
        sizes[i] = count_images(game, position_in(game, positions, i), images)


@kernel
def have_moves(game, positions, moves, trouble):
    """Return whether all positions have exactly these moves, in this order."""
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        k = 0
        for move in game.generate_moves(position):
            if k == len(moves) or whole(move) != moves[k]:
                return False
            k += 1
        if k != len(moves):
            return False
    return True


@kernel
def child_by(game, position, move):
    """Return (canonical child of a position by a move, its tier)."""
    return canonical(game, as_position(game.do_move(position, move)))


@kernel
def child_bounds(game, target):
    """Return the least child that a target (a row of the table) wants, and the least one that is too great."""
    return position_in(game, target, LOW), position_in(game, target, LOW + words_in(game))


@kernel
def append_children(game, positions, target, numbers, end, trouble):
    """Append the children of some positions by all moves to *numbers*, as far as a target wants them.

    *numbers* has *end* children already. Return the new end; -1 if the rules broke the contract, or if the buffer is
    full (see *trouble*).
    """
    tier = target[TIER]
    low, high = child_bounds(game, target)
    for i in range(len(positions)):
        # BROKEN until all children of this position turn out well.
        trouble[0] = Trouble.BROKEN
        position = position_in(game, positions, i)
        note(trouble, position)
        has_moves = False
        for move in game.generate_moves(position):
            has_moves = True
            # Check the move and the child. `canonical` returns no position if images break the contract.
            child = as_position(game.do_move(position, move))
            if whole(move) < 0 or not is_position(child):
                return -1
            child, child_tier = canonical(game, child)
            if is_none(child):
                return -1
            # Keep the child if the target wants it.
            if child_tier == tier and low <= child < high:
                if end == len(numbers):
                    trouble[0] = Trouble.NO_ROOM
                    return -1
                put(numbers, end, child)
                end += 1
        if not has_moves:
            return -1
    trouble[0] = Trouble.FINE
    return end


@kernel
def make_children(game, arena, targets, numbers, ends, trouble):
    """Write the children that each target wants to *numbers*, unsorted, and to *ends* where they end.

    Returns early if there is a fault; then `trouble[2]` is the row of the list in the arena's table that has it.
    """
    workspace = make_runs_buffer()
    keys, moved = empty_positions(game, BLOCK), empty_positions(game, BLOCK)
    end = ZERO
    for k in range(len(targets)):
        tier = targets[k, TIER]
        low, high = child_bounds(game, targets[k])
        for row in range(targets[k, LISTS], targets[k, LISTS_END]):
            trouble[2] = row
            move = arena.table[row, MOVE]
            runs = find_runs(arena.table[row, MASK], workspace)
            before = no_position(low)  # less than any child
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
                    child = position_in(game, children, i)
                    disorder |= child < before
                    before = child
                    put(numbers, end, child)
                    end += (child >= low) & (child < high)
            # Only part of this list may be read, but its children do not ascend. The caller reads it whole next time.
            if disorder and arena.table[row, ASCENDS]:
                trouble[0] = Trouble.UNSORTED
                return
        ends[k] = end
    trouble[0] = Trouble.FINE


@kernel
def restrict_blocks(game, arena, row, last, target, trouble):
    """Restrict a list, a row of the arena's table, to the blocks that have children for a target: set FROM and TO.
    Return whether the children seem to ascend. Only the first position of each block is moved. *last* is the last
    position of the list."""
    words, table = arena
    begin, end = 0, 0
    first = table[row, WHERE] >> 3  # from bytes to words: the list begins with the first positions of its blocks
    low, high = child_bounds(game, target)
    before = no_position(low)
    move = table[row, MOVE]
    # `begin` becomes the last block whose first child is below `low`, `end` the one after the last below `high`.
    for block in range(table[row, TO]):
        child = position_in(game, words, first + words_in(game) * block)
        note(trouble, child)
        if move != READY:
            child, _ = child_by(game, child, move)
        if child < before:
            return False
        before = child
        if child < low:
            begin = block
        if child < high:
            end = block + 1
    table[row, FROM], table[row, TO] = begin, end
    return move == READY or child_by(game, last, move)[0] >= before


@kernel
def append_finished(finished, end, position, value):
    """Append a position in which the game is over to FinishedLists, if they are wanted; return the new end."""
    if len(finished.codes) == 0:
        return end
    put(finished.positions, end, position)
    finished.codes[end] = code_of(primitive_score(value, BITS))
    return end + 1


@kernel
def remove_finished(game, tiers, lists, trouble):
    """Remove positions in which the game is over from sorted lists (NewLists), and find the moves of each list.

    List k is of tier `tiers[k]`. The lists are closed up in place, and `lists.ends` changes. `NewLists` says what is
    filled in. If the rules break the contract, *trouble* has the position. (Splitting this kernel in three makes
    compilation take twice as long.)
    """
    numbers, ends, moves, next_tiers, shared, over, finished = lists
    keys, sizes, values = empty_positions(game, BLOCK), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint8)
    images = empty_positions(game, MOST_IMAGES)
    end = begin = finished_end = ZERO
    for k in range(len(ends)):
        tier = tiers[k]
        new_begin = end
        # Step 1: Ask for the primitive values of the list, block by block.
        for first in range(begin, ends[k], BLOCK):
            count = min(BLOCK, ends[k] - first)
            for i in range(count):
                put(keys, i, position_in(game, numbers, first + i))
            write_values(game, keys[:count], values, trouble)
            # Move undecided positions down in the list. Collect decided ones at the front of `keys`. Each position is
            # written to both; the counters advance past those that stay.
            decided = 0
            for i in range(count):
                position = position_in(game, keys, i)
                put(numbers, end, position)
                put(keys, decided, position)
                is_over = values[i] != UNDECIDED
                values[decided] = values[i]
                end += not is_over
                decided += is_over
            # Count the decided ones in the tally.
            write_sizes(game, keys[:decided], images, sizes)
            for i in range(decided):
                value, position = values[i], position_in(game, keys, i)
                if value == BAD_VALUE:
                    trouble[0] = Trouble.BAD_PRIMITIVE
                    note(trouble, position)
                    return
                count_in(over, value, tier, position, sizes[i])
                finished_end = append_finished(finished, finished_end, position, value)
        # Step 2: Find the moves of the first remaining position, and where they lead.
        begin = ends[k]
        ends[k], finished.ends[k] = end, finished_end
        shared[k] = 0
        if end > new_begin:
            first_left = position_in(game, numbers, new_begin)
            note(trouble, first_left)
            for move in game.generate_moves(first_left):
                if move < 0:
                    trouble[0] = Trouble.BAD_MOVE
                    return
                if shared[k] < MOST_SAME:
                    moves[k, shared[k]] = move
                    next_tiers[k, shared[k]] = child_by(game, first_left, move)[1]
                shared[k] += 1
            if shared[k] == 0:
                trouble[0] = Trouble.NO_MOVES
                return
            # Step 3: Check whether all others have the same moves.
            expected = moves[k, : min(shared[k], MOST_SAME)]
            if shared[k] > MOST_SAME or not have_moves(game, numbers[new_begin:end], expected, trouble):
                shared[k] = -1
    trouble[0] = Trouble.FINE


@kernel
def count_by_tier(game, arena, tiers, trouble):
    """Count the children of a loaded list by tier in rows (tier, count) of *tiers*. Return the number of rows used, -1
    if they do not suffice."""
    runs = find_runs(arena.table[0, MASK], make_runs_buffer())
    keys = empty_positions(game, BLOCK)
    count = 0
    for block in range(blocks_of(arena, 0)):
        for i in range(unpack(arena, 0, block, runs, keys)):
            position = position_in(game, keys, i)
            note(trouble, position)
            for move in game.generate_moves(position):
                tier = child_by(game, position, move)[1]
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
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        child, tier = child_by(game, position, move)
        put(out, end, child)
        end += tier == target[TIER]
    return end
