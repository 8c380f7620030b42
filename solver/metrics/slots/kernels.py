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

LOOK, RISE, SINK, STAY = range(4)
"""Modes of a sweep.

    LOOK    compute the bounds from other tiers alone
    RISE    move bounds closer together
    SINK    move bounds apart until they hold
    STAY    find where players may stay in the tier forever: lower bounds go from 1 to 0 where they may not
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
    DEPTH           nesting depth of `evaluate`
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


class ChunkArrays(NamedTuple):
    """What kernels read and write for a chunk.

    - `tiers` are the numbers of all tiers, and `starts` where their slots begin.
    - `low` and `high` are bounds of all slots, valid for finished tiers.
    - `own_low` and `own_high` are bounds of tier number `k`, which is being solved. `chunk_low` and `chunk_high` are
      newer ones of its slots from `begin` on. `endless` marks slots from which players can stay forever.
    - Bounds have `bits` bits after the point. `mode` is LOOK, RISE, SINK or STAY.
    - If `words` is not empty, a script of the slots is written there, and to `rows` which slots these are (see
      `replay.py`). It records payments of moves if moves may be `paying`.
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


class SlotWorkspace(NamedTuple):
    """Memory for the positions between slots: a hash table of 2**n entries, valid for the current slot.

    `keys` are positions. An entry is valid if its `stamps` equal the current slot's number. `lows` and `highs` are
    bounds. `begins` and `stops` say where their scripts are. `order` lists the current slot's entries as they were met.
    `ends` are the payoffs of ends found so far. `state` is as above, `trouble` as in all kernels.
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
def sweep(game, chunk, workspace):
    """Compute the bounds of a chunk's slots, the last slot first, and write them there.

    Return the greatest change; -1 if there is an error.
    """
    most = np.int64(0)
    tier = chunk.tiers[chunk.k]
    for i in range(len(chunk.chunk_low) - 1, -1, -1):
        # Step 1: the slot's position, and a fresh memory for it.
        position = as_position(game.unindex(tier, chunk.begin + i))
        if is_none(position):
            chunk.chunk_low[i] = chunk.chunk_high[i] = 0
            continue
        if chunk.mode == STAY and not chunk.chunk_low[i]:
            continue
        workspace.state[STAMP] += 1
        workspace.state[COUNT] = workspace.state[DEPTH] = 0
        if chunk.mode == LOOK and not is_its_own(game, position, tier, chunk.begin + i):
            fail(workspace, Trouble.BAD_INDEX, position)
            return -1
        # Step 2: its bounds. Sweeps only accept changes in their direction (`settle`).
        low, high = evaluate(game, position, tier, chunk, workspace)
        if workspace.trouble[0] != Trouble.FINE:
            return -1
        if chunk.mode != LOOK:
            most = max(most, settle(chunk, i, low, high))
            continue
        chunk.chunk_low[i] = low
        chunk.chunk_high[i] = high
        if len(chunk.words):
            chunk.rows[workspace.state[ROWS]] = i
            workspace.state[ROWS] += 1
    return most


@lean_kernel
def is_its_own(game, position, tier, slot):
    """Return whether a slot's position is canonical and has this slot."""
    least, least_tier = canonical(game, position)
    return least == position and least_tier == tier and whole(game.index(position)) == slot


@lean_kernel
def settle(chunk, i, low, high):
    """Give a slot new bounds as far as the mode allows; return the change.

    RISE accepts only tighter bounds, SINK only wider ones. If play can be endless, a lower bound above 0 or an upper
    bound below 0 first moves one grain towards 0 (see `metrics/expectation.py`).
    """
    if len(chunk.endless) and chunk.endless[chunk.begin + i]:
        low -= low > 0
        high += high < 0
    if (low > chunk.chunk_low[i]) != (chunk.mode == RISE):
        low = chunk.chunk_low[i]
    if (high < chunk.chunk_high[i]) != (chunk.mode == RISE):
        high = chunk.chunk_high[i]
    change = max(abs(low - chunk.chunk_low[i]), abs(high - chunk.chunk_high[i]))
    chunk.chunk_low[i] = low
    chunk.chunk_high[i] = high
    return change


