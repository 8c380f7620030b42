"""The compiled loops that call the rules: they record scripts (see `scripts.py`), and count slots by value.

From a slot's position, `expand` follows the rules through the positions between slots until it meets slots and ends.
Many paths may lead to the same position between, so a hash table remembers those of the current slot. The arguments
*tiers* and *recorder* are a RecordedTiers and a Recorder.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, PAYOFF_LIMIT, UNDECIDED, is_none
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.kernels import WEIGHT_LIMIT, canonical, count_images, count_less
from retrograde.solver.rules.positions import as_position, note, number_of, put, stands_at, swapped, whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel

STAMP, ENTRIES, NODES, LINKS, DEPTH, WORDS, SLOTS, STAYS, PAYS, UNEQUAL, GREATEST, STATE_SIZE = range(12)
"""Indices into `Recorder.state`. STATE_SIZE is their number.

Of the current slot:
    STAMP           its number, which marks its entries of the hash table
    ENTRIES         positions between slots that it has met
    NODES           nodes that are complete
    LINKS           words of links on the stack
    DEPTH           nested calls of `expand`
Of the script:
    WORDS, SLOTS    words and slots recorded
    STAYS           whether a move stays in the tier
    PAYS            whether a move pays
    UNEQUAL         whether an end pays another difference than 1
    GREATEST        the greatest amount that an end or a move pays
"""
BY_CHANCE = 2
"""Who moves at a node of chance; the others are the players' numbers."""
DEEPEST = 2000
"""The most moves in a row between two slots."""
OPEN = 1 << 62
"""The target of a position whose moves are being followed."""
ENDLESS = 100
"""Trouble of this module, beside the codes of `trouble_codes`: play goes on and on among positions without a slot."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""Multiplier of the hash of a position: 2**64 divided by the golden ratio."""


class RecordedTiers(NamedTuple):
    """The slots of all tiers: tier `tiers[k]` has the global slots from `starts[k]` to `starts[k + 1]`.

    Slots of tier number `own` are recorded; -1 for none. `pays`: moves may pay. `checks`: check that `index` and
    `unindex` undo one another.
    """

    tiers: Array
    starts: Array
    own: int
    pays: bool
    checks: bool


class Recorder(NamedTuple):
    """The buffers of a recording.

    `words`, `slots` and `node_counts` are the script so far. `links` is a stack with the links of nodes that are not
    complete. `keys` are the positions of a hash table of 2**n entries; an entry belongs to the current slot if its
    `stamps` is the slot's number. `targets` and `payoffs` say where links to these positions lead. `state` is indexed
    by STAMP and so on; `trouble` has the first error.
    """

    words: Array
    slots: Array
    node_counts: Array
    links: Array
    keys: Array
    stamps: Array
    targets: Array
    payoffs: Array
    state: Array
    trouble: Array


@lean_kernel
def record(game, tiers, begin, last, enough, recorder):
    """Record slots of the own tier, from `begin + last` down to *begin*, until the script has *enough* words.

    Return the next slot to be recorded, counted from *begin*; -1 if none is left. At trouble, it is not in the script.
    """
    state, tier = recorder.state, tiers.tiers[tiers.own]
    for i in range(last, -1, -1):
        # Step 1: the slot's position. Some slots stand for none.
        position = as_position(game.unindex(tier, begin + i))
        if is_none(position):
            continue
        if tiers.checks and not has_slot(game, position, tier, begin + i):
            fail(recorder, Trouble.BAD_INDEX, position)
            return i
        # Step 2: its nodes. At trouble, drop what they added to the script.
        words = state[WORDS]
        begin_slot(recorder)
        finish_slot(expand(game, position, tier, tiers, recorder), tiers, recorder)
        if recorder.trouble[0] != Trouble.FINE:
            state[WORDS] = words
            return i
        recorder.slots[state[SLOTS]], recorder.node_counts[state[SLOTS]] = i, state[NODES]
        state[SLOTS] += 1
        if state[WORDS] >= enough:
            return i - 1
    return -1


