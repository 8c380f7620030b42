"""A database file as arrays and facts, without any rules.

Everything read is checked: metadata by HDF5, contents by zstd's checksums, and what they say against one another. Any
damage, wherever it shows, is one error that names the file.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import h5py
import numpy as np
import zstandard
from numpy.typing import NDArray

from retrograde.databases.encoding import (
    Runs,
    decode_gaps,
    from_planes,
    mask_runs,
    spread,
    squeeze,
    unpack,
    without_zeros,
)
from retrograde.databases.errors import DamagedDatabase, NoDatabase, NotADatabase, VersionTooNew
from retrograde.databases.layout import (
    BLOCKS,
    COUNTS,
    DENSE_TIERS,
    FORMAT,
    GAPS,
    LEGEND,
    MAGIC,
    STEP_BLOCKS,
    STEP_TIERS,
    TIERS,
    VERSION,
    CountRow,
    LegendRow,
    outcome_dtype,
    read_attributes,
    records_dtype,
)
from retrograde.games import DRAW, LOSE, WIN, RetrogradeError, Value

Result = TypeVar("Result")

POSITION_LIMIT = 1 << 62
NOUGHT = np.zeros(1, np.int64)


class Block(NamedTuple):
    """A decoded block: what is needed to look one position up, quickly.

    Its arrays are memoryviews, whose items are plain ints and cost half as much as NumPy's.
    """

    runs: Runs
    others: int
    """The bits that are not under the mask."""
    sums: memoryview
    """Of the gaps, through all tiers of the block."""
    outcomes: memoryview


class Tiers(NamedTuple):
    """The table of tiers, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first record of each tier, and at the end the number of records."""
    positions: NDArray[np.int64]
    """The position of each tier's first record."""


class DenseTiers(NamedTuple):
    """The table of tiers of a dense numbering, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first slot of each tier, and at the end the number of slots."""


class StepTiers(NamedTuple):
    """The table of tiers of a database of steps, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first step of each tier, and at the end the number of steps."""
    positions: NDArray[np.int64]
    """Where the first step of each tier begins."""
    masks: NDArray[np.int64]
    """The bits in which positions of each tier differ."""


class Blocks(NamedTuple):
    """The table of blocks, by columns."""

    positions: NDArray[np.int64]
    """The position of each block's first record."""
    masks: NDArray[np.int64]
    low_tiers: NDArray[np.int64]
    high_tiers: NDArray[np.int64]
    """From which row of the table of tiers to which, exclusive, tiers begin in each block after its first record."""


class Piece(NamedTuple):
    """Consecutive records of one tier."""

    tier: int
    positions: NDArray[np.int64]
    outcomes: NDArray
    """Rows of the legend."""


