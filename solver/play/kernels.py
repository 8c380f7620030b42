"""Compiled loops that look many positions up in a database, a step of the way each.

    positions --locate--> canonical ones, tiers --place--> blocks --sorted by blocks--> find --> rows of the legend

The rules are asked about positions that may be none: of those that they raise at, the caller knows by `done`, the
index that was looked at last, and goes on behind it.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, POSITION_LIMIT, UNDECIDED
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.whole import as_position, note, position_in, put, whole
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

NOWHERE = -1
"""In the place of a canonical position, a block or a row: there is none."""
GOES_ON = -2
"""In the place of a row of a position where steps tell."""


class TierTable(NamedTuple):
    """What a file says of its tiers, each an int64 array; `bounds` has one more. Slots have neither of the last two."""

    numbers: Array
    bounds: Array
    positions: Array
    masks: Array


class Asked(NamedTuple):
    """Positions that are looked up, by index: canonical, with their tiers or, once placed, the rows of these."""

    keys: Array
    tiers: Array


class Block(NamedTuple):
    """A decoded block: its first item, the position of that (or, of steps, its rank), the mask of records, and int64
    arrays of its items."""

    item: int
    first: int
    mask: int
    sums: Array
    outcomes: Array


# By the rules


@kernel
def locate(game, positions, asked, done, trouble):
    """Write the canonical position of each, and its tier; NOWHERE for what is none."""
    for i in range(done[0], len(positions)):
        done[0] = i
        position = positions[i]
        asked.keys[i] = NOWHERE
        if 0 <= position < POSITION_LIMIT:
            trouble[1] = position
            key = whole(game.canonical(position))
            if key == position or is_image(game, key, position):
                asked.tiers[i] = whole(game.tier(key))
                asked.keys[i] = key
    done[0] = len(positions)


@kernel
def is_image(game, position, other):
    """Tell whether another position is among the images of one."""
    for image in game.images(position):  # noqa: SIM110  # any() does not compile
        if as_position(image) == other:
            return True
    return False


@kernel
def number(game, asked, table, places, done, trouble):
    """Write the slot of each canonical position, among those of all tiers; NOWHERE where it is none."""
    for i in range(done[0], len(places)):
        done[0] = i
        places[i] = NOWHERE
        key = asked.keys[i]
        if key >= 0:
            trouble[1] = key
            k = row_of(table.numbers, asked.tiers[i])
            if k >= 0:
                slot = whole(game.index(key))
                if (
                    0 <= slot < table.bounds[k + 1] - table.bounds[k]
                    and whole(game.unindex(asked.tiers[i], slot)) == key
                ):
                    places[i] = table.bounds[k] + slot
    done[0] = len(places)


@kernel
def place(game, positions, table, places, done, trouble):
    """Write the slot of each position, canonical or not, among those of all tiers; NOWHERE for what is none."""
    for i in range(done[0], len(positions)):
        done[0] = i
        places[i] = NOWHERE
        position = position_in(game, positions, i)
        if is_position(position):
            note(trouble, position)
            key = as_position(game.canonical(position))
            if key == position or is_image(game, key, position):
                tier = whole(game.tier(key))
                k = row_of(table.numbers, tier)
                if k >= 0:
                    slot = whole(game.index(key))
                    if (
                        0 <= slot < table.bounds[k + 1] - table.bounds[k]
                        and as_position(game.unindex(tier, slot)) == key
                    ):
                        places[i] = table.bounds[k] + slot
    done[0] = len(positions)


@kernel
def position_of(game, tier, begin, positions, done, trouble):
    """Write the position that each slot of a tier stands for, from one on; NOWHERE for none."""
    for i in range(done[0], len(positions)):
        done[0] = i
        put(positions, i, as_position(game.unindex(tier, begin + i)))
    done[0] = len(positions)


@kernel
def judge(game, asked, ends, rows, done, trouble):
    """Write the row of the legend where the rules tell it, as they do of an end, by *ends*, and of a win in one, by the
    last of those; else GOES_ON."""
    for i in range(done[0], len(rows)):
        done[0] = i
        rows[i] = NOWHERE
        key = asked.keys[i]
        if key >= 0:
            trouble[1] = key
            value = whole(game.primitive(key))
            if value != UNDECIDED:
                rows[i] = ends[value] if 0 <= value < len(ends) else NOWHERE
            elif wins_in_one(game, key):
                rows[i] = ends[-1]
            else:
                rows[i] = GOES_ON
    done[0] = len(rows)


@kernel
def wins_in_one(game, position):
    """Tell whether a move leads to a position where the opponent has lost."""
    for move in game.generate_moves(position):  # any() does not compile
        if whole(game.primitive(whole(game.do_move(position, whole(move))))) == LOSE:
            return True
    return False


# In the file


@kernel
def row_of(numbers, number):
    """Return where a number is among ascending ones; -1 where it is not."""
    k = last_up_to(numbers, 0, len(numbers), number)
    return k if numbers[k] == number else -1


@kernel
def last_up_to(numbers, low, high, number):
    """Return the last place from *low* to *high*, where numbers ascend, of one that is not greater than a number;
    *low*, if none is."""
    length = high - low
    while length > 1:
        half = length >> 1
        low = low + half if numbers[low + half] <= number else low
        length -= half
    return low


@kernel
def place_records(asked, table, firsts, size, blocks):
    """Write the block of each canonical position; turn its tier into the row of that."""
    keys, tiers = asked
    numbers, bounds, _, _ = table
    for i in range(len(blocks)):
        blocks[i] = NOWHERE
        if keys[i] >= 0:
            k = row_of(numbers, tiers[i])
            if k >= 0:
                tiers[i] = k
                begin, end = bounds[k] // size, (bounds[k + 1] - 1) // size
                blocks[i] = last_up_to(firsts, begin, end + 1, keys[i])


@kernel
def place_steps(asked, table, firsts, size, blocks):
    """Write the block of the step of each canonical position; turn it into its rank, its tier into the row of that."""
    keys, tiers = asked
    numbers, bounds, positions, masks = table
    for i in range(len(blocks)):
        key, blocks[i] = keys[i], NOWHERE
        if key >= 0:
            k = row_of(numbers, tiers[i])
            if k >= 0 and (key ^ positions[k]) & ~masks[k] == 0:
                tiers[i] = k
                keys[i] = squeezed(key, masks[k])
                begin, end = bounds[k] // size, (bounds[k + 1] - 1) // size
                blocks[i] = last_up_to(firsts, begin, end + 1, keys[i])


@kernel
def squeezed(position, mask):
    """Return the rank of a position: its bits under a mask, pushed together."""
    rank = 0
    below = 0
    while mask:
        lowest = mask & -mask
        rest = mask & mask + lowest  # without its lowest run of ones
        run = mask ^ rest
        rank |= (position & run) >> (lowest - 1).bit_count() - below
        below += run.bit_count()
        mask = rest
    return rank


@kernel
def sort_by_block(blocks, count, asked):
    """Return what has a block sorted by that: the indices, the positions, and where those of each block begin.

    (To look at them where they are, block by block, takes twice as long: each is on another page of memory.)
    """
    begins = np.zeros(count + 1, np.int64)
    for block in blocks:
        if block >= 0:
            begins[block + 1] += 1
    for block in range(count):
        begins[block + 1] += begins[block]
    ends, length = begins[:-1].copy(), begins[-1]
    order, keys, tiers = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    asked_keys, asked_tiers = asked
    for i in range(len(blocks)):
        block = blocks[i]
        if block >= 0:
            j = ends[block]
            ends[block] += 1
            order[j], keys[j], tiers[j] = i, asked_keys[i], asked_tiers[i]
    return order, Asked(keys, tiers), begins


@kernel
def put_back(order, found, rows):
    """Write the rows found, sorted by block, to where they were asked for."""
    for j in range(len(order)):
        rows[order[j]] = found[j]


@kernel
def find_records(span, asked, table, block, rows):
    """Write the row of the legend of each position of a span that is a record of a block."""
    keys, tiers = asked
    _, bounds, positions, _ = table
    item, block_first, mask, sums, outcomes = block
    for i in range(span[0], span[1]):
        k, key = tiers[i], keys[i]
        low, high, first = bounds[k] - item, bounds[k + 1] - item, positions[k]
        if low < 0:  # the tier began in a block before
            low, first = 0, block_first
        if (key ^ first) & ~mask == 0:
            wanted = sums[low] + squeezed(key, mask) - squeezed(first, mask)
            place = last_up_to(sums, low, min(high, len(sums)), wanted)
            if sums[place] == wanted:
                rows[i] = outcomes[place]


@kernel
def find_steps(span, asked, table, block, rows):
    """Write the row of the legend that the last step of a block up to each rank of a span says."""
    ranks, tiers = asked
    _, bounds, positions, masks = table
    item, block_first, _, sums, outcomes = block
    for i in range(span[0], span[1]):
        k = tiers[i]
        low, high = max(bounds[k] - item, 0), min(bounds[k + 1] - item, len(sums))
        first = squeezed(positions[k], masks[k]) if bounds[k] >= item else block_first
        wanted = sums[low] + ranks[i] - first
        place = last_up_to(sums, low, high, wanted)
        if sums[place] <= wanted:
            rows[i] = outcomes[place]


@kernel
def find_slots(span, asked, table, block, rows):
    """Write what each slot of a span holds, all of a block."""
    places, item, outcomes = asked.keys, block.item, block.outcomes
    for i in range(span[0], span[1]):
        rows[i] = outcomes[places[i] - item]
