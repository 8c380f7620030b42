"""The compiled loops that derive again the expectation of each slot. They share no code with the solver's.

Some positions have no slot: play goes on from them to positions that have one. The solver goes down from a slot and
remembers what it meets. Here, all positions between a slot and the next slots or ends are listed first. Then passes
over the list, last position first, work out each position whose children are known, until all are known.

 slot's position  -- moves -->  positions in between (`Listed`)  -- moves -->  slots and ends
                                    worked out from the right to the left

Bounds are whole numbers: amounts times `scale`, for player 0. A *link* is a move of a listed position.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, is_none
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import as_position, note, number_of, position_in, put, stands_at, swapped
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.verification.measures.kernels import many

Array = np.ndarray[Any, Any]

FINE, CROWDED, ROUND, NO_SLOT = range(4)


class Stored(NamedTuple):
    """What a file holds: the `tiers`, where each tier's slots begin (`starts`), and the bounds `low` and `high` of all
    slots."""

    tiers: Array
    starts: Array
    low: Array
    high: Array
    scale: int


class Listed(NamedTuple):
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


@kernel
def tell(game, position, tier, stored, listed):
    """List what lies between a position and slots, and work out the bounds of all of it. Return what is wrong, or FINE.

    The bounds of *position* are then `listed.low[0]` and `listed.high[0]`.
    """
    count = list_all(game, position, tier, stored, listed)
    if count < 0:
        return -count
    for number in range(count):
        listed.known[number] = False
    left = count
    # Work out each position whose children are known, the last ones first, until none is left.
    while left:
        before = left
        for number in range(count - 1, -1, -1):
            if not listed.known[number] and is_ready(listed, number):
                work_out(game, listed, number)
                listed.known[number] = True
                left -= 1
        # No progress in a whole pass: the positions that are left lead to each other in a circle.
        if left == before:
            return ROUND
    return FINE


@kernel
def list_all(game, position, tier, stored, listed):
    """List a position and the positions in between that it leads to, breadth-first. Return how many, or minus a
    fault."""
    room = len(listed.positions)
    # Step 1: empty the hash table.
    for at in range(len(listed.table)):
        listed.table[at] = -1
    put(listed.positions, 0, position)
    count, links = 1, 0
    number = 0
    # Step 2: list the children of each listed position in turn.
    while number < count:
        here = position_in(game, listed.positions, number)
        note(listed.trouble, here)
        listed.begins[number] = links
        if game.primitive(here) == UNDECIDED:
            chance = game.turn(here) == CHANCE
            for move in game.generate_moves(here):
                if links == len(listed.targets):
                    return -CROWDED
                # Step 3: the link of one move: child, odds and payment.
                child, child_tier = least_of(game, as_position(game.do_move(here, move)))
                listed.odds[links] = game.odds(here, move) if chance else 1
                paid = game.reward(here, move, 0)
                if game.players == 2:
                    paid -= game.reward(here, move, 1)
                listed.paid[links] = paid * stored.scale
                # Step 4: if the child has a slot or is an end, its bounds are known.
                outcome = look_up(game, child, child_tier, tier, stored, listed, links)
                if outcome == 2:
                    return -NO_SLOT
                # Step 5: otherwise the child is in between. Find it in the hash table, or append it (open addressing,
                # linear probing).
                if outcome == 0:
                    key = key_of(child)
                    place = (key ^ (key >> 17) ^ (key >> 31)) % len(listed.table)
                    while listed.table[place] >= 0 and not stands_at(listed.positions, listed.table[place], child):
                        place = (place + 1) % len(listed.table)
                    if listed.table[place] < 0:
                        if count == room:
                            return -CROWDED
                        listed.table[place] = count
                        put(listed.positions, count, child)
                        count += 1
                    listed.targets[links] = listed.table[place]
                links += 1
        number += 1
    listed.begins[count] = links
    listed.trouble[0] = count
    return count


@kernel
def look_up(game, child, child_tier, tier, stored, listed, link):
    """Write the bounds of a link's child. Return 1: done, 0: the child is in between, 2: its slot is missing."""
    listed.targets[link] = -1
    listed.slots[link] = -1
    # Case: the game is over. Both bounds are what it pays.
    if game.primitive(child) != UNDECIDED:
        paid = game.payoff(child, 0)
        if game.players == 2:
            paid -= game.payoff(child, 1)
        listed.lows[link] = listed.highs[link] = paid * stored.scale
        return 1
    # Case: the child has a slot, or has one with the players exchanged (then bounds change their sign and places).
    slot, sign, of_tier = game.index(child) + 0, 1, child_tier
    if slot < 0 and not is_none(swapped(game, child)):
        other, of_tier = least_of(game, swapped(game, child))
        slot, sign = game.index(other) + 0, -1
    if slot < 0:
        return 0
    # Find the tier's slots in the file.
    k = 0
    while k < len(stored.tiers) and stored.tiers[k] != of_tier:
        k += 1
    if k == len(stored.tiers) or stored.starts[k] + slot >= stored.starts[k + 1]:
        return 2
    place = stored.starts[k] + slot
    low, high = stored.low[place], stored.high[place]
    listed.lows[link] = low if sign > 0 else -high
    listed.highs[link] = high if sign > 0 else -low
    if child_tier == tier:
        listed.slots[link] = place
    return 1


