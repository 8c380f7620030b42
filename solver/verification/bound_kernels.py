"""The compiled loops that verify the expectation of each slot. They share no code with the solver's.

Some positions have no slot: play goes on from them to positions that have one. Here, all positions between a slot and
the next slots or ends are listed first. Then passes over the list, last position first, work out each position whose
children are known, until all are known.

 slot's position  -- moves -->  positions in between (`PositionsBetween`)  -- moves -->  slots and ends
                                        worked out from the right to the left

Bounds are whole numbers: amounts times `scale`, for player 0. A *link* is a move of a listed position. Slots are
numbered through all tiers. In the kernels, `stored` is a StoredBounds, and `between` a PositionsBetween.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, is_none
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import as_position, note, position_in, put, stands_at, swapped
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, lean_kernel
from retrograde.solver.verification.kernels import count_item, gather_images, payment

FINE, CROWDED, ROUND, NO_SLOT = range(4)
"""What is wrong with the rules, or with the buffers.

    CROWDED     more positions or links in between than the buffers hold
    ROUND       positions in between lead to each other in a circle
    NO_SLOT     a move leads to a tier or slot that is not stored
"""
IN_BETWEEN, KNOWN, MISSING = range(3)
"""What `look_up_child` finds: a child without a slot, its bounds, or that its slot is not stored."""
STAYING, PAYING, FAULT = range(3)
"""Indices of `BoundFaults.seen`."""


class StoredBounds(NamedTuple):
    """The bounds in a file: the `tiers`, where each tier's slots begin (`starts`), and `low` and `high` of all slots.
    `endless` marks slots from which play may stay in the tier forever."""

    tiers: Array
    starts: Array
    low: Array
    high: Array
    scale: int
    endless: Array


class BoundFaults(NamedTuple):
    """What is wrong with some slots, and their tally.

    `wrong` becomes 1 for slots whose bounds are not proven. `seen` int64[3] receives how many links lead to slots of
    the tier (STAYING), how many moves pay (PAYING), and what is wrong with the rules: FAULT is FINE, CROWDED and so on.
    `tally` has counts for each row of the legend, and a last row for values without one; `rows` are the rows of LOSE,
    TIE and WIN. `images` is a buffer.
    """

    wrong: Array
    seen: Array
    tally: Array
    rows: Array
    images: Array


class PositionsBetween(NamedTuple):
    """A slot's position and the positions in between that it leads to, with their links.

    By position: `positions`, `begins` (where its links begin), and what is worked out: `known`, `low`, `high`, and
    `stays` (whether play can stay in the tier forever).

    By link: `targets` is the number of a listed position, or -1 if the child has a slot or is an end; then `lows` and
    `highs` are its bounds, and `slots` is its slot if the child is of the same tier, else -1. `odds` and `paid` belong
    to the move.

    `table` is a hash table that finds listed positions. `trouble` holds how many are listed and the position that the
    rules are called for.
    """

    positions: Array
    begins: Array
    known: Array
    low: Array
    high: Array
    stays: Array
    targets: Array
    lows: Array
    highs: Array
    slots: Array
    odds: Array
    paid: Array
    table: Array
    trouble: Array


@lean_kernel
def derive_bounds(game, position, tier, stored, between):
    """Write a position and the positions in between to *between*, with their bounds. Return FINE or what is wrong.

    The position, of tier *tier*, is number 0: `between.low[0]` and `between.high[0]` are its bounds, and
    `between.stays[0]` says whether players can stay in the tier, by way of endless slots.
    """
    count = list_between(game, position, tier, stored, between)
    if count < 0:
        return -count
    for number in range(count):
        between.known[number] = False
    unknown = count
    # Work out each position whose children are known, the last ones first, until none is left.
    while unknown:
        unknown_before = unknown
        for number in range(count - 1, -1, -1):
            if not between.known[number] and is_ready(between, number):
                combine_children(game, stored, between, number)
                between.known[number] = True
                unknown -= 1
        # No progress in a whole pass: the positions that are left lead to each other in a circle.
        if unknown == unknown_before:
            return ROUND
    return FINE


@lean_kernel
def list_between(game, position, tier, stored, between):
    """List a position and the positions in between that it leads to, breadth-first. Return how many, or -fault."""
    capacity = len(between.positions)
    # Step 1: empty the hash table.
    for entry in range(len(between.table)):
        between.table[entry] = -1
    put(between.positions, 0, position)
    count, links = 1, ZERO
    number = 0
    # Step 2: list the children of each listed position in turn.
    while number < count:
        parent = position_in(game, between.positions, number)
        note(between.trouble, parent)
        between.begins[number] = links
        if game.primitive(parent) == UNDECIDED:
            chance = game.turn(parent) == CHANCE
            for move in game.generate_moves(parent):
                if links == len(between.targets):
                    return -CROWDED
                # Step 3: the link of one move: child, odds and payment.
                child = game.canonical(as_position(game.do_move(parent, move)))
                between.odds[links] = game.odds(parent, move) if chance else 1
                paid = game.reward(parent, move, 0)
                if game.players == 2:
                    paid -= game.reward(parent, move, 1)
                between.paid[links] = paid * stored.scale
                # Step 4: if the child has a slot or is an end, its bounds are known.
                found = look_up_child(game, child, tier, stored, between, links)
                if found == MISSING:
                    return -NO_SLOT
                # Step 5: otherwise the child is in between. Find it in the hash table, or append it (open addressing,
                # linear probing).
                if found == IN_BETWEEN:
                    key = key_of(child)
                    entry = (key ^ (key >> 17) ^ (key >> 31)) % len(between.table)
                    while between.table[entry] >= 0 and not stands_at(between.positions, between.table[entry], child):
                        entry = (entry + 1) % len(between.table)
                    if between.table[entry] < 0:
                        if count == capacity:
                            return -CROWDED
                        between.table[entry] = count
                        put(between.positions, count, child)
                        count += 1
                    between.targets[links] = between.table[entry]
                links += 1
        number += 1
    between.begins[count] = links
    between.trouble[0] = count
    return count


@lean_kernel
def look_up_child(game, child, tier, stored, between, link):
    """Write the bounds of a link's child to *between*, if it is an end or has a slot. Return KNOWN, IN_BETWEEN or
    MISSING. *tier* is that of the position from which play began."""
    between.targets[link] = -1
    between.slots[link] = -1
    # Case: the game is over. Both bounds are what it pays.
    if game.primitive(child) != UNDECIDED:
        between.lows[link] = between.highs[link] = payment(game, child) * stored.scale
        return KNOWN
    # Case: the child has a slot, or has one with the players exchanged (then bounds change their sign and places).
    child_tier = slot_tier = game.tier(child) + 0  # + 0 makes an int64 of whatever the rules return
    slot, sign = game.index(child) + 0, 1
    if slot < 0 and not is_none(swapped(game, child)):
        other = game.canonical(swapped(game, child))
        slot, sign, slot_tier = game.index(other) + 0, -1, game.tier(other) + 0
    if slot < 0:
        return IN_BETWEEN
    # Find the tier's slots in the file.
    k = 0
    while k < len(stored.tiers) and stored.tiers[k] != slot_tier:
        k += 1
    if k == len(stored.tiers) or stored.starts[k] + slot >= stored.starts[k + 1]:
        return MISSING
    slot += stored.starts[k]
    low, high = stored.low[slot], stored.high[slot]
    between.lows[link] = low if sign > 0 else -high
    between.highs[link] = high if sign > 0 else -low
    if child_tier == tier:  # whether play stays depends on the child itself, not on the one with players exchanged
        between.slots[link] = slot
    return KNOWN


@lean_kernel
def is_ready(between, number):
    """Return whether the bounds of all children of a listed position are known."""
    for link in range(between.begins[number], between.begins[number + 1]):
        if between.targets[link] >= 0 and not between.known[between.targets[link]]:
            return False
    return True


@lean_kernel
def combine_children(game, stored, between, number):
    """Write the bounds of listed position *number* by its children, and whether players can stay in the tier.

    A target of a link from 0 up is another listed position; other children have their bounds by link.
    """
    turn = game.turn(position_in(game, between.positions, number))
    begin, end = between.begins[number], between.begins[number + 1]
    between.stays[number] = False
    # No moves: only broken rules get here, since ends are links and not listed.
    if begin == end:
        return
    # Step 1: add up the odds. (They are 1 for moves of players.)
    total = np.int64(0)
    for link in range(begin, end):
        total += between.odds[link]
    # Step 2: combine the children. Each weighted bound is split into a quotient and a rest, so that products stay
    # small.
    low = high = np.int64(0)
    low_rest = high_rest = np.int64(0)
    for link in range(begin, end):
        target = between.targets[link]
        child_low = (between.lows[link] if target < 0 else between.low[target]) + between.paid[link]
        child_high = (between.highs[link] if target < 0 else between.high[target]) + between.paid[link]
        # Chance: the mean. Player 0 takes the greatest, player 1 the least.
        if turn == CHANCE:
            low += between.odds[link] * (child_low // total)
            low_rest += between.odds[link] * (child_low % total)
            high += between.odds[link] * (child_high // total)
            high_rest += between.odds[link] * (child_high % total)
        elif link == begin:
            low, high = child_low, child_high
        elif turn == 0:
            low, high = max(low, child_low), max(high, child_high)
        else:
            low, high = min(low, child_low), min(high, child_high)
    # Step 3: round the mean, lower bounds down and upper bounds up.
    between.low[number] = low + low_rest // total
    between.high[number] = high + (high_rest + total - 1) // total
    # Step 4: a move stays if it leads to an endless slot, or to a position in between from which play can stay. At
    # chance's positions, all moves must stay; at players' positions, one must.
    any_stays, all_stay = False, True
    for link in range(begin, end):
        target, slot = between.targets[link], between.slots[link]
        stays = between.stays[target] if target >= 0 else (slot >= 0 and stored.endless[slot] != 0)
        any_stays |= stays
        all_stay &= stays
    between.stays[number] = all_stay if turn == CHANCE else any_stays


@lean_kernel
def check_slots(game, k, slots, stored, between, faults, strictly):
    """Write to *faults* what is wrong with some ascending slots of tier number *k*, by what their children prove.

    *strictly*: bounds other than 0 must not equal those that the children prove (condition 3 of `expectation.py`).
    Otherwise slots are counted as well.
    """
    tier = stored.tiers[k]
    for number, slot in enumerate(slots):
        position = as_position(game.unindex(tier, slot - stored.starts[k]))
        if is_none(position):
            continue
        if not strictly:
            count_slot(game, position, slot, stored, faults)
        # Step 1: the slot's position must be canonical, of this tier, and have this slot.
        in_tier = game.canonical(position) == position and game.tier(position) == tier
        if not in_tier or game.index(position) != slot - stored.starts[k]:
            faults.wrong[number] = 1
            continue
        # Step 2: check the position, and the one with the players exchanged (its bounds change sign and places).
        for sign in (1, -1):
            candidate = position if sign > 0 else swapped(game, position)
            if is_none(candidate):
                continue
            low = stored.low[slot] if sign > 0 else -stored.high[slot]
            high = stored.high[slot] if sign > 0 else -stored.low[slot]
            # Case: the game is over. Both bounds must be what it pays.
            if game.primitive(candidate) != UNDECIDED:
                if low != payment(game, candidate) * stored.scale or high != low:
                    faults.wrong[number] = 1
                continue
            # Case: the game goes on. Work out the bounds that the children prove.
            trouble = derive_bounds(game, candidate, game.tier(candidate) + 0, stored, between)
            if trouble != FINE:
                faults.seen[FAULT] = trouble
                return
            # The stored bounds may be wider than the proven ones, and not narrower.
            if low > high or low > between.low[0] or high < between.high[0]:
                faults.wrong[number] = 1
            if strictly and ((low > 0 and low == between.low[0]) or (high < 0 and high == between.high[0])):
                faults.wrong[number] = 1
            # Step 3: count what decides whether slots from which play can stay in the tier must be checked strictly.
            for link in range(between.begins[between.trouble[0]]):
                faults.seen[STAYING] += between.slots[link] >= 0
                faults.seen[PAYING] += between.paid[link] != 0


@lean_kernel
def count_slot(game, position, slot, stored, faults):
    """Count a slot by its value for the player to move: WIN or LOSE if both bounds have that sign, else TIE."""
    value_index = 1  # of LOSE, TIE and WIN in `faults.rows`
    if stored.low[slot] > 0 or stored.high[slot] < 0:
        value_index = 2 if (stored.low[slot] > 0) != (game.turn(position) == 1) else 0
    count_item(faults.tally, faults.rows[value_index], gather_images(game, position, faults.images), slot)


@lean_kernel
def remove_leaving(game, k, stored, between):
    """Remove from the endless slots of a tier those from which play cannot stay there forever. Return how many.

    A slot counts as endless if its position is, or the one with the players exchanged: rather too many than too few,
    which makes the check stricter.
    """
    removed = 0
    for slot in range(stored.starts[k], stored.starts[k + 1]):
        if stored.endless[slot]:
            position = as_position(game.unindex(stored.tiers[k], slot - stored.starts[k]))
            stays = False
            # The position, and the one with the players exchanged; over or missing, it cannot stay.
            for candidate in (position, position if is_none(position) else swapped(game, position)):
                if not is_none(candidate) and not stays and game.primitive(candidate) == UNDECIDED:
                    trouble = derive_bounds(game, candidate, game.tier(candidate) + 0, stored, between)
                    # A circle among the positions in between: play can stay there.
                    stays = trouble == ROUND or (trouble == FINE and between.stays[0])
            # Leaving this slot may make other slots not endless: the caller repeats until none changes.
            if not stays:
                stored.endless[slot] = 0
                removed += 1
    return removed
