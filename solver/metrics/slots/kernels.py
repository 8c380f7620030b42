"""The compiled loops that compute the bounds of each slot of a tier by the rules.

From a slot's position, the kernels follow the rules through positions *between* slots, which have no slot, to positions
that have one, and to ends. They remember results for positions between while they process the slot, since many paths
may lead there::

    slot --chance--> in between --player--> slot of this tier       from the chunk itself, else as it was before
                                        --> slot of a later tier    from what is finished
                                        --> end                     what it pays

Everything is from player 0's side, in grains, as in `metrics/expectation.py`: lower bounds are rounded down, upper
bounds up.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, PAYOFF_LIMIT, UNDECIDED, is_none
from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.kernels import WEIGHT_LIMIT, canonical, count_images, place_in
from retrograde.solver.rules.positions import as_position, note, number_of, put, stands_at, swapped, whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.kernel import lean_kernel

Array = np.ndarray[Any, Any]

LOOK, RISE, SINK = 0, 1, 2
"""Modes of a sweep.

    LOOK    compute the bounds from other tiers alone
    RISE    move bounds closer together
    SINK    move bounds apart until they hold
"""
STAMP, COUNT, ROUND, LEAST, MOST, PAYS, TOO_MUCH, AT, ROWS, DEPTH = range(10)
"""Indices into `state`.

    STAMP           number of the current slot
    COUNT           number of its positions between slots
    ROUND           whether moves stay in the tier
    LEAST, MOST     least and greatest bound met outside the tier
    PAYS            whether moves pay
    TOO_MUCH        whether a bound became too great
    AT, ROWS        numbers of words and rows written to the script
    DEPTH           nesting depth of `worth`
"""
STATE = 10
"""Number of fields of `state`."""
DEEP = 64
"""Greatest nesting depth that a script can record."""
NO_END = 1 << 62
"""Empty slot in the list of payoffs."""
OPEN = 1 << 62
"""Stands for a lower bound that is being computed."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""Multiplier of the hash of a position: 2**64 divided by the golden ratio."""


class View(NamedTuple):
    """What kernels read and write for a chunk.

    - `tiers` are the numbers of all tiers, and `starts` where their slots begin.
    - `low` and `high` are bounds of all slots, valid for finished tiers.
    - `own_low` and `own_high` are bounds of tier number `k`, which is being solved. `chunk_low` and `chunk_high` are
      newer ones of its slots from `begin` on. `endless` marks slots from which players can stay forever.
    - Bounds have `bits` bits after the point. `mode` is LOOK, RISE or SINK.
    - If `words` is not empty, a script of the slots is written there, and to `rows` which slots these are (see
      `scripts.py`). It records payments of moves if moves may be `paying`.
    """

    tiers: Array
    starts: Array
    low: Array
    high: Array
    k: int
    own_low: Array
    own_high: Array
    begin: int
    chunk_low: Array
    chunk_high: Array
    endless: Array
    bits: int
    mode: int
    words: Array
    rows: Array
    paying: bool


class Room(NamedTuple):
    """Memory for the positions between slots: a hash table of 2**n entries, valid for the current slot.

    `keys` are positions. An entry is valid if its `stamps` equal the current slot's number. `lows` and `highs` are
    bounds (in `can_stay`, `lows` is 1 if play stays). `begins` and `stops` say where their scripts are. `order` lists
    the current slot's entries as they were met. `ends` are the payoffs of ends found so far. `state` is as above,
    `trouble` as in all kernels.
    """

    keys: Array
    stamps: Array
    lows: Array
    highs: Array
    begins: Array
    stops: Array
    order: Array
    ends: Array
    state: Array
    trouble: Array