class DatabaseFile:
    """An open database file: attributes, tables, and blocks of records. A context manager."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._lock = threading.Lock()
        self._closed = False
        check_magic(self.path)
        self._file = self._guarded(lambda: h5py.File(os.fsencode(self.path), "r", locking=False))
        try:
            self._attributes = self._guarded(lambda: read_attributes(self._file))
            self._check_version()
            self._guarded(self._read_metadata)
        except BaseException:
            self._file.close()
            raise

    def _guarded(self, read: Callable[[], Result]) -> Result:
        """Return what *read* returns; whatever it raises means damage."""
        try:
            return read()
        except (RetrogradeError, MemoryError):
            raise
        except Exception as error:  # HDF5, h5py, zstd and json have many kinds
            if self._closed:
                raise ValueError(f"the database {str(self.path)!r} is closed") from None
            raise self.damaged(first_line(error)) from error

    def damaged(self, what: str) -> DamagedDatabase:
        return DamagedDatabase(f"the database {str(self.path)!r} is damaged ({what})")

    def _check_version(self) -> None:
        if self._attributes.get("format") != FORMAT:
            raise NotADatabase(f"{str(self.path)!r} is an HDF5 file, but no database of retrograde")
        number = self._attributes.get("format_version")
        if isinstance(number, int) and number > VERSION:
            raise VersionTooNew(
                f"the database {str(self.path)!r} has format version {number}, and this retrograde reads up "
                f"to {VERSION}; install a newer one"
            )

    def _read_metadata(self) -> None:
        facts = self._attributes
        self.variant: str = facts["variant"]
        self.game_name: str = facts["game"]
        self.options: dict[str, object] = json.loads(facts["options"])
        self.rules: str = facts["rules"]
        self.metric: str = facts["metric"]
        self.made_with: str = facts["made_with"]
        self.positions: int = facts["positions"]
        self.stored: int = facts["stored"]
        self.start: int | None = facts.get("start")
        self.dense = "slots" in self._file
        """Whether the positions are numbered by the rules of the game, and not stored."""
        self.stepped = "steps" in self._file
        """Whether it holds steps, and no positions."""
        if self.dense:
            names = ("legend", "tiers", "counts", "slots")
        else:
            names = ("legend", "tiers", "blocks", "steps" if self.stepped else "records")
        self._datasets = {name: self._file[name].id for name in names}
        self.legend = [LegendRow(Value(row[0]), *row[1:]) for row in self._table("legend", LEGEND).tolist()]
        check_legend(self.legend, self.positions, self.stored)
        self.start_outcome: LegendRow | None = None
        if self.start is not None:
            outcome = facts["start_value"], facts["start_remoteness"]
            self.start_outcome = next(row for row in self.legend if (row.value, row.remoteness) == outcome)
        records = self._datasets[names[-1]]
        self.block_size: int = records.get_create_plist().get_chunk()[0]
        self._outcome_dtype = outcome_dtype(len(self.legend))
        if self.dense:
            self.slots: int = records.shape[0]
            self._expect("slots", self._outcome_dtype, self.slots, self.block_size)
            return
        gap = next(dtype for dtype in GAPS if dtype == records.dtype["gap"])
        self._records_dtype = records_dtype(self._outcome_dtype, gap)
        self.records: int = records.shape[0] if self.stepped else self.stored
        self._expect(names[-1], self._records_dtype, self.records, self.block_size)

    def _expect(self, name: str, dtype: np.dtype, length: int, chunk: int) -> None:
        dataset = self._datasets[name]
        if (dataset.dtype, dataset.shape) != (dtype, (length,)) or dataset.get_create_plist().get_chunk() != (chunk,):
            raise ValueError(f"the dataset {name} has another type or shape than it should")

    def _table(self, name: str, dtype: np.dtype) -> NDArray:
        """Return a dataset of one chunk."""
        length = self._datasets[name].shape[0]
        self._expect(name, dtype, length, length)
        content = self._chunk(zstandard.ZstdDecompressor(), name, 0, length * dtype.itemsize)
        return from_planes(np.frombuffer(content, np.uint8).reshape(dtype.itemsize, length), dtype, length)

    def _chunk(self, decompressor: zstandard.ZstdDecompressor, name: str, first: int, size: int) -> bytes:
        skipped_filters, frame = self._datasets[name].read_direct_chunk((first,))
        if skipped_filters:
            raise ValueError(f"a chunk of {name} is not compressed")
        return unpack(decompressor, frame, size)

    @cached_property
    def tiers(self) -> Tiers:
        """The table of tiers."""
        return self._locked(self._read_tiers)

    # A dense numbering

    @cached_property
    def dense_tiers(self) -> DenseTiers:
        """The table of tiers of a dense numbering."""
        return self._locked(self._read_dense_tiers)

    def _read_dense_tiers(self) -> DenseTiers:
        table = self._table("tiers", DENSE_TIERS)
        (numbers,) = columns(table, "tier")
        bounds = np.append(table["slot"], self.slots)
        if not (numbers[1:] > numbers[:-1]).all() or not (bounds[1:] > bounds[:-1]).all() or bounds[0] != 0:
            raise ValueError("the table of tiers contradicts itself")
        return DenseTiers(numbers, bounds)

    @cached_property
    def counts(self) -> list[CountRow]:
        """What each part of each tier of a dense numbering has, by outcome."""
        rows = self._locked(lambda: [CountRow(*row) for row in self._table("counts", COUNTS).tolist()])
        stored = [0] * len(self.legend)
        for row in rows:
            if not 0 <= row.outcome < len(stored):
                raise self.damaged("a count is of an outcome that is not in the legend")
            stored[row.outcome] += row.stored
        if stored != [row.stored for row in self.legend]:
            raise self.damaged("the counts do not add up to the legend")
        return rows

    def read_slots(self, number: int) -> NDArray:
        """Return the outcomes, as rows of the legend, of a block of slots."""
        size, kind = self.block_size, self._outcome_dtype
        count = min(size, self.slots - number * size)

        def read() -> NDArray:
            content = self._chunk(self._decompressor, "slots", number * size, size * kind.itemsize)
            return from_planes(np.frombuffer(content, np.uint8).reshape(kind.itemsize, size), kind, count)

        outcomes = self._locked(read)
        self.check_outcomes(outcomes)
        return outcomes

    def all_slots(self, begin: int = 0, end: int | None = None) -> NDArray:
        """Return the outcomes of slots from one to another, exclusive; of all if not told."""
        end = self.slots if end is None else end
        first = begin // self.block_size
        parts = [self.read_slots(number) for number in range(first, -(-end // self.block_size))]
        return np.concatenate(parts)[begin - first * self.block_size :][: end - begin]

    # Steps

    @cached_property
    def step_tiers(self) -> StepTiers:
        """The table of tiers of a database of steps."""
        return self._locked(self._read_step_tiers)

    def _read_step_tiers(self) -> StepTiers:
        table = self._table("tiers", STEP_TIERS)
        numbers, positions, masks = columns(table, "tier", "position", "mask")
        bounds = np.append(table["step"], self.records)
        ascends = (numbers[1:] > numbers[:-1]).all() and (bounds[1:] > bounds[:-1]).all()
        if not ascends or bounds[0] != 0 or not are_positions(positions) or not are_positions(masks):
            raise ValueError("the table of tiers contradicts itself")
        return StepTiers(numbers, bounds, positions, masks)

    @cached_property
    def step_ranks(self) -> NDArray[np.int64]:
        """The rank of the first step of each block."""
        ranks = self._locked(lambda: next(columns(self._table("blocks", STEP_BLOCKS), "rank")))
        if len(ranks) != -(-self.records // self.block_size) or not are_positions(ranks):
            raise self.damaged("the table of blocks does not match the steps")
        return ranks

    def read_steps(self, number: int) -> tuple[memoryview, memoryview]:
        """Return of a block of steps the sums of the gaps, through all its tiers, and the rows of the legend."""
        bounds = self.step_tiers.bounds
        first = number * self.block_size
        low, high = bounds.searchsorted([first, first + self.block_size], "right")
        begins = np.append(NOUGHT, bounds[low:high] - first)
        begins = begins[begins < min(self.block_size, self.records - first)]
        widest = max(mask.bit_count() for mask in self.step_tiers.masks[low - 1 : high].tolist())
        sums, outcomes = self._read_records(number, begins, (1 << widest) - 1)
        self.check_outcomes(outcomes)
        return sums.data, outcomes.data

    # Sorted positions

    @cached_property
    def blocks(self) -> Blocks:
        """The table of blocks."""
        tiers = self.tiers
        return self._locked(lambda: self._read_blocks(tiers))

    def _locked(self, read: Callable[[], Result]) -> Result:
        with self._lock:
            return self._guarded(read)

    def _read_tiers(self) -> Tiers:
        table = self._table("tiers", TIERS)
        numbers, positions = columns(table, "tier", "position")
        bounds = np.append(table["record"], self.stored)
        ascends = (numbers[1:] > numbers[:-1]).all() and (bounds[1:] > bounds[:-1]).all()
        if not ascends or bounds[0] != 0 or not are_positions(positions):
            raise ValueError("the table of tiers contradicts itself")
        return Tiers(numbers, bounds, positions)

    def _read_blocks(self, tiers: Tiers) -> Blocks:
        positions, masks = columns(self._table("blocks", BLOCKS), "position", "mask")
        if len(positions) != -(-self.stored // self.block_size):
            raise ValueError("the table of blocks does not match the number of records")
        if not are_positions(positions) or not are_positions(masks):
            raise ValueError("the table of blocks holds what no position can be")
        edges = np.arange(0, self.stored, self.block_size)
        begins = tiers.bounds[:-1]
        low, high = begins.searchsorted(edges, "right"), begins.searchsorted(edges + self.block_size)
        return Blocks(positions, masks, low, high)

    def read_block(self, number: int) -> Block:
        """Return a block, decoded."""
        mask = int(self.blocks.masks[number])
        sums, outcomes = self._read_records(number, self._begins(number), mask)
        return Block(mask_runs(mask), ~mask, sums.data, outcomes.data)

    def pieces(self) -> Iterator[Piece]:
        """Yield all records in order; a piece is a tier, or what of it lies in one block."""
        for number, mask in enumerate(self.blocks.masks.tolist()):
            begins, runs = self._begins(number), mask_runs(mask)
            sums, outcomes = self._read_records(number, begins, mask)
            low, high = self.blocks.low_tiers[number], self.blocks.high_tiers[number]
            firsts = np.append(self.blocks.positions[number], self.tiers.positions[low:high])
            lengths = np.diff(begins, append=len(sums))
            ranks = sums + np.repeat(squeeze(firsts, runs) - sums[begins], lengths)
            if not are_ranks(ranks, begins, mask):
                raise self.damaged("gaps that cannot be true")
            self.check_outcomes(outcomes)
            positions = spread(ranks, runs) | np.repeat(firsts & ~mask, lengths)
            tiers = self.tiers.numbers[low - 1 : high].tolist()
            for tier, begin, length in zip(tiers, begins.tolist(), lengths.tolist(), strict=True):
                yield Piece(tier, positions[begin : begin + length], outcomes[begin : begin + length])

    def check_outcomes(self, outcomes: NDArray) -> None:
        """Raise DamagedDatabase where one is not in the legend."""
        if outcomes.size and int(outcomes.max()) >= len(self.legend):
            raise self.damaged("an outcome is not in the legend")

    def _begins(self, number: int) -> NDArray[np.int64]:
        """Return the indices in a block where tiers begin, 0 first."""
        low, high = self.blocks.low_tiers[number], self.blocks.high_tiers[number]
        return NOUGHT if low == high else np.append(NOUGHT, self.tiers.bounds[low:high] - number * self.block_size)

    def _read_records(self, number: int, begins: NDArray[np.int64], mask: int) -> tuple[NDArray, NDArray]:
        """Return the sums of the gaps, and the outcomes, of a block; zstd's checksum vouches for both."""
        size, kind = self.block_size, self._outcome_dtype
        low = number * size
        count = min(size, self.records - low)
        name = "steps" if self.stepped else "records"

        def read() -> tuple[NDArray, NDArray]:
            content = self._chunk(self._decompressor, name, low, size * self._records_dtype.itemsize)
            planes = without_zeros(content, size, kind.itemsize + 1)
            outcomes = from_planes(planes[: kind.itemsize], kind, count)
            return decode_gaps(planes[kind.itemsize :], count, begins, mask), outcomes

        return self._locked(read)

    @cached_property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Close the file; what is decoded stays."""
        with self._lock:
            self._closed = True
            self._file.close()

    def __enter__(self) -> "DatabaseFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DatabaseFile({str(self.path)!r})"


def check_magic(path: Path) -> None:
    """Raise the error that fits a file that is missing, empty, or not HDF5 as we write it."""
    try:
        with open(path, "rb") as stream:
            magic = stream.read(len(MAGIC))
    except FileNotFoundError:
        raise NoDatabase(f"no database {str(path)!r}; see what there is with: retrograde list") from None
    except OSError as error:
        raise DamagedDatabase(f"cannot read the database {str(path)!r}: {error.strerror}") from error
    if not magic:
        raise NotADatabase(f"{str(path)!r} is empty, and no database")
    if magic != MAGIC:
        raise NotADatabase(f"{str(path)!r} is no database of retrograde")


def check_legend(legend: list[LegendRow], positions: int, stored: int) -> None:
    """Raise ValueError where a legend contradicts itself or the counts."""
    order = [(row.value, row.remoteness) for row in legend]
    sound = all(LOSE <= value <= WIN and (plies == -1 if value == DRAW else plies >= 0) for value, plies in order)
    sums = sum(row.positions for row in legend), sum(row.stored for row in legend)
    if not sound or order != sorted(set(order)) or sums != (positions, stored) or min(row.stored for row in legend) < 1:
        raise ValueError("the legend contradicts itself")


def are_ranks(ranks: NDArray[np.int64], begins: NDArray[np.int64], mask: int) -> bool:
    """Tell whether the numbers in a block ascend within each tier and fit the mask."""
    ascends = ranks[1:] > ranks[:-1]
    ascends[begins[1:] - 1] = True
    return bool(ascends.all()) and int(ranks.max()) >> mask.bit_count() == 0


def columns(table: NDArray, *names: str) -> Iterator[NDArray[np.int64]]:
    """Yield columns of a table as arrays of their own: searching in a column in place is slow."""
    return (np.ascontiguousarray(table[name]) for name in names)


def are_positions(numbers: NDArray[np.int64]) -> bool:
    return bool(((numbers >= 0) & (numbers < POSITION_LIMIT)).all())


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
