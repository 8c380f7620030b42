"""A database of records: finds a position's rank among those of its tier."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database
from retrograde.databases.encoding import squeeze
from retrograde.databases.records.read import RecordBlock, RecordsReader
from retrograde.games import Game


class RecordSpan(NamedTuple):
    """Where the records of a tier lie: record numbers count from 0 through all tiers."""

    low: int
    """Its first record."""
    high: int
    """The number after that of its last record."""
    position: int
    """The position of its first record."""
    first_block: int
    last_block: int


class RecordsDatabase(Database):
    """A solved game whose positions are stored. It knows of any position whether play reaches it."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, RecordsReader)
        self.contents = file.contents
        # Memoryviews give plain ints, at half of what an item of an array costs.
        self._tier_table = [column.data for column in self.contents.tiers]
        self._block_firsts = self.contents.blocks.positions.data
        self._block_size = self.contents.block_size
        self._span = lru_cache(4096)(self._find_span)

    def _find(self, position: int, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, or -1."""
        if (span := self._span(tier)) is None:
            return -1
        low, high, first, block, last_block = span
        # Step 1: the block. In a tier of several blocks, the last one whose first position is not greater.
        if block < last_block:
            block = bisect_right(self._block_firsts, position, block + 1, last_block + 1) - 1
        runs, others, sums, outcomes = self._block(block)
        block_begin = block * self._block_size
        if low < block_begin:  # the tier began in a block before
            low, first = block_begin, self._block_firsts[block]
        # Step 2: bits outside the mask are the same for the whole tier within a block.
        if (position ^ first) & others:
            return -1
        begin, end = low - block_begin, min(high - block_begin, len(sums))
        # Step 3: the sum that the position would have, that of the tier's first record here plus the difference of the
        # ranks, must be among the sums.
        wanted = sums[begin]
        for bits, shift in runs:
            wanted += ((position & bits) >> shift) - ((first & bits) >> shift)
        i = bisect_left(sums, wanted, begin, end)
        return outcomes[i] if i < end and sums[i] == wanted else -1

    def _find_span(self, tier: int) -> RecordSpan | None:
        """Return where the records of a tier lie; None if there are none."""
        numbers, bounds, positions = self._tier_table
        row = bisect_left(numbers, tier)
        if row == len(numbers) or numbers[row] != tier:
            return None
        low, high = bounds[row], bounds[row + 1]
        return RecordSpan(low, high, positions[row], low // self._block_size, (high - 1) // self._block_size)

    def _find_all(self, positions: NDArray[np.int64], tiers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the legend rows of many canonical positions, or -1; decode each block once. A negative position stands
        for none, and gets -1."""
        size, table, block_firsts = self._block_size, self.contents.tiers, self.contents.blocks.positions
        rows = np.full(len(positions), -1, np.int64)
        # Leave out positions of tiers that have no records. *tier_rows* are the rows of their tiers in the table.
        tier_rows = np.minimum(table.numbers.searchsorted(tiers), len(table.numbers) - 1)
        in_tier = np.flatnonzero((positions >= 0) & (table.numbers[tier_rows] == tiers))
        tier_rows, positions = tier_rows[in_tier], positions[in_tier]
        # The block in which each position would be, as in `_find`, but for all at once.
        low, high = table.bounds[tier_rows], table.bounds[tier_rows + 1]
        blocks = count_below(block_firsts, positions + 1, low // size + 1, (high - 1) // size + 1) - 1
        began_before = low < blocks * size  # the tier began in a block before
        firsts = np.where(began_before, block_firsts[blocks], table.positions[tier_rows])
        begins, ends = np.maximum(low - blocks * size, 0), np.minimum(high - blocks * size, size)
        # Group the positions by block, and search within each block.
        order = np.argsort(blocks, kind="stable")
        cuts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
        for group in np.split(order, cuts[1:]) if len(order) else []:
            block: RecordBlock = self._block(int(blocks[group[0]]))
            sums, outcomes = np.asarray(block.sums), np.asarray(block.outcomes)
            wanted = squeeze(positions[group], block.runs) - squeeze(firsts[group], block.runs) + sums[begins[group]]
            i = count_below(sums, wanted, begins[group], ends[group])
            found = (i < ends[group]) & (((positions[group] ^ firsts[group]) & block.others) == 0)
            found[found] = sums[i[found]] == wanted[found]
            rows[in_tier[group[found]]] = outcomes[i[found]]
        return rows

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        for tier, positions, rows in self.contents.all_records():
            yield tier, positions, *self._read_legend(rows)


def count_below(
    items: NDArray[np.int64], keys: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each key its insertion point in items[low:high], which ascend; a vectorized bisect_left.

    >>> count_below(np.array([2, 4, 6, 1, 3, 5]), np.array([4, 4]), np.array([0, 3]), np.array([3, 6])).tolist()
    [1, 5]
    """
    low, high = low.copy(), high.copy()
    while len(active := np.flatnonzero(low < high)):
        middle = (low[active] + high[active]) >> 1
        less = items[middle] < keys[active]
        low[active] = np.where(less, middle + 1, low[active])
        high[active] = np.where(less, high[active], middle)
    return low
