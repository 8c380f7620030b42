"""Databases by their address: `https://host/nim.h5` or `s3://bucket/nim.h5`, read in blocks, when these are needed.

fsspec fetches the blocks. They are kept in the home folder with their checksums::

    HOME/.remote/KEY/12        the SHA-256 of block 12, then the block

KEY comes from the address, the length, and what the server says of the file's version. If it says nothing, blocks are
kept in memory only. The checks of all databases hold here too. A server can still send another database whose checksums
are right, so read from servers that you trust.
"""

import gc
import io
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from retrograde.databases.errors import NoDatabase
from retrograde.databases.location import home_folder
from retrograde.games import RetrogradeError

ADDRESS = re.compile(r"(https?|s3)://[^/]+/.+")
BLOCK = 1 << 16
"""Bytes that are fetched at least: a frame or two."""
IN_MEMORY = 256
"""The most blocks kept in memory."""
VERSIONS = "ETag", "LastModified", "Last-Modified"
"""What servers say of a file's version, as fsspec names it."""
Local: Any = type(Path())


class Unreachable(RetrogradeError, ConnectionError):
    """The server of a database does not answer, or not with what was asked for."""


class RemotePath(Local):  # type: ignore[misc]  # PosixPath, or WindowsPath
    """The address of a database, as a path: databases beside it are found as in a folder."""

    def __str__(self) -> str:
        return "/".join(self.parts).replace(":/", "://", 1)

    def exists(self, **_: Any) -> bool:
        """Return whether the server has the file."""
        try:
            RemoteFile(self).close()
        except NoDatabase:
            return False
        return True

    def is_file(self, **_: Any) -> bool:
        """Return False: it is no file of this machine."""
        return False


def path_of(text: str | os.PathLike[str]) -> Path:
    """Return the path of a text, a RemotePath for an address.

    >>> str(path_of("https://example.org/games/nim.h5").parent / "a.h5"), type(path_of("a/nim.h5")) is RemotePath
    ('https://example.org/games/a.h5', False)
    """
    if isinstance(text, Path):
        return text
    path: Path = RemotePath(text) if is_address(text) else Path(text)
    return path


def is_address(text: str | os.PathLike[str]) -> bool:
    """Return whether a text is an address."""
    return isinstance(text, str) and bool(ADDRESS.fullmatch(text))


