"""Makes files and folders survive a power cut: a name lasts once its folder is synced."""

import errno
import os
from contextlib import suppress
from pathlib import Path

CANNOT = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}
"""Errors of file systems that cannot sync folders, and of folders that may be written but not read."""


def sync_folder(folder: Path) -> None:
    """Make a folder's names survive a power cut, if the operating system can."""
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
    """Make a folder and its parents if they are missing, so that they survive a power cut."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        with suppress(FileNotFoundError):  # another process has deleted it again
            sync_folder(one.parent)
