"""The journal: what a solve has found so far, in a file beside the database, so that it survives being killed.

It is a sequence of entries, each a name and some arrays, with a checksum; it is only ever added to. After a kill the
last entry may be half-written: reading stops before it, and writing goes on there::

    | "RGJ1" | length of header | crc32 of header | header (JSON) | arrays, one after another |
                                                     name, types and lengths, crc32 of each array
"""

import json
import os
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from retrograde.databases.durable import sync_folder
from retrograde.databases.errors import CannotWrite, refused

Array = np.ndarray[Any, Any]

PREFIX = struct.Struct("<4sII")
MAGIC = b"RGJ1"


class Journal:
    """An append-only file of named arrays; a context manager. Whoever writes to it holds the database's lock."""

    def __init__(self, path: Path, identity: str, fresh: bool = False):
        """Open or make the journal of a solve; one of another *identity*, or any if *fresh*, is emptied.

        Raises CannotWrite where that cannot be done.
        """
        self.path = path
        self.end = 0
        self.named = False
        """Whether its name lasts through a power cut."""
        self.adding = threading.Lock()
        """Held while an entry is added: what is solved at once is logged by several threads."""
        self.found: dict[str, Entries] = {}
        """What it has held from the beginning, by name, until somebody asks for it."""
        try:
            self.file = open(path, "ab")  # noqa: SIM115  # closed by __exit__
            found = self.entries()
            first = next(found, None)
            self.dropped = not fresh and first not in (None, (identity, [])) and next(found, None) is not None
            """Whether it has held what is of no use any more."""
            if fresh or first != (identity, []):
                self.end = 0
                self.append(identity)
            else:
                begin = self.end
                for name, _ in found:
                    self.found.setdefault(name, Entries(path, [])).places.append(begin)
                    begin = self.end
        except OSError as error:
            raise self.cannot_write(error) from error

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        with self.adding, suppress(OSError):  # what could not be written, and was told, is still in its buffer
            self.file.close()

    def sync(self) -> None:
        """See to it that all entries last through a power cut, before what they make superfluous is deleted."""
        try:
            os.fsync(self.file.fileno())
            if not self.named:
                sync_folder(self.path.parent)
                self.named = True
        except OSError as error:
            raise self.cannot_write(error) from error

    def log(self, name: str, pause: float) -> "Log":
        """Return the entries of a name, to be taken up and added to at most every *pause* seconds."""
        return Log(self, name, self.found.pop(name, Entries(self.path, [])), pause)

    def cannot_write(self, error: OSError) -> CannotWrite:
        """Return the error to raise where the operating system refuses."""
        return refused(repr(str(self.path)), error)

    def append(self, name: str, *arrays: Array) -> None:
        """Add an entry."""
        arrays = tuple(np.ascontiguousarray(array) for array in arrays)
        about = [(array.dtype.str, len(array), zlib.crc32(array.data)) for array in arrays]
        header = json.dumps([name, about]).encode()
        with self.adding:
            self.write(header, arrays)

    def write(self, header: bytes, arrays: tuple[Array, ...]) -> None:
        """Write an entry at the end."""
        try:
            self.file.truncate(self.end)  # of what a kill has left behind the last whole entry
            self.file.write(PREFIX.pack(MAGIC, len(header), zlib.crc32(header)) + header)
            for array in arrays:
                self.file.write(array.data.cast("B") if len(array) else b"")
            self.file.flush()
        except OSError as error:
            raise self.cannot_write(error) from error
        self.end = self.file.tell()

    def entries(self) -> Iterator[tuple[str, list[Array]]]:
        """Yield the names and arrays of all whole entries, in order; the next append goes behind the last one read."""
        self.end = 0
        with open(self.path, "rb") as file:
            while (entry := read_entry(file)) is not None:
                self.end = file.tell()
                yield entry


