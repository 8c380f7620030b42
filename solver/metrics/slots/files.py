"""The bounds of all slots in two files, as they are in memory: tiers that are finished, each with a checksum.

What of them is looked at is mapped into memory, and let go again once a tier is done. So only what the tier at hand
needs takes memory, though a place is found as in one large array.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.databases.errors import CannotWrite
from retrograde.solver.runtime.arrays import Shared

Array = np.ndarray[Any, Any]
PIECE = 1 << 20
"""Slots that are read at once."""


class SlotFiles:
    """The files of so many slots: `low` and `high`, int64[slots] each, which travel to workers as paths."""

    def __init__(self, folder: Path, slots: int):
        """Open the files, or make them; what is in them is not trusted before `is_whole` has looked at it."""
        try:
            self.low, self.high = (Shared.kept(slots, np.int64, folder / name) for name in ("low", "high"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotWrite(f"cannot write {str(folder)!r}: {reason}") from error

    def write(self, begin: int, low: Array, high: Array) -> int:
        """Write the bounds of the slots from one on; return their checksum."""
        end = begin + len(low)
        self.low.array[begin:end], self.high.array[begin:end] = low, high
        self.low.flush()
        self.high.flush()
        return checksum(low, high)

    def is_whole(self, begin: int, end: int, expected: int) -> bool:
        """Tell whether the bounds of some slots are those with a checksum."""
        found = checksum(self.low.array[begin:end], self.high.array[begin:end])
        self.let_go()
        return found == expected

    def let_go(self) -> None:
        """Keep no more in memory of what has been looked at than the system wants to."""
        self.low.let_go()
        self.high.let_go()

    def pieces(self) -> Any:
        """Yield the bounds of all slots, copied, some at a time."""
        for begin in range(0, len(self.low), PIECE):
            yield self.low.array[begin : begin + PIECE].copy(), self.high.array[begin : begin + PIECE].copy()
            self.let_go()

    def close(self) -> None:
        """Let go of the files."""
        self.let_go()


def checksum(low: Array, high: Array) -> int:
    """Return the checksum of some bounds."""
    return zlib.crc32(np.ascontiguousarray(high).data, zlib.crc32(np.ascontiguousarray(low).data))