@lean_kernel
def evaluate(game, position, tier, chunk, workspace):
    """Return the bounds of a position from those of its children, or its payoff if the game is over.

    In mode STAY the lower bound is 1 if a player has a move that stays in the tier, or all moves of chance stay.
    """
    # Step 1: an end pays at once. Else find out who moves.
    note(workspace.trouble, position)
    value = whole(game.primitive(position))
    if value != UNDECIDED:
        return evaluate_end(game, position, chunk, workspace)
    turn = whole(game.turn(position))
    if not CHANCE <= turn < game.players:
        return fail(workspace, Trouble.BROKEN, position)
    staying = chunk.mode == STAY
    greatest = turn != CHANCE if staying else turn == 0
    # Step 2: prepare the sums for chance and the best bounds for players. `finish_node` writes the script's head.
    total = np.int64(0)
    low_sum = high_sum = np.int64(0), np.uint64(0)
    best_low = best_high = np.int64(0)
    moves = 0
    head = begin_node(position, chunk, workspace)
    for given in game.generate_moves(position):
        # Step 3: the child of each move, with odds and payment in the script.
        move = whole(given)
        child, child_tier = child_of(game, position, move, tier, workspace)
        weight, paid = record_move(game, position, move, turn, chunk, workspace)
        if workspace.trouble[0] != Trouble.FINE:
            return np.int64(0), np.int64(0)
        # Step 4: the child's bounds. Case: it has a slot, or it lies between slots and is known or computed now.
        entry, low, high = look_up(game, child, child_tier, chunk, workspace)
        if entry >= 0:
            low, high = evaluate(game, child, child_tier, chunk, workspace)
            workspace.lows[entry], workspace.highs[entry] = low, high
            workspace.stops[entry] = workspace.state[AT]
            note(workspace.trouble, position)
        if paid and not staying:
            low, high = add_payment(paid, low, high, chunk, workspace)
        total += weight
        if total >= WEIGHT_LIMIT:
            fail(workspace, Trouble.BROKEN, position)
        if workspace.trouble[0] != Trouble.FINE:
            return np.int64(0), np.int64(0)
        # Step 5: chance adds the weighted bounds, a player keeps the best.
        if turn == CHANCE and not staying:
            low_sum, high_sum = add_product(low_sum, weight, low), add_product(high_sum, weight, high)
        elif moves == 0:
            best_low, best_high = low, high
        else:
            best_low, best_high = better_of(best_low, low, greatest), better_of(best_high, high, greatest)
        moves += 1
        if staying and (best_low > 0) == greatest:
            break  # this move decides
    # Step 6: complete the script's node and return the best or the mean.
    if moves == 0:
        return fail(workspace, Trouble.NO_MOVES, position)
    finish_node(head, moves, turn, chunk, workspace)
    return (best_low, best_high) if turn != CHANCE or staying else means(low_sum, high_sum, total)


@lean_kernel
def better_of(best, bound, greatest):
    """Return the greater or the lesser of two bounds."""
    return max(best, bound) if greatest else min(best, bound)


@lean_kernel
def begin_node(position, chunk, workspace):
    """Begin a node of the script, and return where its head is; record if nodes are nested too deeply."""
    head = workspace.state[AT]
    workspace.state[DEPTH] += 1
    if len(chunk.words) and workspace.state[DEPTH] > DEEP:
        fail(workspace, Trouble.NO_ROOM, position)
    append_word(0, chunk, workspace)
    return head


@lean_kernel
def record_move(game, position, move, turn, chunk, workspace):
    """Return a move's odds, 0 for a player's, and what it pays; append both to the script."""
    weight = paid = np.int64(0)
    if workspace.trouble[0] != Trouble.FINE:
        return weight, paid
    if turn == CHANCE:
        weight += whole(game.odds(position, move))
        if weight < 1:
            fail(workspace, Trouble.BROKEN, position)
        append_word(weight, chunk, workspace)
    paid += payment_of(game, position, move, workspace)
    if chunk.paying:
        append_word(paid, chunk, workspace)
    return weight, paid


@lean_kernel
def look_up(game, position, tier, chunk, workspace):
    """Return (-1, lower bound, upper bound) if a child's bounds are known, or else a new entry for them and 0, 0."""
    found, low, high = find_bounds(game, position, tier, chunk, workspace)
    if found:
        return np.int64(-1), low, high
    entry = entry_of(position, workspace)
    if entry < 0:
        fail_here(workspace, Trouble.NO_ROOM)
        return entry, low, high
    if workspace.stamps[entry] == workspace.state[STAMP]:
        low, high = recall(entry, position, chunk, workspace)
        return np.int64(-1), low, high
    workspace.stamps[entry] = workspace.state[STAMP]
    put(workspace.keys, entry, position)
    workspace.lows[entry] = OPEN
    workspace.begins[entry] = workspace.state[AT]
    return entry, low, high


