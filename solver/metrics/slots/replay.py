"""Scripts and plans: what the rules say about a chunk's slots, recorded once and replayed in each sweep.

Tiers with cycles need many sweeps. A script has the slots in the order of the sweep. Each slot is a tree in prefix
order, in integers::

    n << 2 | 0, 1 or 2      a node: n moves follow, of player 0, player 1, or chance
    -1 - 2 * place          a leaf: a slot, by its place among those of all tiers; behind these, an end by its number
    -2 - 2 * place          the same slot with the players exchanged

Before each child of a node stand its odds, if the node is chance's, and then what the move pays, if moves may pay. A
position between slots with a single move is left out unless the move pays. Slots that stand for no position are left
out too; `rows` lists the others.

A *plan* has the best moves of a script only, for guesses in floating point. It has a row for each slot that stands for
a position: a constant from outside the tier, and slots of the tier with the probability to reach them. The probability
is negative if the players are exchanged by then::

    rest + odds * value of a slot + odds * value of a slot + ...

A sweep by a plan reads few slots, while a sweep by a script reads all that moves lead to. So the solver makes a plan
from a script now and then and sweeps by it many times. Guesses affect how tight bounds become, not whether they hold.
"""

from typing import Any, NamedTuple

import numpy as np
import zstandard

from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.metrics.slots.kernels import DEEP, STAY, add_product, means, settle
from retrograde.solver.runtime.kernel import kernel, lean_kernel

Array = np.ndarray[Any, Any]

BYTES_A_PLAN = 80
"""Memory of a plan for each slot, in bytes, about."""
BY_CHANCE = 2
"""The kind of a node at which chance moves; the others are the players' numbers."""


class ChunkScript(NamedTuple):
    """The recorded `words` of a chunk that begins at slot `begin`.

    `rows` are the chunk's slots, counted from `begin`. `ends` are the payoffs of ends, in grains. Payments in `words`
    are in units of `scale` grains; `scale` is 0 if no move pays. If memory is short, `words` hold the bytes of a zstd
    frame.
    """

    begin: int
    words: Array
    rows: Array
    ends: Array
    scale: int

    def packed(self) -> "ChunkScript":
        """Return the script with compressed words."""
        frame = zstandard.ZstdCompressor(level=1).compress(self.words.tobytes())
        return self._replace(words=np.frombuffer(frame, np.uint8))

    def unpacked(self, kind: type) -> "ChunkScript":
        """Return the script with words of the type *kind*."""
        if self.words.dtype != np.uint8:
            return self
        return self._replace(words=np.frombuffer(zstandard.ZstdDecompressor().decompress(self.words.tobytes()), kind))


class ChunkPlan(NamedTuple):
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


class SlotGuesses(NamedTuple):
    """Values of slots, in grains.

    `low` and `high` are bounds of all slots, valid for finished tiers. `about` are guesses for the tier whose slots
    begin at place `first`. `chunk` are newer guesses of the current chunk.
    """

    low: Array
    high: Array
    first: int
    about: Array
    chunk: Array


class NodeStack(NamedTuple):
    """The open nodes of a script: kind, children left, weight and payment of the move to it.

    `totals` are the weights of the children so far; 1 for a player. They are 0 until the first child is complete.
    """

    kinds: Array
    children_left: Array
    weights: Array
    gains: Array
    totals: Array


@kernel
def empty_stack():
    kinds, children_left, totals = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    return NodeStack(kinds, children_left, np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), totals)


@lean_kernel
def read_to_leaf(script, at, depth, stack):
    """Read a script from word *at* to the next leaf, and push the nodes on the way.

    Return the next word, the depth, the weight and payment of the move to the leaf, and the leaf's number.
    """
    words = script.words
    while True:
        # Step 1: the odds and payment of the move.
        weight, gain = np.int64(1), np.int64(0)
        if depth >= 0 and stack.kinds[depth] == BY_CHANCE:
            weight = np.int64(words[at])
            at += 1
        if depth >= 0 and script.scale:
            gain = np.int64(words[at]) * script.scale
            at += 1
        word = np.int64(words[at])
        at += 1
        if word < 0:
            return at, depth, weight, gain, -1 - word
        # Step 2: a node. Push it; its children follow.
        depth += 1
        stack.kinds[depth], stack.children_left[depth] = word & 3, word >> 2
        stack.weights[depth], stack.gains[depth], stack.totals[depth] = weight, gain, 0


# Bounds, by a script


class BoundSums(NamedTuple):
    """The bounds of open nodes so far: the best of a player, or the sums of `add_product` for chance."""

    lows: Array
    highs: Array
    uppers: Array
    lowers: Array


