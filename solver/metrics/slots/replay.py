"""The compiled loops that evaluate scripts (see `scripts.py`), without calling the rules.

`sweep_script` computes bounds: lower ones are rounded down, upper ones up. All are from player 0's side, in grains, as
in `metrics/expectation.py`.

`guess_by_script` computes guesses in floating point, and writes the best moves as a *plan*, which is quicker to
evaluate. A plan has a row for each slot: a constant from outside the tier, and slots of the tier with the probability
to reach them, negative if the players are exchanged by then::

    guess  =  rest + odds * guess of a slot + odds * guess of a slot + …

So the solver makes a plan now and then and sweeps by it many times. Guesses affect how tight bounds become, not whether
they hold.
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
"""Terms of a plan for each slot, for which there is memory at first."""


class ChunkBounds(NamedTuple):
    """What a sweep of a chunk reads and writes.

    - `low` and `high` are bounds of all slots, valid for finished tiers.
    - `own_low` and `own_high` are those of the tier that is being solved, whose slots begin at place `first`.
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
    """The plan of some slots of a chunk that begins at slot `begin`.

    `rows` are the slots. The terms of row r are `places` and `odds` from `begins[r]` to `begins[r + 1]`. `rests` are
    the constants in grains, and `margins` how far these may be off.
    """

    begin: int
    rows: Array
    begins: Array
    places: Array
    odds: Array
    rests: Array
    margins: Array


class SlotGuesses(NamedTuple):
    """Values of slots, in grains.

    `low` and `high` are bounds of all slots, valid for finished tiers. `own` are guesses for the tier whose slots begin
    at place `first`. `chunk` are newer guesses of the chunk that begins at slot `begin`.
    """

    low: Array
    high: Array
    first: int
    own: Array
    begin: int
    chunk: Array


