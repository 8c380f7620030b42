"""Scratch files: data that a streamed solve spills to disk and reads again, in compressed frames with checksums.

A folder beside the database has a file for each kind of data, wave and writer::

    positions7-0c5f3e8a91b2d467        the name of the data, and the token of the writing thread or process

Writers only append, each to its own files, so that nothing is ever overwritten. The journal alone says which frames are
complete: what a kill left half-written is never read.

If there is enough disk, bytes may be stored uncompressed. They are then read through a memory map, without a copy::

    | "RGP1" | crc32 | bytes |          at an offset divisible by 8
"""

import errno
import mmap
import os
import pickle
import shutil
import struct
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from io import FileIO
from itertools import count
from pathlib import Path
from secrets import randbits
from tempfile import TemporaryDirectory
from typing import Any, Generic, NamedTuple, TypeVar

import zstandard

from retrograde.databases.durable import make_folder, sync_folder
from retrograde.databases.encoding import unpack
from retrograde.databases.errors import CannotWrite, InUse, expect_disk
from retrograde.databases.location import SUFFIX as DATABASE
from retrograde.databases.lock import Lock, lock_file
from retrograde.games.contract.game import RetrogradeError

LEVEL, FASTEST_LEVEL = 1, -5
"""Levels of compression: a fast one, and one for data that hardly gets smaller."""
UNCOMPRESSED, HEAD = b"RGP1", struct.Struct("<4sI")
"""The magic bytes and the header of uncompressed bytes; no zstd frame begins with them."""


PREFIX, SUFFIX, OWNED = "tmp", ".scratch", "lock"
"""How a temporary scratch folder is named, and the file in it that its process keeps locked. A folder beside that file
has the data."""
ABANDONED_AFTER = 3600.0
"""Seconds after which a temporary scratch folder without a lock file has no owner any more."""

Content = TypeVar("Content")


class DamagedScratch(RetrogradeError):
    """Spilled data cannot be read again."""


@contextmanager
def without_empty_folders(path: Path) -> Iterator[None]:
    """Delete folders that are created above a path meanwhile and stay empty."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        yield
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def temporary_scratch(parent: Path) -> Iterator[Path]:
    """Make a folder for scratch files, and delete it afterwards: in *parent*, if that is writable. Also delete those
    that killed processes have left there."""
    is_writable = os.access(parent, os.W_OK)
    if is_writable:
        clear_abandoned(parent)
    with TemporaryDirectory(SUFFIX, PREFIX, parent if is_writable else None) as name:
        folder = Path(name)
        with open(folder / OWNED, "wb", buffering=0) as lock:
            with suppress(OSError):  # a file system without locks
                lock_file(lock)
            yield folder / "lists"


def clear_abandoned(parent: Path) -> None:
    """Delete the scratch folders and lock files in a folder whose process is gone, as far as possible."""
    for folder in parent.glob(f"{PREFIX}*{SUFFIX}"):
        with suppress(OSError):
            if is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
    for lock in parent.glob(f"*{DATABASE}.lock"):
        with suppress(InUse, CannotWrite), Lock(lock.with_name(lock.name.removesuffix(".lock")), 0):
            pass  # the lock file is deleted with the lock


def is_abandoned(folder: Path) -> bool:
    """Return whether no process owns a scratch folder. One without a lock file counts only after an hour: its process
    may be about to make the file."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    try:
        with open(folder / OWNED, "rb+", buffering=0) as lock:
            lock_file(lock)
            return True
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > ABANDONED_AFTER
    except OSError:  # another process has locked it
        return False


class Frame(NamedTuple):
    """Where spilled bytes are: the data's name, the writer's token, the offset, and the lengths packed and unpacked."""

    name: str
    token: int
    offset: int
    packed: int
    size: int

    @property
    def file(self) -> str:
        return f"{self.name}-{self.token:016x}"


class Tools(threading.local):
    """A thread's own compressors, and the tokens of the files that it writes, by name."""

    def __init__(self) -> None:
        self.compressors = {
            level: zstandard.ZstdCompressor(level=level, write_checksum=True) for level in (LEVEL, FASTEST_LEVEL)
        }
        self.decompressor = zstandard.ZstdDecompressor()
        self.tokens: dict[str, int] = {}


