"""A database file as arrays and facts, without any rules.

Everything read is checked: metadata by HDF5, contents by zstd's checksums, and what they say against one another. Any
damage, wherever it shows, is one error that names the file.
"""

import os
import stat
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

import h5py
import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import (
    Runs,
    decode_gaps,
    from_planes,
    mask_runs,
    spread,
    squeeze,
    without_zeros,
)
from retrograde.databases.errors import DamagedDatabase, NoDatabase, NotADatabase
from retrograde.databases.frames import LEAST_FRAME, LEGEND_ROWS_A_BYTE, ROWS_A_BYTE, FrameReader, digest_of
from retrograde.databases.header import check_length, read_header
from retrograde.databases.layout import (
    BLOCK,
    BLOCKS,
    COUNTS,
    DENSE_BLOCK,
    DENSE_BLOCKS,
    DENSE_TIERS,
    GAPS,
    LEGEND,
    MAGIC,
    STEP_BLOCK,
    STEP_BLOCKS,
    STEP_TIERS,
    TIERS,
    CountRow,
    LegendRow,
    in_version,
    outcome_dtype,
    records_dtype,
)
from retrograde.games import DRAW, LOSE, WIN, RetrogradeError, Value

Result = TypeVar("Result")

POSITION_LIMIT = 1 << 62
SUPERBLOCK = 48
"""Bytes at the beginning of a file."""
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
    """An open database file: attributes, tables, and blocks of records. A context manager.

    Raises NoDatabase, NotADatabase, VersionTooNew or DamagedDatabase, and nothing else, whatever the file holds.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._lock = threading.Lock()
        self._closed = False
        beginning, self.bytes = read_beginning(self.path)
        """The length of the file."""
        self._file = self._guarded(lambda: h5py.File(os.fsencode(self.path), "r", locking=False))
        try:
            self.header, self.attributes = self._guarded(lambda: read_header(self._file, self.path))
            self._guarded(lambda: check_length(beginning, self.bytes))
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

    def _read_metadata(self) -> None:
        header = self.header
        self.variant, self.game_name, self.options = header.variant, header.game, header.options
        self.rules, self.metric, self.made_with = header.rules, header.metric, header.made_with
        self.positions, self.stored, self.start = header.positions, header.stored, header.start
        self.digest = header.digest
        root = h5py.h5g.open(self._file.id, b"/")
        self.dense = root.links.exists(b"slots")
        """Whether the positions are numbered by the rules of the game, and not stored."""
        self.stepped = root.links.exists(b"steps")
        """Whether it holds steps, and no positions."""
        self._blocks_of = "slots" if self.dense else "steps" if self.stepped else "records"
        tables = ["legend", "tiers"] + ["counts"] * self.dense + ["blocks"] * (header.version > 1 or not self.dense)
        self._datasets = {name: open_dataset(root, name) for name in (*tables, self._blocks_of)}
        if header.version > 1 and header.checks.keys() != set(tables):
            raise ValueError("its attribute checks does not name the tables")
        legend = self._table("legend", LEGEND)
        check_legend(legend, self.positions, self.stored)
        self.legend = [LegendRow(Value(row[0]), *row[1:]) for row in legend.tolist()]
        self.start_outcome: LegendRow | None = None
        if header.start_outcome is not None:
            found = (row for row in self.legend if (row.value, row.remoteness) == header.start_outcome)
            self.start_outcome = next(found, None)
            if self.start_outcome is None:
                raise ValueError("the start is worth what no position is")
        self._read_shape(outcome_dtype(len(self.legend)))

    def _read_shape(self, outcome: np.dtype) -> None:
        """Read what the blocks are like; outcomes are of the type given."""
        name = self._blocks_of
        self.records = length_of(self._datasets[name])
        block = {"records": BLOCK, "steps": STEP_BLOCK, "slots": DENSE_BLOCK}[name]
        self.block_size = min(block, self.records)
        types = [outcome] if self.dense else [records_dtype(outcome, gap) for gap in GAPS]
        self._outcome_dtype, self._records_dtype = outcome, self._expect(name, types, self.block_size)
        self.block_count = -(-self.records // self.block_size)
        if self.block_count * LEAST_FRAME > self.bytes:
            raise ValueError(f"{self.block_count:,} blocks are more than {self.bytes:,} bytes can hold")
        if self.dense:
            self.slots: int = self.records
            if self.stored > self.slots:
                raise ValueError(f"{self.stored:,} positions are more than {self.slots:,} slots can hold")
        elif not self.stepped and self.records != self.stored:
            raise ValueError(f"there are {self.records:,} records, and should be {self.stored:,}")
        self._frames = FrameReader(self._datasets[name], self.block_size * self._records_dtype.itemsize)

    def _expect(self, name: str, types: list[np.dtype], chunk: int) -> np.dtype:
        """Return which of some types a dataset has; raise ValueError where it has none, or other chunks."""
        dataset = self._datasets[name]
        creation, kind = dataset.get_create_plist(), dataset.get_type()
        for dtype in types:
            fits = kind.equal(h5py.h5t.py_create(dtype, logical=False))
            if fits and creation.get_layout() == h5py.h5d.CHUNKED and creation.get_chunk() == (chunk,):
                return dtype
        raise ValueError(f"the dataset {name} has another type or chunks than it should")

    def _table(self, name: str, dtype: np.dtype, length: int | None = None) -> NDArray:
        """Return a dataset of one chunk; raise ValueError where it has another *length*, if that is known."""
        dtype = in_version(dtype, self.header.version)
        rows = length_of(self._datasets[name])
        most = LEGEND_ROWS_A_BYTE if name == "legend" else ROWS_A_BYTE
        if length not in (None, rows) or rows > most * self.bytes:
            raise ValueError(f"the table {name} has {rows:,} rows, and cannot")
        self._expect(name, [dtype], rows)
        frames = FrameReader(self._datasets[name], rows * dtype.itemsize)
        content = frames.read(0, self.header.checks.get(name))
        return from_planes(np.frombuffer(content, np.uint8).reshape(dtype.itemsize, rows), dtype, rows)

    @cached_property
    def _block_table(self) -> NDArray:
        """The table of blocks, a row for each, read once. The lock must be held."""
        dtype = DENSE_BLOCKS if self.dense else STEP_BLOCKS if self.stepped else BLOCKS
        return self._table("blocks", dtype, self.block_count)

    @cached_property
    def _checks(self) -> list[int] | None:
        """The checksum of each block's frame; None in version 1, which has none."""
        if self.header.version == 1:
            return None
        return self._locked(lambda: self._block_table["check"].tolist())

    def _content(self, number: int) -> bytes:
        """Return the content of the frame of a block. The lock must be held."""
        return self._frames.read(number * self.block_size, None if self._checks is None else self._checks[number])

    def check(self, progress: Callable[[int], object] = lambda records: None) -> None:
        """Read every frame, and hold them against the digest; raise DamagedDatabase where anything is not as written.

        *progress* is told how many records have been read. Nothing is solved again, and no rules are needed.
        """
        tables = {"slots": ("dense_tiers", "counts"), "steps": ("step_tiers", "step_ranks"), "records": ("blocks",)}
        for table in ("_checks", *tables[self._blocks_of]):
            getattr(self, table)  # is held against the rest when it is read
        datasets = {}
        for name, dataset in self._datasets.items():
            (chunk,), length = dataset.get_create_plist().get_chunk(), length_of(dataset)
            blocks = name == self._blocks_of
            frames = self._frames if blocks else FrameReader(dataset, chunk * dataset.get_type().get_size())
            digest = sha256()
            for first in range(0, length, chunk):
                self._locked(lambda: digest.update(frames.frame(first)))  # noqa: B023  # called at once
                if blocks:
                    self._read_any(first // chunk)
                    progress(min(first + chunk, length))
            datasets[name] = length, chunk, digest.hexdigest()
        if self.digest is not None and digest_of(self.attributes, datasets) != self.digest:
            raise self.damaged("it has not the digest that it should have")

    def _read_any(self, number: int) -> None:
        """Decode a block, of whatever kind."""
        if self.dense:
            self.read_slots(number)
        elif self.stepped:
            self.read_steps(number)
        else:
            list(self.pieces_of(number))

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
        tiers = set(self.dense_tiers.numbers.tolist())
        for row in rows:
            if not 0 <= row.outcome < len(stored):
                raise self.damaged("a count is of an outcome that is not in the legend")
            if row.tier not in tiers or row.part < 0 or not 0 <= row.example < POSITION_LIMIT:
                raise self.damaged("a count is of a tier or a part that there is not")
            stored[row.outcome] += row.stored
        if stored != [row.stored for row in self.legend]:
            raise self.damaged("the counts do not add up to the legend")
        return rows

    def read_slots(self, number: int) -> NDArray:
        """Return the outcomes, as rows of the legend, of a block of slots."""
        size, kind = self.block_size, self._outcome_dtype
        count = min(size, self.slots - number * size)

        def read() -> NDArray:
            content = np.frombuffer(self._content(number), np.uint8)
            return from_planes(content.reshape(kind.itemsize, size), kind, count)

        self._checks  # noqa: B018  # before the lock is taken
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
        ranks = self._locked(lambda: next(columns(self._block_table, "rank")))
        if not are_positions(ranks):
            raise self.damaged("the table of blocks holds what no rank can be")
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
        positions, masks = columns(self._block_table, "position", "mask")
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
        for number in range(self.block_count):
            yield from self.pieces_of(number)

    def pieces_of(self, number: int) -> Iterator[Piece]:
        """Yield the records of one block."""
        mask = int(self.blocks.masks[number])
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

        def read() -> tuple[NDArray, NDArray]:
            planes = without_zeros(self._content(number), size, kind.itemsize + 1)
            outcomes = from_planes(planes[: kind.itemsize], kind, count)
            return decode_gaps(planes[kind.itemsize :], count, begins, mask), outcomes

        self._checks  # noqa: B018  # before the lock is taken
        return self._locked(read)

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


def read_beginning(path: Path) -> tuple[bytes, int]:
    """Return the first bytes of a file, and its length; raise what fits one that is missing, or not HDF5 as we write
    it. Nothing but a regular file is read: another might never end, or never begin."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
            about = os.fstat(stream.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise NotADatabase(f"{str(path)!r} is no regular file, and no database")
            beginning = stream.read(SUPERBLOCK)
    except FileNotFoundError:
        raise NoDatabase(f"no database {str(path)!r}; see what there is with: retrograde list") from None
    except NotADatabase:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DamagedDatabase(f"cannot read the database {str(path)!r}: {reason}") from error
    if not beginning:
        raise NotADatabase(f"{str(path)!r} is empty, and no database")
    if not beginning.startswith(MAGIC):
        raise NotADatabase(f"{str(path)!r} is no database of retrograde")
    return beginning, about.st_size


def open_dataset(root: h5py.h5g.GroupID, name: str) -> h5py.h5d.DatasetID:
    """Return a dataset of the root; raise ValueError where it is none, or lies in another file."""
    link = name.encode()
    if not root.links.exists(link) or root.links.get_info(link).type != h5py.h5l.TYPE_HARD:
        raise ValueError(f"it has no dataset {name}")
    dataset = h5py.h5d.open(root, link)
    if dataset.get_create_plist().get_external_count():
        raise ValueError(f"the dataset {name} lies in another file")
    return dataset


def length_of(dataset: h5py.h5d.DatasetID) -> int:
    """Return how many items a dataset has; raise ValueError where it is none of one dimension, or empty."""
    space = dataset.get_space()
    if space.get_simple_extent_type() != h5py.h5s.SIMPLE or space.get_simple_extent_ndims() != 1:
        raise ValueError("a dataset has not one dimension")
    (length,) = space.get_simple_extent_dims()
    if length < 1:
        raise ValueError("a dataset is empty")
    return length


def check_legend(legend: NDArray, positions: int, stored: int) -> None:
    """Raise ValueError where a legend contradicts itself or the counts."""
    values, plies = legend["value"].astype(np.int64), legend["remoteness"].astype(np.int64)
    sound = ((values >= LOSE) & (values <= WIN) & np.where(values == DRAW, plies == -1, plies >= 0)).all()
    ascends = (np.diff(values << 32 | plies & 0xFFFFFFFF) > 0).all()
    counted = (legend["stored"] >= 1) & (legend["stored"] <= legend["positions"]) & (legend["positions"] <= positions)
    if not (sound and ascends and counted.all() and are_positions(legend["example"])):
        raise ValueError("the legend contradicts itself")
    sums = [sum(legend[column].tolist()) for column in ("positions", "stored")]  # Python's ints never overflow
    if sums != [positions, stored]:
        raise ValueError("the legend does not add up")


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