@lean_kernel
def sweep(game, view, room):
    """Compute the bounds of a chunk's slots, the last slot first, and write them there.

    Return the greatest change; -1 if there is an error.
    """
    most = np.int64(0)
    tier = view.tiers[view.k]
    for i in range(len(view.chunk_low) - 1, -1, -1):
        # Step 1: the slot's position, and a fresh memory for it.
        position = as_position(game.unindex(tier, view.begin + i))
        if is_none(position):
            view.chunk_low[i] = view.chunk_high[i] = 0
            continue
        room.state[STAMP] += 1
        room.state[COUNT] = room.state[DEPTH] = 0
        if view.mode == LOOK and not is_its_own(game, position, tier, view.begin + i):
            wrong(room, Trouble.BAD_INDEX, position)
            return -1
        # Step 2: its bounds. Sweeps only accept changes in their direction (`settle`).
        low, high = worth(game, position, tier, view, room)
        if room.trouble[0] != Trouble.FINE:
            return -1
        if view.mode != LOOK:
            most = max(most, settle(view, i, low, high))
            continue
        view.chunk_low[i] = low
        view.chunk_high[i] = high
        if len(view.words):
            view.rows[room.state[ROWS]] = i
            room.state[ROWS] += 1
    return most


@lean_kernel
def is_its_own(game, position, tier, slot):
    """Return whether a slot's position is canonical and has this slot."""
    least, least_tier = canonical(game, position)
    return least == position and least_tier == tier and whole(game.index(position)) == slot


@lean_kernel
def settle(view, i, low, high):
    """Give a slot new bounds as far as the mode allows; return the change.

    RISE accepts only tighter bounds, SINK only wider ones. If play can be endless, a lower bound above 0 or an upper
    bound below 0 first moves one grain towards 0 (see `metrics/expectation.py`).
    """
    if len(view.endless) and view.endless[view.begin + i]:
        low -= low > 0
        high += high < 0
    if (low > view.chunk_low[i]) != (view.mode == RISE):
        low = view.chunk_low[i]
    if (high < view.chunk_high[i]) != (view.mode == RISE):
        high = view.chunk_high[i]
    change = max(abs(low - view.chunk_low[i]), abs(high - view.chunk_high[i]))
    view.chunk_low[i] = low
    view.chunk_high[i] = high
    return change


