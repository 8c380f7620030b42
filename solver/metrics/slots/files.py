"""The bounds of all slots in two files, laid out as in memory; each finished tier has a checksum.

The files are memory-mapped. After each tier the mapped pages are released. So only the tiers in use take memory,
although a slot is indexed as in one large array.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.databases.errors import CannotWrite
from retrograde.solver.runtime.arrays import SharedArray

Array = np.ndarray[Any, Any]
PIECE = 1 << 20
"""Slots read at once."""


class SlotFiles:
    """The files `low` and `high`, int64[slots] each. They travel to workers as paths."""

    def __init__(self, folder: Path, slots: int):
        """Open or create the files. Their content counts only after `is_whole` has checked it."""
        try:
            self.low, self.high = (SharedArray.reopen(slots, np.int64, folder / name) for name in ("low", "high"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotWrite(f"cannot write {str(folder)!r}: {reason}") from error

    def write(self, begin: int, low: Array, high: Array) -> int:
        """Write the bounds of the slots from *begin* on and return their checksum."""
        end = begin + len(low)
        self.low.array[begin:end], self.high.array[begin:end] = low, high
        self.low.flush()
        self.high.flush()
        return checksum(low, high)

    def is_whole(self, begin: int, end: int, expected: int) -> bool:
        """Return whether the bounds of the slots from *begin* to *end* have the expected checksum."""
        found = checksum(self.low.array[begin:end], self.high.array[begin:end])
        self.release()
        return found == expected

    def release(self) -> None:
        """Release the mapped pages that were read; the system may keep them as cache."""
        self.low.release_pages()
        self.high.release_pages()

    def pieces(self) -> Any:
        """Yield copies of the bounds of all slots, PIECE slots at a time."""
        for begin in range(0, len(self.low), PIECE):
            yield self.low.array[begin : begin + PIECE].copy(), self.high.array[begin : begin + PIECE].copy()
            self.release()

    close = release


def checksum(low: Array, high: Array) -> int:
    """Return the CRC-32 of both arrays."""
    return zlib.crc32(np.ascontiguousarray(high).data, zlib.crc32(np.ascontiguousarray(low).data))
