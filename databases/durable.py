"""What lasts through a power cut: a file once it is synced, and its name once its folder is synced as well."""

import errno
import os
from contextlib import suppress
from pathlib import Path

CANNOT = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}
"""What file systems say that sync no folders, and folders that may be written to and not read."""


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power cut, where the operating system can."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in CANNOT:
            raise


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it is there; they last through a power cut."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        with suppress(FileNotFoundError):  # another process has deleted it again
            sync_folder(one.parent)
