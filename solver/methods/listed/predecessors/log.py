"""Journal entries about the edges of a tier, so that a killed solve need not expand all positions again.

Each entry begins with three numbers: its kind and two more. An empty entry means that everything before it is void::

    PUT       first position, end       | frames by bucket | ends of blocks | arrays about the positions
    TURNED    bucket, 0                 | frames of its predecessor lists
    FORGONE   0, 0                      there will be no predecessor lists
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.solver.methods.listed.predecessors.sorting import Aside, PutPart
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch

Array = np.ndarray[Any, Any]
Known = tuple[Array | Compressed, ...]
"""Arrays with an entry for each position."""

PUT, TURNED, FORGONE = range(3)
"""Kinds of entries.

PUT: the edges of some positions are on disk, and the entry has the arrays about them. TURNED: the edges of a bucket are
inverted. FORGONE: predecessor lists have been given up for lack of space.
"""


def bucket_name(bucket: int) -> str:
    """Return the name of the scratch files with packed edges of a bucket."""
    return f"bucket{bucket}"


PARENTS = "parents"
"""The name of the scratch files with predecessor lists."""


class LinkLog:
    """The log of a tier's edges, and its contents when the solve began."""

    def __init__(self, log: Log):
        self.log = log
        self.aside: list[tuple[int, Aside]] = []
        self.turned: dict[int, list[PutPart]] = {}
        self.done = 0
        """The number of positions whose edges are on disk."""
        self.forgone = False
        """Whether predecessor lists have been given up."""

    def read(self, known: Known, scratch: Scratch) -> bool:
        """Read the log and fill the arrays *known*; return True if edges of any positions are on disk.

        If scratch files are missing, the log is voided and the tier starts from the beginning.
        """
        for (kind, first, second), *arrays in self.log.since_anew():
            if kind == PUT:
                frames, bounds, *pieces = arrays
                for whole, piece in zip(known, pieces, strict=True):
                    whole[first : first + len(piece)] = piece
                self.aside += asides_from(frames, bounds)
                self.done = int(second)
            elif kind == FORGONE:
                self.forgone = True
            else:
                self.turned[int(first)] = parts_from(*arrays)
        there = [aside[0] for bucket, aside in self.aside if bucket not in self.turned]
        there += [part.frame for parts in self.turned.values() for part in parts]
        if scratch.missing(there):
            self.log.begin_anew()
            self.aside, self.turned, self.done = [], {}, 0
        return self.done > 0

    def add_put(self, end: int, asides: list[tuple[int, Aside]], known: Known, scratch: Scratch) -> None:
        """Log that the edges of positions up to *end* are on disk, with the new part of the arrays *known*."""
        pieces = [whole[self.done : end].copy() for whole in known]
        scratch.sync(frame for _, (frame, _) in asides)
        rows = [(bucket, *frame[1:], len(bounds)) for bucket, (frame, bounds) in asides]
        bounds = np.concatenate([np.empty(0, np.int64), *(bounds for _, (_, bounds) in asides)])
        self.log.add((np.array([PUT, self.done, end]), np.array(rows, np.int64).ravel(), bounds, *pieces))
        self.log.settle()
        self.done = end

    def add_turned(self, bucket: int, parts: list[PutPart], scratch: Scratch) -> None:
        """Log that the edges of a bucket are inverted. Its packed edges may be deleted then."""
        scratch.sync(part.frame for part in parts)
        rows = [(*part.frame[1:], part.size, wide(part.begins), wide(part.parents)) for part in parts]
        self.log.add((np.array([TURNED, bucket, 0]), np.array(rows, np.int64).ravel()))
        self.log.settle()

    def forgo(self) -> None:
        """Log that there will be no predecessor lists.

        Call it after their files are deleted: a full disk may not have space even for the entry. If a kill comes in
        between, files are missing, and the tier starts from the beginning.
        """
        self.log.begin_anew()
        self.aside, self.turned, self.done, self.forgone = [], {}, 0, True
        self.log.add((np.array([FORGONE, 0, 0]),))
        self.log.settle()


def asides_from(frames: Array, bounds: Array) -> Iterator[tuple[int, Aside]]:
    """Yield the frames that `add_put` has logged, by bucket."""
    begin = 0
    for bucket, *place, count in frames.reshape(-1, 6).tolist():
        yield bucket, (Frame(bucket_name(bucket), *place), bounds[begin : begin + count])
        begin += count


def parts_from(rows: Array) -> list[PutPart]:
    """Return the predecessor lists that `add_turned` has logged."""
    return [
        PutPart(Frame(PARENTS, *place), size, "<i8" if begins else "<u4", "<i8" if parents else "<i4")
        for *place, size, begins, parents in rows.reshape(-1, 7).tolist()
    ]


def wide(dtype: str) -> bool:
    """Return True if numbers of this type take 64 bits."""
    return np.dtype(dtype).itemsize == 8
