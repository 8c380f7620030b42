"""Numbers of all slots in files, laid out as in memory; each finished tier has a checksum.

The files are memory-mapped. After each tier the mapped pages are released. So only the tiers in use take memory,
although a slot is indexed as in one large array.
"""

import time
import zlib
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.databases.errors import expect_disk
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray

BLOCK = 1 << 20
"""Slots read at once."""
SYNC_SECONDS = 0.5
"""The least number of seconds between two waits for the disk. A power cut costs no more work than that: tiers that it
damages have another checksum."""


class SlotFiles:
    """Files with a number for each slot, such as `low` and `high`. They travel to workers as paths."""

    def __init__(self, folder: Path, slots: int, names: tuple[str, ...], kind: Any):
        """Open or create the files. Their content counts only after `is_whole` has checked it."""
        self.folder = folder
        self.columns = [SharedArray.reopen(slots, kind, folder / name) for name in names]
        self.synced = time.monotonic()

    def write(self, begin: int, *numbers: Array) -> int:
        """Write the numbers of the slots from *begin* on, a column for each file, and return their checksum."""
        with expect_disk(repr(str(self.folder))):
            for column, added in zip(self.columns, numbers, strict=True):
                column.array[begin : begin + len(added)] = added
            if time.monotonic() - self.synced >= SYNC_SECONDS:
                for column in self.columns:
                    column.flush()
                self.synced = time.monotonic()
        return checksum(*numbers)

    def is_whole(self, begin: int, end: int, expected: int) -> bool:
        """Return whether the numbers of the slots from *begin* to *end* have the expected checksum."""
        found = checksum(*(column.array[begin:end] for column in self.columns))
        self.release()
        return found == expected

    def release(self) -> None:
        """Release the mapped pages that were read; the system may keep them as cache."""
        for column in self.columns:
            column.release_pages()

    def blocks(self) -> Any:
        """Yield copies of the numbers of all slots, BLOCK slots at a time, as a tuple of columns."""
        for begin in range(0, len(self.columns[0]), BLOCK):
            yield tuple(column.array[begin : begin + BLOCK].copy() for column in self.columns)
            self.release()

    close = release


def checksum(*columns: Array) -> int:
    """Return the CRC-32 of all columns."""
    return reduce(lambda check, column: zlib.crc32(np.ascontiguousarray(column).data, check), columns, 0)
