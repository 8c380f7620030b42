"""Scripts: what the rules say of the slots of a chunk, written down once, and read in each sweep of a tier with cycles.

A script has the slots in the order in which they are swept, each as a tree, written from its root on, in whole
numbers::

    n << 2 | 0, 1 or 2      n moves follow, for player 0, player 1, or chance, whose moves each have their odds before
    -1 - 2 * place          a slot, by its place among those of all tiers; behind these, an end by its number
    -2 - 2 * place          the same slot with the players exchanged

A position in between with one move is left out, unless that pays. Slots that stand for no position are, too: `rows` are
those that do. Where moves may pay, each has what it does before it, behind its odds.
"""

from typing import Any, NamedTuple

import numpy as np
import zstandard

from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.metrics.slots.kernels import DEEP, mean, settle
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]


class Script(NamedTuple):
    """The `words` of a chunk that begins at slot `begin`, of these `rows` in it, and what `ends` pay, in grains, and
    moves, in parts of so many of them: `scale`, 0 where no move pays.

    Where there is little memory words are `packed`: the bytes of a zstd frame.
    """

    begin: int
    words: Array
    rows: Array
    ends: Array
    scale: int

    def packed(self) -> "Script":
        """Return the same with words as bytes that are fewer."""
        frame = zstandard.ZstdCompressor(level=1).compress(self.words.tobytes())
        return self._replace(words=np.frombuffer(frame, np.uint8))

    def unpacked(self, kind: type) -> "Script":
        """Return the same with words as numbers of a kind."""
        if self.words.dtype != np.uint8:
            return self
        return self._replace(words=np.frombuffer(zstandard.ZstdDecompressor().decompress(self.words.tobytes()), kind))


@kernel
def follow(script, first, view, ask_endless):
    """Sweep a chunk whose tier has its first slot at the place *first*; return the greatest change, -1 where a bound
    becomes too great.

    If *ask_endless*, bounds are 1 where players may be able to go on for ever, else 0, and what is outside is 0.
    """
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
            weight, gain = np.int64(1), np.int64(0)
            if depth >= 0 and kinds[depth] == 2:
                weight = np.int64(words[at])
                at += 1
            if depth >= 0 and script.scale:
                gain = np.int64(words[at]) * script.scale
                at += 1
            word = np.int64(words[at])
            at += 1
            if word >= 0:
                depth += 1
                kinds[depth], left[depth], weights[depth], gains[depth] = word & 3, word >> 2, weight, gain
                totals[depth] = 0
                uppers[0, depth] = uppers[1, depth] = 0
                lowers[0, depth] = lowers[1, depth] = 0
                continue
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
            while depth >= 0:
                if gain and not ask_endless:
                    low, high = low + gain, high + gain
                    if max(abs(low), abs(high)) >= LIMIT:
                        return np.int64(-1)
                if kinds[depth] == 2 and not ask_endless:
                    totals[depth] += weight
                    uppers[0, depth] += weight * (low >> 32)
                    uppers[1, depth] += weight * (high >> 32)
                    lowers[0, depth] += np.uint64(weight) * np.uint64(low & 0xFFFFFFFF)
                    lowers[1, depth] += np.uint64(weight) * np.uint64(high & 0xFFFFFFFF)
                else:
                    greatest = kinds[depth] == 0 if not ask_endless else kinds[depth] != 2
                    if totals[depth] == 0 or (low > lows[depth]) == greatest:
                        lows[depth] = low
                    if totals[depth] == 0 or (high > highs[depth]) == greatest:
                        highs[depth] = high
                    totals[depth] = 1
                left[depth] -= 1
                if left[depth]:
                    break
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
        most = max(most, settle(view, i, low, high))
    return most