@lean_kernel
def worth(game, position, tier, view, room):
    """Return the bounds of a position from those of its children, or its payoff if the game is over."""
    # Step 1: an end pays at once. Else find out who moves.
    note(room.trouble, position)
    value = whole(game.primitive(position))
    if value != UNDECIDED:
        return end_of(game, position, view, room)
    turn = whole(game.turn(position))
    if not CHANCE <= turn < game.players:
        return wrong(room, Trouble.BROKEN, position)
    # Step 2: prepare the sums for chance and the best bounds for players. The head of the script is written by `close`.
    total = np.int64(0)
    low_upper = high_upper = np.int64(0)  # sums of weights and bounds, in two parts of 32 bits
    low_lower = high_lower = np.uint64(0)
    best_low = best_high = np.int64(0)
    moves = 0
    head = room.state[AT]
    room.state[DEPTH] += 1
    if len(view.words) and room.state[DEPTH] > DEEP:
        return wrong(room, Trouble.NO_ROOM, position)
    say(0, view, room)
    # Step 3: the child of each move, with odds and payment in the script.
    for given in game.generate_moves(position):
        move = whole(given)
        child = as_position(game.do_move(position, move))
        if move < 0 or not is_position(child):
            return wrong(room, Trouble.BROKEN, position)
        child, child_tier = canonical(game, child)
        if is_none(child) or child_tier < tier:
            return wrong(room, Trouble.BROKEN, position)
        if turn == CHANCE:
            say(whole(game.odds(position, move)), view, room)
        paid = paid_by(game, position, move, room)
        if view.paying:
            say(paid, view, room)
        # Step 4: the child's bounds. Case: it has a slot, or it lies between slots and is known or computed now.
        found, low, high = find(game, child, child_tier, view, room)
        if not found:
            place = place_of(child, room)
            if place < 0:
                return wrong(room, Trouble.NO_ROOM, position)
            # Case: met before for this slot. OPEN means that play returned to it without passing a slot.
            if room.stamps[place] == room.state[STAMP]:
                low, high = room.lows[place], room.highs[place]
                if low == OPEN:
                    return wrong(room, Trouble.LOST, child)
                if len(view.words):
                    for at in range(room.begins[place], room.stops[place]):
                        say(view.words[at], view, room)
            else:
                # Case: new. Compute it by recursion.
                room.stamps[place] = room.state[STAMP]
                put(room.keys, place, child)
                room.lows[place] = OPEN
                room.begins[place] = room.state[AT]
                low, high = worth(game, child, child_tier, view, room)
                room.lows[place], room.highs[place] = low, high
                room.stops[place] = room.state[AT]
                note(room.trouble, position)
        if room.trouble[0] != Trouble.FINE:
            return np.int64(0), np.int64(0)
        # Step 5: add what the move pays.
        if paid:
            room.state[PAYS] = 1
            low += paid << view.bits
            high += paid << view.bits
            if abs(paid) >= LIMIT >> view.bits or max(abs(low), abs(high)) >= LIMIT:
                room.state[TOO_MUCH] = 1
                return wrong(room, Trouble.BROKEN, position)
        # Step 6: chance adds the weighted bounds, a player keeps the best.
        if turn == CHANCE:
            weight = whole(game.odds(position, move))
            total += weight
            if weight < 1 or total >= WEIGHT_LIMIT:
                return wrong(room, Trouble.BROKEN, position)
            low_upper += weight * (low >> 32)
            high_upper += weight * (high >> 32)
            low_lower += np.uint64(weight) * np.uint64(low & 0xFFFFFFFF)
            high_lower += np.uint64(weight) * np.uint64(high & 0xFFFFFFFF)
        else:
            if moves == 0 or (low > best_low) == (turn == 0):
                best_low = low
            if moves == 0 or (high > best_high) == (turn == 0):
                best_high = high
        moves += 1
    # Step 7: complete the script's node and return the best or the mean.
    if moves == 0:
        return wrong(room, Trouble.NO_MOVES, position)
    close(head, moves, turn, view, room)
    room.state[DEPTH] -= 1
    if turn != CHANCE:
        return best_low, best_high
    low, _ = mean(low_upper, low_lower, total)
    high, rest = mean(high_upper, high_lower, total)
    return low, high + rest


@lean_kernel
def say(word, view, room):
    """Append a word to the script, if one is written."""
    if len(view.words):
        if room.state[AT] == len(view.words):
            wrong_here(room, Trouble.NO_ROOM)
        else:
            view.words[room.state[AT]] = word
            room.state[AT] += 1


@lean_kernel
def close(head, moves, turn, view, room):
    """Complete a script node with its number of moves and its player.

    A node with one move that pays nothing is removed; its child takes its place.
    """
    if len(view.words) and room.trouble[0] == Trouble.FINE:
        skipped = (2 if turn == CHANCE else 1) + view.paying
        if moves == 1 and not (view.paying and view.words[head + skipped - 1]):
            for at in range(head + skipped, room.state[AT]):
                view.words[at - skipped] = view.words[at]
            room.state[AT] -= skipped
            for number in range(room.state[COUNT] - 1, -1, -1):  # shift the scripts that lie behind the head
                place = room.order[number]
                if room.begins[place] <= head:
                    break
                room.begins[place] -= skipped
                room.stops[place] -= skipped
        else:
            view.words[head] = moves << 2 | (2 if turn == CHANCE else turn)


@lean_kernel
def mean(upper, lower, total):
    """Return (`upper` * 2**32 + `lower`) divided by *total*, rounded down, and whether there is a remainder.

    *total* is below 2**31.
    """
    quotient = upper // total
    divisor = np.uint64(total)
    rest = np.uint64(upper - quotient * total) << np.uint64(32)
    whole_part = rest // divisor + lower // divisor
    rest = rest % divisor + lower % divisor
    more = rest // divisor
    return (quotient << 32) + np.int64(whole_part + more), np.int64(rest - more * divisor != 0)