@kernel
def least_of(game, position):
    """Return the canonical position and its tier: the image of the lowest tier, then of the lowest number."""
    first, lowest = position, game.tier(position) + 0
    for given in game.images(position):
        image = as_position(given)
        tier = game.tier(image) + 0
        if tier < lowest or (tier == lowest and image < first):
            first, lowest = image, tier
    return first, lowest


@kernel
def is_ready(listed, number):
    """Return whether the bounds of all children of a listed position are known."""
    for link in range(listed.begins[number], listed.begins[number + 1]):
        if listed.targets[link] >= 0 and not listed.known[listed.targets[link]]:
            return False
    return True


@kernel
def work_out(game, listed, number):
    """Write the bounds of a listed position from those of its children."""
    turn = game.turn(position_in(game, listed.positions, number))
    begin, end = listed.begins[number], listed.begins[number + 1]
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
        at = listed.targets[link]
        below = (listed.lows[link] if at < 0 else listed.low[at]) + listed.paid[link]
        above = (listed.highs[link] if at < 0 else listed.high[at]) + listed.paid[link]
        # Chance: the mean. Player 0 takes the greatest, player 1 the least.
        if turn == CHANCE:
            low += listed.odds[link] * (below // total)
            low_rest += listed.odds[link] * (below % total)
            high += listed.odds[link] * (above // total)
            high_rest += listed.odds[link] * (above % total)
        elif link == begin:
            low, high = below, above
        elif turn == 0:
            low, high = max(low, below), max(high, above)
        else:
            low, high = min(low, below), min(high, above)
    # Step 3: round the mean, lower bounds down and upper bounds up.
    listed.low[number] = low + low_rest // total
    listed.high[number] = high + (high_rest + total - 1) // total


@kernel
def mark_staying(game, listed, count, endless):
    """Return whether players can stay in the tier from the first listed position, by way of *endless* slots.

    At chance's positions, all moves must stay; at players' positions, one must.
    """
    for number in range(count - 1, -1, -1):
        listed.known[number] = False
    left = count
    # The same passes as in `tell`: positions whose children are known, the last ones first.
    while left:
        before = left
        for number in range(count - 1, -1, -1):
            if not listed.known[number] and is_ready(listed, number):
                # A move stays if it leads to an endless slot, or to a position in between from which play can stay.
                begin, end = listed.begins[number], listed.begins[number + 1]
                some, every = False, begin < end
                for link in range(begin, end):
                    at = listed.targets[link]
                    inside = listed.stays[at] if at >= 0 else listed.slots[link] >= 0 and endless[listed.slots[link]]
                    some |= inside
                    every &= inside
                listed.stays[number] = (
                    every if game.turn(position_in(game, listed.positions, number)) == CHANCE else some
                )
                listed.known[number] = True
                left -= 1
        # A circle among the positions in between: play can stay there.
        if left == before:
            return True
    return listed.stays[0]


@kernel
def check(game, k, begin, end, stored, listed, faults, seen):
    """Compare the bounds of some slots of tier number *k* with their children's. *faults* become 1 where they are not
    proven.

    *seen* int64[3] receives how many links lead to slots of the tier, how many moves pay, and what is wrong with the
    rules, if anything. Returns how many slots stand for a position.
    """
    tier = stored.tiers[k]
    count = 0
    for slot in range(begin, end):
        position = as_position(game.unindex(tier, slot - stored.starts[k]))
        if is_none(position):
            continue
        count += 1
        # Step 1: the slot's position must be canonical, of this tier, and have this slot.
        canonical, own_tier = least_of(game, position)
        if canonical != position or own_tier != tier or game.index(position) != slot - stored.starts[k]:
            faults[slot - begin] = 1
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
                paid = game.payoff(position, 0)
                if game.players == 2:
                    paid -= game.payoff(position, 1)
                if low != paid * stored.scale or high != low:
                    faults[slot - begin] = 1
                continue
            # Case: the game goes on. Work out the bounds that the children prove.
            trouble = tell(game, position, game.tier(position) + 0, stored, listed)
            if trouble != FINE:
                seen[2] = trouble
                return count
            # The stored bounds may be wider than the proven ones, and not narrower.
            if low > high or low > listed.low[0] or high < listed.high[0]:
                faults[slot - begin] = 1
            # Step 3: count what decides whether `slots.check_endless` is needed.
            for link in range(listed.begins[listed.trouble[0]]):
                seen[0] += listed.slots[link] >= 0
                seen[1] += listed.paid[link] != 0
    return count


@kernel
def find_endless(game, k, stored, listed, endless):
    """Remove from *endless* the slots of a tier from which play cannot stay there forever.

    Returns how many were removed, or -1 if the rules are wrong. A slot counts as endless if its position is, or the one
    with the players exchanged. So there may be too many endless slots, which makes the check stricter, and never too
    few.
    """
    out = 0
    for slot in range(stored.starts[k], stored.starts[k + 1]):
        if endless[slot]:
            position = as_position(game.unindex(stored.tiers[k], slot - stored.starts[k]))
            stays = False
            # The position, and the one with the players exchanged; over or missing, it cannot stay.
            for place in (position, position if is_none(position) else swapped(game, position)):
                if not is_none(place) and not stays and game.primitive(place) == UNDECIDED:
                    count = list_all(game, place, game.tier(place) + 0, stored, listed)
                    if count < 0:
                        return -1
                    stays = mark_staying(game, listed, count, endless)
            # Leaving this slot may make other slots not endless: the caller repeats until none changes.
            if not stays:
                endless[slot] = 0
                out += 1
    return out


@kernel
def not_strict(game, k, stored, listed, endless, faults):
    """Mark endless slots whose bounds do not get strictly nearer to 0: these could support each other in a circle."""
    for slot in range(stored.starts[k], stored.starts[k + 1]):
        if endless[slot]:
            position = as_position(game.unindex(stored.tiers[k], slot - stored.starts[k]))
            for sign, place in ((1, position), (-1, swapped(game, position))):
                if not is_none(place) and game.primitive(place) == UNDECIDED:
                    tell(game, place, game.tier(place) + 0, stored, listed)
                    low = stored.low[slot] if sign > 0 else -stored.high[slot]
                    high = stored.high[slot] if sign > 0 else -stored.low[slot]
                    # A bound other than 0 must be proven with room to spare (condition 3 of `expectation.py`).
                    if (low > 0 and low >= listed.low[0]) or (high < 0 and high <= listed.high[0]):
                        faults[slot - stored.starts[k]] = 1


@kernel
def count(game, tier, begin, low, high, counts, room):
    """Count the slots of a tier by the value for the player to move: LOSE, TIE or WIN.

    The value is LOSE if the expectation is surely negative, WIN if it is surely positive, else TIE. *counts* has a
    column for each value, and rows for slots, positions and the first position.
    """
    for slot in range(len(low)):
        position = as_position(game.unindex(tier, slot))
        if is_none(position):
            continue
        kind = 1
        if low[slot] > 0 or high[slot] < 0:
            kind = 2 if (low[slot] > 0) != (game.turn(position) == 1) else 0
        counts[0, kind] += 1
        counts[1, kind] += many(game, position, room)
        if counts[2, kind] == -1:
            counts[2, kind] = number_of(position, begin + slot)
