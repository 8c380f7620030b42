"""Compiled loops over sorted lists: gather children, look positions up. They call no rules.

Two ways to look up the children of a row of a matrix (see rules/kernels.py):

- Children ascend: gallop from one to the next, which runs along memory (`find`).
- They do not: an `Index` by leading bits narrows each to a few positions, then all are bisected in lockstep
  (`look_up`), so that their cache misses overlap.
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.methods.listed.spill.kernels import bounds_of_tier, find, is_none_at, is_same
from retrograde.solver.rules.kernels import count_less
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel


class TierLists(NamedTuple):
    """Positions sorted tier by tier: `tiers[k]` has those from `starts[k]` to `starts[k + 1]`."""

    tiers: Array
    starts: Array
    positions: Array


SAMPLE_BITS = 6
"""An index has every 64th position as a sample, because many positions may share their leading bits."""
SAMPLE = 1 << SAMPLE_BITS
COLUMN, CHILD, LOW, COUNT, SEARCH_ROWS = 0, 1, 2, 3, 6
"""Rows of the matrix *search*, which has a column for each child of a row: its column in the matrix of children, the
child, the index where its block of positions begins, and the block's length. Two more of the SEARCH_ROWS are workspace.
"""


class Index(NamedTuple):
    """An index of sorted positions by their leading bits, for each tier.

        key           position >> shifts[k], counted from bases[k]
        begins        offsets[k] → | key 0 | key 1 | … | end |  number of tier k's first position with at least that key
        samples       every 64th of all positions, from the first

    Positions with a key have the numbers `begins[offsets[k] + key]` to `begins[offsets[k] + key + 1]`, counted from
    where the tier begins.
    """

    shifts: Array
    bases: Array
    offsets: Array
    begins: Array
    samples: Array


@kernel
def gather(columns, children, tiers, runs, out):
    """Copy the children in the first *columns* cells of each row to *out*, without the gaps of missing moves. `runs[k]`
    becomes: where row k ends in *out*; its tier; 1 if all its children are in that tier, else 0; the greatest child."""
    end = 0
    for row in range(children.shape[0]):
        begin = end
        tier = greatest = -1
        one_tier = True
        for i in range(columns):
            child = children[row, i]
            if child >= 0:
                greatest = max(greatest, child)
                if end == begin:
                    tier = tiers[row, i]
                one_tier &= tiers[row, i] == tier
                out[end] = child
                end += 1
        runs[row, 0] = end
        runs[row, 1] = tier
        runs[row, 2] = one_tier
        runs[row, 3] = greatest


@kernel
def fill_index(positions, starts, index):
    """Fill the `begins` of an *index* (see `Index`), which come in as zeros. Tier k has the sorted *positions* from
    `starts[k]` to `starts[k + 1]`."""
    shifts, bases, offsets, begins, _ = index
    for k in range(len(shifts)):
        low, high = starts[k], starts[k + 1]
        key = 0
        for i in range(low, high):
            position_key = (np.int64(positions[i]) >> shifts[k]) - bases[k]
            # Keys without positions begin where the next key does.
            while key < position_key:
                key += 1
                begins[offsets[k] + key] = i - low
        # Keys after the last position begin at the end of the tier.
        while key < offsets[k + 1] - offsets[k] - 1:
            key += 1
            begins[offsets[k] + key] = high - low


@kernel
def begin_look_up(columns, children, child_tiers, lists, index, search):
    """Write to *search* the block of positions that may have each child of a row; return the number of children.

    Children that the index rules out are skipped. *search* is described at COLUMN. *lists* are TierLists, *child_tiers*
    the children's tiers.
    """
    tiers, starts, _ = lists
    shifts, bases, offsets, begins, _ = index
    tier = k = count = 0
    looked_up = tier_exists = False
    for i in range(columns):
        child = children[i]
        if child < 0:
            continue
        # Neighbours mostly share a tier: look its number up only when it changes.
        if child_tiers[i] != tier or not looked_up:
            tier = child_tiers[i]
            looked_up = True
            k = count_less(tiers, tier)
            tier_exists = k < len(tiers) and tiers[k] == tier
        # `tier_exists`: the state space has this tier. The key gives the block; an empty block means that the child is
        # nowhere.
        if tier_exists:
            key = (child >> shifts[k]) - bases[k]
            if 0 <= key < offsets[k + 1] - offsets[k] - 1:
                begin = np.int64(begins[offsets[k] + key])
                search[COLUMN, count] = i
                search[CHILD, count] = child
                search[LOW, count] = starts[k] + begin
                search[COUNT, count] = np.int64(begins[offsets[k] + key + 1]) - begin
                count += search[COUNT, count] > 0
    return count


@kernel
def halve(keys, children, lows, counts):
    """Bisect many blocks of sorted keys in lockstep, so that their cache misses overlap.

    Block i begins at `lows[i]` and has `counts[i]` keys. Afterwards `lows[i]` is the index of the last key that is not
    greater than child i, or of the first key if there is none. All *counts* become 1.
    """
    most = 1
    for count in counts:
        most = max(most, count)
    # `most` halves as the longest block does. Blocks that are down to one key no longer move.
    while most > 1:
        for i in range(len(counts)):
            half = counts[i] >> 1
            lows[i] += half if keys[lows[i] + half] <= children[i] else 0
            counts[i] -= half
        most -= most >> 1


@kernel
def look_up(positions, samples, search, indices):
    """Write to *indices* the index of each child in *search*; leave those that are nowhere as they are. Bisects the
    samples first, which are few and stay in the cache, then the 64 positions from one sample to the next.

    The first four rows of *search* (see COLUMN) come from `begin_look_up`; the last two are for samples.
    """
    columns, children, lows, counts, sample_lows, sample_counts = search
    # Step 1: the samples that cover each child's block, from the last one before its begin.
    for i in range(len(counts)):
        sample_lows[i] = max(0, ((lows[i] + SAMPLE - 1) >> SAMPLE_BITS) - 1)
        sample_counts[i] = ((lows[i] + counts[i] - 1) >> SAMPLE_BITS) - sample_lows[i] + 1
    # Step 2: find the last sample that is not greater than the child.
    halve(samples, children, sample_lows, sample_counts)
    # Step 3: search the positions from that sample to the next, within the block.
    for i in range(len(counts)):
        begin, end = sample_lows[i] << SAMPLE_BITS, lows[i] + counts[i]
        lows[i] = max(lows[i], begin)
        counts[i] = min(end, begin + SAMPLE) - lows[i]
    halve(positions, children, lows, counts)
    # Step 4: keep exact hits only.
    for i in range(len(counts)):
        if positions[lows[i]] == children[i]:
            indices[columns[i]] = lows[i]


@kernel
def locate(columns, matrix, unsorted, lists, index, indices):
    """Write the index of each child among *lists* to *indices*, -1 for no child; return how many children are nowhere.
    The children are in the first *columns* columns of a *matrix*. Rows that ascend are found by galloping from child to
    child, *unsorted* rows by the *index*."""
    children, child_tiers = matrix.children, matrix.tiers
    search = np.empty((SEARCH_ROWS, columns), np.int64)
    missing = 0
    for row in range(children.shape[0]):
        # Case: an unsorted row. Use the index; -1 stays where a child is nowhere.
        if unsorted[row]:
            for i in range(columns):
                indices[row, i] = -1
            count = begin_look_up(columns, children[row], child_tiers[row], lists, index, search)
            look_up(lists.positions, index.samples, search[:, :count], indices[row])
            for i in range(columns):
                missing += children[row, i] >= 0 and indices[row, i] < 0
            continue
        # Case: an ascending row.
        missing += gallop(columns, children[row], child_tiers[row], lists, indices[row], False)
    return missing


@lean_kernel
def gallop(columns, children, child_tiers, lists, indices, hinted):
    """Write the index among *lists* of each child of a row to *indices*, -1 for no child; return how many are nowhere.
    Gallops from child to child, which is quick where they ascend. If *hinted*, *indices* comes in with an index near
    each child, negative for a child that is nowhere, and gallops from there."""
    tiers, starts, positions = lists
    missing = tier = low = high = hint = 0
    looked_up = False
    for i in range(columns):
        start = indices[i] if hinted else 0
        indices[i] = -1
        if is_none_at(children, i):
            continue
        if start < 0:
            missing += 1
            continue
        # Step 1: find the tier's list when the tier changes.
        if child_tiers[i] != tier or not looked_up:
            tier = child_tiers[i]
            looked_up = True
            low, high = bounds_of_tier(tiers, starts, tier)
            hint = low
        # Step 2: gallop to the child.
        hint = find(positions, low, high, children[i], start if hinted else hint)
        if hint < high and is_same(positions, hint, children[i]):
            indices[i] = hint
        missing += indices[i] < 0
    return missing


@lean_kernel
def gallop_rows(columns, matrix, lists, indices, hinted):
    """Call `gallop` for all rows of a matrix; return how many children are nowhere."""
    missing = 0
    for row in range(matrix.children.shape[0]):
        missing += gallop(columns, matrix.children[row], matrix.tiers[row], lists, indices[row], hinted)
    return missing
