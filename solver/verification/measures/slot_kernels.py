"""The compiled loops that derive once more what each slot is worth. They share no code with the solver's.

Where the solver goes down from a slot and remembers, here all positions that lie in between are listed first, and then
told again and again, the last first, until all of them are: from the root of the list, a slot, to slots and ends.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, is_none
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.whole import as_position, note, number_of, position_in, put, stands_at, swapped
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.verification.measures.kernels import many

Array = np.ndarray[Any, Any]

FINE, CROWDED, ROUND, NO_SLOT = range(4)


class Stored(NamedTuple):
    """What a file holds: the `tiers`, where the slots of each begin, `starts`, and `low` and `high` of all slots."""

    tiers: Array
    starts: Array
    low: Array
    high: Array
    scale: int


class Listed(NamedTuple):
    """A slot's position and those in between: `positions`, whose links begin at `begins`, and what is known of each:
    `known`, `low`, `high`, and `stays`. A link is to a listed position, `target`, or -1 where the child has a slot or
    is an end: then its bounds are `lows` and `highs`, `inside` says whether it is of the tier, and `slots` which slot.
    `odds` and `paid` belong to the move. `table` finds listed positions; `trouble` is
    how many are listed, and the position that is asked about."""

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
    """List what lies between a position and slots, and tell what all of it is worth; return what is wrong, or FINE."""
    count = list_all(game, position, tier, stored, listed)
    if count < 0:
        return -count
    for number in range(count):
        listed.known[number] = False
    left = count
    while left:
        before = left
        for number in range(count - 1, -1, -1):
            if not listed.known[number] and is_ready(listed, number):
                work_out(game, listed, number)
                listed.known[number] = True
                left -= 1
        if left == before:
            return ROUND
    return FINE


@kernel
def list_all(game, position, tier, stored, listed):
    """List a position and those in between that it leads to; return how many there are, or less than 0."""
    room = len(listed.positions)
    for at in range(len(listed.table)):
        listed.table[at] = -1
    put(listed.positions, 0, position)
    count, links = 1, 0
    number = 0
    while number < count:
        here = position_in(game, listed.positions, number)
        note(listed.trouble, here)
        listed.begins[number] = links
        if game.primitive(here) == UNDECIDED:
            chance = game.turn(here) == CHANCE
            for move in game.generate_moves(here):
                if links == len(listed.targets):
                    return -CROWDED
                child, child_tier = least_of(game, as_position(game.do_move(here, move)))
                listed.odds[links] = game.odds(here, move) if chance else 1
                paid = game.reward(here, move, 0)
                if game.players == 2:
                    paid -= game.reward(here, move, 1)
                listed.paid[links] = paid * stored.scale
                outcome = look_up(game, child, child_tier, tier, stored, listed, links)
                if outcome == 2:
                    return -NO_SLOT
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
    """Write the bounds of a child that is over or has a slot: 1; 0 where it is in between; 2 where a slot is
    missing."""
    listed.targets[link] = -1
    listed.slots[link] = -1
    if game.primitive(child) != UNDECIDED:
        paid = game.payoff(child, 0)
        if game.players == 2:
            paid -= game.payoff(child, 1)
        listed.lows[link] = listed.highs[link] = paid * stored.scale
        return 1
    slot, sign, of_tier = game.index(child) + 0, 1, child_tier
    if slot < 0 and not is_none(swapped(game, child)):
        other, of_tier = least_of(game, swapped(game, child))
        slot, sign = game.index(other) + 0, -1
    if slot < 0:
        return 0
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
    """Return the one of the positions equal by symmetry that is least by tier, then by number, and its tier."""
    first, lowest = position, game.tier(position) + 0
    for given in game.images(position):
        image = as_position(given)
        tier = game.tier(image) + 0
        if tier < lowest or (tier == lowest and image < first):
            first, lowest = image, tier
    return first, lowest


@kernel
def is_ready(listed, number):
    """Tell whether all children of a listed position are known."""
    for link in range(listed.begins[number], listed.begins[number + 1]):
        if listed.targets[link] >= 0 and not listed.known[listed.targets[link]]:
            return False
    return True


@kernel
def work_out(game, listed, number):
    """Write the bounds of a listed position by those of its children."""
    turn = game.turn(position_in(game, listed.positions, number))
    begin, end = listed.begins[number], listed.begins[number + 1]
    if begin == end:
        return
    total = np.int64(0)
    for link in range(begin, end):
        total += listed.odds[link]
    low = high = np.int64(0)
    low_rest = high_rest = np.int64(0)
    for link in range(begin, end):
        at = listed.targets[link]
        below = (listed.lows[link] if at < 0 else listed.low[at]) + listed.paid[link]
        above = (listed.highs[link] if at < 0 else listed.high[at]) + listed.paid[link]
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
    listed.low[number] = low + low_rest // total
    listed.high[number] = high + (high_rest + total - 1) // total


@kernel
def mark_staying(game, listed, count, endless):
    """Tell of the first listed position whether players can go on from there in the tier to slots that are endless."""
    for number in range(count - 1, -1, -1):
        listed.known[number] = False
    left = count
    while left:
        before = left
        for number in range(count - 1, -1, -1):
            if not listed.known[number] and is_ready(listed, number):
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
        if left == before:
            return True
    return listed.stays[0]


@kernel
def check(game, k, begin, end, stored, listed, faults, seen):
    """Hold the bounds of some slots of tier number k against their children's; `faults` become 1 where they are wrong.

    *seen* int64[3] becomes how many links there are to slots of the tier, how many moves pay, and what is wrong with
    the rules, if anything is. Returns how many slots stand for a position.
    """
    tier = stored.tiers[k]
    count = 0
    for slot in range(begin, end):
        position = as_position(game.unindex(tier, slot - stored.starts[k]))
        if is_none(position):
            continue
        count += 1
        canonical, own_tier = least_of(game, position)
        if canonical != position or own_tier != tier or game.index(position) != slot - stored.starts[k]:
            faults[slot - begin] = 1
            continue
        for sign in (1, -1):
            if sign < 0:
                position = swapped(game, position)
                if is_none(position):
                    continue
            low = stored.low[slot] if sign > 0 else -stored.high[slot]
            high = stored.high[slot] if sign > 0 else -stored.low[slot]
            if game.primitive(position) != UNDECIDED:
                paid = game.payoff(position, 0)
                if game.players == 2:
                    paid -= game.payoff(position, 1)
                if low != paid * stored.scale or high != low:
                    faults[slot - begin] = 1
                continue
            trouble = tell(game, position, game.tier(position) + 0, stored, listed)
            if trouble != FINE:
                seen[2] = trouble
                return count
            if low > high or low > listed.low[0] or high < listed.high[0]:
                faults[slot - begin] = 1
            for link in range(listed.begins[listed.trouble[0]]):
                seen[0] += listed.slots[link] >= 0
                seen[1] += listed.paid[link] != 0
    return count


@kernel
def find_endless(game, k, stored, listed, endless):
    """Take out of *endless* the slots of a tier from which players cannot go on for ever; return how many, -1 if wrong.

    One that has them stay with the players exchanged stays as well, so that there may be too many of them, not too few.
    """
    out = 0
    for slot in range(stored.starts[k], stored.starts[k + 1]):
        if endless[slot]:
            position = as_position(game.unindex(stored.tiers[k], slot - stored.starts[k]))
            stays = False
            for place in (position, position if is_none(position) else swapped(game, position)):
                if not is_none(place) and not stays and game.primitive(place) == UNDECIDED:
                    count = list_all(game, place, game.tier(place) + 0, stored, listed)
                    if count < 0:
                        return -1
                    stays = mark_staying(game, listed, count, endless)
            if not stays:
                endless[slot] = 0
                out += 1
    return out


@kernel
def not_strict(game, k, stored, listed, endless, faults):
    """Mark the slots of a tier from which players can go on for ever, and whose bounds do not rise along play."""
    for slot in range(stored.starts[k], stored.starts[k + 1]):
        if endless[slot]:
            position = as_position(game.unindex(stored.tiers[k], slot - stored.starts[k]))
            for sign, place in ((1, position), (-1, swapped(game, position))):
                if not is_none(place) and game.primitive(place) == UNDECIDED:
                    tell(game, place, game.tier(place) + 0, stored, listed)
                    low = stored.low[slot] if sign > 0 else -stored.high[slot]
                    high = stored.high[slot] if sign > 0 else -stored.low[slot]
                    if (low > 0 and low >= listed.low[0]) or (high < 0 and high <= listed.high[0]):
                        faults[slot - stored.starts[k]] = 1


@kernel
def count(game, tier, begin, low, high, counts, room):
    """Count the slots of a tier by what who is to move can expect: less than nothing, neither, more than nothing."""
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
