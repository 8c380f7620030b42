"""The compiled loops that verify the expectation of each slot. They share no code with the solver's.

Some positions have no slot: play goes on from them to positions that have one. Here, all positions between a slot and
the next slots or ends are listed first. Then passes over the list, last position first, work out each position whose
children are known, until all are known.

 slot's position  -- moves -->  positions in between (`PositionsBetween`)  -- moves -->  slots and ends
                                        worked out from the right to the left

Bounds are whole numbers: amounts times `scale`, for player 0. A *link* is a move of a listed position.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, is_none
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import as_position, note, position_in, put, stands_at, swapped
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, lean_kernel
from retrograde.solver.verification.kernels import gather_images, payment
from retrograde.solver.verification.kernels import note as note_outcome

FINE, CROWDED, ROUND, NO_SLOT = range(4)
"""What is wrong with the rules, or with the buffers.

    CROWDED     more positions or links in between than the buffers hold
    ROUND       positions in between lead to each other in a circle
    NO_SLOT     a move leads to a tier or slot that is not stored
"""


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
    the tier, how many moves pay, and what is wrong with the rules: ROUND, NO_SLOT, CROWDED or FINE. `tally` has counts
    for each row of the legend, and a last row for values without one; `rows` are the rows of LOSE, TIE and WIN.
    `images` is a buffer.
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

    By link: `targets` is a listed position, or -1 if the child has a slot or is an end; then `lows` and `highs` are its
    bounds, and `slots` is its slot if that is of the same tier, else -1. `odds` and `paid` belong to the move.

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
def derive_bounds(game, position, tier, stored, listed):
    """Write a position and the positions in between to *listed*, with their bounds. Return FINE or what is wrong.

    The position itself is number 0: `listed.low[0]` and `listed.high[0]` are its bounds, and `listed.stays[0]` says
    whether players can stay in the tier, by way of endless slots.
    """
    count = list_between(game, position, tier, stored, listed)
    if count < 0:
        return -count
    for number in range(count):
        listed.known[number] = False
    unknown = count
    # Work out each position whose children are known, the last ones first, until none is left.
    while unknown:
        unknown_before = unknown
        for number in range(count - 1, -1, -1):
            if not listed.known[number] and is_ready(listed, number):
                combine_children(game, stored, listed, number)
                listed.known[number] = True
                unknown -= 1
        # No progress in a whole pass: the positions that are left lead to each other in a circle.
        if unknown == unknown_before:
            return ROUND
    return FINE


@lean_kernel
def list_between(game, position, tier, stored, listed):
    """List a position and the positions in between that it leads to, breadth-first. Return how many, or -fault."""
    capacity = len(listed.positions)
    # Step 1: empty the hash table.
    for at in range(len(listed.table)):
        listed.table[at] = -1
    put(listed.positions, 0, position)
    count, links = 1, ZERO
    number = 0
    # Step 2: list the children of each listed position in turn.
    while number < count:
        parent = position_in(game, listed.positions, number)
        note(listed.trouble, parent)
        listed.begins[number] = links
        if game.primitive(parent) == UNDECIDED:
            chance = game.turn(parent) == CHANCE
            for move in game.generate_moves(parent):
                if links == len(listed.targets):
                    return -CROWDED
                # Step 3: the link of one move: child, odds and payment.
                child = game.canonical(as_position(game.do_move(parent, move)))
                listed.odds[links] = game.odds(parent, move) if chance else 1
                paid = game.reward(parent, move, 0)
                if game.players == 2:
                    paid -= game.reward(parent, move, 1)
                listed.paid[links] = paid * stored.scale
                # Step 4: if the child has a slot or is an end, its bounds are known.
                outcome = look_up_child(game, child, tier, stored, listed, links)
                if outcome == 2:
                    return -NO_SLOT
                # Step 5: otherwise the child is in between. Find it in the hash table, or append it (open addressing,
                # linear probing).
                if outcome == 0:
                    key = key_of(child)
                    at = (key ^ (key >> 17) ^ (key >> 31)) % len(listed.table)
                    while listed.table[at] >= 0 and not stands_at(listed.positions, listed.table[at], child):
                        at = (at + 1) % len(listed.table)
                    if listed.table[at] < 0:
                        if count == capacity:
                            return -CROWDED
                        listed.table[at] = count
                        put(listed.positions, count, child)
                        count += 1
                    listed.targets[links] = listed.table[at]
                links += 1
        number += 1
    listed.begins[count] = links
    listed.trouble[0] = count
    return count


@lean_kernel
def look_up_child(game, child, tier, stored, listed, link):
    """Write the bounds of a link's child. Return 1: done, 0: the child is in between, 2: its slot is missing."""
    listed.targets[link] = -1
    listed.slots[link] = -1
    # Case: the game is over. Both bounds are what it pays.
    if game.primitive(child) != UNDECIDED:
        listed.lows[link] = listed.highs[link] = payment(game, child) * stored.scale
        return 1
    # Case: the child has a slot, or has one with the players exchanged (then bounds change their sign and places).
    child_tier = of_tier = game.tier(child) + 0
    slot, sign = game.index(child) + 0, 1
    if slot < 0 and not is_none(swapped(game, child)):
        other = game.canonical(swapped(game, child))
        slot, sign, of_tier = game.index(other) + 0, -1, game.tier(other) + 0
    if slot < 0:
        return 0
    # Find the tier's slots in the file.
    k = 0
    while k < len(stored.tiers) and stored.tiers[k] != of_tier:
        k += 1
    if k == len(stored.tiers) or stored.starts[k] + slot >= stored.starts[k + 1]:
        return 2
    slot += stored.starts[k]
    low, high = stored.low[slot], stored.high[slot]
    listed.lows[link] = low if sign > 0 else -high
    listed.highs[link] = high if sign > 0 else -low
    if child_tier == tier:
        listed.slots[link] = slot
    return 1


