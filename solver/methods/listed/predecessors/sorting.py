"""Links on their way: packed by bucket as tasks find them, kept in memory or put aside, and turned round at the end.

    children of a block --pack--> bytes by bucket --heap--> memory, or scratch --turn round--> parents of each child

Sorted out by bucket the links of a tier are turned round piece by piece, so that they are never there twice, nor ever
all in memory where there is not enough of it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import kernels
from retrograde.solver.runtime.scratch import Frame, Scratch

Array = np.ndarray[Any, Any]
Packed = list[Array]
"""Links of a stretch of positions: packed bytes, uint8[…], for each bucket."""

LEAST_BUCKET_BITS, BUCKET_BITS = 16, 21
"""Positions in a bucket, as a power of two: their links are turned round at once, in memory."""
BYTES_IN_BUCKET = 150
"""What a position takes while the links of its bucket are turned round, about, with ten children or so each."""
PART_BITS = 12
"""Positions whose links are read together where they lie in scratch."""


class Shape(NamedTuple):
    """How the links of a tier of so many *positions* are cut: into buckets of `2**shift` numbers of `width` bytes."""

    positions: int
    shift: int
    width: int

    @classmethod
    def of(cls, count: int, bits: int | None = None) -> "Shape":
        """Return how to cut the links of so many positions, into buckets of up to `2**bits`."""
        shift = min(bits or BUCKET_BITS, max(count - 1, 1).bit_length())
        return cls(count, shift, (shift + 7) // 8)

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return (self.positions - 1 >> self.shift) + 1

    def begin(self, bucket: int) -> int:
        """Return the first number of a bucket."""
        return bucket << self.shift

    def size(self, bucket: int) -> int:
        """Return how many numbers a bucket has."""
        return min(self.begin(bucket + 1), self.positions) - self.begin(bucket)


def bits_for(memory: int, workers: int) -> int:
    """Return of how many positions buckets are to be, as a power of two, where so many bytes of memory are left, and
    each of so many workers may turn one round at a time.

    >>> bits_for(8_000_000_000, 2), bits_for(500_000_000, 2), bits_for(0, 2)
    (21, 18, 16)
    """
    share = max(memory, 0) // (4 * workers * BYTES_IN_BUCKET)
    return min(BUCKET_BITS, max(LEAST_BUCKET_BITS, share.bit_length() - 1))


def packed(shape: Shape, links: Array, counts: Array, first: int) -> Packed:
    """Return links packed by bucket: the children of some positions, from number *first* on, each with its count."""
    sizes = np.zeros(shape.buckets, np.int64)
    kernels.count_by_bucket(links, shape.shift, sizes)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.empty(len(links), np.int64)
    kernels.sort_out(links, counts, first, shape.shift, bounds[:-1].copy(), entries)
    room = np.empty(kernels.MOST_BYTES * int(sizes.max()), np.uint8)
    pieces = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        size = kernels.pack(entries[begin:end], first, shape.width, room) if end > begin else 0
        pieces.append(room[:size].copy())
    return pieces


Aside = tuple[Frame, Array]
"""Packed links of a bucket in scratch, and where stretches end in them."""


class Heap(NamedTuple):
    """The packed links of a bucket: those in memory, and frames of others, with where in them stretches end."""

    pieces: list[Array]
    frames: list[Aside]

    def stretches(self, scratch: Scratch | None) -> Iterator[tuple[Array, Array]]:
        """Yield packed bytes, and where stretches end in them; those put aside are the earlier ones."""
        for frame, bounds in self.frames:
            assert scratch is not None
            yield np.frombuffer(scratch.read(frame), np.uint8), bounds
        if self.pieces:
            yield joined(self.pieces)


def joined(pieces: list[Array]) -> tuple[Array, Array]:
    """Return packed bytes as one, and where the stretches end."""
    return np.concatenate(pieces), np.cumsum([len(piece) for piece in pieces])


class Put(NamedTuple):
    """The task of putting packed links of a bucket aside."""

    scratch: Scratch
    name: str
    pieces: list[Array]


def put_aside(task: Put) -> Aside:
    """Write packed links to scratch; return where they are, and where stretches end in them."""
    content, bounds = joined(task.pieces)
    return task.scratch.write(task.name, content.data), bounds


class Turning(NamedTuple):
    """The task of turning the links of a bucket of so many positions round, to be put aside if *name* is given."""

    heap: Heap
    size: int
    width: int
    wide: bool
    scratch: Scratch | None
    name: str


class Part(NamedTuple):
    """The parents of some positions one after another: those of number i are `parents[begins[i]:begins[i + 1]]`.

    `begins` uint32[n + 1] or int64[n + 1]; `parents` int32 or int64.
    """

    begins: Array
    parents: Array


class PutPart(NamedTuple):
    """The same in scratch, where both lie in one frame."""

    frame: Frame
    size: int
    begins: str
    parents: str

    def read(self, scratch: Scratch) -> Part:
        """Return it."""
        content = scratch.read(self.frame)
        begins = np.frombuffer(content, self.begins, self.size + 1)
        return Part(begins, np.frombuffer(content, self.parents, offset=begins.nbytes))


def turn_round(task: Turning) -> list[Part] | list[PutPart]:
    """Return the parents of the positions of a bucket: in one piece, or several that are put aside."""
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
    """Return the parents of the positions of a bucket."""
    begins = np.zeros(task.size + 2, np.int64)
    stretches = list(task.heap.stretches(task.scratch))
    for content, _ in stretches:
        kernels.count_children(content, task.width, begins)
    np.cumsum(begins, out=begins)
    parents = np.empty(int(begins[-1]), np.int64 if task.wide else np.int32)
    for content, bounds in stretches:
        kernels.turn_round(content, bounds, task.width, begins, parents)
    del stretches
    return Part(begins[:-1].astype(np.uint32 if len(parents) < 1 << 32 else np.int64), parents)
