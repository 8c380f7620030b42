"""What the kinds of storage have in common when they are read: blocks, each of which is a frame of one dataset.

A kind is a dataset of records, of steps or of slots, and the tables that lead to its blocks. Its reader has a file, and
gives outcomes as rows of the legend; it knows no rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile, ascends, columns
from retrograde.databases.encoding import decode_gaps, from_planes, without_zeros
from retrograde.databases.frames import LEAST_FRAME
from retrograde.databases.layout import GAPS, SLOT_TIERS, outcome_dtype, records_dtype

NOUGHT = np.zeros(1, np.int64)


class Reader(ABC):
    """The blocks of a file. Threads may share it."""

    DATASET: ClassVar[str]
    """The dataset whose chunks are the blocks."""
    ITEMS: ClassVar[int]
    """How many items a block has, if there are as many."""
    ROW: ClassVar[np.dtype[Any]]
    """The type of a row of the table of blocks."""
    TABLES: ClassVar[tuple[str, ...]] = ("legend", "tiers", "blocks")

    def __init__(self, file: CheckedFile):
        """Read what the blocks are like; raise ValueError where they cannot be so."""
        self.file, self.legend = file, file.legend
        self.outcome_type = outcome_dtype(len(self.legend))
        self.length = file.length_of(self.DATASET)
        """How many records, steps or slots there are."""
        self.block_size = min(self.ITEMS, self.length)
        self.block_count = -(-self.length // self.block_size)
        file.type_of(self.DATASET, self.item_types(), self.block_size)
        if self.block_count * LEAST_FRAME > file.bytes:
            raise ValueError(f"{self.block_count:,} blocks are more than {file.bytes:,} bytes can hold")
        self.frames = file.frames_of(self.DATASET, self.block_size)

    @abstractmethod
    def item_types(self) -> Sequence[np.dtype[Any]]:
        """Return the types that an item of the dataset may have."""

    @abstractmethod
    def read_block(self, number: int) -> Any:
        """Return a block, decoded: memoryviews, whose items are plain ints and cost half as much as NumPy's."""

    @abstractmethod
    def read_tables(self) -> None:
        """Read all tables, each of which is held against the rest then."""

    def check_block(self, number: int) -> None:
        """Read a block, and see that all in it can be true."""
        self.read_block(number)

    def check_outcomes(self, outcomes: NDArray[Any]) -> None:
        """Raise DamagedDatabase where one is not in the legend."""
        if outcomes.size and int(outcomes.max()) >= len(self.legend):
            raise self.file.damaged("an outcome is not in the legend")

    @cached_property
    def block_table(self) -> NDArray[Any]:
        """The table of blocks, a row for each, read once."""
        return self.file.locked(lambda: self.file.table("blocks", self.ROW, self.block_count))

    @cached_property
    def checks(self) -> list[int] | None:
        """The checksum of each block's frame; None in version 1, which has none."""
        if self.file.header.version == 1:
            return None
        checks: list[int] = self.block_table["check"].tolist()
        return checks

    def content(self, number: int) -> bytes:
        """Return the content of the frame of a block; to be called by locked()."""
        return self.frames.read(number * self.block_size, None if self.checks is None else self.checks[number])

    def items_in(self, number: int) -> int:
        """Return how many items a block has."""
        return min(self.block_size, self.length - number * self.block_size)


class Tiers(NamedTuple):
    """The table of tiers of a dense numbering, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first slot of each tier, and at the end the number of slots."""


class SlotReader(Reader):
    """Blocks of slots, tier after tier."""

    @property
    def slots(self) -> int:
        """How many slots all tiers have."""
        return self.length

    @cached_property
    def tiers(self) -> Tiers:
        """The table of tiers."""
        return self.file.locked(self._read_tiers)

    def _read_tiers(self) -> Tiers:
        table = self.file.table("tiers", SLOT_TIERS)
        (numbers,) = columns(table, "tier")
        bounds = np.append(table["slot"], self.slots)
        if not ascends(numbers) or not ascends(bounds) or bounds[0] != 0:
            raise ValueError("the table of tiers contradicts itself")
        return Tiers(numbers, bounds)


class GapReader(Reader):
    """Blocks of outcomes and gaps, as records and steps are stored."""

    def item_types(self) -> Sequence[np.dtype[Any]]:
        return [records_dtype(self.outcome_type, gap) for gap in GAPS]

    def read_gaps(self, number: int, begins: NDArray[np.int64], mask: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the sums of the gaps, and the outcomes, of a block; zstd's checksum vouches for both.

        Tiers begin at the indices *begins*, 0 first.
        """
        return self.file.locked(lambda: self._decode(number, begins, mask))

    def _decode(self, number: int, begins: NDArray[np.int64], mask: int) -> tuple[NDArray[Any], NDArray[Any]]:
        kind, count = self.outcome_type, self.items_in(number)
        planes = without_zeros(self.content(number), self.block_size, kind.itemsize + 1)
        outcomes = from_planes(planes[: kind.itemsize], kind, count)
        return decode_gaps(planes[kind.itemsize :], count, begins, mask), outcomes
