"""Large arrays that all workers read: in memory where they share it, else in files that each of them maps."""

from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Shared:
    """An array that the one who made it writes, and workers read. To another process it travels as a path.

    `array` is what it holds; without a *path* it lies in memory, and threads see what is written to it.
    """

    def __init__(self, array: Array, path: Path | None = None):
        self.array = array
        self.path = path

    @classmethod
    def zeros(cls, length: int, dtype: Any, path: Path | None = None) -> "Shared":
        """Return an array of zeros: in memory, or in a new file."""
        if path is None or length == 0:
            return cls(np.zeros(length, dtype))
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path.with_name(f"{path.name}.{token_hex(8)}")  # never one that a worker still has open
        return cls(np.memmap(path, dtype, "w+", shape=(length,)).view(np.ndarray), path)

    def __len__(self) -> int:
        return len(self.array)

    def whole(self) -> "Part":
        """Return all of it, as a stretch."""
        return Part(self, 0, len(self))

    def part(self, begin: int, end: int) -> "Part":
        """Return a stretch of it."""
        return Part(self, begin, end)

    def __reduce__(self) -> Any:
        if self.path is None:
            return Shared, (self.array,)
        return attach, (self.path, self.array.dtype.str, len(self.array))


@lru_cache(16)
def attach(path: Path, dtype: str, length: int) -> Shared:
    """Return an array that another process has made. (It could be written to: kernels are compiled anew for others.)"""
    return Shared(np.memmap(path, np.dtype(dtype), "r+", shape=(length,)).view(np.ndarray), path)


class Part:
    """A stretch of a shared array, which travels as it does."""

    def __init__(self, whole: Shared, begin: int, end: int):
        self.whole, self.begin, self.end = whole, begin, end

    @property
    def array(self) -> Array:
        """What it holds."""
        return self.whole.array[self.begin : self.end]
