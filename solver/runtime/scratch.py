"""Scratch files: what a streamed solve puts aside, in compressed frames with checksums, and reads again.

A folder beside the database has, for each kind of thing and each wave, a file for each writer::

    positions7-0c5f3e8a91b2d467        what it is, and a token of the thread, or process, that writes there

Writers only append, each to files of its own, so that nothing is ever written over. Only the journal says what in them
is whole: what a kill has left half-written is never read.

Where there is room, bytes may be put aside *plain*, and are read where the system keeps them, without a copy::

    | "RGP1" | crc32 | bytes |          from a place divisible by 8 on
"""

import errno
import mmap
import os
import pickle
import shutil
import struct
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from io import FileIO
from itertools import count
from pathlib import Path
from secrets import randbits
from typing import Any, Generic, NamedTuple, TypeVar

import zstandard

from retrograde.databases.durable import make_folder, sync_folder
from retrograde.databases.encoding import unpack
from retrograde.databases.errors import CannotWrite, refused
from retrograde.games.contract.game import RetrogradeError

LEVEL = 1
"""The level of compression: quick."""
PLAIN, HEAD = b"RGP1", struct.Struct("<4sI")
"""How bytes that are not compressed begin; no frame of zstd does."""


Content = TypeVar("Content")


class DamagedScratch(RetrogradeError):
    """What was put aside cannot be read again."""


@contextmanager
def without_empty_folders(path: Path) -> Iterator[None]:
    """Delete the folders that are made for a path meanwhile, and stay empty."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        yield
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()


class Frame(NamedTuple):
    """Where some bytes are: of what name, by the token of the writer in which file, where there; and how many, as they
    lie there and as they were."""

    name: str
    token: int
    offset: int
    packed: int
    size: int

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.name}-{self.token:016x}"


class Tools(threading.local):
    """What each thread has for itself: its compressors, and by name the tokens of the files that it writes."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self.decompressor = zstandard.ZstdDecompressor()
        self.tokens: dict[str, int] = {}


