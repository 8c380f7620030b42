"""Makes files and folders survive a power cut: a name lasts once its folder is synced.

Also reads and writes small files of facts as JSON, such as fitted weights and books of estimates.
"""

import errno
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from retrograde.databases.errors import CannotWrite

WAITS = (0.1, 0.3, 1.0, 3.0)
"""Seconds to wait before each further attempt to replace a file that Windows says is in use."""
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
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for new in missing:
        with suppress(FileNotFoundError):  # another process has deleted it again
            sync_folder(new.parent)


def replace_file(source: Path, path: Path) -> None:
    """Give a complete file its name, and sync its folder; raise CannotWrite if Windows forbids it for long.

    Windows forbids it while another program has the old file open, as a virus scanner has for a moment.
    """
    for wait in (*WAITS, None):
        try:
            os.replace(source, path)
            break
        except PermissionError as error:
            if not getattr(error, "winerror", 0):
                raise
            if wait is None:
                what = f"cannot replace {str(path)!r}: another program has it open, such as retrograde serve"
                raise CannotWrite(f"{what}; end that program, and run the same command again") from error
            time.sleep(wait)
    sync_folder(path.parent)


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts in a file; raise OSError if it cannot be read, ValueError if it is not an object of JSON."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    if not isinstance(facts, dict):
        raise ValueError("it is not an object of JSON")
    return facts


def write_facts(path: Path, facts: dict[str, Any], option: str) -> None:
    """Write a file of facts, whole or not at all. Raise CannotWrite, with the *option* that names another file."""
    part = path.with_name(path.name + ".part")
    try:
        make_folder(path.parent)
        with part.open("w", encoding="utf-8") as file:
            file.write(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        replace_file(part, path)
    except OSError as error:
        raise CannotWrite(f"cannot write {str(path)!r}: {error.strerror}; name another file with {option}") from error