class Scratch:
    """A folder of frames that many threads and processes write and read. Pickled, it is its path."""

    def __init__(self, folder: Path, cached: int, held: int = 0):
        """Use a folder and cache up to *cached* bytes of what is read. The first *held* bytes written stay in memory,
        for threads of this process."""
        self.folder = folder
        self.cached = cached
        self.free_bytes = held
        self.held: dict[Frame, bytes] = {}
        self.numbers = count()
        """Numbers for held frames: they have no file, and a number instead of an offset."""
        self.tools = Tools()
        self.lock = threading.Lock()
        """Guards the cache."""
        self.cache: OrderedDict[Frame, bytes | memoryview] = OrderedDict()
        self.in_cache = 0

    def __reduce__(self) -> Any:
        return attach, (self.folder, self.cached)

    def begin(self, fresh: bool) -> None:
        """Make the folder, empty if *fresh*; raise CannotWrite if that fails."""
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        with self.expect_disk():
            make_folder(self.folder)

    def write(self, name: str, content: bytes | memoryview, uncompressed: bool = False, level: int = LEVEL) -> Frame:
        """Spill bytes, and return their frame; raise CannotWrite if that fails."""
        if (held := self.hold(name, content)) is not None:
            return held
        head = HEAD.pack(UNCOMPRESSED, zlib.crc32(content)) if uncompressed else b""
        packed = content if uncompressed else self.tools.compressors[level].compress(content)
        frame = Frame(name, self.tools.tokens.get(name, 0), 0, len(head) + len(packed), len(content))
        if not frame.token or not (self.folder / frame.file).exists():  # the first write, or the file was dropped
            self.tools.tokens[name] = randbits(62) | 1
            frame = frame._replace(token=self.tools.tokens[name])
        with self.expect_disk(), FileIO(self.folder / frame.file, "a") as file:
            offset = file.seek(0, os.SEEK_END)
            gap = -offset % HEAD.size if uncompressed else 0  # up to the next multiple of 8
            write_all(file, bytes(gap) + head)
            write_all(file, packed)
        return frame._replace(offset=offset + gap)

    def hold(self, name: str, content: bytes | memoryview) -> Frame | None:
        """Keep bytes in memory, and return their frame; None if they do not fit."""
        with self.lock:
            if len(content) > self.free_bytes:
                return None
            self.free_bytes -= len(content)
            frame = Frame(name, 0, next(self.numbers), 0, len(content))
            self.held[frame] = bytes(content)
        return frame

    def expect_disk(self) -> AbstractContextManager[None]:
        """Raise CannotWrite if the disk refuses something meanwhile."""
        return expect_disk(f"to {str(self.folder)!r}")

    def sync(self, frames: Iterable[Frame]) -> None:
        """Make frames survive a power cut, before a journal says that they are there."""
        names = sorted({frame.file for frame in frames if frame.packed})
        with self.expect_disk():
            for name in names:
                with FileIO(self.folder / name, "a") as file:
                    os.fsync(file.fileno())
            if names:
                sync_folder(self.folder)

    def file_lengths(self) -> dict[str, int]:
        return {entry.name: entry.stat().st_size for entry in os.scandir(self.folder)} if self.folder.exists() else {}

    def missing(self, frames: Iterable[Frame]) -> list[Frame]:
        """Return the frames that do not lie within their files; contents are not checked.

        The listing of a network file system may be outdated, so a file that seems too short is opened, which shows its
        true length.
        """
        lengths = self.file_lengths()
        opened: set[str] = set()
        missing = []
        for frame in frames:
            if frame.offset + frame.packed > lengths.get(frame.file, 0) and frame.file not in opened:
                opened.add(frame.file)
                lengths[frame.file] = length_of(self.folder / frame.file)
            if frame.offset + frame.packed > lengths.get(frame.file, 0):
                missing.append(frame)
        return missing

    def unreadable(self, frames: Iterable[Frame]) -> list[Frame]:
        """Return the frames that cannot be read, as a power cut may leave those that were not synced. It reads all."""
        return [frame for frame in dict.fromkeys(frames) if not self.is_readable(frame)]

    def is_readable(self, frame: Frame) -> bool:
        try:
            self.read(frame, once=True)
        except DamagedScratch:
            return False
        return True

    def read(self, frame: Frame, once: bool = False) -> bytes | memoryview:
        """Return the bytes of a frame, and cache them unless *once*; raise DamagedScratch if they have changed."""
        with self.lock:
            # Held or cached bytes need no file.
            if (held := self.held.get(frame)) is not None:
                return held
            if (content := self.cache.get(frame)) is not None:
                self.cache.move_to_end(frame)
                return content
        try:
            with FileIO(self.folder / frame.file) as file:
                file.seek(frame.offset)
                # Plain bytes are mapped, zstd frames decompressed.
                head = file.read(HEAD.size)
                if head.startswith(UNCOMPRESSED):
                    content = map_uncompressed(file, frame, HEAD.unpack(head)[1])
                else:
                    packed = head + file.read(frame.packed - len(head))
                    content = unpack(self.tools.decompressor, packed, frame.size)
        except (OSError, ValueError, IndexError, zstandard.ZstdError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOMEM:
                raise MemoryError("there is no address space to map a scratch file") from error
            raise self.damaged(frame) from error
        with self.lock:
            # Cache it; `cache_at_most` drops the oldest if that is too much.
            if not once and frame not in self.cache and frame.size <= self.cached:
                self.cache[frame] = content
                self.in_cache += frame.size
        self.cache_at_most(self.cached)
        return content

    def cache_at_most(self, size: int) -> None:
        """Cache at most *size* bytes from now on; drop the oldest content beyond that."""
        with self.lock:
            self.cached = size
            while self.in_cache > size:
                self.in_cache -= self.cache.popitem(last=False)[0].size

    def damaged(self, frame: Frame) -> DamagedScratch:
        """Return the error for a frame that cannot be read."""
        return DamagedScratch(f"the scratch file {str(self.folder / frame.file)!r} is damaged; begin anew with --fresh")

    def drop(self, name: str) -> None:
        """Delete all files of a name, as far as possible."""
        with self.lock:
            for frame in [frame for frame in self.held if frame.name == name]:
                self.free_bytes += frame.size
                del self.held[frame]
            for frame in [frame for frame in self.cache if frame.name == name]:
                self.in_cache -= frame.size
                del self.cache[frame]
        for path in self.folder.glob(f"{name}-*"):
            with suppress(OSError):
                path.unlink()

    def close(self) -> None:
        """Drop the cache and what is held in memory."""
        self.cache_at_most(0)
        self.held.clear()


def write_all(file: FileIO, content: bytes | memoryview) -> None:
    done = 0
    while done < len(content):
        done += file.write(memoryview(content)[done:])


def map_uncompressed(file: FileIO, frame: Frame, checksum: int) -> memoryview:
    """Return the bytes of an uncompressed frame as a memory map; raise ValueError if the checksum is wrong."""
    begin = frame.offset + HEAD.size
    before = begin % mmap.ALLOCATIONGRANULARITY  # a map must begin at a multiple of this
    mapping = mmap.mmap(file.fileno(), before + frame.size, access=mmap.ACCESS_READ, offset=begin - before)
    content = memoryview(mapping)[before:]
    if zlib.crc32(content) != checksum:
        raise ValueError("the checksum is another one")
    return content


class TaskData(Generic[Content]):
    """Data for all tasks of a wave. With a *scratch* folder, they are sent as one frame that each worker reads once."""

    def __init__(self, content: Content, scratch: Scratch | None = None, name: str = ""):
        self.content, self.scratch, self.name = content, scratch, name
        self.frame: Frame | None = None

    def __reduce__(self) -> Any:
        if self.scratch is None:
            return TaskData, (self.content,)
        if self.frame is None:
            self.frame = self.scratch.write(self.name, pickle.dumps(self.content, pickle.HIGHEST_PROTOCOL))
        return read_task_data, (self.scratch, self.frame)


@lru_cache(2)
def read_task_data(scratch: Scratch, frame: Frame) -> TaskData[Any]:
    """Return the `TaskData` that another process has spilled."""
    return TaskData(pickle.loads(scratch.read(frame)))


def length_of(path: Path) -> int:
    """Return a file's length, found by opening it; 0 if it does not exist."""
    try:
        with FileIO(path) as file:
            return os.fstat(file.fileno()).st_size
    except OSError:
        return 0


def attach(folder: Path, cached: int) -> Scratch:
    """Return this process's own `Scratch` for a folder that another process has sent."""
    scratch = scratch_of_process(folder, os.getpid())
    scratch.cache_at_most(cached)
    return scratch


@lru_cache(1)
def scratch_of_process(folder: Path, process: int) -> Scratch:
    """Return a process's `Scratch`; a fork gets another one, because it must not write to its parent's files."""
    return Scratch(folder, 0)