@kernel
def sweep_script(script, first, chunk):
    """Sweep a chunk by its script; return the greatest change, -1 if a bound exceeds LIMIT.

    *first* is the place of the tier's first slot. In mode STAY bounds are 1 where players may be able to stay forever,
    else 0, and everything outside the tier is 0.
    """
    stack = empty_stack()
    sums = BoundSums(
        np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty((2, DEEP), np.int64),
        np.empty((2, DEEP), np.uint64),
    )  # fmt: skip
    staying = chunk.mode == STAY
    most = np.int64(0)
    at = 0
    for number in range(len(script.rows)):
        depth = -1
        while True:
            # Step 1: read to the next leaf, and find its bounds.
            at, depth, weight, gain, leaf = read_to_leaf(script, at, depth, stack)
            low, high = bounds_of_leaf(script, first, chunk, leaf)
            # Step 2: pass the bounds up to the parent node, and on while nodes are complete.
            while depth >= 0:
                if gain and not staying:
                    low, high = low + gain, high + gain
                    if max(abs(low), abs(high)) >= LIMIT:
                        return np.int64(-1)
                add_bounds(stack, sums, depth, weight, low, high, staying)
                stack.children_left[depth] -= 1
                if stack.children_left[depth]:
                    break
                # The node is complete.
                low, high = sums.lows[depth], sums.highs[depth]
                if stack.kinds[depth] == BY_CHANCE and not staying:
                    low_sum = sums.uppers[0, depth], sums.lowers[0, depth]
                    low, high = means(low_sum, (sums.uppers[1, depth], sums.lowers[1, depth]), stack.totals[depth])
                weight, gain = stack.weights[depth], stack.gains[depth]
                depth -= 1
            if depth < 0:
                break
        # Step 3: the tree is complete. Give the slot its new bounds.
        most = max(most, settle(chunk, script.rows[number], low, high))
    return most


@lean_kernel
def bounds_of_leaf(script, first, chunk, leaf):
    """Return the bounds of a leaf, which is a slot or an end."""
    place = leaf >> 1
    slot = place - first
    staying = chunk.mode == STAY
    if 0 <= slot < len(chunk.own_low):
        if chunk.begin <= slot < chunk.begin + len(chunk.chunk_low):
            low, high = chunk.chunk_low[slot - chunk.begin], chunk.chunk_high[slot - chunk.begin]
        else:
            low, high = chunk.own_low[slot], chunk.own_high[slot]
    elif staying:
        low = high = np.int64(0)
    elif place < chunk.starts[-1]:
        low, high = chunk.low[place], chunk.high[place]
    else:
        low = high = script.ends[place - chunk.starts[-1]]
    return (-high, -low) if leaf & 1 and not staying else (low, high)


@lean_kernel
def add_bounds(stack, sums, depth, weight, low, high, staying):
    """Add the bounds of a child to those of its node.

    Chance adds the weighted bounds, and a player takes the best child. In mode STAY some move suffices for a player,
    and chance needs all.
    """
    is_first = stack.totals[depth] == 0
    if stack.kinds[depth] == BY_CHANCE and not staying:
        if is_first:
            sums.uppers[0, depth] = sums.uppers[1, depth] = 0
            sums.lowers[0, depth] = sums.lowers[1, depth] = 0
        stack.totals[depth] += weight
        for row, bound in enumerate((low, high)):
            total = sums.uppers[row, depth], sums.lowers[row, depth]
            sums.uppers[row, depth], sums.lowers[row, depth] = add_product(total, weight, bound)
    else:
        greatest = stack.kinds[depth] != BY_CHANCE if staying else stack.kinds[depth] == 0
        if is_first or (low > sums.lows[depth]) == greatest:
            sums.lows[depth] = low
        if is_first or (high > sums.highs[depth]) == greatest:
            sums.highs[depth] = high
        stack.totals[depth] = 1


# Guesses, by a script or a plan


class GuessSums(NamedTuple):
    """The guesses of open nodes so far: value, constant, margin, and where their terms begin in the plan."""

    values: Array
    rests: Array
    margins: Array
    heads: Array


def make_plan(script: ChunkScript, guesses: SlotGuesses) -> tuple[ChunkPlan, float]:
    """Return a plan by the current guesses, and the greatest change of a guess; improves `guesses.chunk` meanwhile."""
    leaves = int((script.words < 0).sum())
    rows = len(script.rows)
    plan = ChunkPlan(
        script.begin, script.rows, np.zeros(rows + 1, np.int32), np.empty(leaves, np.int32), np.empty(leaves),
        np.empty(rows), np.empty(rows),
    )  # fmt: skip
    change = guess_by_script(script, guesses, plan)
    count = int(plan.begins[-1])
    return plan._replace(places=plan.places[:count].copy(), odds=plan.odds[:count].copy()), float(change)


def plan_of_margins(plan: ChunkPlan, lost: float) -> ChunkPlan:
    """Return the plan of how far bounds must be from guesses, if *lost* grains may be lost at each slot."""
    return plan._replace(odds=np.abs(plan.odds), rests=lost + plan.margins)


