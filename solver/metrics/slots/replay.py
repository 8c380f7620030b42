"""The compiled loops that evaluate scripts (see `scripts.py`), without calling the rules.

`sweep_script` computes bounds: lower ones are rounded down, upper ones up. All are from player 0's side, in grains, as
in `metrics/expectation.py`.

`guess_by_script` computes guesses in floating point, and writes the best moves as a *plan*, which is quicker to
evaluate. A plan has a row for each slot: a constant from outside the tier, and slots of the tier with the probability
to reach them, negative if the players are exchanged by then::

    guess  =  rest + odds * guess of a slot + odds * guess of a slot + …

So the solver makes a plan now and then and sweeps by it many times. Guesses affect how tight bounds become, not whether
they hold.

The arguments *script*, *chunk*, *guesses* and *plan* are a Script, ChunkBounds, SlotGuesses and ChunkPlan.
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.metrics.slots.kernels import BY_CHANCE
from retrograde.solver.metrics.slots.scripts import Script
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel

LOOK, RISE, SINK, STAY = range(4)
"""Modes of a sweep.

    LOOK    compute the bounds from other tiers alone: slots of the own tier count as 0
    RISE    move bounds closer together
    SINK    move bounds apart until they hold
    STAY    find where players may stay in the tier forever: lower bounds go from 1 to 0 where they may not