@lean_kernel
def read_link(script, at, who):
    """Read the link at word *at* of a node where *who* moves. Return (next word, odds, what the move pays, target,
    payoff), amounts in grains. Odds are 1 for a player's move. The payoff is 0 unless the target is an end."""
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

    `settle` says which changes the mode allows. In mode STAY, bounds are 1 where players may be able to stay forever,
    else 0.
    """
    words, staying = script.words, chunk.mode == STAY
    nodes = np.empty((2, script.nodes.max()), np.int64)
    most, at = np.int64(0), 0
    for row in range(len(script.rows)):
        low = high = np.int64(0)
        for node in range(script.nodes[row]):
            # Step 1: who moves at the node? The first word has that in its two lowest bits, the number of links above.
            head = np.int64(words[at])
            at += 1
            who, total = head & 3, np.int64(0)
            # Who takes the greatest child? Player 0. In mode STAY both players do, and chance takes the least, because
            # all its moves must stay.
            greatest = who != BY_CHANCE if staying else who == 0
            low_sum = high_sum = np.int64(0), np.uint64(0)
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
                    total += odds
                    low_sum, high_sum = add_product(low_sum, odds, child_low), add_product(high_sum, odds, child_high)
                    continue
                if link == 0 or (child_low > low) == greatest:
                    low = child_low
                if link == 0 or (child_high > high) == greatest:
                    high = child_high
            if who == BY_CHANCE and not staying:
                low, _ = mean(low_sum, total)
                high, round_up = mean(high_sum, total)
                high += round_up
            nodes[0, node], nodes[1, node] = low, high
        # Step 4: the last node is the slot.
        most = max(most, settle(chunk, script.rows[row], low, high))
    return most


@lean_kernel
def bounds_at(chunk, nodes, target, payoff):
    """Return the bounds of a target: a node, a slot or an end."""
    if target < 0:
        return nodes[0, -1 - target], nodes[1, -1 - target]
    place = target >> 1
    slot = place - chunk.first
    # Case: a slot of the tier, from the chunk itself or from before the wave.
    if 0 <= slot < len(chunk.own_low):
        if chunk.mode == LOOK:
            return np.int64(0), np.int64(0)
        if chunk.begin <= slot < chunk.begin + len(chunk.chunk_low):
            low, high = chunk.chunk_low[slot - chunk.begin], chunk.chunk_high[slot - chunk.begin]
        else:
            low, high = chunk.own_low[slot], chunk.own_high[slot]
        if chunk.mode == STAY:
            return low, high
    # Case: a slot of a finished tier, or an end.
    else:
        if chunk.mode == STAY:
            return np.int64(0), np.int64(0)
        low = high = payoff
        if place < len(chunk.low):
            low, high = chunk.low[place], chunk.high[place]
        if chunk.mode == LOOK:
            chunk.outside[0], chunk.outside[1] = min(chunk.outside[0], low), max(chunk.outside[1], high)
    return (-high, -low) if target & 1 else (low, high)


@lean_kernel
def settle(chunk, i, low, high):
    """Give a slot new bounds as far as the mode allows; return the change, 0 in mode LOOK.

    RISE accepts only tighter bounds, SINK and STAY only wider ones. If play can be endless, a lower bound above 0 or an
    upper bound below 0 first moves one grain towards 0 (see `metrics/expectation.py`).
    """
    if chunk.mode == LOOK:
        chunk.chunk_low[i], chunk.chunk_high[i] = low, high
        return np.int64(0)
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
def add_product(total, odds, bound):
    """Return a sum plus *odds* times *bound*. It may exceed 64 bits: (upper, lower) means upper * 2**32 + lower."""
    upper, lower = total
    return upper + odds * (bound >> 32), lower + np.uint64(odds) * np.uint64(bound & 0xFFFFFFFF)


@lean_kernel
def mean(added, total):
    """Divide *added*, a sum of `add_product`, by *total*, which is below 2**31.

    Return (quotient rounded down, 1 if there is a remainder, else 0). This is long division in base 2**32.
    """
    upper, lower = added
    divisor = np.uint64(total)
    # Divide the upper part. Its remainder, times 2**32, is divided with the lower part. Their sum might exceed 64 bits,
    # so each is divided on its own, and then the sum of their remainders.
    upper_quotient = upper // total
    carried = np.uint64(upper - upper_quotient * total) << np.uint64(32)
    lower_quotient = carried // divisor + lower // divisor
    remainders = carried % divisor + lower % divisor
    more = remainders // divisor  # 0 or 1
    return (upper_quotient << 32) + np.int64(lower_quotient + more), np.int64(remainders - more * divisor != 0)


# Guesses


def make_plan(script: Script, guesses: SlotGuesses) -> tuple[ChunkPlan, float]:
    """Return a plan by the current guesses, and the greatest change of a guess; improves `guesses.chunk` meanwhile."""
    before, rows, terms = guesses.chunk.copy(), len(script.rows), TERMS * len(script.rows)
    while True:
        plan = ChunkPlan(
            guesses.begin, script.rows.copy(), np.zeros(rows + 1, np.int32), np.empty(terms, np.int32),
            np.empty(terms), np.empty(rows), np.empty(rows),
        )  # fmt: skip
        change = guess_by_script(script, guesses, plan)
        if change >= 0:
            count = int(plan.begins[-1])
            return plan._replace(places=plan.places[:count].copy(), odds=plan.odds[:count].copy()), float(change)
        # There are more terms than expected: begin anew with more memory.
        guesses.chunk[:] = before
        terms *= 2


def plan_of_margins(plan: ChunkPlan, lost: float) -> ChunkPlan:
    """Return the plan of how far bounds must be from guesses, if *lost* grains may be lost at each slot."""
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
    words, count = script.words, script.nodes.max()
    nodes = NodeGuesses(
        np.empty(count), np.empty(count), np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    )
    most, at = 0.0, 0
    for row in range(len(script.rows)):
        end = np.int64(plan.begins[row])  # behind the terms of earlier slots, and of this slot's nodes
        for node in range(script.nodes[row]):
            # Step 1: who moves at the node?
            head = np.int64(words[at])
            at += 1
            who, total, begin, stop = head & 3, np.int64(0), end, end
            value = rest = margin = 0.0
            for link in range(head >> 2):
                # Step 2: the guess of each child, and its terms.
                at, odds, gain, target, payoff = read_link(script, at, who)
                if end == len(plan.places):
                    return -1.0
                child_value, child_rest, child_margin, first, last = guess_at(guesses, nodes, plan, target, payoff, end)
                child_value, child_rest = child_value + gain, child_rest + gain
                # Step 3: chance adds the weighted guesses, and lists the weighted terms of all children.
                if who == BY_CHANCE:
                    if end + last - first > len(plan.places):
                        return -1.0
                    total += odds
                    value, rest, margin = (
                        value + odds * child_value,
                        rest + odds * child_rest,
                        margin + odds * child_margin,
                    )
                    stop = end = copy_terms(plan, first, last, odds, end)
                    continue
                # A player keeps the best guess with its terms.
                end = max(end, last)
                if link == 0 or (child_value > value) == (who == 0):
                    value, rest, margin, begin, stop = child_value, child_rest, child_margin, first, last
            # Step 4: chance divides by the sum of its odds.
            if who == BY_CHANCE:
                value, rest, margin = value / total, rest / total, margin / total
                for term in range(begin, stop):
                    plan.odds[term] /= total
            nodes.values[node], nodes.rests[node], nodes.margins[node] = value, rest, margin
            nodes.begins[node], nodes.ends[node] = begin, stop
        # Step 5: the last node is the slot. Write its guess and its row of the plan, and drop all other terms.
        i, slot = script.rows[row], script.nodes[row] - 1
        most = max(most, abs(nodes.values[slot] - guesses.chunk[i]))
        guesses.chunk[i] = nodes.values[slot]
        plan.rests[row], plan.margins[row] = nodes.rests[slot], nodes.margins[slot]
        plan.begins[row + 1] = copy_terms(plan, nodes.begins[slot], nodes.ends[slot], 1, np.int64(plan.begins[row]))
    return most


@lean_kernel
def copy_terms(plan, first, last, odds, end):
    """Copy the terms from *first* to *last* to index *end* and on, times *odds*; return the new end."""
    for term in range(first, last):
        plan.places[end], plan.odds[end] = plan.places[term], plan.odds[term] * odds
        end += 1
    return end


@lean_kernel
def guess_at(guesses, nodes, plan, target, payoff, end):
    """Return (value, constant, margin, first term, end of the terms) of a target: a node, a slot or an end. All but the
    value are as in `ChunkPlan`. The term of a slot of this tier is written at index *end* of the plan."""
    if target < 0:
        node = -1 - target
        return nodes.values[node], nodes.rests[node], nodes.margins[node], nodes.begins[node], nodes.ends[node]
    place = target >> 1
    slot = place - guesses.first
    sign = -1.0 if target & 1 else 1.0
    # Case: a slot of this tier.
    if 0 <= slot < len(guesses.own):
        inside = guesses.begin <= slot < guesses.begin + len(guesses.chunk)
        value = sign * (guesses.chunk[slot - guesses.begin] if inside else guesses.own[slot])
        plan.places[end], plan.odds[end] = slot, sign
        return value, 0.0, 0.0, end, end + 1
    # Case: a slot of a finished tier, the middle of its bounds, give or take half their distance.
    if place < len(guesses.low):
        value = sign * (0.5 * guesses.low[place] + 0.5 * guesses.high[place])
        return value, value, 0.5 * (guesses.high[place] - guesses.low[place]), end, end
    # Case: an end.
    value = sign * payoff
    return value, value, 0.0, end, end


@kernel
def sweep_plan(plan, own, chunk):
    """Sweep the guesses or margins of a chunk by a plan; return the greatest change.

    *own* has those of all slots of the tier, *chunk* newer ones of the slots from `plan.begin` on.
    """
    most = 0.0
    for number in range(len(plan.rows)):
        value = plan.rests[number]
        for term in range(plan.begins[number], plan.begins[number + 1]):
            slot = plan.places[term]
            inside = plan.begin <= slot < plan.begin + len(chunk)
            value += plan.odds[term] * (chunk[slot - plan.begin] if inside else own[slot])
        i = plan.rows[number]
        most = max(most, abs(value - chunk[i]))
        chunk[i] = value
    return most
