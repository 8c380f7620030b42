"""Kernels that look many positions up in a database, one stage of the lookup each.

    positions --locate--> canonical ones, tiers --find_blocks--> blocks --sort_by_block--> find_… --> rows of the legend

The rules are asked about ints that may be no positions, and may raise. `done` holds the index that was asked about
last, so that the caller knows it and goes on after it; `trouble` the position. `lookup` is a LookupKeys, and `table` a
TierTable.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.positions import as_position, note, position_in, put, whole
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel

NOWHERE = -1
"""Stands for a missing canonical position, block or row."""
ALL_BITS = -1
"""The mask under which each bit counts."""
IN_STEPS = -2
"""Stands for the row of a position whose outcome must be looked up among the steps."""


class TierTable(NamedTuple):
    """A file's table of tiers, as int64 arrays; `bounds` has one item more, and slots have no `positions` and `masks`.
    A position's rank is its bits under the tier's mask, pushed together. Records have ALL_BITS for a mask."""

    numbers: Array
    bounds: Array
    positions: Array
    masks: Array


class LookupKeys(NamedTuple):
    """Canonical positions being looked up, with their tiers; later their ranks, with rows of the table of tiers."""

    keys: Array
    tiers: Array


class LookupBlock(NamedTuple):
    """A decoded block: the number of its first item, that item's rank, and `sums` and `outcomes` int64[items].

    `sums` are running sums of the differences between ranks, in the bits under `mask`. *exact*: an item stands for one
    rank (a record), not for all ranks up to the next item (a step).
    """

    item: int
    first: int
    mask: int
    exact: bool
    sums: Array
    outcomes: Array


# By the rules


@kernel
def locate(game, positions, lookup, done, trouble):
    """Write each position's canonical form and its tier to *lookup*; NOWHERE if it is no position."""
    for i in range(done[0], len(positions)):
        done[0] = i
        position = positions[i]
        lookup.keys[i] = NOWHERE
        if is_position(position):
            trouble[1] = position
            key, tier, is_image = game.checked_canonical(position)
            if is_image:
                lookup.tiers[i], lookup.keys[i] = tier, key
    done[0] = len(positions)


@kernel
def locate_slots(game, positions, table, slots, done, trouble):
    """Write each position's slot, numbered through all tiers, to *slots*; NOWHERE if it is no position. A position may
    be a tuple."""
    for i in range(done[0], len(positions)):
        done[0] = i
        slots[i] = NOWHERE
        position = position_in(game, positions, i)
        if is_position(position):
            note(trouble, position)
            key, tier, is_image = game.checked_canonical(position)
            k = index_of(table.numbers, tier)
            if k >= 0 and is_image:
                # An int that is no position may still get a slot, but then the slot's position is another one.
                slot = whole(game.index(key))
                has_slot = 0 <= slot < table.bounds[k + 1] - table.bounds[k]
                if has_slot and as_position(game.unindex(tier, slot)) == key:
                    slots[i] = table.bounds[k] + slot
    done[0] = len(positions)


@kernel
def write_positions(game, tier, begin, positions, done, trouble):
    """Write the positions of slots of a tier, from slot *begin* on; NOWHERE for slots without one."""
    for i in range(done[0], len(positions)):
        done[0] = i
        put(positions, i, as_position(game.unindex(tier, begin + i)))
    done[0] = len(positions)


@kernel
def find_ends(game, lookup, ends, rows, done, trouble):
    """Write the legend rows of ends and of wins in one ply; IN_STEPS for other positions.

    *ends* has the row of each value of an end, and last the row of a win in one ply.
    """
    for i in range(done[0], len(rows)):
        done[0] = i
        rows[i] = NOWHERE
        key = lookup.keys[i]
        if key >= 0:
            trouble[1] = key
            value = whole(game.primitive(key))
            if value != UNDECIDED:
                rows[i] = ends[value] if 0 <= value < len(ends) else NOWHERE
            elif game.wins_at_once(key):
                rows[i] = ends[-1]
            else:
                rows[i] = IN_STEPS
    done[0] = len(rows)


# In the file


@kernel
def index_of(numbers, number):
    """Return the index of a number in an ascending array; -1 if it is not there."""
    k = find_last_up_to(numbers, 0, len(numbers), number)
    return k if numbers[k] == number else -1


