"""Reads records: sorted positions and their outcomes, block by block, and the tables of tiers and blocks."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile, are_positions, columns
from retrograde.databases.encoding import Runs, mask_runs, spread, squeeze
from retrograde.databases.layout import BLOCK, BLOCKS, TIERS
from retrograde.databases.reader import NOUGHT, GapReader, TierRecords


class RecordBlock(NamedTuple):
    """A decoded block, in the form in which one position is found fastest."""

    runs: Runs
    others: int
    """The bits outside the mask."""
    sums: memoryview
    """The running sums of the gaps, through all tiers of the block."""
    outcomes: memoryview


class RecordTiers(NamedTuple):
    """The table of tiers, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first record of each tier; the last entry is the number of records."""
    positions: NDArray[np.int64]
    """The position of each tier's first record."""


class RecordBlocks(NamedTuple):
    """The table of blocks, by columns."""

    positions: NDArray[np.int64]
    """The position of each block's first record."""
    masks: NDArray[np.int64]
    low_tiers: NDArray[np.int64]
    high_tiers: NDArray[np.int64]
    """The tiers that begin in each block after its first record: rows `low_tiers` to `high_tiers`, exclusive, of the
    table.
    """


class RecordsReader(GapReader):
    """Reads the records of a file."""

    DATASET, ITEMS, ROW = "records", BLOCK, BLOCKS
    TIERS = RecordTiers, TIERS

    def __init__(self, file: CheckedFile):
        super().__init__(file)
        if self.length != file.header.stored:
            raise ValueError(f"there are {self.length:,} records, and should be {file.header.stored:,}")

    def read_tables(self) -> None:
        self.blocks  # noqa: B018  # the tiers as well

    @cached_property
    def blocks(self) -> RecordBlocks:
        """The table of blocks; raise DamagedDatabase if it is impossible."""
        positions, masks = columns(self.block_table, "position", "mask")
        if not are_positions(positions) or not are_positions(masks):
            raise self.file.damaged("the table of blocks holds what no position can be")
        edges = np.arange(0, self.length, self.block_size)
        begins = self.tiers.bounds[:-1]
        low, high = begins.searchsorted(edges, "right"), begins.searchsorted(edges + self.block_size)
        return RecordBlocks(positions, masks, low, high)

    def read_block(self, number: int) -> RecordBlock:
        """Return a decoded block, as RecordBlock describes it."""
        mask = int(self.blocks.masks[number])
        sums, outcomes = self.read_gaps(number, self._begins(number), mask)
        return RecordBlock(mask_runs(mask), ~mask, sums.data, outcomes.data)

    def check_block(self, number: int) -> None:
        for _ in self.records_in(number):
            pass

    def all_records(self) -> Iterator[TierRecords]:
        """Yield all records in order, tier by tier and block by block."""
        for number in range(self.block_count):
            yield from self.records_in(number)

    def records_in(self, number: int) -> Iterator[TierRecords]:
        """Yield the records of one block."""
        mask = int(self.blocks.masks[number])
        begins, runs = self._begins(number), mask_runs(mask)
        sums, outcomes = self.read_gaps(number, begins, mask)
        low, high = self.blocks.low_tiers[number], self.blocks.high_tiers[number]
        # The first position of each tier in the block; its rank turns the running sums into ranks.
        firsts = np.append(self.blocks.positions[number], self.tiers.positions[low:high])
        lengths = np.diff(begins, append=len(sums))
        ranks = sums + np.repeat(squeeze(firsts, runs) - sums[begins], lengths)
        if not are_ranks(ranks, begins, mask):
            raise self.file.damaged("gaps that cannot be true")
        self.check_outcomes(outcomes)
        positions = spread(ranks, runs) | np.repeat(firsts & ~mask, lengths)
        # Row low - 1 is the tier to which the block's first record belongs.
        tiers = self.tiers.numbers[low - 1 : high].tolist()
        for tier, begin, length in zip(tiers, begins.tolist(), lengths.tolist(), strict=True):
            yield TierRecords(tier, positions[begin : begin + length], outcomes[begin : begin + length])

    def _begins(self, number: int) -> NDArray[np.int64]:
        """Return the indices in a block where tiers begin, 0 first."""
        low, high = self.blocks.low_tiers[number], self.blocks.high_tiers[number]
        return NOUGHT if low == high else np.append(NOUGHT, self.tiers.bounds[low:high] - number * self.block_size)


def are_ranks(ranks: NDArray[np.int64], begins: NDArray[np.int64], mask: int) -> bool:
    """Return whether the numbers in a block ascend within each tier and fit the mask."""
    ascends = ranks[1:] > ranks[:-1]
    ascends[begins[1:] - 1] = True
    return bool(ascends.all()) and int(ranks.max()) >> mask.bit_count() == 0
