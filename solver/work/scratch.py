"""Scratch files: what a streamed solve puts aside, in compressed frames with checksums, and reads again.

A folder beside the database has a file for each kind of thing and each wave. Only the journal says what in them is
whole, so that what a kill has left half-written is written over, and never read.
"""

import os
import shutil
import threading
from collections import OrderedDict
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import zstandard

from retrograde.databases.encoding import unpack
from retrograde.databases.errors import CannotWrite
from retrograde.games.game import RetrogradeError

LEVEL = 1
"""The level of compression: quick."""


class DamagedScratch(RetrogradeError):
    """What was put aside cannot be read again."""


class Frame(NamedTuple):
    """Where some octets are: in which file, where there, and how many, compressed and not."""

    file: str
    offset: int
    packed: int
    size: int


class Scratch:
    """A folder of frames, which any number of threads may write and read."""

    def __init__(self, folder: Path, cached: int, fresh: bool = False):
        """Open a folder, an empty one if *fresh*; keep so many octets in memory of what is read.

        Raises CannotWrite where there can be no such folder.
        """
        self.folder = folder
        self.cached = cached
        self.closed = False
        self.unsynced: set[str] = set()
        """Files of which something may not be on the disk yet."""
        self.lock = threading.Lock()
        self.local = threading.local()
        self.files: dict[str, FileIO] = {}
        self.ends: dict[str, int] = {}
        self.cache: OrderedDict[Frame, bytes] = OrderedDict()
        self.in_cache = 0
        self.lengths: dict[str, int] = {}
        """Of the files, before anything was put aside."""
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.cannot_write(error) from error

    def file(self, name: str) -> FileIO:
        """Return the open file of that name."""
        if self.closed:
            raise ValueError(f"the scratch folder {str(self.folder)!r} is closed")
        if name not in self.files:
            path = self.folder / name
            self.files[name] = FileIO(path, "r+" if path.exists() else "w+")
        return self.files[name]

    def reserve(self, frame: Frame) -> None:
        """Let nothing be written over a frame that a solve before has left."""
        self.ends[frame.file] = max(self.ends.get(frame.file, 0), frame.offset + frame.packed)

    def write(self, name: str, octets: bytes | memoryview) -> Frame:
        """Put octets aside, and return where; raise CannotWrite where that cannot be done."""
        if not hasattr(self.local, "compressor"):
            self.local.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        packed = self.local.compressor.compress(octets)
        try:
            with self.lock:
                file = self.file(name)
                offset = file.seek(self.ends.get(name, 0))
                done = 0
                while done < len(packed):
                    done += file.write(memoryview(packed)[done:])
                self.ends[name] = offset + len(packed)
                self.unsynced.add(name)
        except OSError as error:
            raise self.cannot_write(error) from error
        return Frame(name, offset, len(packed), len(octets))

    def cannot_write(self, error: OSError) -> CannotWrite:
        """Return the error to raise where the operating system refuses."""
        what = (error.strerror or str(error)).lower()
        return CannotWrite(f"cannot write to {str(self.folder)!r}: {what}; what is done is kept")

    def sync(self) -> None:
        """See to it that all that was put aside lasts through a power cut, before a journal says that it is there."""
        with self.lock:
            names, self.unsynced = self.unsynced & self.files.keys(), set()
            try:
                for name in names:
                    os.fsync(self.files[name].fileno())
            except OSError as error:
                raise self.cannot_write(error) from error

    def holds(self, frame: Frame) -> bool:
        """Tell whether a frame lies within its file, whatever is in it."""
        if frame.file not in self.lengths:
            with suppress(OSError):
                self.lengths[frame.file] = os.stat(self.folder / frame.file).st_size
        return frame.offset + frame.packed <= self.lengths.get(frame.file, -1)

    def read(self, frame: Frame) -> bytes:
        """Return the octets of a frame; raise DamagedScratch where they are not what was put aside."""
        with self.lock:
            if (octets := self.cache.get(frame)) is not None:
                self.cache.move_to_end(frame)
                return octets
            try:
                file = self.file(frame.file)
                file.seek(frame.offset)
                packed = file.read(frame.packed)
            except OSError as error:
                raise self.damaged(frame) from error
        if not hasattr(self.local, "decompressor"):
            self.local.decompressor = zstandard.ZstdDecompressor()
        try:
            octets = unpack(self.local.decompressor, packed, frame.size)
        except (ValueError, IndexError, zstandard.ZstdError) as error:
            raise self.damaged(frame) from error
        with self.lock:
            if frame not in self.cache and frame.size <= self.cached:
                self.cache[frame] = octets
                self.in_cache += frame.size
                while self.in_cache > self.cached:
                    self.in_cache -= self.cache.popitem(last=False)[0].size
        return octets

    def cache_less(self) -> None:
        """Keep half as much in memory from now on."""
        with self.lock:
            self.cached //= 2
            while self.in_cache > self.cached:
                self.in_cache -= self.cache.popitem(last=False)[0].size

    def damaged(self, frame: Frame) -> DamagedScratch:
        """Return the error to raise where a frame cannot be read."""
        return DamagedScratch(f"the scratch file {str(self.folder / frame.file)!r} is damaged; begin anew with --fresh")

    def drop(self, name: str) -> None:
        """Delete a file that is no longer needed; what cannot be deleted will be written over."""
        with self.lock:
            if name in self.files:
                self.files.pop(name).close()
            self.ends.pop(name, None)
            self.unsynced.discard(name)
            for frame in [frame for frame in self.cache if frame.file == name]:
                self.in_cache -= frame.size
                del self.cache[frame]
        with suppress(OSError):
            (self.folder / name).unlink()

    def close(self) -> None:
        """Close all files; from now on nothing can be put aside or read."""
        with self.lock:
            self.closed = True
            for file in self.files.values():
                file.close()
            self.files.clear()
            self.cache.clear()
            self.in_cache = 0

    def remove(self) -> None:
        """Close and delete everything."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