@lean_kernel
def child_of(game, position, move, tier, workspace):
    """Return the canonical child by a move, and its tier; record a breach of the contract."""
    child = as_position(game.do_move(position, move))
    if move < 0 or not is_position(child):
        fail(workspace, Trouble.BROKEN, position)
        return child, tier
    child, child_tier = canonical(game, child)
    if is_none(child) or child_tier < tier:
        fail(workspace, Trouble.BROKEN, position)
    return child, child_tier


@lean_kernel
def recall(entry, position, chunk, workspace):
    """Return the bounds of a position between slots that was met before for this slot; repeat its script."""
    low, high = workspace.lows[entry], workspace.highs[entry]
    if low == OPEN:  # play returns to it without passing a slot
        return fail(workspace, Trouble.LOST, position)
    if len(chunk.words):
        for at in range(workspace.begins[entry], workspace.stops[entry]):
            append_word(chunk.words[at], chunk, workspace)
    return low, high


@lean_kernel
def add_payment(paid, low, high, chunk, workspace):
    """Return bounds with what a move pays added; record if they become too great."""
    workspace.state[PAYS] = 1
    low += paid << chunk.bits
    high += paid << chunk.bits
    if abs(paid) >= LIMIT >> chunk.bits or max(abs(low), abs(high)) >= LIMIT:
        workspace.state[TOO_MUCH] = 1
        return fail_here(workspace, Trouble.BROKEN)
    return low, high


@lean_kernel
def add_product(total, weight, bound):
    """Return a sum plus *weight* times *bound*. A sum is in two parts: upper * 2**32 + lower."""
    upper, lower = total
    return upper + weight * (bound >> 32), lower + np.uint64(weight) * np.uint64(bound & 0xFFFFFFFF)


@lean_kernel
def means(low_sum, high_sum, total):
    """Return two sums of `add_product` divided by *total*: the lower mean rounded down, the upper one up."""
    low, _ = mean(low_sum[0], low_sum[1], total)
    high, rest = mean(high_sum[0], high_sum[1], total)
    return low, high + rest


@lean_kernel
def append_word(word, chunk, workspace):
    """Append a word to the script, if one is written."""
    if len(chunk.words):
        if workspace.state[AT] == len(chunk.words):
            fail_here(workspace, Trouble.NO_ROOM)
        else:
            chunk.words[workspace.state[AT]] = word
            workspace.state[AT] += 1


@lean_kernel
def finish_node(head, moves, turn, chunk, workspace):
    """Complete a script node with its number of moves and its player.

    A node with one move that pays nothing is removed; its child takes its place.
    """
    workspace.state[DEPTH] -= 1
    if len(chunk.words) and workspace.trouble[0] == Trouble.FINE:
        skipped = (2 if turn == CHANCE else 1) + chunk.paying
        if moves == 1 and not (chunk.paying and chunk.words[head + skipped - 1]):
            for at in range(head + skipped, workspace.state[AT]):
                chunk.words[at - skipped] = chunk.words[at]
            workspace.state[AT] -= skipped
            for number in range(workspace.state[COUNT] - 1, -1, -1):  # shift the scripts that lie behind the head
                entry = workspace.order[number]
                if workspace.begins[entry] <= head:
                    break
                workspace.begins[entry] -= skipped
                workspace.stops[entry] -= skipped
        else:
            chunk.words[head] = moves << 2 | (2 if turn == CHANCE else turn)


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
def find_bounds(game, position, tier, chunk, workspace):
    """Return whether a position has a slot, itself or with the players exchanged, and its bounds."""
    slot = whole(game.index(position))
    if slot >= 0:
        if chunk.mode == LOOK and as_position(game.unindex(tier, slot)) != position:
            fail(workspace, Trouble.BAD_INDEX, position)
        low, high = bounds_at(slot, tier, chunk, workspace, 0)
        return True, low, high
    # Case: the position with exchanged players has a slot: its bounds are negated and exchanged.
    other = swapped(game, position)
    if not is_none(other):
        other, other_tier = canonical(game, other)
        slot = whole(game.index(other))
        if slot >= 0:
            if chunk.mode == LOOK and (
                as_position(game.unindex(other_tier, slot)) != other
                or canonical(game, swapped(game, other)) != (position, tier)
            ):
                fail(workspace, Trouble.BAD_INDEX, position)
            low, high = bounds_at(slot, other_tier, chunk, workspace, 1)
            return (True, low, high) if chunk.mode == STAY else (True, -high, -low)
    return False, np.int64(0), np.int64(0)


