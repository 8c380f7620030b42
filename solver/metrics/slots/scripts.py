"""Scripts: what the rules say about a chunk's slots, recorded once and replayed in each sweep.

Tiers with cycles need many sweeps. A script has the slots in the order of the sweep. Each slot is a tree in prefix
order, in integers::

    n << 2 | 0, 1 or 2      a node: n moves follow, of player 0, player 1, or chance
    -1 - 2 * place          a leaf: a slot, by its place among those of all tiers; behind these, an end by its number
    -2 - 2 * place          the same slot with the players exchanged

Before each child of a node stand its odds, if the node is chance's, and then what the move pays, if moves may pay.

A position between slots with a single move is left out unless the move pays. Slots that stand for no position are left
out too; `rows` lists the others.
"""

from typing import Any, NamedTuple

import numpy as np
import zstandard

from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.metrics.slots.kernels import DEEP, mean, settle
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]


class Script(NamedTuple):
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

    def packed(self) -> "Script":
        """Return the script with compressed words."""
        frame = zstandard.ZstdCompressor(level=1).compress(self.words.tobytes())
        return self._replace(words=np.frombuffer(frame, np.uint8))

    def unpacked(self, kind: type) -> "Script":
        """Return the script with words of the type *kind*."""
        if self.words.dtype != np.uint8:
            return self
        return self._replace(words=np.frombuffer(zstandard.ZstdDecompressor().decompress(self.words.tobytes()), kind))


@kernel
def follow(script, first, view, ask_endless):
    """Sweep a chunk by its script; return the greatest change, -1 if a bound exceeds LIMIT.

    *first* is the place of the tier's first slot. With *ask_endless*, bounds are 1 where players may be able to stay
    forever, else 0, and everything outside the tier is 0.
    """
    # A stack of open nodes: kind, children left, weight and payment of the move to it, best or summed bounds. Weighted
    # sums of 64-bit bounds are kept in two parts of 32 bits each.
    kinds, left, weights = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    lows, highs, totals = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    uppers, lowers = np.empty((2, DEEP), np.int64), np.empty((2, DEEP), np.uint64)
    gains = np.empty(DEEP, np.int64)
    words = script.words
    size, slots = len(view.own_low), view.starts[-1]
    most = np.int64(0)
    at = 0
    for number in range(len(script.rows)):
        i = script.rows[number]
        depth = -1
        while True:
            # Step 1: read the odds and payment of the move, then the node or leaf.
            weight, gain = np.int64(1), np.int64(0)
            if depth >= 0 and kinds[depth] == 2:
                weight = np.int64(words[at])
                at += 1
            if depth >= 0 and script.scale:
                gain = np.int64(words[at]) * script.scale
                at += 1
            word = np.int64(words[at])
            at += 1
            # Case: a node. Push it; its children follow.
            if word >= 0:
                depth += 1
                kinds[depth], left[depth], weights[depth], gains[depth] = word & 3, word >> 2, weight, gain
                totals[depth] = 0
                uppers[0, depth] = uppers[1, depth] = 0
                lowers[0, depth] = lowers[1, depth] = 0
                continue
            # Case: a leaf. Find its bounds: in this chunk, in this tier, outside, or an end.
            place = (-1 - word) >> 1
            slot = place - first
            if 0 <= slot < size:
                if view.begin <= slot < view.begin + len(view.chunk_low):
                    low, high = view.chunk_low[slot - view.begin], view.chunk_high[slot - view.begin]
                else:
                    low, high = view.own_low[slot], view.own_high[slot]
            elif ask_endless:
                low = high = np.int64(0)
            elif place < slots:
                low, high = view.low[place], view.high[place]
            else:
                low = high = script.ends[place - slots]
            if (-1 - word) & 1 and not ask_endless:
                low, high = -high, -low
            # Step 2: pass the bounds up to the parent node, and on while nodes are complete.
            while depth >= 0:
                if gain and not ask_endless:
                    low, high = low + gain, high + gain
                    if max(abs(low), abs(high)) >= LIMIT:
                        return np.int64(-1)
                # Case: chance adds the weighted bounds.
                if kinds[depth] == 2 and not ask_endless:
                    totals[depth] += weight
                    uppers[0, depth] += weight * (low >> 32)
                    uppers[1, depth] += weight * (high >> 32)
                    lowers[0, depth] += np.uint64(weight) * np.uint64(low & 0xFFFFFFFF)
                    lowers[1, depth] += np.uint64(weight) * np.uint64(high & 0xFFFFFFFF)
                else:
                    # Case: a player takes the best child. For *ask_endless* some move suffices for a player, chance
                    # needs all.
                    greatest = kinds[depth] == 0 if not ask_endless else kinds[depth] != 2
                    if totals[depth] == 0 or (low > lows[depth]) == greatest:
                        lows[depth] = low
                    if totals[depth] == 0 or (high > highs[depth]) == greatest:
                        highs[depth] = high
                    totals[depth] = 1
                left[depth] -= 1
                if left[depth]:
                    break
                # The node is complete: the lower mean rounded down, the upper one up.
                if kinds[depth] == 2 and not ask_endless:
                    low, _ = mean(uppers[0, depth], lowers[0, depth], totals[depth])
                    high, rest = mean(uppers[1, depth], lowers[1, depth], totals[depth])
                    high += rest
                else:
                    low, high = lows[depth], highs[depth]
                weight, gain = weights[depth], gains[depth]
                depth -= 1
            if depth < 0:
                break
        # Step 3: the tree is complete. Give the slot its new bounds.
        most = max(most, settle(view, i, low, high))
    return most
