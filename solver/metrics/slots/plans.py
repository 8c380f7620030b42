"""Plans: what a chunk's slots are worth by the best moves only, for guesses in floating point.

A plan has a row for each slot that stands for a position. A row has a constant from outside the tier, and slots of the
tier with the probability to reach them. The probability is negative if the players are exchanged by then::

    rest + odds * value of a slot + odds * value of a slot + ...

A sweep by a plan reads few slots, while a sweep by a script reads all that moves lead to. So the solver makes a plan
from a script now and then and sweeps by it many times. Guesses affect how tight bounds become, not whether they hold.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.metrics.slots.kernels import DEEP
from retrograde.solver.metrics.slots.scripts import Script
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

BYTES_A_PLAN = 80
"""Memory of a plan for each slot, in bytes, about."""


class Plan(NamedTuple):
    """The plan of a chunk that begins at slot `begin`.

    `rows` are its slots. The terms of row r are `places` and `odds` from `begins[r]` to `begins[r + 1]`. `rests` are
    the constants in grains, and `margins` how far these may be off.
    """

    begin: int
    rows: Array
    begins: Array
    places: Array
    odds: Array
    rests: Array
    margins: Array


class Known(NamedTuple):
    """What is known about slots' worth, in grains.

    `low` and `high` are bounds of all slots, valid for finished tiers. `about` are guesses for the tier whose slots
    begin at place `first`. `chunk` are newer guesses of the current chunk.
    """

    low: Array
    high: Array
    first: int
    about: Array
    chunk: Array


def made(script: Script, known: Known) -> tuple[Plan, float]:
    """Return a plan by the current guesses, and the greatest change of a guess; improves `known.chunk` meanwhile."""
    leaves = int((script.words < 0).sum())
    rows = len(script.rows)
    plan = Plan(
        script.begin, script.rows, np.zeros(rows + 1, np.int32), np.empty(leaves, np.int32), np.empty(leaves),
        np.empty(rows), np.empty(rows),
    )  # fmt: skip
    change = choose(script, known, plan)
    count = int(plan.begins[-1])
    return plan._replace(places=plan.places[:count].copy(), odds=plan.odds[:count].copy()), float(change)


@kernel
def choose(script, known, plan):
    """Sweep the guesses of a chunk by all moves; return the greatest change.

    Write the best moves to *plan*.
    """
    # A stack of open nodes of the script (see `scripts.py`): kind, children left, weight and payment of the move to it,
    # worth so far, constant, sum of weights, margin, and where its terms begin in the plan.
    kinds, left, weights, gains = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP), np.empty(DEEP)
    worths, rests, totals, margins = np.empty(DEEP), np.empty(DEEP), np.empty(DEEP), np.empty(DEEP)
    heads = np.empty(DEEP, np.int64)
    words, places, odds = script.words, plan.places, plan.odds
    size, slots = len(known.about), len(known.low)
    most = 0.0
    at = 0
    end = 0
    for number in range(len(script.rows)):
        i = script.rows[number]
        depth = -1
        while True:
            # Step 1: read the odds and payment of the move, then the node or leaf.
            weight, gain = 1.0, 0.0
            if depth >= 0 and kinds[depth] == 2:
                weight = np.float64(words[at])
                at += 1
            if depth >= 0 and script.scale:
                gain = np.float64(words[at]) * script.scale
                at += 1
            word = np.int64(words[at])
            at += 1
            # Case: a node. Push it; its children follow.
            if word >= 0:
                depth += 1
                kinds[depth], left[depth], weights[depth], gains[depth] = word & 3, word >> 2, weight, gain
                worths[depth] = rests[depth] = totals[depth] = margins[depth] = 0.0
                heads[depth] = end
                continue
            # Case: a leaf. A slot of this tier becomes a term of the plan; anything else is part of the constant.
            head = end  # where the terms of this child begin
            place = (-1 - word) >> 1
            slot = place - known.first
            sign = -1.0 if (-1 - word) & 1 else 1.0
            rest = margin = 0.0
            if 0 <= slot < size:
                inside = script.begin <= slot < script.begin + len(known.chunk)
                worth = sign * (known.chunk[slot - script.begin] if inside else known.about[slot])
                places[end], odds[end] = slot, sign
                end += 1
            # A slot of a finished tier: the middle of its bounds, give or take half their distance.
            elif place < slots:
                worth = rest = sign * (0.5 * known.low[place] + 0.5 * known.high[place])
                margin = 0.5 * (known.high[place] - known.low[place])
            else:
                worth = rest = sign * script.ends[place - slots]
            # Step 2: pass the worth up to the parent node, and on while nodes are complete.
            while depth >= 0:
                worth, rest = worth + gain, rest + gain
                # Case: chance keeps the terms of all moves, weighted.
                if kinds[depth] == 2:
                    totals[depth] += weight
                    worths[depth] += weight * worth
                    rests[depth] += weight * rest
                    margins[depth] += weight * margin
                    for leaf in range(head, end):
                        odds[leaf] *= weight
                # Case: the best move of a player so far. Its terms replace those of the former best.
                elif totals[depth] == 0 or (worth > worths[depth]) == (kinds[depth] == 0):
                    totals[depth], worths[depth], rests[depth], margins[depth] = 1.0, worth, rest, margin
                    for leaf in range(end - head):
                        places[heads[depth] + leaf], odds[heads[depth] + leaf] = places[head + leaf], odds[head + leaf]
                    end -= head - heads[depth]
                # Case: another move of a player. Drop its terms.
                else:
                    end = head
                left[depth] -= 1
                if left[depth]:
                    break
                # The node is complete: divide by the sum of weights, which is 1 for a player.
                head = heads[depth]
                worth, rest = worths[depth] / totals[depth], rests[depth] / totals[depth]
                margin = margins[depth] / totals[depth]
                for leaf in range(head, end):
                    odds[leaf] /= totals[depth]
                weight, gain = weights[depth], gains[depth]
                depth -= 1
            if depth < 0:
                break
        # Step 3: the tree is complete. Write the guess and the row of the plan.
        most = max(most, abs(worth - known.chunk[i]))
        known.chunk[i] = worth
        plan.rests[number] = rest
        plan.margins[number] = margin
        plan.begins[number + 1] = end
    return most


@kernel
def value(plan, about, chunk):
    """Sweep the guesses of a chunk by a plan; return the greatest change."""
    most = 0.0
    for number in range(len(plan.rows)):
        worth = plan.rests[number]
        for leaf in range(plan.begins[number], plan.begins[number + 1]):
            slot = plan.places[leaf]
            inside = plan.begin <= slot < plan.begin + len(chunk)
            worth += plan.odds[leaf] * (chunk[slot - plan.begin] if inside else about[slot])
        i = plan.rows[number]
        most = max(most, abs(worth - chunk[i]))
        chunk[i] = worth
    return most


@kernel
def widen(plan, aside, about, chunk):
    """Sweep the margins of a chunk by a plan; return the greatest change.

    A margin is how far a bound must be from the guess if *aside* grains may be lost at each slot.
    """
    most = 0.0
    for number in range(len(plan.rows)):
        margin = aside + plan.margins[number]
        for leaf in range(plan.begins[number], plan.begins[number + 1]):
            slot = plan.places[leaf]
            inside = plan.begin <= slot < plan.begin + len(chunk)
            margin += abs(plan.odds[leaf]) * (chunk[slot - plan.begin] if inside else about[slot])
        i = plan.rows[number]
        most = max(most, margin - chunk[i])
        chunk[i] = margin
    return most
