"""A sorted list of positions on disk: compressed blocks with checksums, and the first position of each in memory.

list  | block | block | … |       each block: a zstd frame of the gaps, in byte planes (see kernels.py)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.spill import kernels
from retrograde.solver.runtime.scratch import Frame, Scratch

Array = np.ndarray[Any, Any]

BLOCK = 1 << 14
"""Positions in a block, at most."""
MERGED = 1 << 20
"""Positions in a task of merging, about."""
END = 1 << 62
"""A number greater than all positions."""


@dataclass(frozen=True)
class SortedList:
    """Distinct positions in ascending order, on disk.

    Block b is in `frames[b]` and begins with the position `firsts[b]`. It has the positions with indices `begins[b]` to
    `begins[b + 1]` of the list.
    """

    scratch: Scratch
    firsts: Array
    begins: Array
    frames: tuple[Frame, ...]

    def __len__(self) -> int:
        return int(self.begins[-1])

    def __getitem__(self, where: slice) -> Array:
        """Return the positions with indices from *start* to *stop*, int64."""
        begin, end = where.start, min(where.stop, len(self))
        if begin >= end:
            return np.empty(0, np.int64)
        low, high = int(self.begins.searchsorted(begin, "right")) - 1, int(self.begins.searchsorted(end))
        before = int(self.begins[low])
        return self.blocks(low, high)[begin - before : end - before]

    def blocks(self, low: int, high: int) -> Array:
        """Return the positions of blocks *low* to *high*, int64."""
        out = np.empty(int(self.begins[high] - self.begins[low]), np.int64)
        bounds = (self.begins[low : high + 1] - self.begins[low]).tolist()
        for block in range(low, high):
            begin, end = bounds[block - low : block - low + 2]
            planes = np.frombuffer(self.scratch.read(self.frames[block]), np.uint8).reshape(-1, end - begin)
            kernels.from_planes(self.firsts[block], planes, out[begin:end])
        return out

    def within(self, low: int, high: int) -> tuple[int, int]:
        """Return the range of blocks that may have positions from *low* on and below *high*."""
        return max(0, int(self.firsts.searchsorted(low, "right")) - 1), int(self.firsts.searchsorted(high))

    def between(self, low: int, high: int) -> Array:
        """Return the positions from *low* on and below *high*."""
        found = self.blocks(*self.within(low, high))
        begin, end = found.searchsorted([low, high])
        return found[begin:end]


def write_list(scratch: Scratch, name: str, positions: Array) -> SortedList:
    """Write sorted positions to disk under a name."""
    bounds = [*range(0, len(positions), BLOCK), len(positions)]
    frames = []
    for begin, end in pairwise(bounds):
        block = positions[begin:end].astype(np.int64, copy=False)
        # The number of byte planes: the bytes of the greatest gap.
        width = max(1, -(-int(kernels.greatest_gap(block)).bit_length() // 8))
        planes = np.empty((width, end - begin), np.uint8)
        kernels.to_planes(block, planes)
        frames.append(scratch.write(name, planes.data.cast("B")))
    return SortedList(scratch, positions[bounds[:-1]].astype(np.int64), np.array(bounds), tuple(frames))


def concatenate(scratch: Scratch, lists: Sequence[SortedList]) -> SortedList:
    """Return lists concatenated. Each must begin after the end of the one before."""
    starts = np.cumsum([0, *map(len, lists)])
    return SortedList(
        scratch,
        np.concatenate([np.empty(0, np.int64), *(each.firsts for each in lists)]),
        np.concatenate([*(each.begins[:-1] + start for each, start in zip(lists, starts, strict=False)), starts[-1:]]),
        tuple(frame for each in lists for frame in each.frames),
    )


class MergeTask(NamedTuple):
    """Task: merge the positions from *low* on and below *high* of some lists, without those in the *known* lists."""

    scratch: Scratch
    name: str
    lists: list[SortedList]
    known: list[SortedList]
    low: int
    high: int


def merge_tasks(scratch: Scratch, name: str, lists: list[SortedList], known: list[SortedList]) -> Iterator[MergeTask]:
    """Yield the tasks of merging lists without known positions."""
    firsts = np.sort(np.concatenate([each.firsts for each in lists]))
    bounds = [0, *np.unique(firsts[MERGED // BLOCK :: MERGED // BLOCK]).tolist(), END]
    for low, high in pairwise(bounds):
        yield MergeTask(scratch, name, lists, known, low, high)


def merge(task: MergeTask) -> SortedList:
    """Return the merged list, on disk."""
    positions = np.concatenate([each.between(task.low, task.high) for each in task.lists])
    positions.sort()
    positions = positions[: kernels.unique(positions)]
    for known in task.known:
        positions = subtract(positions, known)
    return write_list(task.scratch, task.name, positions)


def subtract(positions: Array, known: SortedList) -> Array:
    """Return those of some sorted positions that a list does not have.

    Reads only blocks that may have one of them.
    """
    if not len(positions):
        return positions
    low, high = known.within(int(positions[0]), int(positions[-1]) + 1)
    # Where each block's share of the positions begins; blocks without any are not read.
    bounds = [0, *positions.searchsorted(known.firsts[low + 1 : high]).tolist(), len(positions)]
    places = np.full(len(positions), -1, np.int64)
    for block, begin, end in zip(range(low, high), bounds[:-1], bounds[1:], strict=False):
        if end > begin:
            kernels.indices_of(positions[begin:end], known.blocks(block, block + 1), 0, places[begin:end])
    return positions[places < 0]