"""
BYTES_A_PLAN = 80
"""Memory of a plan for each slot, in bytes, about."""
TERMS = 32
"""Terms for each slot for which a plan has memory at first."""


class ChunkBounds(NamedTuple):
    """What a sweep of a chunk reads and writes.

    - `low` and `high` are bounds of all slots, by global slot (counted through all tiers), valid for finished tiers.
    - `own_low` and `own_high` are those of the tier that is being solved, whose first global slot is `first`.
    - `chunk_low` and `chunk_high` are newer ones of the chunk, the slots of the tier from `begin` on.
    - `endless` marks slots of the tier from which players can stay there forever.
    - `mode` is LOOK, RISE, SINK or STAY. In mode LOOK, `outside` int64[2] gets the least and the greatest bound met in
      other tiers and at ends.
    """

    low: Array
    high: Array
    first: int
    own_low: Array
    own_high: Array
    begin: int
    chunk_low: Array
    chunk_high: Array
    endless: Array
    mode: int
    outside: Array


class ChunkPlan(NamedTuple):
    """The plan of some slots of a chunk that begins at slot `begin` of its tier.

    `slots` counts from there. The terms of row r are `tier_slots` (slots of the tier) and `odds`, from `begins[r]` to
    `begins[r + 1]`. `rests` are the constants in grains, and `margins` how far these may be off.
    """

    begin: int
    slots: Array
    begins: Array
    tier_slots: Array
    odds: Array
    rests: Array
    margins: Array


class SlotGuesses(NamedTuple):
    """Values of slots, in grains.

    `low` and `high` are bounds of all slots, valid for finished tiers. `own` are guesses for the tier whose first
    global slot is `first`. `chunk` are newer guesses of the chunk that begins at slot `begin` of the tier.
    """

    low: Array
    high: Array
    first: int
    own: Array
    begin: int
    chunk: Array


@lean_kernel
def read_link(script, at, who):
    """Read the link that begins at index *at* of the words, of a node where *who* moves (a player or BY_CHANCE). Return
    (index after it, odds, what the move pays, target, payoff), amounts in grains. Odds are 1 for a player's move. The
    payoff is 0 unless the target is an end."""
    words = script.words
    odds, gain, payoff = np.int64(1), np.int64(0), np.int64(0)
    if who == BY_CHANCE:
        odds = np.int64(words[at])
        at += 1
    if script.pays:
        gain = np.int64(words[at]) * script.scale
        at += 1
    target = np.int64(words[at])
    at += 1
    if target == script.end:
        payoff = np.int64(words[at]) * script.scale
        at += 1
    return at, odds, gain, target, payoff


# Bounds


@kernel
def sweep_script(script, chunk):
    """Update the bounds of a script's slots. Return the greatest change, or -1 if a bound reaches LIMIT.

    `update_bounds` says which changes the mode allows. In mode STAY, bounds are 1 where players may stay forever, or 0.
    """
    words, staying = script.words, chunk.mode == STAY
    nodes = np.empty((2, script.node_counts.max()), np.int64)  # lower and upper bounds of the nodes of one slot
    greatest_change, at = np.int64(0), 0
    for i in range(len(script.slots)):
        low = high = np.int64(0)
        for node in range(script.node_counts[i]):
            # Step 1: who moves at the node? The first word has that in its two lowest bits, the number of links above.
            head = np.int64(words[at])
            at += 1
            who, total_odds = head & 3, np.int64(0)
            # Who takes the greatest child? Player 0. In mode STAY both players do, and chance takes the least, because
            # all its moves must stay.
            greatest = (who != BY_CHANCE) if staying else (who == 0)
            low_sum = high_sum = np.int64(0), np.uint64(0)  # as in add_product
            for link in range(head >> 2):
                # Step 2: the bounds of each child, and what the move pays.
                at, odds, gain, target, payoff = read_link(script, at, who)
                child_low, child_high = bounds_at(chunk, nodes, target, payoff)
                if gain and not staying:
                    child_low, child_high = child_low + gain, child_high + gain
                    if max(abs(child_low), abs(child_high)) >= LIMIT:
                        return np.int64(-1)
                # Step 3: chance adds the weighted bounds, a player keeps the best.
                if who == BY_CHANCE and not staying:
                    total_odds += odds
                    low_sum, high_sum = add_product(low_sum, odds, child_low), add_product(high_sum, odds, child_high)
                    continue
                if link == 0 or (child_low > low) == greatest:
                    low = child_low
                if link == 0 or (child_high > high) == greatest:
                    high = child_high
            if who == BY_CHANCE and not staying:
                low, _ = mean(low_sum, total_odds)
                high, round_up = mean(high_sum, total_odds)
                high += round_up
            nodes[0, node], nodes[1, node] = low, high
        # Step 4: the last node is the slot.
        greatest_change = max(greatest_change, update_bounds(chunk, script.slots[i], low, high))
    return greatest_change


@lean_kernel
def bounds_at(chunk, nodes, target, payoff):
    """Return the bounds (low, high) of a target: a node, a slot, or an end that pays *payoff*.

    A target is -1 - node, or else `global slot << 1`, plus 1 if the players are exchanged there. The target of an end
    has the number of all slots (see `scripts.py`). *nodes* int64[2, …] has the bounds of the nodes of the same slot. In
    mode LOOK slots of the own tier count as 0, in mode STAY all targets outside of it.
    """
    # Case: a node.
    if target < 0:
        return nodes[0, -1 - target], nodes[1, -1 - target]
    global_slot = target >> 1
    slot = global_slot - chunk.first
    # Case: a slot of the tier, from the chunk itself or from before the wave.
    if 0 <= slot < len(chunk.own_low):
        if chunk.mode == LOOK:
            return np.int64(0), np.int64(0)
        if chunk.begin <= slot < chunk.begin + len(chunk.chunk_low):
            low, high = chunk.chunk_low[slot - chunk.begin], chunk.chunk_high[slot - chunk.begin]
        else:
            low, high = chunk.own_low[slot], chunk.own_high[slot]
        if chunk.mode == STAY:
            return low, high  # whether players may stay is the same for both of them
    # Case: an end, or a slot of a finished tier.
    else:
        if chunk.mode == STAY:
            return np.int64(0), np.int64(0)
        low = high = payoff
        if global_slot < len(chunk.low):  # no end
            low, high = chunk.low[global_slot], chunk.high[global_slot]
        if chunk.mode == LOOK:
            chunk.outside[0], chunk.outside[1] = min(chunk.outside[0], low), max(chunk.outside[1], high)
    return (-high, -low) if target & 1 else (low, high)  # 1: the players are exchanged


@lean_kernel
def update_bounds(chunk, i, low, high):
    """Give slot *i* of the chunk new bounds as far as the mode allows; return the change, 0 in mode LOOK.

    RISE accepts only tighter bounds, SINK and STAY only wider ones. If play can be endless, a lower bound above 0 or an
    upper bound below 0 first moves one grain towards 0 (see `metrics/expectation.py`).
    """
    if chunk.mode == LOOK:
        chunk.chunk_low[i], chunk.chunk_high[i] = low, high
        return np.int64(0)
    if len(chunk.endless) and chunk.endless[chunk.begin + i]:
        low = low - 1 if low > 0 else low
        high = high + 1 if high < 0 else high
    # Keep an old bound if the new one is tighter and may not be, or the other way about.
    old_low, old_high = chunk.chunk_low[i], chunk.chunk_high[i]
    if (low > old_low) != (chunk.mode == RISE):
        low = old_low
    if (high < old_high) != (chunk.mode == RISE):
        high = old_high
    chunk.chunk_low[i], chunk.chunk_high[i] = low, high
    return max(abs(low - old_low), abs(high - old_high))


@lean_kernel
def add_product(weighted_sum, odds, bound):
    """Return a sum plus *odds* times *bound*. It may exceed 64 bits: (upper, lower) means upper * 2**32 + lower."""
    upper, lower = weighted_sum
    return upper + odds * (bound >> 32), lower + np.uint64(odds) * np.uint64(bound & 0xFFFFFFFF)


@lean_kernel
def mean(weighted_sum, total_odds):
    """Divide *weighted_sum*, a pair of `add_product`, by *total_odds*, which is below 2**31.

    Return (quotient rounded down, 1 if there is a remainder, else 0). This is long division in base 2**32.
    """
    upper, lower = weighted_sum
    divisor = np.uint64(total_odds)
    # Divide the upper part. Its remainder, times 2**32, is divided with the lower part. Their sum might exceed 64 bits,
    # so each is divided on its own, and then the sum of their remainders.
    upper_quotient = upper // total_odds
    remainder_shifted = np.uint64(upper - upper_quotient * total_odds) << np.uint64(32)
    lower_quotient = remainder_shifted // divisor + lower // divisor
    remainders = remainder_shifted % divisor + lower % divisor
    more = remainders // divisor  # 0 or 1
    return (upper_quotient << 32) + np.int64(lower_quotient + more), np.int64(remainders - more * divisor != 0)


# Guesses


def make_plan(script: Script, guesses: SlotGuesses) -> tuple[ChunkPlan, float]:
    """Return a plan by the current guesses, and the greatest change of a guess; improves `guesses.chunk` meanwhile."""
    before, count, terms = guesses.chunk.copy(), len(script.slots), TERMS * len(script.slots)
    while True:
        plan = ChunkPlan(
            guesses.begin, script.slots.copy(), np.zeros(count + 1, np.int32), np.empty(terms, np.int32),
            np.empty(terms), np.empty(count), np.empty(count),
        )  # fmt: skip
        change = guess_by_script(script, guesses, plan)
        if change >= 0:
            end = int(plan.begins[-1])
            return plan._replace(tier_slots=plan.tier_slots[:end].copy(), odds=plan.odds[:end].copy()), float(change)
        # There are more terms than expected: begin anew with more memory.
        guesses.chunk[:] = before
        terms *= 2


def plan_of_margins(plan: ChunkPlan, lost: float) -> ChunkPlan:
    """Return the plan of how far bounds must be from guesses, if *lost* grains may be lost at each slot. Margins add up
    whatever the signs of the terms are."""
    return plan._replace(odds=np.abs(plan.odds), rests=lost + plan.margins)


class NodeGuesses(NamedTuple):
    """The guesses of the nodes of a slot: value, constant, margin, and where their terms begin and end in the plan."""

    values: Array
    rests: Array
    margins: Array
    begins: Array
    ends: Array


@kernel
def guess_by_script(script, guesses, plan):
    """Sweep a script's guesses, and write the best moves to *plan*. Return the greatest change, -1 if it is full."""
    words, count = script.words, script.node_counts.max()
    nodes = NodeGuesses(
        np.empty(count), np.empty(count), np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    )
    greatest_change, at = 0.0, 0
    for row in range(len(script.slots)):
        end = np.int64(plan.begins[row])  # behind the terms of earlier slots, and of this slot's nodes
        for node in range(script.node_counts[row]):
            # Step 1: who moves at the node? Its terms will be those from `begin` to `stop`.
            head = np.int64(words[at])
            at += 1
            who, total_odds, begin, stop = head & 3, np.int64(0), end, end
            value = rest = margin = 0.0
            for link in range(head >> 2):
                # Step 2: the guess of each child, and its terms.
                at, odds, gain, target, payoff = read_link(script, at, who)
                if end == len(plan.tier_slots):
                    return -1.0
                child_value, child_rest, child_margin, first, last = guess_at(guesses, nodes, plan, target, payoff, end)
                child_value, child_rest = child_value + gain, child_rest + gain
                # Step 3: chance adds the weighted guesses, and lists the weighted terms of all children.
                if who == BY_CHANCE:
                    if end + last - first > len(plan.tier_slots):
                        return -1.0
                    total_odds += odds
                    value += odds * child_value
                    rest += odds * child_rest
                    margin += odds * child_margin
                    stop = end = copy_terms(plan, first, last, odds, end)
                    continue
                # A player keeps the best guess with its terms. The terms of the next child come after this one's.
                end = max(end, last)
                if link == 0 or (child_value > value) == (who == 0):
                    value, rest, margin, begin, stop = child_value, child_rest, child_margin, first, last
            # Step 4: chance divides by the sum of its odds.
            if who == BY_CHANCE:
                value, rest, margin = value / total_odds, rest / total_odds, margin / total_odds
                for term in range(begin, stop):
                    plan.odds[term] /= total_odds
            nodes.values[node], nodes.rests[node], nodes.margins[node] = value, rest, margin
            nodes.begins[node], nodes.ends[node] = begin, stop
        # Step 5: the last node is the slot. Write its guess and its row of the plan, and drop all other terms.
        slot, last_node = script.slots[row], script.node_counts[row] - 1
        greatest_change = max(greatest_change, abs(nodes.values[last_node] - guesses.chunk[slot]))
        guesses.chunk[slot] = nodes.values[last_node]
        plan.rests[row], plan.margins[row] = nodes.rests[last_node], nodes.margins[last_node]
        row_begin = np.int64(plan.begins[row])
        plan.begins[row + 1] = copy_terms(plan, nodes.begins[last_node], nodes.ends[last_node], 1, row_begin)
    return greatest_change


