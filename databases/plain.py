"""Reads databases in plain Python, from bytes that a function fetches: without HDF5, NumPy or the zstd package.

An *index* beside the file says where each frame lies, so that a reader needs no HDF5. A browser fetches the frames of a
published database in this way::

    index = index_of(DatabaseFile(path))         written once, as JSON
    file = PlainFile(index, fetch)               fetch(begin, end) returns bytes of the file
    database = database_of(file, matching_game(file, None))

The classes that find positions are those of all databases. Only the readers of tables and blocks differ: they give
lists where the others give arrays. Frames, tables and headers are checked as always.
"""

import sys
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any
from zlib import crc32

from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.encoding import mask_runs
from retrograde.databases.file import DatabaseFile
from retrograde.databases.frames import checksum_of
from retrograde.databases.header import header_of
from retrograde.databases.legend import row_of
from retrograde.databases.reader import Reader, SlotReader
from retrograde.databases.records.read import RecordBlock, RecordBlocks, RecordsReader
from retrograde.databases.rows.read import RowBlock, RowsReader
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.read import OutcomeReader, SlotsReader
from retrograde.databases.steps.read import StepsReader

CODES = {"|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q", "<i4": "i", "<i8": "q"}
"""The codes of the module `array` by NumPy's names of types."""

Fetch = Callable[[int, int], bytes]
"""Returns the bytes of a file from a begin to an end (exclusive)."""


def index_of(file: DatabaseFile) -> dict[str, Any]:
    """Return what `PlainFile` needs besides a database's bytes, ready for JSON.

    `frames` has the gap before each frame, in which HDF5 may put an index of its own, and its size.
    """
    datasets = {}
    for name, dataset in file._datasets.items():
        chunks = [dataset.get_chunk_info(number) for number in range(dataset.get_num_chunks())]
        ends = [0, *(chunk.byte_offset + chunk.size for chunk in chunks)]
        names = dataset.dtype.names
        kinds = {name: dataset.dtype[name].str for name in names} if names else {"": dataset.dtype.str}
        datasets[name] = {
            "rows": file.length_of(name),
            "chunk": dataset.get_create_plist().get_chunk()[0],
            "fields": {name: CODES[kind] for name, kind in kinds.items()},
            "plain": dataset.get_create_plist().get_nfilters() == 0,
            "frames": [[chunk.byte_offset - end, chunk.size] for chunk, end in zip(chunks, ends, strict=False)],
        }
    return {"file": file.path.name, "bytes": file.bytes, "attributes": file.attributes, "datasets": datasets}


def decompress(frame: bytes) -> bytes:
    """Return the content of a zstd frame, whose checksum is checked."""
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "zstandard")
    return bytes(zstd.decompress(frame))


class Column(list[Any]):
    """A column of a table: a list with those methods of an array that finding positions takes."""

    @property
    def data(self) -> "Column":
        return self

    def tolist(self) -> "Column":
        return self

    def searchsorted(self, key: int, side: str = "left") -> int:
        return (bisect_right if side == "right" else bisect_left)(self, key)


def column(items: Iterable[Any] = ()) -> Any:
    """Return items in place of an array."""
    return Column(items)


class Table(dict[str, Column]):
    """A table by columns."""

    def tolist(self) -> list[tuple[Any, ...]]:
        """Return the rows."""
        return [*zip(*self.values(), strict=True)]


class Dataset:
    """The frames of a dataset. *facts* are what `index_of` says of it."""

    def __init__(self, facts: dict[str, Any], fetch: Fetch):
        self.rows, self.chunk, self.fetch, self.plain = facts["rows"], facts["chunk"], fetch, facts["plain"]
        self.fields = {name: array(code) for name, code in facts["fields"].items()}
        self.width = sum(field.itemsize for field in self.fields.values())
        self.spans, end = [], 0
        for gap, size in facts["frames"]:
            self.spans.append((end + gap, end := end + gap + size))

    def columns(self, number: int, check: int) -> list[Any]:
        """Return the columns of the items in a chunk; raise ValueError if the frame's checksum or size is wrong."""
        frame = self.fetch(*self.spans[number])
        if (crc32(frame) if self.plain else checksum_of(frame)) != check:
            raise ValueError("a frame is not where it belongs")
        content = frame if self.plain else decompress(frame)
        if len(content) != self.chunk * self.width:
            raise ValueError(f"a frame has {len(content)} bytes, and should have {self.chunk * self.width}")
        # A plain table has item after item; else the first bytes of all items come first, then the second bytes, …
        count, columns, offset = min(self.chunk, self.rows - number * self.chunk), [], 0
        for field in self.fields.values():
            items = bytearray(count * field.itemsize)
            for byte in range(field.itemsize):  # byte number `offset` of each item
                first, step = (offset, self.width) if self.plain else (offset * self.chunk, 1)
                items[byte :: field.itemsize] = content[first : first + count * step : step]
                offset += 1
            columns.append(array(field.typecode, bytes(items)))
        return columns


