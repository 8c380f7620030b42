"""What of the links of a tier is put aside, in the journal: so that a killed solve need not look at all children again.

An entry begins with its kind and two numbers. An entry of nothing says that all is begun anew.
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
"""What is known of positions: arrays with an entry for each."""

PUT, TURNED, FORGONE = range(3)
"""Kinds of entries: the links of the positions from one number up to another are put aside, and what is known of these;
the links of a bucket are turned round; there will be no links, for there is no room for them."""


def bucket_name(bucket: int) -> str:
    """Return the name under which packed links of a bucket are in scratch."""
    return f"bucket{bucket}"


PARENTS = "parents"
"""The name of links that are turned round."""


class LinkLog:
    """The log of a tier's links, and what has been read in it."""

    def __init__(self, log: Log):
        self.log = log
        self.aside: list[tuple[int, Aside]] = []
        self.turned: dict[int, list[PutPart]] = {}
        self.done = 0
        """Up to which position links are put aside."""
        self.forgone = False
        """Whether there will be no links."""

    def read(self, known: Known, scratch: Scratch) -> bool:
        """Take up what the log says, and fill what is *known* of positions; tell whether there was anything.

        Where scratch files no longer hold it, all is begun anew.
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
        """Note that the links of positions up to *end* are put aside, and what is *known* of those since last time."""
        pieces = [whole[self.done : end].copy() for whole in known]
        scratch.sync(frame for _, (frame, _) in asides)
        rows = [(bucket, *frame[1:], len(bounds)) for bucket, (frame, bounds) in asides]
        bounds = np.concatenate([np.empty(0, np.int64), *(bounds for _, (_, bounds) in asides)])
        self.log.add((np.array([PUT, self.done, end]), np.array(rows, np.int64).ravel(), bounds, *pieces))
        self.log.settle()
        self.done = end

    def add_turned(self, bucket: int, parts: list[PutPart], scratch: Scratch) -> None:
        """Note that the links of a bucket are turned round, so that they may be deleted as they were put aside."""
        scratch.sync(part.frame for part in parts)
        rows = [(*part.frame[1:], part.size, wide(part.begins), wide(part.parents)) for part in parts]
        self.log.add((np.array([TURNED, bucket, 0]), np.array(rows, np.int64).ravel()))
        self.log.settle()

    def forgo(self) -> None:
        """Note that there will be no links, after their files have been dropped: the disk may have had no room for as
        much as an entry. (Where a kill comes between, files are missing, and all is begun anew.)"""
        self.log.begin_anew()
        self.aside, self.turned, self.done, self.forgone = [], {}, 0, True
        self.log.add((np.array([FORGONE, 0, 0]),))
        self.log.settle()


def asides_from(frames: Array, bounds: Array) -> Iterator[tuple[int, Aside]]:
    """Yield what `add_put` has noted."""
    begin = 0
    for bucket, *place, count in frames.reshape(-1, 6).tolist():
        yield bucket, (Frame(bucket_name(bucket), *place), bounds[begin : begin + count])
        begin += count


def parts_from(rows: Array) -> list[PutPart]:
    """Return what `add_turned` has noted."""
    return [
        PutPart(Frame(PARENTS, *place), size, "<i8" if begins else "<u4", "<i8" if parents else "<i4")
        for *place, size, begins, parents in rows.reshape(-1, 7).tolist()
    ]


def wide(dtype: str) -> bool:
    """Tell whether numbers take 64 bits."""
    return np.dtype(dtype).itemsize == 8
