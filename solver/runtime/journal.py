"""The journal: a file beside the database with a solve's results so far, which survives a kill.

It is a sequence of entries and only ever grows. An entry is a name and some arrays, with checksums. After a kill the
last entry may be half-written: reading stops before it, and writing continues there::

    | "RGJ1" | length of header | crc32 of header | header (JSON) | arrays, one after another |
                                                     name, types and lengths, crc32 of each array
"""

import json
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from retrograde.databases.durable import sync_folder
from retrograde.databases.errors import CannotWrite, expect_disk
from retrograde.solver.runtime.array_type import Array

PREFIX = struct.Struct("<4sII")
MAGIC = b"RGJ1"


class Journal:
    """An append-only file of named arrays; a context manager. The writer must hold the database's lock."""

    def __init__(self, path: Path, identity: str | Callable[[], str], fresh: bool = False):
        """Open a journal, empty if *fresh* or if it has another *identity*, which may be a function that finds it. The
        file is made when the first entry is added. Raise CannotWrite on failure."""
        self.path, self.identity = path, identity
        self.file: BinaryIO | None = None
        self.end = 0
        self.named = False
        """Whether the file's name survives a power cut, since its folder was synced."""
        self.adding = threading.Lock()
        """Held while an entry is added: several threads may log at once."""
        self.found: dict[str, Entries] = {}
        """The entries of earlier runs by name, until `log` takes them."""
        self.dropped = False
        """Whether the journal had entries of an outdated solve."""
        with self.expect_disk():
            if path.exists():
                self.find_entries(fresh)

    def find_entries(self, fresh: bool) -> None:
        """Find the entries of an earlier run. Delete the file if they are of no use."""
        # The first entry is the identity, without arrays. A journal of another identity is outdated.
        entries = self.entries()
        first = next(entries, None)
        if not fresh and first == (self.first_entry(), []):
            # Keep only the offsets: together the entries may be large. Reading an entry moves `end` behind it.
            begin = self.end
            for name, _ in entries:
                self.found.setdefault(name, Entries(self.path, [])).offsets.append(begin)
                begin = self.end
            self.file = open(self.path, "ab")  # noqa: SIM115  # closed by __exit__
            return
        self.dropped = not fresh and first is not None and next(entries, None) is not None
        entries.close()
        self.path.unlink()
        self.end = 0

    def first_entry(self) -> str:
        """Return the identity."""
        return self.identity if isinstance(self.identity, str) else self.identity()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        # Closing may fail again on data that could not be written; that was reported already.
        with self.adding, suppress(OSError):
            if self.file:
                self.file.close()

    def sync(self) -> None:
        """Make all entries survive a power cut, before files that they replace are deleted."""
        if self.file is None:
            return
        with self.expect_disk():
            os.fsync(self.file.fileno())
            if not self.named:
                sync_folder(self.path.parent)
                self.named = True

    def log(self, name: str, pause: float) -> "Log":
        """Return the log of a name, with its entries of earlier runs; it writes at most every *pause* seconds."""
        return Log(self, name, self.found.pop(name, Entries(self.path, [])), pause)

    def expect_disk(self) -> AbstractContextManager[None]:
        """Raise CannotWrite if the disk refuses something meanwhile."""
        return expect_disk(repr(str(self.path)))

    def append(self, name: str, *arrays: Array) -> None:
        """Add an entry: a name and arrays. Any thread may call this. Raise CannotWrite if that fails."""
        content = pack_entry(name, arrays)
        with self.adding, self.expect_disk():
            # The identity is found before the file is made, so that Ctrl-C leaves none empty.
            first = pack_entry(self.first_entry(), ()) if self.end == 0 else []
            if self.file is None:
                self.file = open(self.path, "wb")  # noqa: SIM115  # closed by __exit__
            for entry in filter(None, (first, content)):
                self.write(self.file, entry)

    def write(self, file: BinaryIO, content: list[bytes | memoryview]) -> None:
        """Write an entry after the last whole one."""
        file.truncate(self.end)  # cut off what a kill or a full disk left after the last whole entry
        file.seek(self.end)
        for part in content:
            file.write(part)
        file.flush()
        self.end = file.tell()

    def entries(self) -> Generator[tuple[str, list[Array]], None, None]:
        """Yield the names and arrays of all whole entries, in order; the next append goes after the last one read."""
        self.end = 0
        with open(self.path, "rb") as file:
            while (entry := read_entry(file)) is not None:
                self.end = file.tell()
                yield entry


@dataclass
class Entries:
    """The entries of one name, by file offset. Each is read when it is needed, since together they may be large."""

    path: Path
    offsets: list[int]

    def __len__(self) -> int:
        return len(self.offsets)

    def __iter__(self) -> Iterator[list[Array]]:
        for number in range(len(self.offsets)):
            yield self.entry(number)

    def entry(self, number: int) -> list[Array]:
        """Return the arrays of entry number *number*."""
        with open(self.path, "rb") as file:
            file.seek(self.offsets[number])
            if (entry := read_entry(file)) is None:
                raise CannotWrite(f"cannot read {str(self.path)!r} again; begin anew with --fresh")
        return entry[1]

    def clear(self) -> None:
        self.offsets.clear()

    def __delitem__(self, numbers: slice) -> None:
        del self.offsets[numbers]