class PlainFile(DatabaseFile):
    """A database file whose bytes a function fetches."""

    def __init__(self, index: dict[str, Any], fetch: Fetch):
        self.path, self.bytes = Path(index["file"]), index["bytes"]
        self._lock, self._closed, self._remote = threading.RLock(), False, None
        self.attributes = index["attributes"]
        self.header = self.guarded(lambda: header_of(self.attributes, self.path))
        self.take_header()
        self.datasets = {name: Dataset(description, fetch) for name, description in index["datasets"].items()}
        rows = self.guarded(lambda: self.table("legend").tolist())
        self.legend = [row_of(row) for row in rows]
        self.guarded(self.find_start)
        self.contents = self.guarded(lambda: next(kind for kind in KINDS if kind.DATASET in self.datasets)(self))

    def table(self, name: str, *_: object) -> Any:
        """Return a table by columns."""
        dataset = self.datasets[name]
        columns = dataset.columns(0, self.header.checks[name])
        return Table((name, Column(column)) for name, column in zip(dataset.fields, columns, strict=True))

    def close(self) -> None:
        """Close nothing: bytes are fetched when they are needed."""


# The readers of all kinds of storage


class PlainReader(Reader):
    """Reads blocks as columns."""

    def __init__(self, file: PlainFile):
        self.file, self.legend = file, file.legend
        self.data = file.datasets[self.DATASET]
        self.length, self.block_size = self.data.rows, self.data.chunk

    @cached_property
    def block_table(self) -> Any:
        return self.file.locked(lambda: self.file.table("blocks", self.ROW))

    def columns(self, number: int) -> Any:
        """Return the columns of a block."""
        return self.file.locked(lambda: self.data.columns(number, self.checks[number]))

    def table(self, name: str) -> Any:
        return self.file.locked(lambda: self.file.table(name, self.ROW))

    def _read_tiers(self) -> Any:
        numbers, begins, *others = self.table("tiers").values()
        return self.TIERS[0](numbers, column([*begins, self.slots]), *others)


class PlainSlotReader(PlainReader, SlotReader):
    """Reads slots."""


class PlainRecords(PlainReader, RecordsReader):
    """Reads records."""

    @cached_property
    def blocks(self) -> Any:
        return RecordBlocks(self.block_table["position"], self.block_table["mask"], column(), column())

    def read_block(self, number: int) -> Any:
        outcomes, gaps = self.columns(number)
        mask = self.blocks.masks[number]
        return RecordBlock(mask_runs(mask), ~mask, column(accumulate(gaps)), outcomes)


class PlainSteps(PlainReader, StepsReader):
    """Reads steps."""

    @cached_property
    def ranks(self) -> Any:
        return self.block_table["rank"]

    def read_block(self, number: int) -> Any:
        outcomes, gaps = self.columns(number)
        return column(accumulate(gaps)), outcomes


class PlainRows(PlainSlotReader, RowsReader):
    """Reads positions of several words."""

    def __init__(self, file: PlainFile):
        super().__init__(file)
        self.width = len(self.data.fields) - 1

    def read_block(self, number: int) -> Any:
        outcomes, *words = self.columns(number)
        return RowBlock(column(column(row) for row in zip(*words, strict=True)), outcomes)


class PlainOutcomes(PlainSlotReader, OutcomeReader):
    """Reads the outcomes of slots."""

    def read_block(self, number: int) -> Any:
        return self.columns(number)[0]


class PlainSlots(PlainOutcomes, SlotsReader):
    """Reads all slots."""


class PlainCompact(PlainOutcomes, CompactReader):
    """Reads the slots that a compact file keeps."""

    @cached_property
    def firsts(self) -> Any:
        return column(part.slot for part in self.parts)


class PlainBounds(PlainSlotReader, BoundsReader):
    """Reads bounds."""

    def read_block(self, number: int) -> Any:
        low, width = self.columns(number)
        return low, [*map(sum, zip(low, width, strict=True))]


KINDS: tuple[Any, ...] = (PlainRecords, PlainRows, PlainSteps, PlainSlots, PlainCompact, PlainBounds)