@lean_kernel
def record_position(game, position, tier, tiers, recorder):
    """Record any position as if it were slot 0 of a chunk."""
    begin_slot(recorder)
    entry, target, payoff = find_target(game, position, tier, tiers, recorder)
    if entry >= 0:
        target, payoff = expand(game, position, tier, tiers, recorder)
    finish_slot((target, payoff), tiers, recorder)
    recorder.slots[0], recorder.node_counts[0], recorder.state[SLOTS] = 0, recorder.state[NODES], 1


@lean_kernel
def has_slot(game, position, tier, slot):
    """Return whether a position is canonical, of this tier, and has this slot."""
    least, least_tier = canonical(game, position)
    return least == position and least_tier == tier and whole(game.index(position)) == slot


@lean_kernel
def begin_slot(recorder):
    """Forget the positions and nodes of the slot before."""
    recorder.state[STAMP] += 1
    recorder.state[ENTRIES] = recorder.state[NODES] = recorder.state[LINKS] = recorder.state[DEPTH] = 0


@lean_kernel
def finish_slot(target_and_payoff, tiers, recorder):
    """Make the last node stand for the slot: if the target is another, add a node with a single link, to the target."""
    target, payoff = target_and_payoff
    count = recorder.state[NODES]
    if count == 0 or target != -count:  # -count is the target of the last node
        push_link(np.int64(0), np.int64(0), target, payoff, np.int64(0), tiers, recorder)
        add_node(np.int64(0), np.int64(1), np.int64(0), recorder)


@lean_kernel
def expand(game, position, tier, tiers, recorder):
    """Follow all moves of a position; return (target that leads to it, payoff if it is an end). The position becomes a
    node, after those of its children. If it has a single move that pays nothing, the target is that of the move. At
    trouble, the result is void."""
    # Step 1: an end pays at once. Else find out who moves.
    note(recorder.trouble, position)  # for error messages
    value = whole(game.primitive(position))
    if value != UNDECIDED:
        return end_of(game, position, tiers, recorder)
    turn = whole(game.turn(position))
    if not CHANCE <= turn < game.players:
        return fail(recorder, Trouble.BROKEN, position)
    who = BY_CHANCE if turn == CHANCE else turn
    state = recorder.state
    state[DEPTH] += 1
    if state[DEPTH] > DEEPEST:
        return fail(recorder, ENDLESS, position)
    begin, moves, total_odds = state[LINKS], np.int64(0), np.int64(0)
    target = payoff = gain = np.int64(0)
    for given in game.generate_moves(position):
        # Step 2: the child of each move, and what belongs to the move.
        move = whole(given)
        child, child_tier = child_of(game, position, move, tier, recorder)
        odds, gain = odds_and_gain(game, position, move, turn, tiers, recorder)
        total_odds += odds
        if total_odds >= WEIGHT_LIMIT:
            fail(recorder, Trouble.BROKEN, position)
        if recorder.trouble[0] != Trouble.FINE:
            return np.int64(0), np.int64(0)
        # Step 3: where the child is. A position between slots that is met for the first time is followed now.
        entry, target, payoff = find_target(game, child, child_tier, tiers, recorder)
        if entry >= 0:
            target, payoff = expand(game, child, child_tier, tiers, recorder)
            recorder.targets[entry], recorder.payoffs[entry] = target, payoff
            if recorder.trouble[0] == Trouble.FINE:
                note(recorder.trouble, position)  # the child's call noted another
        if recorder.trouble[0] != Trouble.FINE:
            return np.int64(0), np.int64(0)
        # Step 4: push the link. Children that are followed meanwhile push and pop their own links above.
        push_link(odds, gain, target, payoff, who, tiers, recorder)
        moves += 1
    # Step 5: all links are there: they become a node.
    if moves == 0:
        return fail(recorder, Trouble.NO_MOVES, position)
    state[DEPTH] -= 1
    if moves == 1 and gain == 0:
        state[LINKS] = begin
        return target, payoff
    return add_node(begin, moves, who, recorder), np.int64(0)