def pack_entry(name: str, arrays: Iterable[Array]) -> list[bytes | memoryview]:
    """Return an entry in the format of the journal: its header, and the bytes of each array."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    descriptions = [(array.dtype.str, len(array), zlib.crc32(array.data)) for array in arrays]
    header = json.dumps([name, descriptions]).encode()
    content = [array.data.cast("B") if len(array) else b"" for array in arrays]
    return [PREFIX.pack(MAGIC, len(header), zlib.crc32(header)) + header, *content]


def read_entry(file: BinaryIO) -> tuple[str, list[Array]] | None:
    """Return the name and the arrays of the next entry; None if it is missing, incomplete or damaged."""
    if (header := read_header(file)) is None:
        return None
    name, descriptions = header
    arrays = []
    for dtype, items, checksum in descriptions:
        array = np.frombuffer(file.read(items * np.dtype(dtype).itemsize), np.uint8)
        if len(array) != items * np.dtype(dtype).itemsize or zlib.crc32(array.data) != checksum:
            return None
        arrays.append(array.view(dtype))
    return name, arrays


def read_header(file: BinaryIO) -> tuple[str, list[tuple[str, int, int]]] | None:
    """Return the next entry's name, and (type, length, checksum) of each of its arrays; None as in `read_entry`."""
    try:
        magic, length, checksum = PREFIX.unpack(file.read(PREFIX.size))
    except struct.error:
        return None
    header = file.read(length)
    if magic != MAGIC or not header or zlib.crc32(header) != checksum:  # the checksum of nothing is 0
        return None
    name, descriptions = json.loads(header)
    return name, descriptions


def is_to_replace(database: Path) -> bool:
    """Return whether the journal beside a finished database is of a solve that was to replace it, and was
    interrupted."""
    try:
        found = database.with_name(f"{database.name}.journal").stat()
        return found.st_size > 0 and found.st_mtime_ns > database.stat().st_mtime_ns
    except OSError:  # one of them is missing
        return False


FEW = 4
"""The most items of a first array that `outline` reads."""


def outline(path: Path) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield each entry's name, its arrays' lengths, and the items of its first array if they are few.

    Nothing else is read or checked, so a large journal is reported fast.
    """
    end = path.stat().st_size
    with open(path, "rb") as file:
        while (header := read_header(file)) is not None:
            name, descriptions = header
            sizes = [items * np.dtype(dtype).itemsize for dtype, items, _ in descriptions]
            begin = file.tell()
            if min(sizes, default=0) < 0 or begin + sum(sizes) > end:
                return  # not a journal, or cut off by a kill
            dtype, items, _ = descriptions[0] if descriptions else ("", FEW + 1, 0)  # without arrays: as if too many
            first = np.frombuffer(file.read(sizes[0]), dtype).tolist() if items <= FEW else []
            yield name, [items for _, items, _ in descriptions], first
            file.seek(begin + sum(sizes))


class Log:
    """The journal's entries of one name: those found, and new ones. A journal is written now and then."""

    def __init__(self, journal: Journal | None, name: str, resumed: "Entries", pause: float):
        self.journal = journal
        self.name = name
        self.resumed = resumed
        self.pause = pause
        self.unwritten: list[tuple[Array, ...]] = []
        self.written = time.monotonic()

    def add(self, entry: tuple[Array, ...]) -> None:
        """Add an entry; its arrays must not change until it is written."""
        self.unwritten.append(entry)

    def write(self) -> None:
        """Write the added entries, unless the last write was less than *pause* seconds ago."""
        if self.unwritten and self.is_due():
            self.flush()

    def is_due(self) -> bool:
        """Return whether the last write is at least *pause* seconds ago."""
        return time.monotonic() - self.written >= self.pause

    def flush(self) -> None:
        """Write the added entries."""
        if self.journal:
            for entry in self.unwritten:
                self.journal.append(self.name, *entry)
        self.unwritten.clear()
        self.written = time.monotonic()

    def since_restart(self) -> Entries:
        """Return the entries since the last restart from scratch (an empty entry), and forget those before."""
        last_restart = max((number for number, entry in enumerate(self.resumed) if not entry), default=-1)
        del self.resumed[: last_restart + 1]
        return self.resumed

    def restart(self) -> None:
        """Log a restart from scratch (an empty entry), durably, before anything is deleted."""
        self.resumed.clear()
        self.add(())
        self.settle()

    def settle(self) -> None:
        """Write the added entries, so that they survive a power cut."""
        self.flush()
        if self.journal:
            self.journal.sync()
