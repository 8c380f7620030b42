"""A database file without its blocks: the header, the legend, and access to tables and frames.

Everything is checked when it is read: HDF5 checks its metadata, zstd its frames, and this module what the parts say
about each other. Damage of any kind raises one error, DamagedDatabase, that names the file.
"""

import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import h5py
import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import from_planes
from retrograde.databases.errors import DamagedDatabase, NoDatabase, NotADatabase, OpenElsewhere
from retrograde.databases.frames import LEGEND_ROWS_A_BYTE, ROWS_A_BYTE, FrameReader, digest_of
from retrograde.databases.header import check_length, read_header
from retrograde.databases.layout import FORMAT, LEGEND, MAGIC, LegendRow, legend_dtype
from retrograde.databases.legend import LegendTable
from retrograde.databases.lock import is_open_for_writing
from retrograde.databases.remote import RemoteFile, RemotePath, path_of
from retrograde.games import DRAW, LOSE, WIN, RetrogradeError, Value
from retrograde.games.contract.game import POSITION_LIMIT

Result = TypeVar("Result")
SUPERBLOCK = 48
"""Bytes read from the beginning of a file."""


class CheckedFile:
    """An open file: what all kinds have in common. A context manager.

    Whatever the file holds, only NoDatabase, NotADatabase, UnreadableVersion or DamagedDatabase is raised.
    """

    FORMAT: ClassVar[str] = FORMAT
    """The attribute `format` that the file must have."""
    contents: Any
    """The reader of its blocks, which a subclass sets."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = path_of(path)
        self._datasets: dict[str, h5py.h5d.DatasetID] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._remote = RemoteFile(self.path) if isinstance(self.path, RemotePath) else None
        beginning, length = self.guarded(lambda: read_beginning(self.path, self._remote))
        self.bytes = length
        """The length of the file."""
        self._file = self.guarded(
            lambda: h5py.File(self._remote, "r") if self._remote else open_file(os.fsencode(self.path))
        )
        try:
            self.header, self.attributes = self.guarded(lambda: read_header(self._file, self.path, self.FORMAT))
            self.guarded(lambda: check_length(beginning, self.bytes))
        except BaseException:
            self._file.close()
            raise
        self.take_header()

    def take_header(self) -> None:
        """Copy the header's fields, under the names that callers use."""
        header = self.header
        self.variant, self.game_name, self.options = header.variant, header.game, header.options
        self.rules, self.metric, self.made_with = header.rules, header.metric, header.made_with
        self.positions, self.stored, self.start = header.positions, header.stored, header.start
        self.digest = header.digest
        self.measures, self.details = header.measures, header.details
        """The names of the legend's additional columns, and how they were computed; empty if the metric is remoteness.
        """
        self.legend: Sequence[LegendRow] = []
        self.start_outcome: LegendRow | None = None

    def guarded(self, read: Callable[[], Result]) -> Result:
        """Return `read()`, and turn any exception that means damage into DamagedDatabase."""
        try:
            return read()
        except NotADatabase as error:
            if is_open_for_writing(self.path):  # its header is still to come
                raise self.damaged("") from error
            raise
        except (RetrogradeError, MemoryError):
            raise
        except Exception as error:  # HDF5, h5py, zstd and json raise many kinds
            if self._remote and (failure := self._remote.failure):
                self._remote.failure = None
                raise failure from error
            if self._closed:
                raise ValueError(f"the database {str(self.path)!r} is closed") from None
            first_line = (str(error).splitlines() or [type(error).__name__])[0]
            raise self.damaged(first_line) from error

    def locked(self, read: Callable[[], Result]) -> Result:
        """Like `guarded`, while no other thread reads."""
        with self._lock:
            return self.guarded(read)

    def damaged(self, what: str) -> DamagedDatabase:
        """Return the error for damage, or "in use" if another program is writing the file."""
        if is_open_for_writing(self.path):
            return OpenElsewhere(
                f"{str(self.path)!r} is in use: another program has it open for writing; close it there"
            )
        error = DamagedDatabase(f"the database {str(self.path)!r} is damaged ({what})")
        error.add_note("copy it again, or solve again with --fresh")  # a note, since some callers know better remedies
        return error

    # Datasets. What follows is called guarded, by locked().

    def has_dataset(self, name: str) -> bool:
        """Return whether the root has an entry of this name."""
        root = h5py.h5g.open(self._file.id, b"/")  # `root.links` alone would not keep the group open
        return bool(root.links.exists(name.encode()))

    def open_datasets(self, names: Iterable[str]) -> None:
        """Open datasets of the root; raise ValueError if one is missing or lies in another file."""
        root = h5py.h5g.open(self._file.id, b"/")
        self._datasets.update((name, open_dataset(root, name)) for name in names)

    def length_of(self, name: str) -> int:
        """Return a dataset's length; raise ValueError if it is empty or not one-dimensional."""
        space = self._datasets[name].get_space()
        if space.get_simple_extent_type() != h5py.h5s.SIMPLE or space.get_simple_extent_ndims() != 1:
            raise ValueError(f"the dataset {name} has not one dimension")
        length: int = space.get_simple_extent_dims()[0]
        if length < 1:
            raise ValueError(f"the dataset {name} is empty")
        return length

    def type_of(self, name: str, types: Sequence[np.dtype[Any]], chunk: int) -> np.dtype[Any]:
        """Return which of some types a dataset has.

        *chunk* is the number of items in a chunk. Raises ValueError if the dataset has another type or chunk size.
        """
        dataset = self._datasets[name]
        creation, stored = dataset.get_create_plist(), dataset.get_type()
        if creation.get_layout() == h5py.h5d.CHUNKED and creation.get_chunk() == (chunk,):
            for dtype in types:
                # Before version 8 of the format, values had no names: plain ints in place of an enumeration.
                if any(stored.equal(h5py.h5t.py_create(dtype, logical=has_names)) for has_names in (True, False)):
                    return dtype
        raise ValueError(f"the dataset {name} has another type or chunks than it should")

    def frames_of(self, name: str, chunk: int) -> FrameReader:
        """Return a reader of a dataset's frames, *chunk* items each. The type must have been checked."""
        return FrameReader(self._datasets[name], chunk * self._datasets[name].get_type().get_size())

    def table(self, name: str, dtype: np.dtype[Any], length: int | None = None) -> NDArray[Any]:
        """Return a dataset of one chunk as an array; raise ValueError if its *length* is wrong."""
        rows = self.length_of(name)
        most = LEGEND_ROWS_A_BYTE if name == "legend" else ROWS_A_BYTE
        if length not in (None, rows) or rows > most * self.bytes:
            raise ValueError(f"the table {name} has {rows:,} rows, and cannot")
        self.type_of(name, [dtype], rows)
        frames = self.frames_of(name, rows)
        content = frames.read(0, self.header.checks[name])
        if frames.plain:
            return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))
        return from_planes(np.frombuffer(content, np.uint8).reshape(dtype.itemsize, rows), dtype, rows)

    def read_legend(self) -> None:
        """Read the legend, and find the start's outcome in it."""
        measures = () if self.header.by_bounds else self.measures
        legend = self.table("legend", legend_dtype(measures))
        check_legend(legend, self.positions, self.stored)
        # With measures there may be millions of rows, which are made on demand.
        self.legend = (
            LegendTable(legend) if measures else [LegendRow(Value(row[0]), *row[1:]) for row in legend.tolist()]
        )
        self.find_start()

    def find_start(self) -> None:
        """Find the start's outcome in the legend; raise ValueError if it is not there."""
        # Case: bounds by slot, whose legend has no row for the start.
        if self.header.start_bounds and self.header.start_outcome:
            value, plies = self.header.start_outcome
            self.start_outcome = LegendRow(Value(value), plies, 0, 0, 0, self.header.start_bounds)
            return
        # Case: another metric. The header names the row.
        if self.header.start_row is not None:
            self.start_outcome = self.legend[self.header.start_row]
            if self.start_outcome[:2] != self.header.start_outcome:
                raise ValueError("the start is worth one thing here, and another there")
        # Case: remoteness. Value and remoteness identify the row.
        elif self.header.start_outcome is not None:
            rows = (row for row in self.legend if (row.value, row.remoteness) == self.header.start_outcome)
            self.start_outcome = next(rows, None)
            if self.start_outcome is None:
                raise ValueError("the start is worth what no position is")

    # The whole

    def check(self, progress: Callable[[int], object] = lambda records: None) -> None:
        """Read every frame and compare the digest; raise DamagedDatabase if anything has changed. *progress* gets the
        number of records read so far."""
        self.contents.read_tables()
        datasets = {name: self._check_dataset(name, progress) for name in self._datasets}
        if digest_of(self.attributes, datasets) != self.digest:
            raise self.damaged("it has not the digest that it should have")

    def _check_dataset(self, name: str, progress: Callable[[int], object]) -> tuple[int, int, str]:
        """Read and check a dataset's frames; return its length, its chunk size and the frames' digest."""
        has_blocks = name == self.contents.DATASET  # a table has one chunk
        length, digest = self.length_of(name), sha256()
        chunk = self.contents.block_size if has_blocks else length
        frames = self.contents.frames if has_blocks else self.frames_of(name, chunk)
        for first in range(0, length, chunk):
            self.locked(lambda: digest.update(frames.frame(first)))  # noqa: B023  # called at once
            if has_blocks:
                self.contents.check_block(first // chunk)
                progress(min(first + chunk, length))
        return length, chunk, digest.hexdigest()

    def close(self) -> None:
        """Close the file; blocks already decoded stay usable."""
        with self._lock:
            self._closed = True
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


def read_beginning(path: Path, remote: RemoteFile | None = None) -> tuple[bytes, int]:
    """Return a file's first bytes and its length; raise NoDatabase, NotADatabase or DamagedDatabase.

    Only a regular file is read: a pipe or device might never end, or never begin.
    """
    if remote:
        return expect_magic(remote.read(SUPERBLOCK) or b"", path), remote.size
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise NotADatabase(f"{str(path)!r} is no regular file, and no database")
            beginning = stream.read(SUPERBLOCK)
    except FileNotFoundError:
        raise NoDatabase(f"no database {str(path)!r}; see what there is with: retrograde list") from None
    except NotADatabase:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DamagedDatabase(f"cannot read the database {str(path)!r}: {reason}") from error
    return expect_magic(beginning, path), status.st_size


def expect_magic(beginning: bytes, path: Path) -> bytes:
    """Return the first bytes of a database; raise NotADatabase if they are not."""
    if not beginning:
        raise NotADatabase(f"{str(path)!r} is empty, and no database")
    if not beginning.startswith(MAGIC):
        raise NotADatabase(f"{str(path)!r} is no database of retrograde")
    return beginning


def open_file(path: bytes) -> h5py.File:
    """Open an HDF5 file for reading, with whatever locks HDF5 allows.

    If a file is open already in this process, it must be opened with the same locking, so h5py's default comes first. A
    file that another process has locked, or on a disk without locks, is opened without locking.
    """
    for locking in (None, True):
        with suppress(OSError):
            return h5py.File(path, "r", locking=locking)
    return h5py.File(path, "r", locking=False)


def open_dataset(root: h5py.h5g.GroupID, name: str) -> h5py.h5d.DatasetID:
    """Return a dataset of the root; raise ValueError if it is missing or lies in another file."""
    link = name.encode()
    if not root.links.exists(link) or root.links.get_info(link).type != h5py.h5l.TYPE_HARD:
        raise ValueError(f"it has no dataset {name}")
    dataset = h5py.h5d.open(root, link)
    if dataset.get_create_plist().get_external_count():
        raise ValueError(f"the dataset {name} lies in another file")
    return dataset


def check_legend(legend: NDArray[Any], positions: int, stored: int) -> None:
    """Raise ValueError if a legend contradicts itself or the counts."""
    values, plies = legend["value"].astype(np.int64), legend["remoteness"].astype(np.int64)
    measures = [legend[name] for name in legend.dtype.names or () if name not in (LEGEND.names or ())]
    keys = np.stack([values, plies, *measures])
    outcomes_fit = (values >= LOSE) & (values <= WIN) & np.where(values == DRAW, plies == -1, plies >= 0)
    counts_fit = (legend["stored"] >= 1) & (legend["stored"] <= legend["positions"])
    counts_fit &= legend["positions"] <= positions
    if not (outcomes_fit.all() and counts_fit.all() and are_positions(legend["example"]) and rows_ascend(keys)):
        raise ValueError("the legend contradicts itself")
    sums = [sum(legend[column].tolist()) for column in ("positions", "stored")]  # Python's ints never overflow
    if sums != [positions, stored]:
        raise ValueError("the legend does not add up")


def rows_ascend(keys: NDArray[np.int64]) -> bool:
    """Return whether a table's rows ascend lexicographically; *keys* are its columns, int64[columns, rows].

    >>> rows_ascend(np.array([[1, 1, 2], [5, 6, 0]])), rows_ascend(np.array([[1, 1, 2], [5, 5, 0]]))
    (True, False)
    """
    tied = np.ones(keys.shape[1] - 1, np.bool_)  # whether each row equals the one before in the columns so far
    for key in keys:
        if (key[1:] < key[:-1])[tied].any():
            return False
        tied &= key[1:] == key[:-1]
    return not tied.any()


def columns(table: NDArray[Any], *names: str) -> Iterator[NDArray[np.int64]]:
    """Yield columns of a table as contiguous arrays: searching a column in place is slow."""
    return (np.ascontiguousarray(table[name]) for name in names)


def are_positions(numbers: NDArray[np.int64]) -> bool:
    """Return whether all numbers are from 0 to POSITION_LIMIT - 1, as positions, masks and ranks are."""
    return bool(((numbers >= 0) & (numbers < POSITION_LIMIT)).all())


def ascends(numbers: NDArray[np.int64]) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