@lean_kernel
def push_link(odds, gain, target, payoff, who, tiers, recorder):
    """Push the words of a link onto the stack, for a node where *who* moves."""
    links, end = recorder.links, recorder.state[LINKS]
    if end + 4 > len(links):  # a link has 4 words at most
        fail_here(recorder, Trouble.NO_ROOM)
        return
    if who == BY_CHANCE:
        links[end] = odds
        end += 1
    if tiers.pays:
        links[end] = gain
        end += 1
    links[end] = target
    end += 1
    if target == tiers.starts[-1] << 1:  # an end
        links[end] = payoff
        end += 1
    recorder.state[LINKS] = end


@lean_kernel
def add_node(begin, moves, who, recorder):
    """Add a node to the script with the links on the stack from *begin* on, and pop these; return its target."""
    state, at = recorder.state, recorder.state[WORDS]
    if at + 1 + state[LINKS] - begin > len(recorder.words):
        fail_here(recorder, Trouble.NO_ROOM)
        return np.int64(0)
    recorder.words[at] = (moves << 2) | who
    for k in range(begin, state[LINKS]):
        at += 1
        recorder.words[at] = recorder.links[k]
    state[WORDS], state[LINKS] = at + 1, begin
    state[NODES] += 1
    return -state[NODES]  # -1 - n for node number n


@lean_kernel
def child_of(game, position, move, tier, recorder):
    """Return (canonical child by a move, its tier). If that breaches the contract, record it; the result is void then.

    *tier* is that of *position*.
    """
    child = as_position(game.do_move(position, move))
    if move < 0 or not is_position(child):
        fail(recorder, Trouble.BROKEN, position)
        return child, tier
    child, child_tier = canonical(game, child)
    if is_none(child) or child_tier < tier:
        fail(recorder, Trouble.BROKEN, position)
    return child, child_tier


@lean_kernel
def odds_and_gain(game, position, move, turn, tiers, recorder):
    """Return a move's odds, 0 for a player's, and what it pays player 0, less what it pays player 1."""
    odds = gain = np.int64(0)
    if recorder.trouble[0] != Trouble.FINE:
        return odds, gain
    if turn == CHANCE:
        odds += whole(game.odds(position, move))
        if odds < 1:
            fail(recorder, Trouble.BROKEN, position)
    if not tiers.pays:
        return odds, gain
    paid = whole(game.reward(position, move, 0))
    other = whole(game.reward(position, move, 1)) if game.players == 2 else 0
    gain += balance(paid, other, position, recorder)
    if gain:
        recorder.state[PAYS] = 1
    return odds, gain


@lean_kernel
def end_of(game, position, tiers, recorder):
    """Return the target of ends, and what this one pays player 0, less what player 1 gets."""
    paid = whole(game.payoff(position, 0))
    other = whole(game.payoff(position, 1)) if game.players == 2 else 0
    difference = balance(paid, other, position, recorder)
    if abs(difference) != 1:
        recorder.state[UNEQUAL] = 1
    return tiers.starts[-1] << 1, difference


@lean_kernel
def balance(paid, other, position, recorder):
    """Return the difference of what two players are paid; record a breach of the contract."""
    if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
        fail(recorder, Trouble.BROKEN, position)
        return np.int64(0)
    recorder.state[GREATEST] = max(recorder.state[GREATEST], abs(paid - other))
    return np.int64(paid - other)


