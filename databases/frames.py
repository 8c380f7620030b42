"""Reads and writes the zstd frames of a file, each with a checksum, and all together with a digest.

The last four bytes of a frame are the checksum of its content. The file has it a second time: a block's checksum in its
row of `blocks`, and that of a table, which is one frame, in the attribute `checks`. So a reader notices an intact frame
that stands in the wrong place.

The tables PLAIN of up to PLAIN_BYTES are not compressed, so that any HDF5 program shows them. Their checksum is a
CRC-32.

The *digest* is the SHA-256 of lines of text. First come the attributes, sorted by name, except the digest itself:
`name=value`. Then come the datasets, sorted by name: `name length chunk digest`, where this digest is the SHA-256 of
the dataset's frames, one after another.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from typing import Any
from zlib import crc32

import h5py
import numpy as np
import zstandard
from numpy.typing import NDArray

from retrograde.databases.encoding import compressor, to_planes, unpack
from retrograde.databases.header import Attributes, write_attributes
from retrograde.databases.layout import LEVEL, SLOT_BLOCKS, SLOT_TIERS, create_dataset

LEAST_FRAME = 12
"""The bytes of the smallest frame with a checksum, which limits the number of blocks in a file."""
ROWS_A_BYTE, LEGEND_ROWS_A_BYTE = 16, 4
"""The most rows of a table, and of the legend, for each byte of the file. The legend's rows become objects. (A heap
game of 100,000 tiers has 3 and 1.4.)
"""
PLAIN = "legend", "tiers", "blocks"
PLAIN_BYTES = 1 << 20
"""The most bytes of a table that is stored as it is. Legends with additional columns may be larger."""
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""A function like the builtin `map`. It may run in other threads or processes: functions and items can be pickled."""
Progress = Callable[[int], object]
"""A callback that gets the number of records written so far."""


def checksum_of(frame: bytes | memoryview) -> int:
    """Return the checksum in a frame's last four bytes."""
    return int.from_bytes(frame[-4:], "little")


class FrameWriter:
    """Writes the frames of one dataset, one after another."""

    def __init__(self, file: h5py.File, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int | None):
        self.plain = level is None
        self.dataset = create_dataset(file, name, dtype, length, chunk, level)
        self.length, self.chunk = length, chunk
        self.checks = np.zeros(-(-length // chunk), np.uint32)
        self.digest = sha256()
        self.done = 0

    def write(self, frame: bytes) -> None:
        """Write the next frame, and add it to the checksums and the digest."""
        self.dataset.write_direct_chunk((self.done * self.chunk,), frame)
        self.checks[self.done] = crc32(frame) if self.plain else checksum_of(frame)
        self.digest.update(frame)
        self.done += 1

    def write_all(self, frames: Iterable[bytes]) -> int:
        """Write the next frames; return the number of items written so far."""
        for frame in frames:
            self.write(frame)
        return min(self.done * self.chunk, self.length)


class FileWriter:
    """Writes a new file: blocks first, then tables, then the attributes."""

    def __init__(self, file: h5py.File):
        self.file = file
        self.frames: dict[str, FrameWriter] = {}
        self.checks: dict[str, int] = {}
        """The checksum of each table. Those of blocks go into the table of blocks."""

    def new_dataset(self, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int | None) -> FrameWriter:
        """Create a dataset, and return the writer of its frames; they are plain bytes if *level* is None."""
        self.frames[name] = FrameWriter(self.file, name, dtype, length, chunk, level)
        return self.frames[name]

    def write_items(
        self, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int,
        each: Each, groups: Iterable[NDArray[Any]], progress: Progress,
    ) -> FrameWriter:  # fmt: skip
        """Write a dataset of *length* items, which come in groups of whole blocks; return the writer of its frames."""
        frames = self.new_dataset(name, dtype, length, chunk, level)
        for group in each(partial(compress_group, chunk, dtype, level), groups):
            progress(frames.write_all(group))
        return frames

    def write_slot_tables(self, tiers: NDArray[np.int64], starts: NDArray[np.int64], frames: FrameWriter) -> None:
        """Write the tables of tiers and blocks for slots: where each tier starts, and the checksums of *frames*."""
        table = np.empty(len(tiers), SLOT_TIERS)
        table["tier"], table["slot"] = tiers, starts
        self.write_table("tiers", table)
        self.write_table("blocks", frames.checks.astype("<u4").view(SLOT_BLOCKS))

    def write_table(self, name: str, table: NDArray[Any]) -> None:
        """Write an array as a dataset of one frame."""
        if name in PLAIN and table.nbytes <= PLAIN_BYTES:
            frames = self.new_dataset(name, table.dtype, len(table), len(table), None)
            frames.write(table.tobytes())
        else:
            frames = self.new_dataset(name, table.dtype, len(table), len(table), LEVEL)
            frames.write(compressor(LEVEL).compress(to_planes(table, table.itemsize, len(table)).data))
        self.checks[name] = int(frames.checks[0])

    def finish(self, attributes: Attributes) -> None:
        """Write the attributes, with the checksums and the digest."""
        attributes = {**attributes, "checks": json.dumps(self.checks, sort_keys=True)}
        datasets = {name: (one.length, one.chunk, one.digest.hexdigest()) for name, one in self.frames.items()}
        write_attributes(self.file, {**attributes, "digest": digest_of(attributes, datasets)})


def digest_of(attributes: Attributes, datasets: dict[str, tuple[int, int, str]]) -> str:
    """Return a file's digest, from its attributes and each dataset's (length, chunk, digest)."""
    lines = [f"{name}={value}" for name, value in sorted(attributes.items()) if name != "digest"]
    lines += [f"{name} {length} {chunk} {digest}" for name, (length, chunk, digest) in sorted(datasets.items())]
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def compress_group(chunk: int, kind: np.dtype[Any], level: int, items: NDArray[Any]) -> list[bytes]:
    """Return the compressed frames of consecutive blocks, of *chunk* items each; *items* are converted to *kind*."""
    planes = to_planes(items.astype(kind, copy=False), kind.itemsize, chunk)
    return [compressor(level).compress(block.data) for block in planes]


class FrameReader:
    """Reads the frames of one dataset, for one thread at a time, and never allocates more than the content needs."""

    def __init__(self, dataset: h5py.h5d.DatasetID, size: int):
        """Prepare to read frames whose content has *size* bytes."""
        self.dataset, self.size = dataset, size
        self.plain = dataset.get_create_plist().get_nfilters() == 0
        self.buffer = bytearray(size + (size >> 8) + 1024)
        """As long as the longest frame: what zstd needs for content that cannot be compressed."""
        self.decompressor = zstandard.ZstdDecompressor()

    def frame(self, first: int) -> memoryview:
        """Return the stored bytes of the chunk that begins at item *first*, valid until the next call.

        Raises ValueError if a chunk of a compressed dataset is stored uncompressed.
        """
        frame: memoryview
        skipped_filters, frame = self.dataset.read_direct_chunk((first,), out=self.buffer)
        if skipped_filters:
            raise ValueError("a chunk is not compressed")
        return frame

    def read(self, first: int, check: int) -> bytes:
        """Return the content of the frame that begins at item *first*. Raises ValueError if its size is wrong, or its
        checksum is not *check*."""
        frame = self.frame(first)
        if (crc32(frame) if self.plain else checksum_of(frame)) != check:
            raise ValueError("a frame is not where it belongs")
        if self.plain:
            if len(frame) != self.size:
                raise ValueError(f"a table has {len(frame)} bytes, and should have {self.size}")
            return bytes(frame)
        return unpack(self.decompressor, bytes(frame), self.size)