@lean_kernel
def is_ready(listed, number):
    """Return whether the bounds of all children of a listed position are known."""
    for link in range(listed.begins[number], listed.begins[number + 1]):
        if listed.targets[link] >= 0 and not listed.known[listed.targets[link]]:
            return False
    return True


@lean_kernel
def combine_children(game, stored, listed, number):
    """Write the bounds of a listed position from those of its children, and whether players can stay in the tier."""
    turn = game.turn(position_in(game, listed.positions, number))
    begin, end = listed.begins[number], listed.begins[number + 1]
    listed.stays[number] = False
    # No moves: only broken rules get here, since ends are links and not listed.
    if begin == end:
        return
    # Step 1: add up the odds. (They are 1 for moves of players.)
    total = np.int64(0)
    for link in range(begin, end):
        total += listed.odds[link]
    # Step 2: combine the children. Each weighted bound is split into a quotient and a rest, so that products stay
    # small.
    low = high = np.int64(0)
    low_rest = high_rest = np.int64(0)
    for link in range(begin, end):
        target = listed.targets[link]
        child_low = (listed.lows[link] if target < 0 else listed.low[target]) + listed.paid[link]
        child_high = (listed.highs[link] if target < 0 else listed.high[target]) + listed.paid[link]
        # Chance: the mean. Player 0 takes the greatest, player 1 the least.
        if turn == CHANCE:
            low += listed.odds[link] * (child_low // total)
            low_rest += listed.odds[link] * (child_low % total)
            high += listed.odds[link] * (child_high // total)
            high_rest += listed.odds[link] * (child_high % total)
        elif link == begin:
            low, high = child_low, child_high
        elif turn == 0:
            low, high = max(low, child_low), max(high, child_high)
        else:
            low, high = min(low, child_low), min(high, child_high)
    # Step 3: round the mean, lower bounds down and upper bounds up.
    listed.low[number] = low + low_rest // total
    listed.high[number] = high + (high_rest + total - 1) // total
    # Step 4: a move stays if it leads to an endless slot, or to a position in between from which play can stay. At
    # chance's positions, all moves must stay; at players' positions, one must.
    any_inside, all_inside = False, True
    for link in range(begin, end):
        target = listed.targets[link]
        inside = (
            listed.stays[target] if target >= 0 else listed.slots[link] >= 0 and stored.endless[listed.slots[link]] != 0
        )
        any_inside |= inside
        all_inside &= inside
    listed.stays[number] = all_inside if turn == CHANCE else any_inside


@lean_kernel
def check_slots(game, k, slots, stored, listed, faults, strictly):
    """Write to *faults* what is wrong with some ascending slots of tier number *k*, by the bounds that their children
    prove.

    *strictly*: bounds other than 0 must not equal those that the children prove (condition 3 of `expectation.py`);
    otherwise slots are counted as well.
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
        # Step 2: check the position, and the same with the players exchanged (then bounds change their sign and
        # places).
        for sign in (1, -1):
            if sign < 0:
                position = swapped(game, position)
                if is_none(position):
                    continue
            low = stored.low[slot] if sign > 0 else -stored.high[slot]
            high = stored.high[slot] if sign > 0 else -stored.low[slot]
            # Case: the game is over. Both bounds must be what it pays.
            if game.primitive(position) != UNDECIDED:
                if low != payment(game, position) * stored.scale or high != low:
                    faults.wrong[number] = 1
                continue
            # Case: the game goes on. Work out the bounds that the children prove.
            trouble = derive_bounds(game, position, game.tier(position) + 0, stored, listed)
            if trouble != FINE:
                faults.seen[2] = trouble
                return
            # The stored bounds may be wider than the proven ones, and not narrower.
            if low > high or low > listed.low[0] or high < listed.high[0]:
                faults.wrong[number] = 1
            if strictly and ((low > 0 and low == listed.low[0]) or (high < 0 and high == listed.high[0])):
                faults.wrong[number] = 1
            # Step 3: count what decides whether slots from which play can stay in the tier must be checked strictly.
            for link in range(listed.begins[listed.trouble[0]]):
                faults.seen[0] += listed.slots[link] >= 0
                faults.seen[1] += listed.paid[link] != 0


@lean_kernel
def count_slot(game, position, slot, stored, faults):
    """Count a slot by its value for the player to move: WIN or LOSE if both bounds have that sign, else TIE."""
    value = 1
    if stored.low[slot] > 0 or stored.high[slot] < 0:
        value = 2 if (stored.low[slot] > 0) != (game.turn(position) == 1) else 0
    note_outcome(faults.tally, faults.rows[value], gather_images(game, position, faults.images), slot)


@lean_kernel
def remove_leaving(game, k, stored, listed):
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
                    trouble = derive_bounds(game, candidate, game.tier(candidate) + 0, stored, listed)
                    # A circle among the positions in between: play can stay there.
                    stays = trouble == ROUND or (trouble == FINE and listed.stays[0])
            # Leaving this slot may make other slots not endless: the caller repeats until none changes.
            if not stays:
                stored.endless[slot] = 0
                removed += 1
    return removed
