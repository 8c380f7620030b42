"""Edges of a tier: packed by bucket of their children, in memory or on disk, then inverted.

    children of a block --pack--> bytes by bucket, in memory or on disk --invert--> parents of each child

Buckets are inverted one by one. So the edges of a tier are never in memory twice, and need not all fit there.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import kernels
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Frame, Scratch

PackedEdges = list[Array]
"""Packed edges of a block of positions: uint8[…] for each bucket."""

LEAST_BUCKET_BITS, BUCKET_BITS = 16, 21
"""Positions in a bucket, as a power of two (least, most). All edges of a bucket are inverted at once, in memory."""
BYTES_IN_BUCKET = 150
"""Memory for each position of a bucket while it is inverted, about, with ten children each."""
READ_BITS = 12
"""Positions whose predecessor lists are read from disk together, as a power of two."""


class BucketLayout(NamedTuple):
    """How a tier of *positions* is cut into buckets; an edge belongs to the bucket of its child.

    A bucket has `2**shift` consecutive positions. A position's number within it takes `width` bytes. `BucketLayout(10,
    2, 1)` has the buckets 0 to 3, 4 to 7, and 8 to 9.
    """

    positions: int
    shift: int
    width: int

    @classmethod
    def of(cls, count: int, bits: int | None = None) -> "BucketLayout":
        """Return the layout for *count* positions, with buckets of up to `2**bits`."""
        shift = min(bits or BUCKET_BITS, max(count - 1, 1).bit_length())
        return cls(count, shift, (shift + 7) // 8)

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return ((self.positions - 1) >> self.shift) + 1

    @property
    def wide(self) -> bool:
        """Whether numbers of positions, or their complements, take 64 bits."""
        return self.positions >= 1 << 31

    def begin(self, bucket: int) -> int:
        """Return the number of the first position of a bucket."""
        return bucket << self.shift

    def size(self, bucket: int) -> int:
        """Return the number of positions in a bucket."""
        return min(self.begin(bucket + 1), self.positions) - self.begin(bucket)


def bucket_bits(memory: int, workers: int) -> int:
    """Return the size of buckets, as a power of two, if each worker may invert a bucket at once in *memory* bytes.

    >>> bucket_bits(8_000_000_000, 2), bucket_bits(500_000_000, 2), bucket_bits(0, 2)
    (21, 18, 16)
    """
    positions = max(memory, 0) // (4 * workers * BYTES_IN_BUCKET)  # a quarter of the memory
    return min(BUCKET_BITS, max(LEAST_BUCKET_BITS, positions.bit_length() - 1))


def pack_edges(layout: BucketLayout, children: Array, counts: Array, first: int) -> PackedEdges:
    """Return edges packed by bucket.

    *children* are those of positions from number *first* on, `counts[i]` of them for the i-th. With the children [1, 5,
    2], the counts [1, 2] and buckets of four positions, the edges 0 → 1 and 1 → 2 go to the first bucket, and 1 → 5 to
    the second.
    """
    # Step 1: sort the edges by bucket.
    sizes = np.zeros(layout.buckets, np.int64)
    kernels.count_by_bucket(children, layout.shift, sizes)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.empty(len(children), np.int64)
    kernels.sort_by_bucket(children, counts, layout.shift, bounds[:-1].copy(), entries)
    # Step 2: pack those of each bucket.
    buffer = np.empty(kernels.MOST_BYTES * int(sizes.max()), np.uint8)
    packed = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        size = kernels.pack(entries[begin:end], first, layout.width, buffer) if end > begin else 0
        packed.append(buffer[:size].copy())
    return packed


class SpilledEdges(NamedTuple):
    """Packed edges of a bucket on disk; `bounds` are the ends of blocks of positions in them."""

    bucket: int
    frame: Frame
    bounds: Array


class BucketEdges(NamedTuple):
    """The packed edges of a bucket: blocks in memory, and blocks on disk, which are the earlier ones."""

    blocks: list[Array]
    spilled: list[SpilledEdges]

    def read(self, scratch: Scratch | None) -> Iterator[tuple[Array, Array]]:
        """Yield (packed bytes, ends of blocks)."""
        for edges in self.spilled:
            assert scratch is not None
            yield np.frombuffer(scratch.read(edges.frame), np.uint8), edges.bounds
        if self.blocks:
            yield concatenate_blocks(self.blocks)


def concatenate_blocks(blocks: list[Array]) -> tuple[Array, Array]:
    """Return packed bytes concatenated, and where each block ends."""
    return np.concatenate(blocks), np.cumsum([len(block) for block in blocks])


def write_edges(scratch: Scratch, bucket: int, blocks: list[Array]) -> SpilledEdges:
    """Write packed edges of a bucket to disk."""
    content, bounds = concatenate_blocks(blocks)
    return SpilledEdges(bucket, scratch.write(f"bucket{bucket}", content.data), bounds)


class ParentLists(NamedTuple):
    """Predecessor lists of consecutive positions: those of position i are `parents[begins[i]:begins[i + 1]]`. `begins`
    is uint32[n + 1] or int64[n + 1]; `parents` is int32 or int64."""

    begins: Array
    parents: Array

    def rows(self, numbers: Array) -> Array:
        """Return the indices of the lists of some positions: their numbers, as each position has a list."""
        return numbers


class StoredParentLists(NamedTuple):
    """Predecessor lists of *size* positions on disk, in one frame: `begins`, then `parents`, which name their types."""

    frame: Frame
    size: int
    begins: str
    parents: str

    def read(self, scratch: Scratch) -> ParentLists:
        """Return the lists from disk."""
        content = scratch.read(self.frame)
        begins = np.frombuffer(content, self.begins, self.size + 1)
        return ParentLists(begins, np.frombuffer(content, self.parents, offset=begins.nbytes))


def invert_to_disk(edges: BucketEdges, layout: BucketLayout, bucket: int, scratch: Scratch) -> list[StoredParentLists]:
    """Write the predecessor lists of a bucket to disk, those of `2**READ_BITS` positions in a frame."""
    lists = invert_edges(edges, layout, bucket, scratch)
    stored = []
    size = len(lists.begins) - 1
    for first in range(0, size, 1 << READ_BITS):
        begins = lists.begins[first : min(first + (1 << READ_BITS), size) + 1]
        parents = lists.parents[begins[0] : begins[-1]]
        frame = scratch.write("parents", (begins - begins[0]).tobytes() + parents.tobytes())
        stored.append(StoredParentLists(frame, len(begins) - 1, begins.dtype.str, parents.dtype.str))
    return stored


def invert_edges(edges: BucketEdges, layout: BucketLayout, bucket: int, scratch: Scratch | None = None) -> ParentLists:
    """Return the predecessor lists of a bucket, in memory."""
    begins = np.zeros(layout.size(bucket) + 2, np.int64)
    blocks = list(edges.read(scratch))
    # Step 1: count the parents of each child.
    for content, _ in blocks:
        kernels.count_parents_packed(content, layout.width, begins)
    # Step 2: turn counts into the begin of each child's list.
    np.cumsum(begins, out=begins)
    parents = np.empty(int(begins[-1]), np.int64 if layout.wide else np.int32)
    # Step 3: unpack the edges again, and write each parent into its child's list.
    for content, bounds in blocks:
        kernels.write_parents(content, bounds, layout.width, begins, parents)
    del blocks
    return ParentLists(begins[:-1].astype(np.uint32 if len(parents) < 1 << 32 else np.int64), parents)