@lean_kernel
def find(game, position, tier, view, room):
    """Return whether a position has a slot, itself or with the players exchanged, and its bounds."""
    slot = whole(game.index(position))
    if slot >= 0:
        if view.mode == LOOK and as_position(game.unindex(tier, slot)) != position:
            wrong(room, Trouble.BAD_INDEX, position)
        low, high = bounds_at(slot, tier, view, room, 0)
        return True, low, high
    # Case: the position with exchanged players has a slot: its bounds are negated and exchanged.
    other = swapped(game, position)
    if not is_none(other):
        other, other_tier = canonical(game, other)
        slot = whole(game.index(other))
        if slot >= 0:
            if view.mode == LOOK and (
                as_position(game.unindex(other_tier, slot)) != other
                or canonical(game, swapped(game, other)) != (position, tier)
            ):
                wrong(room, Trouble.BAD_INDEX, position)
            low, high = bounds_at(slot, other_tier, view, room, 1)
            return True, -high, -low
    return False, np.int64(0), np.int64(0)


@lean_kernel
def bounds_at(slot, tier, view, room, turned):
    """Return the bounds of a slot of a tier; 0 for the current tier in mode LOOK."""
    # Case: a slot of the current tier, from the chunk itself or from before the wave.
    if view.k >= 0 and tier == view.tiers[view.k]:
        room.state[ROUND] = 1
        if slot >= view.starts[view.k + 1] - view.starts[view.k]:
            return wrong_here(room, Trouble.BAD_INDEX)
        say(-1 - 2 * (view.starts[view.k] + slot) - turned, view, room)
        if view.mode == LOOK:
            return np.int64(0), np.int64(0)
        if view.begin <= slot < view.begin + len(view.chunk_low):
            return view.chunk_low[slot - view.begin], view.chunk_high[slot - view.begin]
        return view.own_low[slot], view.own_high[slot]
    # Case: a slot of a finished tier.
    k = place_in(view.tiers, tier)
    if k == len(view.tiers) or view.tiers[k] != tier or slot >= view.starts[k + 1] - view.starts[k]:
        return wrong_here(room, Trouble.BAD_INDEX)
    say(-1 - 2 * (view.starts[k] + slot) - turned, view, room)
    return met(view.low[view.starts[k] + slot], view.high[view.starts[k] + slot], room)


@lean_kernel
def met(low, high, room):
    """Return bounds from outside the tier, and update the least and greatest met."""
    room.state[LEAST] = min(room.state[LEAST], low)
    room.state[MOST] = max(room.state[MOST], high)
    return low, high


@lean_kernel
def end_of(game, position, view, room):
    """Return what an end pays player 0, less what player 1 gets, as both bounds."""
    paid = whole(game.payoff(position, 0))
    other = whole(game.payoff(position, 1)) if game.players == 2 else 0
    if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
        return wrong(room, Trouble.BROKEN, position)
    if abs(paid - other) >= LIMIT >> view.bits:
        room.state[TOO_MUCH] = 1
        return wrong(room, Trouble.BROKEN, position)
    # The script refers to payoffs by their number in `ends`.
    if len(view.words):
        number = 0
        while number < len(room.ends) and room.ends[number] not in (paid - other, NO_END):
            number += 1
        if number == len(room.ends):
            return wrong(room, Trouble.NO_ROOM, position)
        room.ends[number] = paid - other
        say(-1 - 2 * (view.starts[-1] + number), view, room)
    return met((paid - other) << view.bits, (paid - other) << view.bits, room)


@lean_kernel
def paid_by(game, position, move, room):
    """Return what a move pays player 0 at once, less what it pays player 1."""
    paid = whole(game.reward(position, move, 0))
    other = whole(game.reward(position, move, 1)) if game.players == 2 else 0
    if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
        room.trouble[0] = Trouble.BROKEN
        return 0
    return paid - other


@lean_kernel
def wrong(room, what, position):
    """Record an error and its position, unless there is one already; return 0, 0."""
    if room.trouble[0] == Trouble.FINE:
        room.trouble[0] = what
        note(room.trouble, position)
    return np.int64(0), np.int64(0)