class RemoteFile(io.RawIOBase):
    """A file on a server. `failure` is the error that ended the last read, since HDF5 hides it."""

    def __init__(self, path: Path):
        """Ask the server for the length and version; raise NoDatabase if there is no such file, else Unreachable."""
        self.path, self.offset = path, 0
        self.failure: Unreachable | None = None
        try:
            from fsspec.core import url_to_fs

            self.files, self.name = url_to_fs(str(path))
            facts = self.files.info(self.name)
            self.size = int(facts["size"])
        except ImportError as error:
            what = f"to read {str(path)!r}, {error.name or 'fsspec'} is needed"
            raise Unreachable(f"{what}; get it with: pip install 'fsspec[http,s3]'") from error
        except FileNotFoundError as error:
            status = getattr(error.__cause__, "status", None)  # fsspec says the same for each of them
            what = "the server has no such file, or does not answer"
            if status not in (None, 404, 410):
                what = f"the server refuses it, with status {status}"
            raise NoDatabase(f"no database {str(path)!r}: {what}") from error
        except Exception as error:  # each kind of server has errors of its own
            raise self.unreachable(error) from error
        version = [f"{name}={facts[name]}" for name in VERSIONS if facts.get(name)]
        self.key = sha256("\n".join([str(path), str(self.size), *version]).encode()).hexdigest()[:32]
        self.folder = home_folder() / ".remote" / self.key if version else None
        self.blocks: dict[int, bytes] = {}

    def unreachable(self, error: Exception) -> Unreachable:
        """Return the error for a server that fails."""
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        return Unreachable(f"cannot read {str(self.path)!r}: {reason}; try again later")

    def download(self, path: Path) -> None:
        """Write all of the file to a local path."""
        try:
            self.files.get_file(self.name, str(path))
        except Exception as error:
            raise self.unreachable(error) from error

    # As files are read

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.offset = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.offset, io.SEEK_END: self.size}[whence]
        return self.offset

    def tell(self) -> int:
        return self.offset

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from the current offset on; return the number of bytes read, 0 at the end of the file."""
        view = memoryview(buffer).cast("B")
        end = min(self.offset + len(view), self.size)
        if end <= self.offset:
            return 0
        first = self.offset // BLOCK
        blocks = b"".join(self.read_blocks(first, -(-end // BLOCK)))  # -(-a // b) rounds up
        content = blocks[self.offset - first * BLOCK : end - first * BLOCK]
        view[: len(content)] = content
        self.offset = end
        return len(content)

    # Blocks

    def read_blocks(self, first: int, end: int) -> list[bytes]:
        """Return some blocks; fetch those that are not kept, neighbours in one request."""
        blocks = {number: self.stored_block(number) for number in range(first, end)}
        missing = [number for number, block in blocks.items() if block is None]
        while missing:
            run = [number for k, number in enumerate(missing) if number == missing[0] + k]  # neighbours
            content = self.fetch(run[0] * BLOCK, min((run[-1] + 1) * BLOCK, self.size))
            for k, number in enumerate(run):
                blocks[number] = block = content[k * BLOCK : (k + 1) * BLOCK]
                self.keep(number, block)
            missing = missing[len(run) :]
        return [block for block in blocks.values() if block is not None]

    def fetch(self, begin: int, end: int) -> bytes:
        """Return bytes from the server.

        This thread holds the lock of h5py, and waits for a thread of fsspec. If the garbage collector ran there and
        found an object of h5py, it would wait for the lock, for ever.
        """
        try:
            with without_garbage_collector():
                content: bytes = self.files.cat_file(self.name, start=begin, end=end)
            if len(content) == self.size and self.size != end - begin:  # the server knows no ranges: it sent all
                content = content[begin:end]
            if len(content) != end - begin:
                raise ValueError(f"the server sent {len(content):,} bytes in place of {end - begin:,}")
        except Exception as error:
            self.failure = self.unreachable(error)
            raise self.failure from error
        return content

    def stored_block(self, number: int) -> bytes | None:
        """Return a block from memory or disk; None if it is in neither, or damaged."""
        if number in self.blocks:
            return self.blocks[number]
        if self.folder:
            with suppress(OSError):
                content = (self.folder / str(number)).read_bytes()
                if content[:32] == sha256(content[32:]).digest():
                    return self.remember(number, content[32:])
        return None

    def keep(self, number: int, block: bytes) -> None:
        """Keep block *number* in memory, and on disk if that can be written."""
        self.remember(number, block)
        if self.folder:
            with suppress(OSError):
                self.folder.mkdir(parents=True, exist_ok=True)
                temporary = self.folder / f"{number}.{os.getpid()}"
                temporary.write_bytes(sha256(block).digest() + block)
                temporary.replace(self.folder / str(number))

    def remember(self, number: int, block: bytes) -> bytes:
        """Keep a block in memory, in place of the oldest one there."""
        while len(self.blocks) >= IN_MEMORY:
            del self.blocks[next(iter(self.blocks))]
        self.blocks[number] = block
        return block


# Pauses of Python's garbage collector, which may run at any allocation, in any thread

CHANGING = threading.Lock()
"""Held while the number of pauses changes."""
pauses = 0
"""How many parts of the program want it paused now."""
was_enabled = True
"""Whether it ran before the first of them."""


@contextmanager
def without_garbage_collector() -> Iterator[None]:
    """Pause the garbage collector, also while other threads begin and end pauses of their own."""
    change_pauses(1)
    try:
        yield
    finally:
        change_pauses(-1)


def change_pauses(by: int) -> None:
    """Count a pause that begins or ends; the first stops the collector, and the last lets it go on."""
    global pauses, was_enabled
    with CHANGING:
        if pauses == 0:
            was_enabled = gc.isenabled()
            gc.disable()
        pauses += by
        if pauses == 0 and was_enabled:
            gc.enable()
