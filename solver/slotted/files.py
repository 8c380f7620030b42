"""The bounds of all slots in two files, as they are in memory: tiers that are finished, each with a checksum.

What of them is looked at is mapped into memory, and let go again once a tier is done. So only what the tier at hand
needs takes memory, though a place is found as in one large array.
"""

import mmap
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.databases.errors import CannotWrite
from retrograde.solver.work.arrays import Shared

Array = np.ndarray[Any, Any]
PIECE = 1 << 20
"""Slots that are read at once."""


class SlotFiles:
    """The files of so many slots: `low` and `high`, int64[slots] each, which travel to workers as paths."""

    def __init__(self, folder: Path, slots: int):
        """Open the files, or make them; what is in them is not trusted before `is_whole` has looked at it."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.maps = [opened(folder / name, slots) for name in ("low", "high")]
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotWrite(f"cannot write {str(folder)!r}: {reason}") from error
        self.low, self.high = (
            Shared(whole.view(np.ndarray), folder / name)
            for name, whole in zip(("low", "high"), self.maps, strict=True)
        )

    def write(self, begin: int, low: Array, high: Array) -> int:
        """Write the bounds of the slots from one on; return their checksum."""
        end = begin + len(low)
        self.low.array[begin:end], self.high.array[begin:end] = low, high
        for whole in self.maps:
            whole.flush()
        return checksum(low, high)

    def is_whole(self, begin: int, end: int, expected: int) -> bool:
        """Tell whether the bounds of some slots are those with a checksum."""
        found = checksum(self.low.array[begin:end], self.high.array[begin:end])
        self.let_go()
        return found == expected

    def let_go(self) -> None:
        """Keep no more in memory of what has been looked at than the system wants to."""
        for whole in self.maps:
            inside: Any = whole._mmap  # type: ignore[attr-defined]  # as NumPy keeps it
            if hasattr(mmap, "MADV_DONTNEED"):
                with suppress(OSError):
                    inside.madvise(mmap.MADV_DONTNEED)

    def pieces(self) -> Any:
        """Yield the bounds of all slots, copied, some at a time."""
        for begin in range(0, len(self.low), PIECE):
            yield self.low.array[begin : begin + PIECE].copy(), self.high.array[begin : begin + PIECE].copy()
            self.let_go()

    def close(self) -> None:
        """Let go of the files."""
        self.let_go()


def opened(path: Path, slots: int) -> "np.memmap[Any, Any]":
    """Return a file of so many int64 as an array; a file of another length is made anew."""
    if not path.exists() or path.stat().st_size != 8 * slots:
        with open(path, "wb") as file:
            file.truncate(8 * slots)
    return np.memmap(path, np.int64, "r+", shape=(slots,))


def checksum(low: Array, high: Array) -> int:
    """Return the checksum of some bounds."""
    return zlib.crc32(np.ascontiguousarray(high).data, zlib.crc32(np.ascontiguousarray(low).data))
