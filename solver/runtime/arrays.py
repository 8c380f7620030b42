"""Large arrays that all workers read: in shared memory, or in files that each process maps."""

import mmap
from bisect import bisect_left, bisect_right
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any
from weakref import WeakSet

import numpy as np
import zstandard

from retrograde.databases.durable import make_folder, sync_folder
from retrograde.databases.errors import expect_disk
from retrograde.solver.runtime.array_type import Array

LEVEL = 1
"""The compression level: fast."""


class SharedArray:
    """An array that one process writes and all read: in a file, or in memory for threads if there is no *path*."""

    def __init__(self, array: Array, path: Path | None = None):
        self.array = array
        self.path = path
        self.edition = 0
        """How often the file's content has been published."""
        if path is not None:
            IN_FILES.add(self)

    @classmethod
    def zeros(cls, length: int, dtype: Any, path: Path | None = None) -> "SharedArray":
        """Return an array of zeros, in memory or in a new file; raise CannotWrite if the disk refuses it."""
        if path is None or length == 0:
            return cls(np.zeros(length, dtype))
        path = path.with_name(f"{path.name}.{token_hex(8)}")  # a new name: a worker may still have the old file open
        with expect_disk(repr(str(path))):
            path.parent.mkdir(parents=True, exist_ok=True)
            return cls(np.memmap(path, dtype, "w+", shape=(length,)).view(np.ndarray), path)

    @classmethod
    def reopen(cls, length: int, dtype: Any, path: Path) -> "SharedArray":
        """Return an array in the file *path*, with whatever an earlier solve left; a file of another length is
        replaced."""
        with expect_disk(repr(str(path))):
            make_folder(path.parent)
            if not path.exists() or path.stat().st_size != np.dtype(dtype).itemsize * length:
                with open(path, "wb") as file:
                    file.truncate(np.dtype(dtype).itemsize * length)
                sync_folder(path.parent)
            return cls(np.memmap(path, dtype, "r+", shape=(length,)).view(np.ndarray), path)

    def flush(self) -> None:
        if isinstance(file := self.array.base, np.memmap):
            file.flush()

    def release_pages(self) -> None:
        """Let the operating system drop the mapped file's pages from memory."""
        if isinstance(file := self.array.base, np.memmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapping: Any = file._mmap  # type: ignore[attr-defined]  # as NumPy keeps it
            with suppress(OSError):
                mapping.madvise(mmap.MADV_DONTNEED)

    def __len__(self) -> int:
        return len(self.array)

    def whole(self) -> "ArraySlice":
        """Return all items as an ArraySlice."""
        return ArraySlice(self, 0, len(self))

    def slice(self, begin: int, end: int) -> "ArraySlice":
        return ArraySlice(self, begin, end)

    def __reduce__(self) -> Any:
        if self.path is None:
            return SharedArray, (self.array,)
        return attach, (self.path, self.array.dtype.str, len(self.array), self.edition)


IN_FILES: "WeakSet[SharedArray]" = WeakSet()
"""This process's arrays that lie in files."""


def publish() -> None:
    """Write out all arrays in files, so that tasks made from now on see their items on any machine."""
    for shared in list(IN_FILES):
        shared.flush()
        shared.edition += 1


@lru_cache(16)
def attach(path: Path, dtype: str, length: int, edition: int) -> SharedArray:
    """Return another process's array, mapped anew for each *edition*. It is writable, because kernels would be compiled
    again for read-only arrays."""
    return SharedArray(np.memmap(path, np.dtype(dtype), "r+", shape=(length,)).view(np.ndarray), path)


class CompressedArray:
    """An array kept compressed in memory: written in blocks from the front, and read by slices.

    >>> array = CompressedArray(np.uint16)
    >>> array[0:3] = np.array([7, 7, 8], np.uint16)
    >>> array[3:4] = np.array([9], np.uint16)
    >>> array[1:4]
    array([7, 8, 9], dtype=uint16)
    """

    def __init__(self, dtype: Any):
        self.dtype = np.dtype(dtype)
        self.begins: list[int] = []
        self.blocks: list[bytes] = []
        self.length = 0

    def __setitem__(self, span: slice, items: Array) -> None:
        """Write a block of items that ends the array: delete all blocks that begin at or after `span.start`."""
        if span.start < self.length:
            count = bisect_left(self.begins, span.start)
            del self.begins[count:], self.blocks[count:]
        self.begins.append(span.start)
        self.blocks.append(zstandard.compress(np.ascontiguousarray(items, self.dtype).tobytes(), LEVEL))
        self.length = span.stop

    def __getitem__(self, span: slice) -> Array:
        """Return the items of a slice, from the blocks that hold them."""
        if span.start >= span.stop:
            return np.empty(0, self.dtype)
        first, last = bisect_right(self.begins, span.start) - 1, bisect_left(self.begins, span.stop)
        blocks = [np.frombuffer(zstandard.decompress(block), self.dtype) for block in self.blocks[first:last]]
        begin = self.begins[first]
        return np.concatenate(blocks)[span.start - begin : span.stop - begin]

    def __len__(self) -> int:
        return self.length


class ArraySlice:
    """A slice of a shared array; it is sent like the array."""

    def __init__(self, whole: SharedArray, begin: int, end: int):
        self.whole, self.begin, self.end = whole, begin, end

    @property
    def array(self) -> Array:
        """The items."""
        return self.whole.array[self.begin : self.end]
