"""Locks for writing: a process locks a database's path before it makes or replaces the file.

The lock is on a file beside the database, `….h5.lock`. The operating system releases it when its process ends, however
that happens. The holder deletes the file before it releases the lock. So a process that gets a lock must check that the
file it has locked still has that name; otherwise it tries again.
"""

import errno
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from retrograde.databases.durable import make_folder
from retrograde.databases.errors import CannotWrite, InUse
from retrograde.databases.location import expect_short

PATIENCE = 5.0
"""Seconds to wait for another process: as long as a small game takes."""
LOCKED_BYTES = 1
"""The byte before the lock's word. It is the one that is locked, and that Windows lets no other process read."""
HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
"""Errors of the operating system that mean that another process holds a lock."""


class Lock:
    """The lock of a database's path, also against other threads; a context manager."""

    def __init__(self, path: Path, patience: float = PATIENCE):
        self.path = path.with_name(path.name + ".lock")
        self.database = path
        self.patience = patience

    def __enter__(self) -> "Lock":
        """Take the lock; raise InUse if another process keeps it, CannotWrite if locking fails."""
        deadline = time.monotonic() + self.patience
        expect_short(self.database)
        try:
            make_folder(self.path.parent)
            while not self.try_lock():
                if time.monotonic() > deadline:
                    raise InUse(f"{str(self.database)!r} is being written by another process; wait for it, or stop it")
                time.sleep(0.02)
        except InUse:
            raise
        except OSError as error:
            why = error.strerror or str(error)
            raise CannotWrite(f"cannot write {str(self.database)!r}: {why} (at the lock {self.path.name!r})") from error
        return self

    def try_lock(self) -> bool:
        """Try to take the lock; return whether that succeeded."""
        is_new = not self.path.exists()
        file = open(self.path, "ab")  # noqa: SIM115  # closed by __exit__
        try:
            lock_file(file)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(self.path)):
                self.file = file
                return True
        except FileNotFoundError:
            pass  # deleted by its former holder: try again
        except OSError as error:
            if error.errno not in HELD:
                file.close()
                if is_new:  # no locks on this file system; an older file may be the lock of another process
                    self.path.unlink(missing_ok=True)
                raise
        file.close()
        return False

    def write_word(self, word: bytes) -> None:
        """Write a word into the lock file; workers see by it that they have the same folder. May raise CannotWrite."""
        try:
            self.file.truncate(LOCKED_BYTES)
            self.file.write(word)  # the file is open for appending
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            raise CannotWrite(f"cannot write {str(self.path)!r}: {error.strerror or error}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.name == "posix":  # elsewhere an open file cannot be deleted, and stays
            with suppress(OSError):
                self.path.unlink()
        self.file.close()


def is_open_for_writing(path: Path) -> bool:
    """Return whether a program has an exclusive lock on a file, as HDF5 has while it writes."""
    if os.name != "posix" or not path.is_file():  # to open a pipe would wait for its writer
        return False
    import fcntl

    with suppress(OSError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno in HELD
    return False


def read_word(path: Path) -> bytes | None:
    """Return the word that the holder of a lock wrote into the file *path*; None if there is no file."""
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(LOCKED_BYTES)
            return file.read(100)
    except OSError:
        return None


def lock_file(file: BinaryIO, wait: bool = False) -> None:
    """Lock a file until it is closed. If another process has locked it, *wait* (Windows: for ten seconds) or raise
    OSError."""
    if os.name == "nt":
        import msvcrt

        how = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined,unused-ignore]
        file.seek(0)
        msvcrt.locking(file.fileno(), how, LOCKED_BYTES)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
