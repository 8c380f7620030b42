"""Reads slots: the outcome of each, and how often each outcome occurs in each part of a tier."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.layout import COUNTS, SLOT_BLOCK, SLOT_BLOCKS, CountRow
from retrograde.databases.reader import SlotReader
from retrograde.games.contract.game import POSITION_LIMIT


class OutcomeReader(SlotReader):
    """Reads the outcomes of slots (of all, or of those that a file keeps) and the counts."""

    ROW = SLOT_BLOCKS

    def __init__(self, file: CheckedFile):
        super().__init__(file)
        if file.header.stored > self.slots:
            raise ValueError(f"{file.header.stored:,} positions are more than {self.slots:,} slots can hold")

    def item_types(self) -> Sequence[np.dtype[Any]]:
        return [self.outcome_type]

    def read_tables(self) -> None:
        self.checks, self.counts  # noqa: B018  # the tiers as well

    @cached_property
    def counts(self) -> list[CountRow]:
        """How often each outcome occurs in each part of each tier."""
        rows = self.file.locked(lambda: [CountRow(*row) for row in self.file.table("counts", COUNTS).tolist()])
        stored = [0] * len(self.legend)
        tiers = set(self.tiers.numbers.tolist())
        for row in rows:
            if not 0 <= row.outcome < len(stored):
                raise self.file.damaged("a count is of an outcome that is not in the legend")
            if row.tier not in tiers or row.part < 0 or not 0 <= row.example < POSITION_LIMIT:
                raise self.file.damaged("a count is of a tier or a part that there is not")
            stored[row.outcome] += row.stored
        if stored != [row.stored for row in self.legend]:
            raise self.file.damaged("the counts do not add up to the legend")
        return rows

    def read_block(self, number: int) -> memoryview:
        """Return the legend rows of a block's items."""
        outcomes = self.file.locked(lambda: self.read_items(number, self.outcome_type))
        self.check_outcomes(outcomes)
        return outcomes.data

    def items(self, begin: int, end: int) -> NDArray[Any]:
        """Return the legend rows of items *begin* to *end* (exclusive) of the dataset."""
        first = begin // self.block_size
        blocks = [np.asarray(self.read_block(number)) for number in range(first, -(-end // self.block_size))]
        return np.concatenate(blocks)[begin - first * self.block_size : end - first * self.block_size]


class SlotsReader(OutcomeReader):
    """Reads the slots of a file that has all of them."""

    DATASET, ITEMS = "slots", SLOT_BLOCK
    TABLES = ("legend", "tiers", "counts", "blocks")

    def all_slots(self, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Return the outcomes of slots *begin* to *end* (exclusive); of all by default."""
        return self.items(begin, self.slots if end is None else end)