@kernel
def find_last_up_to(numbers, low, high, number):
    """Return the last index in [low, high) with a number up to *number*, or *low*; the numbers ascend there.

    >>> find_last_up_to(np.array([2, 4, 8]), 0, 3, 5)
    1
    """
    length = high - low
    while length > 1:
        # A binary search without branches: the range shrinks by half each time, whichever half it is.
        half = length >> 1
        low = low + half if numbers[low + half] <= number else low
        length -= half
    return low


@kernel
def find_blocks(lookup, table, firsts, size, blocks):
    """Write the block of each canonical position to *blocks*. In *lookup* replace it by its rank, and its tier by the
    tier's row. *firsts* has the rank of each block's first item, *size* the items of a block."""
    keys, tiers = lookup
    numbers, bounds, positions, masks = table
    for i in range(len(blocks)):
        key, blocks[i] = keys[i], NOWHERE
        if key >= 0:
            k = index_of(numbers, tiers[i])
            # Play cannot reach a position whose bits outside the mask differ from those of the tier.
            if k >= 0 and ((key ^ positions[k]) & ~masks[k]) == 0:
                tiers[i] = k
                keys[i] = rank_under(key, masks[k])
                # The tier's first and last block. The item is in the last one whose first rank is not greater.
                begin, end = bounds[k] // size, (bounds[k + 1] - 1) // size
                blocks[i] = find_last_up_to(firsts, begin, end + 1, keys[i])


@kernel
def rank_under(position, mask):
    """Return a position's rank: its bits under a mask, pushed together. 0b1010 under 0b1110 has the rank 0b101."""
    rank = ones = 0  # *ones*: ones of the mask in earlier runs
    while mask:
        lowest = mask & -mask
        rest = mask & (mask + lowest)  # without its lowest run of ones
        # `run`, the lowest run of ones, moves right by the zeros below it: all bits below less the ones among them.
        run = mask ^ rest
        rank |= (position & run) >> ((lowest - 1).bit_count() - ones)
        ones += run.bit_count()
        mask = rest
    return rank


@kernel
def sort_by_block(blocks, count, lookup):
    """Return (indices of the positions sorted by block, their LookupKeys, where each block's positions begin).

    *count* is the number of blocks. Copying pays: searching in place takes twice as long, on pages far apart.
    """
    begins = np.zeros(count + 1, np.int64)
    # Step 1: count the positions of each block.
    for block in blocks:
        if block >= 0:
            begins[block + 1] += 1
    # Step 2: add the counts up, so that each block's positions begin where those before end.
    for block in range(count):
        begins[block + 1] += begins[block]
    # Step 3: put each position behind those of its block (a counting sort).
    next_free, length = begins[:-1].copy(), begins[-1]
    order, keys, tiers = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    old_keys, old_tiers = lookup
    for i in range(len(blocks)):
        block = blocks[i]
        if block >= 0:
            j = next_free[block]
            next_free[block] += 1
            order[j], keys[j], tiers[j] = i, old_keys[i], old_tiers[i]
    return order, LookupKeys(keys, tiers), begins


@kernel
def scatter_rows(order, found, rows):
    """Write `found[j]` to `rows[order[j]]`: rows found in the order of blocks go to their positions."""
    for j in range(len(order)):
        rows[order[j]] = found[j]


@kernel
def find_ranks(span, lookup, table, block, rows):
    """Write the legend rows of the ranks in *span*, (begin, end), which all lie in this block."""
    ranks, tiers = lookup
    _, bounds, positions, masks = table
    item, block_first, mask, exact, sums, outcomes = block
    for i in range(span[0], span[1]):
        # Step 1: the tier's part of the block, and the rank of its first item.
        k, rank = tiers[i], ranks[i]
        low, high = max(bounds[k] - item, 0), min(bounds[k + 1] - item, len(sums))
        first = rank_under(positions[k], masks[k]) if bounds[k] >= item else block_first
        # Step 2: the bits outside the block's mask are those of its items; else nothing is stored.
        if ((rank ^ first) & ~mask) == 0:
            # Step 3: within a tier, running sums differ as the ranks do.
            target = sums[low] + rank_under(rank, mask) - rank_under(first, mask)
            j = find_last_up_to(sums, low, high, target)
            if sums[j] == target or (not exact and sums[j] < target):
                rows[i] = outcomes[j]


@kernel
def find_slots(span, lookup, table, block, rows):
    """Write the legend rows of the slots in *span*, (begin, end), which all lie in this block."""
    slots, item, outcomes = lookup.keys, block.item, block.outcomes
    for i in range(span[0], span[1]):
        rows[i] = outcomes[slots[i] - item]