@lean_kernel
def wrong_here(room, what):
    """Record an error at the position already noted."""
    if room.trouble[0] == Trouble.FINE:
        room.trouble[0] = what
    return np.int64(0), np.int64(0)


@lean_kernel
def place_of(position, room):
    """Return the entry of a position between slots, new or known; -1 if the table is more than half full."""
    mask = np.uint64(len(room.keys) - 1)
    mixed = np.uint64(key_of(position)) * MIX
    place = np.int64((mixed >> np.uint64(40)) & mask)
    while room.stamps[place] == room.state[STAMP]:
        if stands_at(room.keys, place, position):
            return place
        place = (place + 1) & np.int64(mask)
    room.order[room.state[COUNT]] = place
    room.state[COUNT] += 1
    return place if 2 * room.state[COUNT] <= len(room.keys) else -1


@lean_kernel
def leave(game, view, room, stays):
    """Remove from a chunk the slots from which players cannot stay forever; return how many.

    *stays* has an entry for each slot of the chunk; `endless` has those of other chunks.
    """
    left = 0
    tier = view.tiers[view.k]
    for i in range(len(stays) - 1, -1, -1):
        if stays[i]:
            position = as_position(game.unindex(tier, view.begin + i))
            room.state[STAMP] += 1
            room.state[COUNT] = 0
            if is_none(position) or not can_stay(game, position, view, room, stays):
                stays[i] = False
                left += 1
    return left


@lean_kernel
def can_stay(game, position, view, room, stays):
    """Return whether players can move on within the tier to something not known to be left.

    A player needs one such move; at a chance position all moves must stay.
    """
    if whole(game.primitive(position)) != UNDECIDED:
        return False
    chance = whole(game.turn(position)) == CHANCE
    result = chance
    for move in game.generate_moves(position):
        # Find the child's slot, also with the players exchanged.
        child, child_tier = canonical(game, as_position(game.do_move(position, whole(move))))
        slot = whole(game.index(child))
        if slot < 0 and not is_none(swapped(game, child)):
            other, other_tier = canonical(game, swapped(game, child))
            slot = whole(game.index(other))
            child_tier = other_tier if slot >= 0 else child_tier
        inside = False
        if child_tier == view.tiers[view.k]:
            # Case: between slots, remembered or computed by recursion.
            if slot < 0:
                place = place_of(child, room)
                if room.stamps[place] != room.state[STAMP]:
                    room.stamps[place] = room.state[STAMP]
                    put(room.keys, place, child)
                    room.lows[place] = 0
                    known = can_stay(game, child, view, room, stays)
                    room.lows[place] = 1 if known else 0
                inside = room.lows[place] == 1
            elif view.begin <= slot < view.begin + len(stays):
                inside = stays[slot - view.begin]
            else:
                inside = view.endless[slot] != 0
        # This move decides: one that stays for a player, one that leaves for chance.
        if inside != chance:
            result = inside
            break
    return result


@lean_kernel
def count(game, tier, begin, first, low, high, counts, images):
    """Count a block of slots by the sign of their bounds, for the player to move: LOSE, TIE, WIN.

    *counts* int64[3, 3] has rows for the number of slots, the number of positions, and the first position, -1 for none.
    For positions that are tuples it is the slot's number, counted from *first*, the place of the tier's first slot.
    """
    for i in range(len(low)):
        position = as_position(game.unindex(tier, begin + i))
        if not is_none(position):
            kind = 2 if low[i] > 0 else 0 if high[i] < 0 else 1
            if game.players == 2 and kind != 1 and whole(game.turn(position)) == 1:
                kind = 2 - kind
            counts[0, kind] += 1
            counts[1, kind] += count_images(game, position, images)
            if counts[2, kind] < 0:
                counts[2, kind] = number_of(position, first + begin + i)


@lean_kernel
def bounds_of(game, position, tier, view, room):
    """Return the bounds of any position, once all tiers are finished."""
    room.state[STAMP] += 1
    found, low, high = find(game, position, tier, view, room)
    return (low, high) if found else worth(game, position, tier, view, room)
