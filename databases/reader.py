"""Base classes for reading a kind of storage, block by block.

A kind of storage is one large dataset (records, steps, slots, …) and the tables that lead to its blocks. A block is one
chunk of that dataset, and so one zstd frame. A reader returns outcomes as rows of the legend; it knows no rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile, are_positions, ascends, columns
from retrograde.databases.encoding import decode_gaps, from_planes, without_zeros
from retrograde.databases.frames import LEAST_FRAME
from retrograde.databases.layout import GAPS, SLOT_TIERS, outcome_dtype, records_dtype

NOUGHT = np.zeros(1, np.int64)


class TierRecords(NamedTuple):
    """Consecutive records of one tier."""

    tier: int
    positions: NDArray[np.int64]
    outcomes: NDArray[Any]
    """Rows of the legend."""


class Reader(ABC):
    """Reads the blocks of one file; threads may share it."""

    DATASET: ClassVar[str]
    """The name of the dataset whose chunks are the blocks."""
    ITEMS: ClassVar[int]
    """The number of items in a block; smaller datasets have one short block."""
    ROW: ClassVar[np.dtype[Any]]
    """The type of a row of the table of blocks."""
    TIERS: ClassVar[tuple[type, np.dtype[Any]]]
    """The class of the table of tiers, and the type of its rows: number, first item, and others."""
    TABLES: ClassVar[tuple[str, ...]] = ("legend", "tiers", "blocks")

    def __init__(self, file: CheckedFile):
        """Read the sizes of the blocks; raise ValueError if they are impossible."""
        self.file, self.legend = file, file.legend
        self.outcome_type = outcome_dtype(len(self.legend))
        self.length = file.length_of(self.DATASET)
        """The number of records, steps or slots in the file."""
        self.block_size = min(self.ITEMS, self.length)
        self.block_count = -(-self.length // self.block_size)
        file.type_of(self.DATASET, self.item_types(), self.block_size)
        if self.block_count * LEAST_FRAME > file.bytes:
            raise ValueError(f"{self.block_count:,} blocks are more than {file.bytes:,} bytes can hold")
        self.frames = file.frames_of(self.DATASET, self.block_size)
        if self.frames.plain:
            raise ValueError(f"the dataset {self.DATASET} is not compressed")

    @abstractmethod
    def item_types(self) -> Sequence[np.dtype[Any]]:
        """Return the types that the dataset's items may have."""

    @abstractmethod
    def read_block(self, number: int) -> Any:
        """Return a decoded block as memoryviews, whose items are plain ints."""

    @abstractmethod
    def read_tables(self) -> None:
        """Read all tables; each is checked when it is read."""

    def check_block(self, number: int) -> None:
        """Read a block, and check all of it that can be checked without rules."""
        self.read_block(number)

    def check_outcomes(self, outcomes: NDArray[Any]) -> None:
        """Raise DamagedDatabase if an outcome is not in the legend."""
        if outcomes.size and int(outcomes.max()) >= len(self.legend):
            raise self.file.damaged("an outcome is not in the legend")

    @property
    def slots(self) -> int:
        """The number of items in all tiers."""
        return self.length

    @cached_property
    def tiers(self) -> Any:
        """The table of tiers, by columns: an instance of TIERS."""
        return self.file.locked(self._read_tiers)

    def _read_tiers(self) -> Any:
        """Return the table of tiers; raise ValueError if it contradicts itself."""
        kind, dtype = self.TIERS
        numbers, begins, *others = columns(self.file.table("tiers", dtype), *(dtype.names or ()))
        bounds = np.append(begins, self.slots)
        in_order = ascends(numbers) and ascends(bounds) and bounds[0] == 0
        if not in_order or not all(map(are_positions, others)):
            raise ValueError("the table of tiers contradicts itself")
        return kind(numbers, bounds, *others)

    @cached_property
    def block_table(self) -> NDArray[Any]:
        return self.file.locked(lambda: self.file.table("blocks", self.ROW, self.block_count))

    @cached_property
    def checks(self) -> list[int]:
        """The checksum of each block's frame."""
        checks: list[int] = self.block_table["check"].tolist()
        return checks

    def content(self, number: int) -> bytes:
        """Return the decompressed content of a block. Call it inside `file.locked`."""
        return self.frames.read(number * self.block_size, self.checks[number])

    def items_in(self, number: int) -> int:
        """Return the number of items in a block."""
        return min(self.block_size, self.length - number * self.block_size)

    def read_items(self, number: int, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return the items of a block, each of one type."""
        planes = np.frombuffer(self.content(number), np.uint8).reshape(kind.itemsize, self.block_size)
        return from_planes(planes, kind, self.items_in(number))


class SlotTiers(NamedTuple):
    """The table of tiers of a game with slots, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first slot of each tier; the last entry is the number of slots."""


class SlotReader(Reader):
    """Reads blocks of slots, which follow one another tier by tier."""

    TIERS = SlotTiers, SLOT_TIERS


class GapReader(Reader):
    """Reads blocks of outcomes and gaps, the storage of records and of steps."""

    def item_types(self) -> Sequence[np.dtype[Any]]:
        return [records_dtype(self.outcome_type, gap) for gap in GAPS]

    def read_gaps(self, number: int, begins: NDArray[np.int64], mask: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the running sums of a block's gaps, and its outcomes; tiers begin at the indices *begins*, the first
        one 0."""
        return self.file.locked(lambda: self._decode(number, begins, mask))

    def _decode(self, number: int, begins: NDArray[np.int64], mask: int) -> tuple[NDArray[Any], NDArray[Any]]:
        # A block has the planes of its outcomes, then those of its gaps.
        kind, count = self.outcome_type, self.items_in(number)
        planes = without_zeros(self.content(number), self.block_size, kind.itemsize + 1)
        outcomes = from_planes(planes[: kind.itemsize], kind, count)
        return decode_gaps(planes[kind.itemsize :], count, begins, mask), outcomes
