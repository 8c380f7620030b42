"""The contents of a file as zstd frames: each knows its place, and all of them have a digest.

The last four bytes of a frame are the checksum of its content. It is noted once more beside the frame's place: of a
block in its row of `blocks`, of a table, which is one frame, in the attribute `checks`. So a frame that is whole, and
where another belongs, is noticed.

The *digest* is the SHA-256 of some lines of text: `name=value` for each attribute but the digest itself, and `name
length chunk digest` for each dataset, its digest being the SHA-256 of its frames, one after another; attributes first,
each kind sorted by name.
"""

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

import h5py
import numpy as np
import zstandard
from numpy.typing import NDArray

from retrograde.databases.encoding import compressor, to_planes, unpack
from retrograde.databases.header import Attributes, write_attributes
from retrograde.databases.layout import LEVEL, create_dataset

LEAST_FRAME = 12
"""Bytes that the smallest frame with a checksum takes; so many blocks at most can there be in a file."""
ROWS_A_BYTE, LEGEND_ROWS_A_BYTE = 16, 4
"""Rows that a table may have, at most, for each byte of its file, and the legend, whose rows become objects. (A heap
game of 100,000 tiers has 3 and 1.4.)"""

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""What the builtin `map` does: results of a function for some items, in their order. It may have others do the work, in
this process or another: functions and items can be pickled."""
Progress = Callable[[int], object]
"""Is told how many records are written."""


def check_of(frame: bytes | memoryview) -> int:
    """Return the checksum that a frame ends in."""
    return int.from_bytes(frame[-4:], "little")


def most_bytes(size: int) -> int:
    """Return how many bytes a frame of some content may take: no more than zstd needs where nothing is compressed."""
    return size + (size >> 8) + 1024


class Frames:
    """The frames of a dataset being written, one after another."""

    def __init__(self, file: h5py.File, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int = LEVEL):
        self.dataset = create_dataset(file, name, dtype, length, chunk, level)
        self.length, self.chunk = length, chunk
        self.checks = np.zeros(-(-length // chunk), np.uint32)
        self.digest = sha256()
        self.done = 0

    def write(self, frame: bytes) -> None:
        """Write the next frame."""
        self.dataset.write_direct_chunk((self.done * self.chunk,), frame)
        self.checks[self.done] = check_of(frame)
        self.digest.update(frame)
        self.done += 1

    def write_all(self, frames: Iterable[bytes]) -> int:
        """Write the next frames, and return how many items are written by now."""
        for frame in frames:
            self.write(frame)
        return min(self.done * self.chunk, self.length)


class Contents:
    """What a new file holds: blocks first, then tables, and at last the attributes."""

    def __init__(self, file: h5py.File):
        self.file = file
        self.frames: dict[str, Frames] = {}
        self.checks: dict[str, int] = {}
        """The checksum of each table; those of blocks are noted in a table."""

    def blocks(self, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int) -> Frames:
        """Return a new dataset, whose frames are to be written."""
        self.frames[name] = Frames(self.file, name, dtype, length, chunk, level)
        return self.frames[name]

    def table(self, name: str, table: NDArray[Any]) -> None:
        """Write an array as a dataset of one frame."""
        frames = self.blocks(name, table.dtype, len(table), len(table), LEVEL)
        frames.write(compressor(LEVEL).compress(to_planes(table, table.itemsize, len(table)).data))
        self.checks[name] = int(frames.checks[0])

    def finish(self, attributes: Attributes) -> None:
        """Write the attributes."""
        attributes = {**attributes, "checks": json.dumps(self.checks, sort_keys=True)}
        lines = {name: (part.length, part.chunk, part.digest.hexdigest()) for name, part in self.frames.items()}
        write_attributes(self.file, {**attributes, "digest": digest_of(attributes, lines)})


def digest_of(attributes: Attributes, datasets: dict[str, tuple[int, int, str]]) -> str:
    """Return the digest of a file from its attributes, and length, chunk and digest of each dataset."""
    lines = [f"{name}={value}" for name, value in sorted(attributes.items()) if name != "digest"]
    lines += [f"{name} {length} {chunk} {digest}" for name, (length, chunk, digest) in sorted(datasets.items())]
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


class FrameReader:
    """The frames of one dataset, read for one thread at a time; nothing is allocated that the file has no room for."""

    def __init__(self, dataset: h5py.h5d.DatasetID, content: int):
        """Read frames of so many bytes of *content*."""
        self.dataset, self.content = dataset, content
        self.room = bytearray(most_bytes(content))
        self.decompressor = zstandard.ZstdDecompressor()

    def frame(self, first: int) -> memoryview:
        """Return the frame of the chunk that begins at an item, until the next one is asked for.

        Raises ValueError where it is not compressed, or longer than its content could make it.
        """
        frame: memoryview
        skipped_filters, frame = self.dataset.read_direct_chunk((first,), out=self.room)
        if skipped_filters:
            raise ValueError("a chunk is not compressed")
        return frame

    def read(self, first: int, check: int | None) -> bytes:
        """Return the content of a frame; raise ValueError where it is not of the size or the *check* expected."""
        frame = self.frame(first)
        if check is not None and check_of(frame) != check:
            raise ValueError("a frame is not where it belongs")
        return unpack(self.decompressor, bytes(frame), self.content)
