"""The links of a tier: taken from the tasks that find them, and asked for the parents of what is decided."""

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
"""What the place where the links of a position begin takes, in memory."""
BUFFER = 1 << 26
"""Bytes of packed links that wait in memory to be put aside, where memory allows."""
FRONTIER = 1 << 15
"""Positions in a task of asking for parents."""
EVERY = 16
"""Tasks between two looks at the memory."""
TURNED_ROUND = 1.25
"""How many times as much links take on the disk once they are turned round, at most about. (Quixo on 4×4: 1.12.)"""
SAMPLE = 8
"""One part in so many of what links may take is put aside before it is told how much they will."""


class LinkWriter:
    """Takes the children of all positions of a tier, and gives their parents in the end.

    While memory suffices, and a kill would not lose much, links stay there; else they are put aside in scratch files of
    this *name*, and what is *known* of positions, arrays with an entry for each, in the journal; or at once, if they
    are to be *in scratch*. What another solve has put aside is taken up: `done` says up to which position that is.
    Buckets are as large as suits the memory, or as that solve has had them. Where links are `too_many`, who can do
    without may `forgo` them. It is a context manager: where a solve fails scratch files stay there.
    """

    def __init__(self, work: Work, name: str, count: int, known: Known = (), in_scratch: bool = False):
        self.work, self.name, self.known = work, name, known
        self.buckets = work.log(f"{name} buckets")
        bits = next((int(bits[0]) for (bits,) in self.buckets.resumed), bits_for(work.budget.left(), work.sharing))
        self.shape = Shape.of(count, bits)
        self.heaps = [Heap([], []) for _ in range(self.shape.buckets)]
        self.in_memory = 0
        """Bytes of packed links that are in memory."""
        self.taken = 0
        self.begun = time.monotonic()
        self.scratch: Scratch | None = None
        self.log = LinkLog(work.log(name))
        in_scratch |= work.sizes.links_in_scratch or not isinstance(work.executor, ThreadPoolExecutor)
        if self.log.log.resumed or in_scratch:
            self.go_to_scratch()
        self.aside = 0
        """Bytes of packed links that are put aside."""
        self.note_aside(self.log.aside)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self.scratch and error is None:
            if self.log.done:
                self.log.log.settle()  # what the journal knows of the whole tier lasts before this is gone
            self.scratch.begin(fresh=True)

    @property
    def done(self) -> int:
        """Up to which position links have been put aside, and need not be given again."""
        return self.log.done

    @property
    def in_memory_alone(self) -> bool:
        """Whether nothing is put aside, so that a solve that is killed must look at all children again."""
        return self.scratch is None

    def take(self, pieces: Packed, done: int) -> None:
        """Take the links of a stretch of positions, in their order; so many positions are *done* then."""
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
        """Take the same, or let go of all there are where the disk has no room for them; tell which."""
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
        """Whether links have been taken for so long that a kill must not lose them."""
        return self.log.log.journal is not None and time.monotonic() - self.begun > self.work.sizes.links_seconds

    def too_much(self, done: int) -> bool:
        """Tell whether memory will not suffice, if the rest of the positions has as many links."""
        expected = self.in_memory * self.shape.positions // done
        return (
            expected + expected // 4 - self.in_memory + BYTES_A_POSITION * self.shape.positions
            > self.work.budget.left()
        )

    def go_to_scratch(self) -> None:
        """Keep links in scratch from now on."""
        if not len(self.buckets.resumed):
            self.buckets.add((np.array([self.shape.shift]),))
            self.buckets.flush()
        self.scratch = Scratch(self.work.scratch / self.name, 0)
        if not self.log.read(self.known, self.scratch):
            self.scratch.begin(fresh=True)
        self.buffer = min(BUFFER, max(1 << 20, self.work.budget.left() // 8))

    @property
    def too_many(self) -> bool:
        """Whether the disk will not suffice, if the links of all positions take as much as those that are put aside,
        which are so many by now that this is to be believed."""
        if not self.scratch:
            return False
        most = self.work.sizes.links_at_most
        if most is None:
            most = self.aside + spare_disk(self.work.scratch, self.shape.positions)
        return SAMPLE * self.aside >= most and TURNED_ROUND * self.aside * self.shape.positions >= most * self.done

    def forgo(self) -> None:
        """Take no links any more, and let go of those there are."""
        self.heaps = []
        self.in_memory = 0
        if self.scratch:
            self.scratch.begin(fresh=True)
        self.log.forgo()

    def put_all_aside(self, done: int) -> None:
        """Put aside what is in memory: the links of positions up to *done*."""
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
        """Note where packed links of some buckets are put aside."""
        for bucket, aside in asides:
            self.heaps[bucket].frames.append(aside)
            self.aside += aside[0].packed

    def turned_round(self) -> "Links":
        """Return the parents of all positions; what was taken is forgotten."""
        shape, scratch = self.shape, self.scratch
        if scratch:
            self.put_all_aside(shape.positions)
        wide = shape.positions >= 1 << 31
        turned: dict[int, list[Any]] = {**self.log.turned}
        left = [bucket for bucket in range(shape.buckets) if bucket not in turned]
        tasks = (
            Turning(self.heaps[bucket], shape.size(bucket), shape.width, wide, scratch, PARENTS if scratch else "")
            for bucket in left
        )
        for bucket, turned[bucket] in zip(left, self.work.map(turn_round, tasks), strict=True):
            self.heaps[bucket] = Heap([], [])
            if scratch:
                self.log.add_turned(bucket, turned[bucket], scratch)
                scratch.drop(bucket_name(bucket))
        parts = [part for bucket in range(shape.buckets) for part in turned[bucket]]
        return Links(self.work, parts, min(PART_BITS, shape.shift) if scratch else shape.shift, scratch)


AnyPart = Part | PutPart | Kept


class Question(NamedTuple):
    """The task of giving the parents of a frontier, sorted, of some parts, each with its first number."""

    parts: list[tuple[int, AnyPart, Array]]
    scratch: Scratch | None


def answer(question: Question) -> Array:
    """Return the parents of the positions of a frontier, int64[…]."""
    read = []
    for first, part, frontier in question.parts:
        if isinstance(part, PutPart):
            assert question.scratch is not None
            part = part.read(question.scratch)
        elif isinstance(part, Kept):
            first, frontier, part = 0, part.rows(frontier, first), Part(part.begins, part.parents)
        read.append((first, part, frontier, kernels.count_parents(frontier, first, part.begins)))
    out = np.empty(sum(count for *_, count in read), np.int64)
    end = 0
    for first, part, frontier, count in read:
        kernels.parents_of(frontier, first, part.begins, part.parents, out[end : end + count])
        end += count
    return out


class Links:
    """The parents of the positions of a tier, in parts of `2**bits` positions: see Part, PutPart and Kept."""

    def __init__(self, work: Work, parts: list[AnyPart], bits: int, scratch: Scratch | None):
        self.work, self.parts, self.bits, self.scratch = work, parts, bits, scratch
        self.may_keep = bool(scratch) and work.shares_memory
        """Whether links lie in scratch that may come to memory."""
        self.unasked = sum(part.size for part in parts if isinstance(part, PutPart))
        """Of how many positions the parents have not been asked for."""
        if scratch and not self.may_keep:
            scratch.cache_at_most(max(0, work.budget.left() // 2))

    def parents_of(self, frontier: Array) -> Iterator[Array]:
        """Yield the parents of some positions, each as often as it has distinct children there; the complement of a
        parent's number where the same player moves there and here."""
        self.unasked -= len(frontier)
        yield from self.work.map(answer, self.questions(frontier))

    def keep(self, scores: Array, left: Array, untold: list[int]) -> None:
        """Keep in memory from now on, if all of it fits there, what may still be asked for: the links of positions that
        are undecided, as what is *left* says, or have one of the scores *untold*, to parents that are undecided."""
        if not self.may_keep or kept.bytes_needed(self.unasked, left) > self.work.budget.left() // 2:
            return
        assert self.scratch is not None
        together = 1 << kept.TOGETHER_BITS
        scratch, of = self.scratch, (scores, left, np.array(untold))
        put = [part for part in self.parts if isinstance(part, PutPart)]  # which all of them are
        tasks = (
            Keeping(scratch, put[begin : begin + together], begin << self.bits, *of)
            for begin in range(0, len(put), together)
        )
        self.parts = list(self.work.map(kept.keep, tasks))
        self.bits += kept.TOGETHER_BITS
        self.may_keep = False

    def questions(self, frontier: Array) -> Iterator[Question]:
        """Yield the tasks of answering for a frontier."""
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
        """Yield the numbers of parts, and what of a sorted frontier is there, not too much at once."""
        if len(self.parts) == 1:
            bounds = np.array([0, len(frontier)])
        else:
            bounds = np.searchsorted(frontier, np.arange(len(self.parts) + 1) << self.bits)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            begin, end = bounds[number : number + 2].tolist()
            for first in range(begin, end, FRONTIER):
                yield number, frontier[first : min(first + FRONTIER, end)]

    def close(self) -> None:
        """Keep no links in memory."""
        self.parts = []
        if self.scratch:
            self.scratch.close()