@kernel
def guess_by_script(script, guesses, plan):
    """Sweep the guesses of a chunk by all moves, and write the best moves to *plan*; return the greatest change."""
    stack = empty_stack()
    sums = GuessSums(np.empty(DEEP), np.empty(DEEP), np.empty(DEEP), np.empty(DEEP, np.int64))
    most = 0.0
    at = 0
    end = 0
    for number in range(len(script.rows)):
        depth = -1
        while True:
            # Step 1: read to the next leaf. A slot of this tier becomes a term of the plan.
            at, depth, weight, gain, leaf = read_to_leaf(script, at, depth, stack)
            head = end  # where the terms of this child begin
            value, rest, margin, end = guess_of_leaf(script, guesses, plan, leaf, end)
            # Step 2: pass the value up to the parent node, and on while nodes are complete.
            while depth >= 0:
                end = add_guess(stack, sums, depth, weight, (value + gain, rest + gain, margin), plan, (head, end))
                stack.children_left[depth] -= 1
                if stack.children_left[depth]:
                    break
                # The node is complete: divide by the sum of weights, which is 1 for a player.
                head, total = sums.heads[depth], np.float64(stack.totals[depth])
                value, rest = sums.values[depth] / total, sums.rests[depth] / total
                margin = sums.margins[depth] / total
                for term in range(head, end):
                    plan.odds[term] /= total
                weight, gain = stack.weights[depth], stack.gains[depth]
                depth -= 1
            if depth < 0:
                break
        # Step 3: the tree is complete. Write the guess and the row of the plan.
        i = script.rows[number]
        most = max(most, abs(value - guesses.chunk[i]))
        guesses.chunk[i] = value
        plan.rests[number] = rest
        plan.margins[number] = margin
        plan.begins[number + 1] = end
    return most


@lean_kernel
def guess_of_leaf(script, guesses, plan, leaf, end):
    """Return the value, constant and margin of a leaf, and the new end of the plan's terms."""
    place = leaf >> 1
    slot = place - guesses.first
    sign = -1.0 if leaf & 1 else 1.0
    # Case: a slot of this tier is a term of the plan.
    if 0 <= slot < len(guesses.about):
        inside = script.begin <= slot < script.begin + len(guesses.chunk)
        value = sign * (guesses.chunk[slot - script.begin] if inside else guesses.about[slot])
        plan.places[end], plan.odds[end] = slot, sign
        return value, 0.0, 0.0, end + 1
    # Case: a slot of a finished tier, the middle of its bounds, give or take half their distance.
    if place < len(guesses.low):
        value = sign * (0.5 * guesses.low[place] + 0.5 * guesses.high[place])
        return value, value, 0.5 * (guesses.high[place] - guesses.low[place]), end
    # Case: an end.
    value = sign * script.ends[place - len(guesses.low)]
    return value, value, 0.0, end


@lean_kernel
def add_guess(stack, sums, depth, weight, child, plan, terms):
    """Add a child (value, constant, margin) to its node; return the end of the plan's terms.

    *terms* say where the child's terms begin and end in the plan.
    """
    value, rest, margin = child
    head, end = terms
    is_first = stack.totals[depth] == 0
    if is_first:
        sums.heads[depth] = head
    # Case: chance keeps the terms of all moves, weighted.
    if stack.kinds[depth] == BY_CHANCE:
        if is_first:
            sums.values[depth] = sums.rests[depth] = sums.margins[depth] = 0.0
        stack.totals[depth] += weight
        sums.values[depth] += weight * value
        sums.rests[depth] += weight * rest
        sums.margins[depth] += weight * margin
        for term in range(head, end):
            plan.odds[term] *= weight
        return end
    # Case: a player has a better move. Drop the terms of this one.
    if not is_first and (value > sums.values[depth]) != (stack.kinds[depth] == 0):
        return head
    # Case: the best move of a player so far. Its terms replace those of the former best.
    stack.totals[depth] = 1
    sums.values[depth], sums.rests[depth], sums.margins[depth] = value, rest, margin
    for term in range(end - head):
        plan.places[sums.heads[depth] + term] = plan.places[head + term]
        plan.odds[sums.heads[depth] + term] = plan.odds[head + term]
    return end - (head - sums.heads[depth])


@kernel
def sweep_plan(plan, about, chunk):
    """Sweep the guesses or margins of a chunk by a plan; return the greatest change."""
    most = 0.0
    for number in range(len(plan.rows)):
        value = plan.rests[number]
        for term in range(plan.begins[number], plan.begins[number + 1]):
            slot = plan.places[term]
            inside = plan.begin <= slot < plan.begin + len(chunk)
            value += plan.odds[term] * (chunk[slot - plan.begin] if inside else about[slot])
        i = plan.rows[number]
        most = max(most, abs(value - chunk[i]))
        chunk[i] = value
    return most