class Scratch:
    """A folder of frames, which any number of threads and processes may write and read; it travels as a path."""

    def __init__(self, folder: Path, cached: int, held: int = 0):
        """Look at a folder; keep so many bytes in memory of what is read, and *held* so many of what is written, the
        first ones, which are in no file then: for threads of this process alone, and gone with it."""
        self.folder = folder
        self.cached = cached
        self.room = held
        self.held: dict[Frame, bytes] = {}
        self.numbers = count()
        """Of what is held: its frames have no file, and a number for an offset."""
        self.tools = Tools()
        self.lock = threading.Lock()
        """Of the cache."""
        self.cache: OrderedDict[Frame, bytes | memoryview] = OrderedDict()
        self.in_cache = 0

    def __reduce__(self) -> Any:
        return attach, (self.folder, self.cached)

    def begin(self, fresh: bool) -> None:
        """Make the folder, an empty one if *fresh*; raise CannotWrite where there can be none."""
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        try:
            make_folder(self.folder)
        except OSError as error:
            raise self.cannot_write(error) from error

    def write(self, name: str, content: bytes | memoryview, plain: bool = False) -> Frame:
        """Put bytes aside, and return where; raise CannotWrite where that cannot be done."""
        if (held := self.hold(name, content)) is not None:
            return held
        head = HEAD.pack(PLAIN, zlib.crc32(content)) if plain else b""
        packed = content if plain else self.tools.compressor.compress(content)
        frame = Frame(name, self.tools.tokens.get(name, 0), 0, len(head) + len(packed), len(content))
        if not frame.token or not (self.folder / frame.file).exists():  # the first, or all before were dropped
            self.tools.tokens[name] = randbits(62) | 1
            frame = frame._replace(token=self.tools.tokens[name])
        try:
            with FileIO(self.folder / frame.file, "a") as file:
                offset = file.seek(0, os.SEEK_END)
                gap = -offset % HEAD.size if plain else 0
                write_all(file, bytes(gap) + head)
                write_all(file, packed)
        except OSError as error:
            raise self.cannot_write(error) from error
        return frame._replace(offset=offset + gap)

    def hold(self, name: str, content: bytes | memoryview) -> Frame | None:
        """Hold bytes in memory, and return by what frame; None where there is no room for them."""
        with self.lock:
            if len(content) > self.room:
                return None
            self.room -= len(content)
            frame = Frame(name, 0, next(self.numbers), 0, len(content))
            self.held[frame] = bytes(content)
        return frame

    def cannot_write(self, error: OSError) -> CannotWrite:
        """Return the error to raise where the operating system refuses."""
        return refused(f"to {str(self.folder)!r}", error)

    def sync(self, frames: Iterable[Frame]) -> None:
        """See to it that some frames last through a power cut, before a journal says that they are there."""
        try:
            names = sorted({frame.file for frame in frames if frame.packed})
            for name in names:
                with FileIO(self.folder / name, "a") as file:
                    os.fsync(file.fileno())
            if names:
                sync_folder(self.folder)
        except OSError as error:
            raise self.cannot_write(error) from error

    def lengths(self) -> dict[str, int]:
        """Return the names of all files, and how long they are."""
        return {entry.name: entry.stat().st_size for entry in os.scandir(self.folder)} if self.folder.exists() else {}

    def missing(self, frames: Iterable[Frame]) -> list[Frame]:
        """Return those of some frames that do not lie within their files, whatever is in these.

        What seems not to be there is looked for again, by opening the file: what a network file system lists may be a
        while old, but who opens a file sees what others had written when they closed it.
        """
        lengths = self.lengths()
        looked: set[str] = set()
        missing = []
        for frame in frames:
            if frame.offset + frame.packed > lengths.get(frame.file, 0) and frame.file not in looked:
                looked.add(frame.file)
                lengths[frame.file] = length_of(self.folder / frame.file)
            if frame.offset + frame.packed > lengths.get(frame.file, 0):
                missing.append(frame)
        return missing

    def read(self, frame: Frame, once: bool = False) -> bytes | memoryview:
        """Return the bytes of a frame, which are kept in memory unless they are read *once*; raise DamagedScratch where
        they are not what was put aside."""
        with self.lock:
            if (held := self.held.get(frame)) is not None:
                return held
            if (content := self.cache.get(frame)) is not None:
                self.cache.move_to_end(frame)
                return content
        try:
            with FileIO(self.folder / frame.file) as file:
                file.seek(frame.offset)
                head = file.read(HEAD.size)
                if head.startswith(PLAIN):
                    content = mapped(file, frame, HEAD.unpack(head)[1])
                else:
                    packed = head + file.read(frame.packed - len(head))
                    content = unpack(self.tools.decompressor, packed, frame.size)
        except (OSError, ValueError, IndexError, zstandard.ZstdError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOMEM:
                raise MemoryError("there is no address space to map a scratch file") from error
            raise self.damaged(frame) from error
        with self.lock:
            if not once and frame not in self.cache and frame.size <= self.cached:
                self.cache[frame] = content
                self.in_cache += frame.size
        self.cache_at_most(self.cached)
        return content

    def cache_at_most(self, size: int) -> None:
        """Keep so many bytes in memory from now on."""
        with self.lock:
            self.cached = size
            while self.in_cache > size:
                self.in_cache -= self.cache.popitem(last=False)[0].size

    def damaged(self, frame: Frame) -> DamagedScratch:
        """Return the error to raise where a frame cannot be read."""
        return DamagedScratch(f"the scratch file {str(self.folder / frame.file)!r} is damaged; begin anew with --fresh")

    def drop(self, name: str) -> None:
        """Delete all files of a name, which are no longer needed. (What cannot be deleted does no harm.)"""
        with self.lock:
            for frame in [frame for frame in self.held if frame.name == name]:
                self.room += frame.size
                del self.held[frame]
            for frame in [frame for frame in self.cache if frame.name == name]:
                self.in_cache -= frame.size
                del self.cache[frame]
        for path in self.folder.glob(f"{name}-*"):
            with suppress(OSError):
                path.unlink()

    def close(self) -> None:
        """Forget what was read, and what is held."""
        self.cache_at_most(0)
        self.held.clear()


def write_all(file: FileIO, content: bytes | memoryview) -> None:
    """Write bytes to the end of a file."""
    done = 0
    while done < len(content):
        done += file.write(memoryview(content)[done:])


def mapped(file: FileIO, frame: Frame, checksum: int) -> memoryview:
    """Return the bytes of a plain frame where they lie; raise ValueError where they are not those that were put there.

    They are let go with the last view of them.
    """
    begin = frame.offset + HEAD.size
    before = begin % mmap.ALLOCATIONGRANULARITY
    there = mmap.mmap(file.fileno(), before + frame.size, access=mmap.ACCESS_READ, offset=begin - before)
    content = memoryview(there)[before:]
    if zlib.crc32(content) != checksum:
        raise ValueError("the checksum is another one")
    return content


class Told(Generic[Content]):
    """What all tasks of a wave are told. Where a *scratch* folder is given it travels as the name of a frame there,
    which is written when the first task is sent, and read once by each worker."""

    def __init__(self, content: Content, scratch: Scratch | None = None, name: str = ""):
        self.content, self.scratch, self.name = content, scratch, name
        self.frame: Frame | None = None

    def __reduce__(self) -> Any:
        if self.scratch is None:
            return Told, (self.content,)
        if self.frame is None:
            self.frame = self.scratch.write(self.name, pickle.dumps(self.content, pickle.HIGHEST_PROTOCOL))
        return told_in, (self.scratch, self.frame)


@lru_cache(2)
def told_in(scratch: Scratch, frame: Frame) -> Told[Any]:
    """Return what another process has put aside to be told."""
    return Told(pickle.loads(scratch.read(frame)))


def length_of(path: Path) -> int:
    """Return how long a file is, once it is opened; 0 where it is not there."""
    try:
        with FileIO(path) as file:
            return os.fstat(file.fileno()).st_size
    except OSError:
        return 0


def attach(folder: Path, cached: int) -> Scratch:
    """Return the scratch folder that another process has sent, with what this one has read of it."""
    scratch = of_process(folder, os.getpid())
    scratch.cache_at_most(cached)
    return scratch


@lru_cache(1)
def of_process(folder: Path, process: int) -> Scratch:
    """Return the scratch folder of a process. (A fork has its own: it must not write where its parent does.)"""
    return Scratch(folder, 0)
