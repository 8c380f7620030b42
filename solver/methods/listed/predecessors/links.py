"""Predecessor lists of a tier: collected from the tasks that expand positions, then asked for parents."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Self

import numpy as np

from retrograde.databases.errors import DiskFull
from retrograde.solver.methods.listed.predecessors import kept, kernels
from retrograde.solver.methods.listed.predecessors.disk import spare_disk
from retrograde.solver.methods.listed.predecessors.kept import Keeping, Kept
from retrograde.solver.methods.listed.predecessors.log import PARENTS, Known, LinkLog, bucket_name
from retrograde.solver.methods.listed.predecessors.sorting import (
    PART_BITS,
    Aside,
    Heap,
    Packed,
    Part,
    Put,
    PutPart,
    Shape,
    Turning,
    bits_for,
    put_aside,
    turn_round,
)
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 4
"""Memory for each position of a tier for the offset of its predecessor list, in bytes."""
BUFFER = 1 << 26
"""Bytes of packed edges that may wait in memory before they are written to disk."""
FRONTIER = 1 << 15
"""Positions in a task of looking up parents."""
EVERY = 16
"""Tasks between two checks of the memory. Also the most parts in a task of looking up parents."""
TURNED_ROUND = 1.25
"""Factor by which edges grow on disk when they are inverted, at most about. (Quixo on 4×4: 1.12.)"""
SAMPLE = 8
"""Part (one in this number) of the disk budget that is written before the total is extrapolated."""


class LinkWriter:
    """Collects the edges of all positions of a tier, then inverts them into predecessor lists.

    Edges stay in memory while it suffices and a kill would not lose much. Otherwise they are written to scratch files
    under *name*, and the arrays *known*, with an entry for each position, to the journal. If *in_scratch*, this happens
    from the start.

    A new solve resumes from these files: `done` is the number of positions whose edges are on disk. The bucket size
    suits the memory, or is that of the solve that is resumed. If the edges are `too_many` for the disk, the caller may
    `forgo` predecessor lists and use forward passes.

    Use it as a context manager. Scratch files are deleted at the end, unless the solve fails.
    """

    def __init__(self, work: Work, name: str, count: int, known: Known = (), in_scratch: bool = False):
        self.work, self.name, self.known = work, name, known
        self.buckets = work.log(f"{name} buckets")
        bits = next((int(bits[0]) for (bits,) in self.buckets.resumed), bits_for(work.budget.left(), work.sharing))
        self.shape = Shape.of(count, bits)
        self.heaps = [Heap([], []) for _ in range(self.shape.buckets)]
        self.in_memory = 0
        """Bytes of packed edges in memory."""
        self.taken = 0
        self.begun = time.monotonic()
        self.scratch: Scratch | None = None
        self.log = LinkLog(work.log(name))
        in_scratch |= work.sizes.links_in_scratch or not isinstance(work.executor, ThreadPoolExecutor)
        if self.log.log.resumed or in_scratch:
            self.go_to_scratch()
        self.aside = 0
        """Bytes of packed edges on disk."""
        self.note_aside(self.log.aside)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self.scratch and error is None:
            if self.log.done:
                self.log.log.settle()  # the tier's journal entry must be on disk before its files go
            self.scratch.begin(fresh=True)

    @property
    def done(self) -> int:
        """The number of positions whose edges are on disk and need not be taken again."""
        return self.log.done

    @property
    def in_memory_alone(self) -> bool:
        """Whether nothing is on disk, so that a killed solve must expand all positions again."""
        return self.scratch is None

    def take(self, pieces: Packed, done: int) -> None:
        """Take the packed edges of a block of positions; *done* positions are finished afterwards.

        Blocks must come in ascending order.
        """
        for heap, piece in zip(self.heaps, pieces, strict=True):
            if len(piece):
                heap.pieces.append(piece)
                self.in_memory += piece.nbytes
        self.taken += 1
        if self.taken % EVERY == 0 and not self.scratch and (self.worth_keeping or self.too_much(done)):
            self.go_to_scratch()
        if self.scratch and self.in_memory > self.buffer:
            self.put_all_aside(done)

    def takes(self, pieces: Packed, done: int) -> bool:
        """Take edges; return False if the disk is or will be too small, and all edges were dropped."""
        try:
            self.take(pieces, done)
            full = self.too_many
        except DiskFull:
            full = True
        if full:
            self.forgo()
        return not full

    @property
    def worth_keeping(self) -> bool:
        """Whether edges have been collected for so long that a kill must not lose them."""
        return self.log.log.journal is not None and time.monotonic() - self.begun > self.work.sizes.links_seconds

    def too_much(self, done: int) -> bool:
        """Return True if memory will not suffice when the other positions have as many edges as the first *done*."""
        expected = self.in_memory * self.shape.positions // done
        # The expected total plus a quarter, without the part in use already, and the offsets of the lists.
        return (
            expected + expected // 4 - self.in_memory + BYTES_A_POSITION * self.shape.positions
            > self.work.budget.left()
        )

    def go_to_scratch(self) -> None:
        """Keep edges on disk from now on."""
        if not len(self.buckets.resumed):
            self.buckets.add((np.array([self.shape.shift]),))
            self.buckets.flush()
        self.scratch = Scratch(self.work.scratch / self.name, 0)
        if not self.log.read(self.known, self.scratch):
            self.scratch.begin(fresh=True)
        self.buffer = min(BUFFER, max(1 << 20, self.work.budget.left() // 8))

    @property
    def too_many(self) -> bool:
        """Whether the disk will not suffice for the predecessor lists of all positions.

        Extrapolates from the edges on disk, once there are enough of them for a good estimate (see SAMPLE).
        """
        if not self.scratch:
            return False
        most = self.work.sizes.links_at_most
        if most is None:
            most = self.aside + spare_disk(self.work.scratch, self.shape.positions)
        return SAMPLE * self.aside >= most and TURNED_ROUND * self.aside * self.shape.positions >= most * self.done

    def forgo(self) -> None:
        """Give up predecessor lists: delete all edges, and log that there will be none."""
        self.heaps = []
        self.in_memory = 0
        if self.scratch:
            self.scratch.begin(fresh=True)
        self.log.forgo()

    def put_all_aside(self, done: int) -> None:
        """Write the edges in memory to disk. They are those of positions up to *done*."""
        assert self.scratch is not None
        full = [bucket for bucket, heap in enumerate(self.heaps) if heap.pieces]
        tasks = (Put(self.scratch, bucket_name(bucket), self.heaps[bucket].pieces) for bucket in full)
        asides = list(zip(full, self.work.map(put_aside, tasks), strict=True))
        self.note_aside(asides)
        for heap in self.heaps:
            heap.pieces.clear()
        self.in_memory = 0
        self.log.add_put(done, asides, self.known, self.scratch)

    def note_aside(self, asides: list[tuple[int, Aside]]) -> None:
        """Record where packed edges of buckets are on disk."""
        for bucket, aside in asides:
            self.heaps[bucket].frames.append(aside)
            self.aside += aside[0].packed

    def turned_round(self) -> "Links":
        """Invert all edges and return the predecessor lists. Frees the packed edges."""
        shape, scratch = self.shape, self.scratch
        if scratch:
            self.put_all_aside(shape.positions)
        wide = shape.positions >= 1 << 31
        turned: dict[int, list[Any]] = {**self.log.turned}
        # Buckets that an earlier solve has inverted are in the log already.
        left = [bucket for bucket in range(shape.buckets) if bucket not in turned]
        tasks = (
            Turning(self.heaps[bucket], shape.size(bucket), shape.width, wide, scratch, PARENTS if scratch else "")
            for bucket in left
        )
        for bucket, turned[bucket] in zip(left, self.work.map(turn_round, tasks), strict=True):
            # Free the packed edges at once: together with the lists they would take twice the space.
            self.heaps[bucket] = Heap([], [])
            if scratch:
                self.log.add_turned(bucket, turned[bucket], scratch)
                scratch.drop(bucket_name(bucket))
        parts = [part for bucket in range(shape.buckets) for part in turned[bucket]]
        return Links(self.work, parts, min(PART_BITS, shape.shift) if scratch else shape.shift, scratch)


AnyPart = Part | PutPart | Kept


class Question(NamedTuple):
    """Task: look up the parents of a sorted frontier in some parts, each with the number of its first position."""

    parts: list[tuple[int, AnyPart, Array]]
    scratch: Scratch | None


def answer(question: Question) -> Array:
    """Return the parents of the positions of a frontier, int64[…]."""
    # Step 1: read the lists that are on disk, and count parents.
    read = []
    for first, part, frontier in question.parts:
        if isinstance(part, PutPart):
            assert question.scratch is not None
            part = part.read(question.scratch)
        elif isinstance(part, Kept):
            first, frontier, part = 0, part.rows(frontier, first), Part(part.begins, part.parents)
        read.append((first, part, frontier, kernels.count_parents(frontier, first, part.begins)))
    # Step 2: copy the parents of all parts into one array.
    out = np.empty(sum(count for *_, count in read), np.int64)
    end = 0
    for first, part, frontier, count in read:
        kernels.parents_of(frontier, first, part.begins, part.parents, out[end : end + count])
        end += count
    return out


class Links:
    """The predecessor lists of a tier, in parts of `2**bits` positions: Part, PutPart or Kept."""

    def __init__(self, work: Work, parts: list[AnyPart], bits: int, scratch: Scratch | None):
        self.work, self.parts, self.bits, self.scratch = work, parts, bits, scratch
        self.may_keep = bool(scratch) and work.shares_memory
        """Whether the lists are on disk and may be loaded into memory later."""
        self.unasked = sum(part.size for part in parts if isinstance(part, PutPart))
        """The number of positions whose parents have not been looked up yet."""
        if scratch and not self.may_keep:
            scratch.cache_at_most(max(0, work.budget.left() // 2))

    def parents_of(self, frontier: Array) -> Iterator[Array]:
        """Yield the parents of some positions, in arrays.

        A parent appears as often as it has distinct children among the positions. If the same player moves in parent
        and child, the complement (`~`) of the parent's number stands for it.
        """
        self.unasked -= len(frontier)
        yield from self.work.map(answer, self.questions(frontier))

    def keep(self, scores: Array, left: Array, untold: list[int]) -> None:
        """Load the lists that may still be needed into memory, if all of them fit.

        These are the lists of undecided positions, and of positions with a score in *untold*, whose parents have not
        been updated yet. Only undecided parents are loaded. *left* holds the undecided-children counters.
        """
        if not self.may_keep or kept.bytes_needed(self.unasked, left) > self.work.budget.left() // 2:
            return
        assert self.scratch is not None
        together = 1 << kept.TOGETHER_BITS
        scratch, of = self.scratch, (scores, left, np.array(untold))
        put = [part for part in self.parts if isinstance(part, PutPart)]  # all of them are
        tasks = (
            Keeping(scratch, put[begin : begin + together], begin << self.bits, *of)
            for begin in range(0, len(put), together)
        )
        self.parts = list(self.work.map(kept.keep, tasks))
        self.bits += kept.TOGETHER_BITS
        self.may_keep = False

    def questions(self, frontier: Array) -> Iterator[Question]:
        """Yield the tasks of looking up parents for a frontier."""
        if (frontier[1:] < frontier[:-1]).any():
            frontier = np.sort(frontier)
        together: list[tuple[int, AnyPart, Array]] = []
        size = 0
        for number, part in self.cut(frontier):
            together.append((number << self.bits, self.parts[number], part))
            size += len(part)
            if size >= FRONTIER or len(together) == EVERY:
                yield Question(together, self.scratch)
                together, size = [], 0
        if together:
            yield Question(together, self.scratch)

    def cut(self, frontier: Array) -> Iterator[tuple[int, Array]]:
        """Yield (number of a part, positions of the sorted frontier in it), at most FRONTIER positions at once."""
        # Where each part's positions are in the sorted frontier.
        if len(self.parts) == 1:
            bounds = np.array([0, len(frontier)])
        else:
            bounds = np.searchsorted(frontier, np.arange(len(self.parts) + 1) << self.bits)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            begin, end = bounds[number : number + 2].tolist()
            for first in range(begin, end, FRONTIER):
                yield number, frontier[first : min(first + FRONTIER, end)]

    def close(self) -> None:
        """Free all lists in memory."""
        self.parts = []
        if self.scratch:
            self.scratch.close()
