"""Packs positions of several words into ints, in the same order, if they differ in few enough bits; sorts positions.

Ints are sorted and looked up several times as fast as rows of words. A *run* is a block of bits of a word::

    word 0   0 0 1 1 0 x x x x 0        word 1   y y 0 0 1 0 0 z z z        x, y, z: bits that differ
    int      x x x x y y 0 0 1 0 0 z z z      one run for each word; if these are too long, x x x x y y z z z

If that is too long as well, an int may have the first bits only. It then says about where a position is in a list.
"""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import POSITION_BITS
from retrograde.solver.methods.listed.spill import kernels, row_kernels
from retrograde.solver.runtime.array_type import Array

MOST_BITS = POSITION_BITS - 1
"""The most bits of runs. So POSITION_LIMIT is greater than each packed position."""


class Packing(NamedTuple):
    """How to pack positions. `runs` int64[n, 4] holds for each run its word, its lowest bit, its mask, and its shift in
    the int. `covered` int64[words] are the bits of all runs and those that are left out, `base` int64[words] the other
    bits, which are the same in all positions."""

    runs: Array
    covered: Array
    base: Array

    @property
    def is_exact(self) -> bool:
        """Whether no bits are left out, so that different positions are different ints."""
        bits, covered = self.runs[:, row_kernels.MASK].tolist(), self.covered.tolist()
        return sum(map(int.bit_count, bits)) == sum(map(int.bit_count, covered))


def packing_of(rows: Array, is_exact: bool = True) -> Packing | None:
    """Return how to pack the positions int64[n, words]; None if they differ in too many bits, or there are none. If it
    need not be exact (*is_exact*), bits are left out instead.

    >>> packing_of(np.array([[0b1001, 7], [0b0101, 7]]))
    Packing(runs=array([[0, 2, 3, 0]]), covered=array([12,  0]), base=array([1, 7]))
    """
    if not len(rows):
        return None
    differing = np.zeros(rows.shape[1], np.int64)
    row_kernels.differing_bits(rows, differing)
    bits = [[bit for bit in range(POSITION_BITS) if word >> bit & 1] for word in differing.tolist()]
    # Runs are (word, lowest bit, number of bits): one for each word or, which takes fewer bits, one for each group of
    # adjacent bits.
    one_a_word = [
        (word, word_bits[0], word_bits[-1] - word_bits[0] + 1) for word, word_bits in enumerate(bits) if word_bits
    ]
    shortest = []
    for word, word_bits in enumerate(bits):
        # Adjacent bits have the same difference from their numbers in the list.
        for _, run in groupby(enumerate(word_bits), lambda pair: pair[1] - pair[0]):
            adjacent = [bit for _, bit in run]
            shortest.append((word, adjacent[0], len(adjacent)))
    for runs in (one_a_word, shortest):
        if sum(count for *_, count in runs) <= MOST_BITS:
            return packing_with(runs, rows[0])
    return None if is_exact else packing_with(shortest, rows[0])


def packing_with(bit_runs: list[tuple[int, int, int]], position: Array) -> Packing:
    """Return a packing with runs (word, lowest bit, number of bits). *position* shows the bits that all have in common.

    If the runs are too long for an int, the lowest bits of the packed int are left out.
    """
    runs, covered, shift = [], np.zeros(len(position), np.int64), 0
    left_out = max(0, sum(count for *_, count in bit_runs) - MOST_BITS)
    # The last word has the lowest bits of the int; within a word, runs come from the lowest to the highest.
    for word, low, count in sorted(bit_runs, key=lambda run: (-run[0], run[1])):
        covered[word] |= ((1 << count) - 1) << low
        skipped = min(left_out, count)
        left_out -= skipped
        if skipped < count:
            runs.append((word, low + skipped, (1 << (count - skipped)) - 1, shift))
            shift += count - skipped
    return Packing(np.array(runs, np.int64).reshape(-1, 4), covered, position & ~covered)


def distinct(heap: list[Array]) -> Array:
    """Return the sorted distinct positions of some arrays. Empties *heap*, to save memory."""
    positions = np.concatenate(heap)
    heap.clear()
    if positions.ndim > 1 and (packing := packing_of(positions)):
        keys = pack_all(positions, packing)
        keys.sort()
        count = kernels.unique(keys)
        row_kernels.unpack(keys[:count], packing, positions)
    else:
        if positions.ndim > 1:
            positions = row_kernels.sort(positions, np.empty_like(positions))
        else:
            positions.sort()
        count = kernels.unique(positions)
    return positions[:count].copy() if count < len(positions) // 2 else positions[:count]


def order_of(positions: Array) -> Array:
    """Return the indices that sort positions, of one word or of several."""
    if positions.ndim == 1:
        return np.argsort(positions)
    packing = packing_of(positions)
    return np.argsort(pack_all(positions, packing)) if packing else np.lexsort(positions.T[::-1])


def pack_all(rows: Array, packing: Packing) -> Array:
    """Return positions packed into ints, int64[n]."""
    keys = np.empty(len(rows), np.int64)
    row_kernels.pack(rows, packing, keys)
    return keys
