"""Plans: what the slots of a chunk are worth by the best moves alone, for guesses in floating-point numbers.

A plan has for each slot that stands for a position a row: what comes from outside the tier, and slots of the tier with
the probability to come there, negative where players are exchanged by then::

    rest + odds * value of a slot + odds * value of a slot + ...

A sweep of a plan looks at few slots, one of a script at all that moves lead to. So a plan is made now and then, from a
script, and swept many times in between. Guesses decide how near bounds come, and not whether they hold.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.metrics.slots.kernels import DEEP
from retrograde.solver.metrics.slots.scripts import Script
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

BYTES_A_PLAN = 80
"""What the plan of a slot takes, about."""


class Plan(NamedTuple):
    """The rows of a chunk that begins at slot `begin`: of its slots `rows`, with `places` and `odds` from one of
    `begins` to the next, and what comes from outside, `rests`, in grains, and how far that may be off, `margins`."""

    begin: int
    rows: Array
    begins: Array
    places: Array
    odds: Array
    rests: Array
    margins: Array


class Known(NamedTuple):
    """What slots are worth, as far as is known: `low` and `high` of all slots, of which those of finished tiers count;
    guesses of the tier whose slots begin at the place `first`, `about`; and newer ones of the chunk at hand."""

    low: Array
    high: Array
    first: int
    about: Array
    chunk: Array


def made(script: Script, known: Known) -> tuple[Plan, float]:
    """Return a plan by guesses, which are brought nearer at the same time, and the greatest change of one."""
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
    """Sweep the guesses of a chunk by all moves, and write down the best of them; return the greatest change."""
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
            weight, gain = 1.0, 0.0
            if depth >= 0 and kinds[depth] == 2:
                weight = np.float64(words[at])
                at += 1
            if depth >= 0 and script.scale:
                gain = np.float64(words[at]) * script.scale
                at += 1
            word = np.int64(words[at])
            at += 1
            if word >= 0:
                depth += 1
                kinds[depth], left[depth], weights[depth], gains[depth] = word & 3, word >> 2, weight, gain
                worths[depth] = rests[depth] = totals[depth] = margins[depth] = 0.0
                heads[depth] = end
                continue
            head = end  # where what belongs to this child begins
            place = (-1 - word) >> 1
            slot = place - known.first
            sign = -1.0 if (-1 - word) & 1 else 1.0
            rest = margin = 0.0
            if 0 <= slot < size:
                inside = script.begin <= slot < script.begin + len(known.chunk)
                worth = sign * (known.chunk[slot - script.begin] if inside else known.about[slot])
                places[end], odds[end] = slot, sign
                end += 1
            elif place < slots:
                worth = rest = sign * (0.5 * known.low[place] + 0.5 * known.high[place])
                margin = 0.5 * (known.high[place] - known.low[place])
            else:
                worth = rest = sign * script.ends[place - slots]
            while depth >= 0:
                worth, rest = worth + gain, rest + gain
                if kinds[depth] == 2:
                    totals[depth] += weight
                    worths[depth] += weight * worth
                    rests[depth] += weight * rest
                    margins[depth] += weight * margin
                    for leaf in range(head, end):
                        odds[leaf] *= weight
                elif totals[depth] == 0 or (worth > worths[depth]) == (kinds[depth] == 0):
                    totals[depth], worths[depth], rests[depth], margins[depth] = 1.0, worth, rest, margin
                    for leaf in range(end - head):
                        places[heads[depth] + leaf], odds[heads[depth] + leaf] = places[head + leaf], odds[head + leaf]
                    end -= head - heads[depth]
                else:
                    end = head
                left[depth] -= 1
                if left[depth]:
                    break
                head = heads[depth]
                worth, rest = worths[depth] / totals[depth], rests[depth] / totals[depth]
                margin = margins[depth] / totals[depth]
                for leaf in range(head, end):
                    odds[leaf] /= totals[depth]
                weight, gain = weights[depth], gains[depth]
                depth -= 1
            if depth < 0:
                break
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
    """Sweep the margins of a chunk: how far bounds have to be from guesses, by a plan, if so many grains may be lost at
    each slot; return the greatest change."""
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
