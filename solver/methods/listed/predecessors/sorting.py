"""Edges of a tier: packed by bucket of their children, in memory or on disk, then inverted.

    children of a block --pack--> bytes by bucket --> Heap in memory or on disk --invert--> parents of each child

Buckets are inverted one by one. So the edges of a tier are never in memory twice, and need not all fit there.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import kernels
from retrograde.solver.runtime.scratch import Frame, Scratch

Array = np.ndarray[Any, Any]
Packed = list[Array]
"""Packed edges of a block of positions: uint8[…] for each bucket."""

LEAST_BUCKET_BITS, BUCKET_BITS = 16, 21
"""Positions in a bucket, as a power of two (least, most). All edges of a bucket are inverted at once, in memory."""
BYTES_IN_BUCKET = 150
"""Memory for each position of a bucket while it is inverted, about, with ten children each."""
PART_BITS = 12
"""Positions whose predecessor lists are read from disk together, as a power of two."""


class Shape(NamedTuple):
    """How the edges of a tier of *positions* are cut into buckets.

    A bucket has `2**shift` consecutive positions. A position's number within it takes `width` bytes.
    """

    positions: int
    shift: int
    width: int

    @classmethod
    def of(cls, count: int, bits: int | None = None) -> "Shape":
        """Return the shape for *count* positions, with buckets of up to `2**bits`."""
        shift = min(bits or BUCKET_BITS, max(count - 1, 1).bit_length())
        return cls(count, shift, (shift + 7) // 8)

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return (self.positions - 1 >> self.shift) + 1

    def begin(self, bucket: int) -> int:
        """Return the number of the first position of a bucket."""
        return bucket << self.shift

    def size(self, bucket: int) -> int:
        """Return the number of positions of a bucket."""
        return min(self.begin(bucket + 1), self.positions) - self.begin(bucket)


def bits_for(memory: int, workers: int) -> int:
    """Return the size of buckets, as a power of two, that suits the free memory in bytes.

    Each of the *workers* may invert a bucket at the same time.

    >>> bits_for(8_000_000_000, 2), bits_for(500_000_000, 2), bits_for(0, 2)
    (21, 18, 16)
    """
    share = max(memory, 0) // (4 * workers * BYTES_IN_BUCKET)
    return min(BUCKET_BITS, max(LEAST_BUCKET_BITS, share.bit_length() - 1))


def packed(shape: Shape, links: Array, counts: Array, first: int) -> Packed:
    """Return edges packed by bucket.

    *links* are the children of positions from number *first* on, `counts[i]` of them for the i-th.
    """
    # Step 1: sort the edges by bucket.
    sizes = np.zeros(shape.buckets, np.int64)
    kernels.count_by_bucket(links, shape.shift, sizes)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.empty(len(links), np.int64)
    kernels.sort_out(links, counts, first, shape.shift, bounds[:-1].copy(), entries)
    # Step 2: pack those of each bucket.
    room = np.empty(kernels.MOST_BYTES * int(sizes.max()), np.uint8)
    pieces = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        size = kernels.pack(entries[begin:end], first, shape.width, room) if end > begin else 0
        pieces.append(room[:size].copy())
    return pieces


Aside = tuple[Frame, Array]
"""Packed edges of a bucket on disk, and where blocks end in them."""


class Heap(NamedTuple):
    """The packed edges of a bucket: pieces in memory, and frames on disk with the ends of their blocks."""

    pieces: list[Array]
    frames: list[Aside]

    def stretches(self, scratch: Scratch | None) -> Iterator[tuple[Array, Array]]:
        """Yield (packed bytes, ends of blocks), those on disk first, which are the earlier ones."""
        for frame, bounds in self.frames:
            assert scratch is not None
            yield np.frombuffer(scratch.read(frame), np.uint8), bounds
        if self.pieces:
            yield joined(self.pieces)


def joined(pieces: list[Array]) -> tuple[Array, Array]:
    """Return packed bytes concatenated, and where each piece ends."""
    return np.concatenate(pieces), np.cumsum([len(piece) for piece in pieces])


class Put(NamedTuple):
    """Task: write packed edges of a bucket to disk."""

    scratch: Scratch
    name: str
    pieces: list[Array]


def put_aside(task: Put) -> Aside:
    """Write packed edges to disk; return their frame and where blocks end in it."""
    content, bounds = joined(task.pieces)
    return task.scratch.write(task.name, content.data), bounds


class Turning(NamedTuple):
    """Task: invert the edges of a bucket of *size* positions.

    The result is written to disk if *name* is not empty. If *wide*, numbers of positions take 64 bits.
    """

    heap: Heap
    size: int
    width: int
    wide: bool
    scratch: Scratch | None
    name: str


class Part(NamedTuple):
    """Predecessor lists of consecutive positions: those of position i are `parents[begins[i]:begins[i + 1]]`.

    `begins` is uint32[n + 1] or int64[n + 1]; `parents` is int32 or int64.
    """

    begins: Array
    parents: Array


class PutPart(NamedTuple):
    """A Part on disk, in one frame: `begins`, then `parents`. The fields of these names are their types."""

    frame: Frame
    size: int
    begins: str
    parents: str

    def read(self, scratch: Scratch) -> Part:
        """Return the predecessor lists."""
        content = scratch.read(self.frame)
        begins = np.frombuffer(content, self.begins, self.size + 1)
        return Part(begins, np.frombuffer(content, self.parents, offset=begins.nbytes))


def turn_round(task: Turning) -> list[Part] | list[PutPart]:
    """Return the predecessor lists of a bucket: one Part, or several parts on disk."""
    part = turned(task)
    if not task.name:
        return [part]
    assert task.scratch is not None
    parts = []
    for first in range(0, task.size, 1 << PART_BITS):
        own = part.begins[first : min(first + (1 << PART_BITS), task.size) + 1]
        here = part.parents[own[0] : own[-1]]
        content = (own - own[0]).tobytes() + here.tobytes()
        frame = task.scratch.write(task.name, content)
        parts.append(PutPart(frame, len(own) - 1, own.dtype.str, here.dtype.str))
    return parts


def turned(task: Turning) -> Part:
    """Return the predecessor lists of a bucket."""
    begins = np.zeros(task.size + 2, np.int64)
    stretches = list(task.heap.stretches(task.scratch))
    # Step 1: count the parents of each child.
    for content, _ in stretches:
        kernels.count_children(content, task.width, begins)
    # Step 2: turn counts into the begin of each child's list.
    np.cumsum(begins, out=begins)
    parents = np.empty(int(begins[-1]), np.int64 if task.wide else np.int32)
    # Step 3: unpack the edges again, and write each parent into its child's list.
    for content, bounds in stretches:
        kernels.turn_round(content, bounds, task.width, begins, parents)
    del stretches
    return Part(begins[:-1].astype(np.uint32 if len(parents) < 1 << 32 else np.int64), parents)
