"""Reads positions of several words and their outcomes, block by block."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile, are_positions, rows_ascend
from retrograde.databases.layout import BLOCK, SLOT_BLOCKS, rows_dtype, word_names
from retrograde.databases.reader import SlotReader, TierRecords
from retrograde.games.contract.game import MOST_WORDS


class RowBlock(NamedTuple):
    """A decoded block."""

    positions: NDArray[np.int64]
    """The words of each position, int64[rows, words]."""
    outcomes: NDArray[Any]
    """Rows of the legend."""


class RowsReader(SlotReader):
    """Reads the rows of a file; a slot is a row here."""

    DATASET, ITEMS, ROW = "rows", BLOCK, SLOT_BLOCKS

    def __init__(self, file: CheckedFile):
        super().__init__(file)
        self.dtype = file.type_of(self.DATASET, self.item_types(), self.block_size)
        self.width = len(self.dtype.names or ()) - 1
        """The number of words of a position."""
        if self.length != file.header.stored:
            raise ValueError(f"there are {self.length:,} rows, and should be {file.header.stored:,}")

    def item_types(self) -> Sequence[np.dtype[Any]]:
        return [rows_dtype(self.outcome_type, width) for width in range(1, MOST_WORDS + 1)]

    def read_tables(self) -> None:
        self.checks, self.tiers  # noqa: B018

    def read_block(self, number: int) -> RowBlock:
        """Return a decoded block; raise DamagedDatabase if an outcome is not in the legend."""
        block = self.file.locked(lambda: self._decode(number))
        self.check_outcomes(block.outcomes)
        return block

    def _decode(self, number: int) -> RowBlock:
        rows = self.read_items(number, self.dtype)
        positions = np.stack([rows[name] for name in word_names(self.width)], axis=1)
        if not are_positions(positions):
            raise ValueError("a row holds what no position can be")
        return RowBlock(positions, rows["outcome"])

    def check_block(self, number: int) -> None:
        for records in self.records_in(number):
            if len(records.positions) > 1 and not rows_ascend(records.positions.T):
                raise self.file.damaged("positions of a tier do not ascend")

    def position(self, number: int) -> tuple[int, ...]:
        """Return the position of a row, numbered through all tiers; raise DamagedDatabase if there are fewer."""
        if not 0 <= number < self.length:
            raise self.file.damaged(f"an example is in row {number}, and there are {self.length}")
        block, i = divmod(number, self.block_size)
        return tuple(self.read_block(block).positions[i].tolist())

    def all_records(self) -> Iterator[TierRecords]:
        """Yield all rows in order, tier by tier and block by block."""
        for number in range(self.block_count):
            yield from self.records_in(number)

    def records_in(self, number: int) -> Iterator[TierRecords]:
        """Yield the rows of one block, tier by tier."""
        block, first = self.read_block(number), number * self.block_size
        end = first + len(block.outcomes)
        bounds = self.tiers.bounds
        # The tiers of the block, and where each begins and ends within it.
        first_tier, end_tier = int(bounds.searchsorted(first, "right")) - 1, int(bounds.searchsorted(end))
        cuts = np.clip(bounds[first_tier : end_tier + 1], first, end) - first
        tiers = self.tiers.numbers[first_tier:end_tier].tolist()
        for tier, begin, stop in zip(tiers, cuts[:-1], cuts[1:], strict=True):
            yield TierRecords(tier, block.positions[begin:stop], block.outcomes[begin:stop])