@dataclass
class Entries:
    """Entries of one name in a file, by where they begin: read one after another, for together they may be large."""

    path: Path
    places: list[int]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[list[Array]]:
        for number in range(len(self.places)):
            yield self.entry(number)

    def entry(self, number: int) -> list[Array]:
        """Return one of them."""
        with open(self.path, "rb") as file:
            file.seek(self.places[number])
            if (entry := read_entry(file)) is None:
                raise CannotWrite(f"cannot read {str(self.path)!r} again; begin anew with --fresh")
        return entry[1]

    def clear(self) -> None:
        """Forget them."""
        self.places.clear()

    def __delitem__(self, which: slice) -> None:
        """Forget some."""
        del self.places[which]


def read_entry(file: BinaryIO) -> tuple[str, list[Array]] | None:
    """Return the name and the arrays of the next entry; None where it is not there, not whole or damaged."""
    if (header := read_header(file)) is None:
        return None
    name, about = header
    arrays = []
    for dtype, items, checksum in about:
        array = np.frombuffer(file.read(items * np.dtype(dtype).itemsize), np.uint8)
        if len(array) != items * np.dtype(dtype).itemsize or zlib.crc32(array.data) != checksum:
            return None
        arrays.append(array.view(dtype))
    return name, arrays


def read_header(file: BinaryIO) -> tuple[str, list[tuple[str, int, int]]] | None:
    """Return the name of the next entry, and of each of its arrays the type, the number of items and the checksum."""
    try:
        magic, length, checksum = PREFIX.unpack(file.read(PREFIX.size))
    except struct.error:
        return None
    header = file.read(length)
    if magic != MAGIC or zlib.crc32(header) != checksum:
        return None
    name, about = json.loads(header)
    return name, about


FEW = 4
"""Items of an array that an outline has."""


def outline(path: Path) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield of each entry the name, the lengths of its arrays, and the first array if it is short; read nothing else.

    What the entries hold is not checked: this is to tell people how far a solve has come, however much is in the file.
    """
    end = path.stat().st_size
    with open(path, "rb") as file:
        while (header := read_header(file)) is not None:
            name, about = header
            sizes = [items * np.dtype(dtype).itemsize for dtype, items, _ in about]
            begin = file.tell()
            if min(sizes, default=0) < 0 or begin + sum(sizes) > end:
                return  # no journal of ours, or a kill has cut it off
            short = bool(about) and about[0][1] <= FEW
            first = np.frombuffer(file.read(sizes[0]), about[0][0]).tolist() if short else []
            yield name, [items for _, items, _ in about], first
            file.seek(begin + sum(sizes))


class Log:
    """Entries of one name: those found in a journal, and new ones, which are written when it is time; without a journal
    they are forgotten."""

    def __init__(self, journal: Journal | None, name: str, resumed: "Entries", pause: float):
        self.journal = journal
        self.name = name
        self.resumed = resumed
        self.pause = pause
        self.unwritten: list[tuple[Array, ...]] = []
        self.written = time.monotonic()

    def add(self, entry: tuple[Array, ...]) -> None:
        """Add an entry; its arrays must stay as they are until it is written."""
        self.unwritten.append(entry)

    def write(self) -> None:
        """Write what has been added, unless the last time was less than *pause* seconds ago."""
        if self.unwritten and self.is_due():
            self.flush()

    def is_due(self) -> bool:
        """Tell whether it is so long since the last time that something is to be written."""
        return time.monotonic() - self.written >= self.pause

    def flush(self) -> None:
        """Write what has been added."""
        if self.journal:
            for entry in self.unwritten:
                self.journal.append(self.name, *entry)
        self.unwritten.clear()
        self.written = time.monotonic()

    def since_anew(self) -> Entries:
        """Return the entries since all was begun anew, and forget those before."""
        begun = max((number for number, entry in enumerate(self.resumed) if not entry), default=-1)
        del self.resumed[: begun + 1]
        return self.resumed

    def begin_anew(self) -> None:
        """Note that all is begun anew, and see to it that this is known before anything is dropped."""
        self.resumed.clear()
        self.add(())
        self.settle()

    def settle(self) -> None:
        """Write what has been added, and see to it that it lasts through a power cut."""
        self.flush()
        if self.journal:
            self.journal.sync()