@lean_kernel
def find_target(game, position, tier, tiers, recorder):
    """Return (-1, target, payoff) of a position, or (new entry of the hash table, 0, 0) if only its moves will show the
    target. After trouble (see `fail`), the result means nothing."""
    no_entry, nothing = np.int64(-1), np.int64(0)
    # Case: it has a slot.
    slot = whole(game.index(position))
    if slot >= 0:
        if tiers.checks and as_position(game.unindex(tier, slot)) != position:
            fail(recorder, Trouble.BAD_INDEX, position)
        return no_entry, target_of_slot(tier, slot, 0, tiers, recorder), nothing
    # Case: it has a slot with the players exchanged.
    other = swapped(game, position)
    if not is_none(other):
        other, other_tier = canonical(game, other)
        slot = whole(game.index(other))
        if slot >= 0:
            if other_tier < tier:  # it is not solved yet
                fail(recorder, Trouble.TIER_FALLS, position)
            if tiers.checks and (
                as_position(game.unindex(other_tier, slot)) != other
                or canonical(game, swapped(game, other)) != (position, tier)
            ):
                fail(recorder, Trouble.BAD_INDEX, position)
            return no_entry, target_of_slot(other_tier, slot, 1, tiers, recorder), nothing
    # Case: it lies between slots. If it was met before, its target is known, unless play goes round.
    entry = entry_of(position, recorder)
    if entry < 0:
        fail_here(recorder, Trouble.NO_ROOM)
        return no_entry, nothing, nothing
    if recorder.stamps[entry] == recorder.state[STAMP]:
        if recorder.targets[entry] == OPEN:
            fail(recorder, ENDLESS, position)
        return no_entry, recorder.targets[entry], recorder.payoffs[entry]
    recorder.stamps[entry] = recorder.state[STAMP]
    put(recorder.keys, entry, position)
    recorder.targets[entry] = OPEN
    return entry, nothing, nothing


@lean_kernel
def target_of_slot(tier, slot, exchanged, tiers, recorder):
    """Return the target that leads to a slot; *exchanged* is 1 if the players are exchanged there."""
    k = count_less(tiers.tiers, tier)
    if k == len(tiers.tiers) or tiers.tiers[k] != tier or slot >= tiers.starts[k + 1] - tiers.starts[k]:
        fail_here(recorder, Trouble.BAD_INDEX)
        return np.int64(0)
    if k == tiers.own:
        recorder.state[STAYS] = 1
    return ((tiers.starts[k] + slot) << 1) | exchanged


@lean_kernel
def entry_of(position, recorder):
    """Return the entry of a position between slots, new or known; -1 if the table is more than half full."""
    mask = np.int64(len(recorder.keys) - 1)
    # The upper bits of the product are the best mixed; the largest table needs 21 of these 24.
    entry = np.int64((np.uint64(key_of(position)) * MIX) >> np.uint64(40)) & mask
    while recorder.stamps[entry] == recorder.state[STAMP]:  # an entry of another slot is free
        if stands_at(recorder.keys, entry, position):
            return entry
        entry = (entry + 1) & mask
    recorder.state[ENTRIES] += 1
    return entry if 2 * recorder.state[ENTRIES] <= len(recorder.keys) else np.int64(-1)


@lean_kernel
def fail(recorder, code, position):
    """Record the code of an error and its position, unless there is an error already; return (0, 0). Kernels may go on
    until they next compare `trouble[0]` with FINE."""
    if recorder.trouble[0] == Trouble.FINE:
        recorder.trouble[0] = code
        note(recorder.trouble, position)
    return np.int64(0), np.int64(0)


@lean_kernel
def fail_here(recorder, code):
    """Like `fail`, at the position noted last."""
    if recorder.trouble[0] == Trouble.FINE:
        recorder.trouble[0] = code


@lean_kernel
def count(game, tier, begin, first, low, high, counts, images):
    """Count a block of slots, from *begin* on, by the sign of their bounds for the player to move.

    *counts* int64[3, 3] has the columns LOSE, TIE, WIN, and rows for the number of slots, the number of positions, and
    the first position, -1 for none. If positions are tuples, the global slot stands for the first one; *first* is that
    of the tier's slot 0. *images* is a workspace.
    """
    for i in range(len(low)):
        position = as_position(game.unindex(tier, begin + i))
        if not is_none(position):
            # The bounds are player 0's. If player 1 is to move, LOSE (0) and WIN (2) are exchanged.
            outcome = 1
            if low[i] > 0:
                outcome = 2
            elif high[i] < 0:
                outcome = 0
            if game.players == 2 and outcome != 1 and whole(game.turn(position)) == 1:
                outcome = 2 - outcome
            counts[0, outcome] += 1
            counts[1, outcome] += count_images(game, position, images)
            if counts[2, outcome] < 0:
                counts[2, outcome] = number_of(position, first + begin + i)