@lean_kernel
def copy_terms(plan, first, last, odds, end):
    """Copy the terms from *first* to *last* (exclusive) to index *end* and on, times *odds*; return the new end."""
    for term in range(first, last):
        plan.tier_slots[end], plan.odds[end] = plan.tier_slots[term], plan.odds[term] * odds
        end += 1
    return end


@lean_kernel
def guess_at(guesses, nodes, plan, target, payoff, end):
    """Return (value, constant, margin, first term, end of the terms) of a target: a node, a slot or an end. All but the
    value are as in `ChunkPlan`. The term of a slot of this tier is written at index *end* of the plan."""
    if target < 0:
        node = -1 - target
        return nodes.values[node], nodes.rests[node], nodes.margins[node], nodes.begins[node], nodes.ends[node]
    global_slot = target >> 1
    slot = global_slot - guesses.first
    sign = -1.0 if target & 1 else 1.0  # -1: the players are exchanged
    # Case: a slot of this tier.
    if 0 <= slot < len(guesses.own):
        inside = guesses.begin <= slot < guesses.begin + len(guesses.chunk)
        value = sign * (guesses.chunk[slot - guesses.begin] if inside else guesses.own[slot])
        plan.tier_slots[end], plan.odds[end] = slot, sign
        return value, 0.0, 0.0, end, end + 1
    # Case: a slot of a finished tier, the middle of its bounds, give or take half their distance.
    if global_slot < len(guesses.low):
        low, high = guesses.low[global_slot], guesses.high[global_slot]
        value = sign * (0.5 * low + 0.5 * high)
        return value, value, 0.5 * (high - low), end, end
    # Case: an end.
    value = sign * payoff
    return value, value, 0.0, end, end


@kernel
def sweep_plan(plan, own, chunk):
    """Sweep the guesses or margins of a chunk by a plan; return the greatest change.

    *own* has those of all slots of the tier, *chunk* newer ones of the slots from `plan.begin` on.
    """
    greatest_change = 0.0
    for row in range(len(plan.slots)):
        value = plan.rests[row]
        for term in range(plan.begins[row], plan.begins[row + 1]):
            slot = plan.tier_slots[term]
            inside = plan.begin <= slot < plan.begin + len(chunk)
            value += plan.odds[term] * (chunk[slot - plan.begin] if inside else own[slot])
        i = plan.slots[row]
        greatest_change = max(greatest_change, abs(value - chunk[i]))
        chunk[i] = value
    return greatest_change