@lean_kernel
def bounds_at(slot, tier, chunk, workspace, exchanged):
    """Return the bounds of a slot; 0 for the current tier in mode LOOK, and for other tiers in mode STAY."""
    # Case: a slot of the current tier, from the chunk itself or from before the wave.
    if chunk.k >= 0 and tier == chunk.tiers[chunk.k]:
        workspace.state[ROUND] = 1
        if slot >= chunk.starts[chunk.k + 1] - chunk.starts[chunk.k]:
            return fail_here(workspace, Trouble.BAD_INDEX)
        append_word(-1 - 2 * (chunk.starts[chunk.k] + slot) - exchanged, chunk, workspace)
        if chunk.mode == LOOK:
            return np.int64(0), np.int64(0)
        if chunk.begin <= slot < chunk.begin + len(chunk.chunk_low):
            return chunk.chunk_low[slot - chunk.begin], chunk.chunk_high[slot - chunk.begin]
        return chunk.own_low[slot], chunk.own_high[slot]
    # Case: a slot of a finished tier.
    k = place_in(chunk.tiers, tier)
    if k == len(chunk.tiers) or chunk.tiers[k] != tier or slot >= chunk.starts[k + 1] - chunk.starts[k]:
        return fail_here(workspace, Trouble.BAD_INDEX)
    append_word(-1 - 2 * (chunk.starts[k] + slot) - exchanged, chunk, workspace)
    if chunk.mode == STAY:
        return np.int64(0), np.int64(0)
    return note_outside(chunk.low[chunk.starts[k] + slot], chunk.high[chunk.starts[k] + slot], workspace)


@lean_kernel
def note_outside(low, high, workspace):
    """Return bounds from outside the tier, and update the least and greatest met."""
    workspace.state[LEAST] = min(workspace.state[LEAST], low)
    workspace.state[MOST] = max(workspace.state[MOST], high)
    return low, high


@lean_kernel
def evaluate_end(game, position, chunk, workspace):
    """Return what an end pays player 0, less what player 1 gets, as both bounds; 0 in mode STAY."""
    if chunk.mode == STAY:
        return np.int64(0), np.int64(0)
    paid = whole(game.payoff(position, 0))
    other = whole(game.payoff(position, 1)) if game.players == 2 else 0
    if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
        return fail(workspace, Trouble.BROKEN, position)
    if abs(paid - other) >= LIMIT >> chunk.bits:
        workspace.state[TOO_MUCH] = 1
        return fail(workspace, Trouble.BROKEN, position)
    # The script refers to payoffs by their number in `ends`.
    if len(chunk.words):
        number = 0
        while number < len(workspace.ends) and workspace.ends[number] not in (paid - other, NO_END):
            number += 1
        if number == len(workspace.ends):
            return fail(workspace, Trouble.NO_ROOM, position)
        workspace.ends[number] = paid - other
        append_word(-1 - 2 * (chunk.starts[-1] + number), chunk, workspace)
    return note_outside((paid - other) << chunk.bits, (paid - other) << chunk.bits, workspace)


@lean_kernel
def payment_of(game, position, move, workspace):
    """Return what a move pays player 0 at once, less what it pays player 1."""
    paid = whole(game.reward(position, move, 0))
    other = whole(game.reward(position, move, 1)) if game.players == 2 else 0
    if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
        workspace.trouble[0] = Trouble.BROKEN
        return 0
    return paid - other


@lean_kernel
def fail(workspace, what, position):
    """Record an error and its position, unless there is one already; return 0, 0."""
    if workspace.trouble[0] == Trouble.FINE:
        workspace.trouble[0] = what
        note(workspace.trouble, position)
    return np.int64(0), np.int64(0)


@lean_kernel
def fail_here(workspace, what):
    """Record an error at the position already noted."""
    if workspace.trouble[0] == Trouble.FINE:
        workspace.trouble[0] = what
    return np.int64(0), np.int64(0)


@lean_kernel
def entry_of(position, workspace):
    """Return the entry of a position between slots, new or known; -1 if the table is more than half full."""
    mask = np.uint64(len(workspace.keys) - 1)
    mixed = np.uint64(key_of(position)) * MIX
    entry = np.int64((mixed >> np.uint64(40)) & mask)
    while workspace.stamps[entry] == workspace.state[STAMP]:
        if stands_at(workspace.keys, entry, position):
            return entry
        entry = (entry + 1) & np.int64(mask)
    workspace.order[workspace.state[COUNT]] = entry
    workspace.state[COUNT] += 1
    return entry if 2 * workspace.state[COUNT] <= len(workspace.keys) else np.int64(-1)


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
def bounds_of(game, position, tier, chunk, workspace):
    """Return the bounds of any position, once all tiers are finished."""
    workspace.state[STAMP] += 1
    found, low, high = find_bounds(game, position, tier, chunk, workspace)
    return (low, high) if found else evaluate(game, position, tier, chunk, workspace)
