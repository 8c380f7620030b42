"""Predecessor lists of a tier: collected from the tasks that expand positions, then asked for parents.

Entries of the tier's log (see runtime/log.py) spare a resumed solve the expansion of positions whose edges are on disk.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import psutil

from retrograde.databases.errors import DiskFull
from retrograde.solver.methods.listed.predecessors import in_memory, kernels, sorting
from retrograde.solver.methods.listed.predecessors.in_memory import LoadedLists
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.log import EntryLog, frames_in
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import Work

BYTES_A_POSITION = 4
"""Memory for the offset of each position's predecessor list, in bytes."""
BUFFER = 1 << 26
"""Bytes of packed edges that may wait in memory before they are written to disk."""
FRONTIER = 1 << 15
"""Positions in a task of looking up parents."""
EVERY = 16
"""Tasks between two checks of the memory. Also the most blocks of lists in a task of looking up parents."""
GROWTH = 1.25
"""The most by which edges grow on disk when they are inverted, as a factor, about. (Quixo on 4×4: 1.12.)"""
SAMPLE = 8
"""The total is extrapolated once one part in this number of the disk budget is written."""
OTHER_DISK_BYTES = 12
"""The most bytes on disk for each position beside its predecessor list: 5 bytes for its score and counter in the
journal, and in two editions of a checkpoint."""
MARGIN = 20
"""One part in this number of the free disk space is left to other programs."""


class BucketBits(NamedTuple):
    """Journal entry: the size of buckets, as a power of two."""

    bits: int


class SpilledBlock(NamedTuple):
    """Journal entry: the edges of positions *first* to *end* are on disk; *arrays* are those about these positions."""

    first: int
    end: int
    edges: list[sorting.SpilledEdges]
    arrays: list[Array]


class InvertedBucket(NamedTuple):
    """Journal entry: the predecessor lists of a bucket are on disk."""

    bucket: int
    lists: list[sorting.StoredParentLists]


class NoLists(NamedTuple):
    """Journal entry: predecessor lists have been given up for lack of space."""


class PredecessorWriter:
    """Collects the edges of the *count* positions of a tier, then inverts them into predecessor lists. A context
    manager.

    Edges stay in memory while it suffices and a kill would not lose much. Otherwise they are written to scratch files
    under *name*, and the *arrays*, with an item for each position, to the journal. If *on_disk*, this happens from the
    start.

    A new solve resumes from these files: `done` is the number of positions whose edges are on disk. The bucket size
    suits the memory, or is that of the solve that is resumed. If the disk is too small (`exceeds_disk`), the caller may
    `give_up` predecessor lists and use forward passes. Scratch files are deleted at the end, unless the solve fails.
    """

    def __init__(
        self, work: Work, name: str, count: int, arrays: tuple[Array | CompressedArray, ...] = (), on_disk: bool = False
    ):
        self.work, self.arrays = work, arrays
        self.scratch = Scratch(work.scratch / name, cached=0)
        kinds = BucketBits, SpilledBlock, InvertedBucket, NoLists, sorting.SpilledEdges, sorting.StoredParentLists
        self.log = EntryLog(work.log(name), self.scratch, *kinds)
        self.layout = sorting.BucketLayout.of(count, sorting.bucket_bits(work.budget.free_bytes(), work.sharing))
        self.bytes_in_memory = 0
        """Bytes of packed edges in memory."""
        self.bytes_on_disk = 0
        """Bytes of packed edges on disk."""
        self.added = 0
        """The number of blocks of positions whose edges were added."""
        self.done = 0
        """The number of positions whose edges are on disk and need not be found again."""
        self.given_up = False
        """Whether predecessor lists have been given up."""
        self.inverted: dict[int, list[sorting.StoredParentLists]] = {}
        """Buckets that an earlier solve has inverted."""
        self.edges: list[sorting.BucketEdges] = []  # `resume` fills it
        self.began = time.monotonic()
        self.on_disk = self.resume()
        if on_disk or work.sizes.predecessors_in_scratch or not isinstance(work.executor, ThreadPoolExecutor):
            self.use_disk()

    def resume(self) -> bool:
        """Load what an earlier solve has on disk; return False if it had nothing there. If scratch files are missing,
        the tier starts from the beginning."""
        spilled: list[sorting.SpilledEdges] = []
        entry = None
        for entry in self.log.read():
            if isinstance(entry, BucketBits):
                self.layout = sorting.BucketLayout.of(self.layout.positions, entry.bits)
            elif isinstance(entry, SpilledBlock):
                for array, items in zip(self.arrays, entry.arrays, strict=True):
                    array[entry.first : entry.end] = items
                spilled += entry.edges
                self.done = entry.end
            elif isinstance(entry, InvertedBucket):
                self.inverted[entry.bucket] = entry.lists
            else:
                self.given_up = True
        needed = [edges for edges in spilled if edges.bucket not in self.inverted]
        if self.scratch.missing(frames_in([needed, self.inverted])):
            self.log.restart(BucketBits(self.layout.shift))
            spilled, self.inverted, self.done = [], {}, 0
        if entry and not self.done:  # no edges to resume from: delete what else is there
            self.scratch.begin(fresh=True)
        self.edges = [sorting.BucketEdges([], []) for _ in range(self.layout.buckets)]
        self.add_spilled(spilled)
        return entry is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self.on_disk and error is None:
            if self.done:
                self.log.settle()  # the tier's journal entry must be on disk before its files go
            self.scratch.begin(fresh=True)

    def add(self, packed: sorting.PackedEdges, done: int) -> None:
        """Add the packed edges of the next block of positions; *done* positions are finished afterwards."""
        for edges, block in zip(self.edges, packed, strict=True):
            if len(block):
                edges.blocks.append(block)
                self.bytes_in_memory += block.nbytes
        self.added += 1
        if self.added % EVERY == 0 and not self.on_disk and (self.is_worth_saving or self.exceeds_memory(done)):
            self.use_disk()
        if self.on_disk and self.bytes_in_memory > min(BUFFER, max(1 << 20, self.work.budget.free_bytes() // 8)):
            self.spill(done)

    def add_or_give_up(self, packed: sorting.PackedEdges, done: int) -> bool:
        """Add edges; return False if the disk is or will be too small, and all edges were dropped."""
        try:
            self.add(packed, done)
            full = self.exceeds_disk
        except DiskFull:
            full = True
        if full:
            self.give_up()
        return not full

    @property
    def is_worth_saving(self) -> bool:
        """Whether edges have been collected for so long that a kill must not lose them."""
        return self.log.log.journal is not None and time.monotonic() - self.began > self.work.sizes.predecessors_seconds

    def exceeds_memory(self, done: int) -> bool:
        """Return whether memory will be too small if all positions have as many edges as the first *done*."""
        expected = self.bytes_in_memory * self.layout.positions // done
        # The expected total plus a quarter, without the part in use already, and the offsets of the lists.
        offsets = BYTES_A_POSITION * self.layout.positions
        return expected + expected // 4 - self.bytes_in_memory + offsets > self.work.budget.free_bytes()

    @property
    def exceeds_disk(self) -> bool:
        """Whether the disk will not suffice for all predecessor lists, extrapolated from the edges on disk."""
        if not self.on_disk:
            return False
        budget, count = self.work.sizes.predecessors_at_most, self.layout.positions
        if budget is None:
            budget = self.bytes_on_disk + spare_disk(self.work.scratch, count)
        expected_exceeds = GROWTH * self.bytes_on_disk * count >= budget * self.done  # by the first *done* of *count*
        return SAMPLE * self.bytes_on_disk >= budget and expected_exceeds

    def use_disk(self) -> None:
        """Keep edges on disk from now on."""
        if not self.on_disk:
            self.scratch.begin(fresh=True)
            self.log.add(BucketBits(self.layout.shift))
            self.on_disk = True

    def give_up(self) -> None:
        """Give up predecessor lists: delete all edges, and log that there will be none.

        The entry comes last: a full disk may not have space even for it. If a kill comes in between, files are missing,
        and the tier starts from the beginning.
        """
        self.edges, self.inverted = [], {}
        self.bytes_in_memory = self.done = 0
        self.given_up = True
        if self.on_disk:
            self.scratch.begin(fresh=True)
        self.log.restart(NoLists())

    def spill(self, done: int) -> None:
        """Write the edges in memory, of positions up to *done*, to disk, and log it."""
        tasks = ((self.scratch, bucket, edges.blocks) for bucket, edges in enumerate(self.edges) if edges.blocks)
        spilled = list(self.work.starmap(sorting.write_edges, tasks))
        self.add_spilled(spilled)
        for edges in self.edges:
            edges.blocks.clear()
        self.bytes_in_memory = 0
        if done > self.done:
            arrays = [array[self.done : done].copy() for array in self.arrays]
            self.log.add(SpilledBlock(self.done, done, spilled, arrays))
            self.done = done

    def add_spilled(self, spilled: list[sorting.SpilledEdges]) -> None:
        """Add edges that are on disk."""
        for edges in spilled:
            self.edges[edges.bucket].spilled.append(edges)
            self.bytes_on_disk += edges.frame.packed

    def invert(self) -> "PredecessorLists":
        """Invert all edges and return the predecessor lists. Frees the packed edges."""
        layout, on_disk = self.layout, self.on_disk
        if on_disk:
            self.spill(layout.positions)
        lists: dict[int, Any] = {**self.inverted}
        buckets = [bucket for bucket in range(layout.buckets) if bucket not in lists]
        tasks = ((self.edges[bucket], layout, bucket, self.scratch) for bucket in buckets)
        inverted: Iterator[Any] = self.work.starmap(sorting.invert_to_disk if on_disk else sorting.invert_edges, tasks)
        for bucket, bucket_lists in zip(buckets, inverted, strict=True):
            lists[bucket] = bucket_lists
            # Free the packed edges at once: together with the lists they would take twice the space.
            self.edges[bucket] = sorting.BucketEdges([], [])
            if on_disk:
                self.log.add(InvertedBucket(bucket, bucket_lists))
                self.scratch.drop(f"bucket{bucket}")
        # In memory a bucket is a block; on disk it has several.
        by_bucket = [lists[bucket] for bucket in range(layout.buckets)]
        if not on_disk:
            return PredecessorLists(self.work, by_bucket, layout.shift, None)
        blocks = list(chain.from_iterable(by_bucket))
        return PredecessorLists(self.work, blocks, min(sorting.READ_BITS, layout.shift), self.scratch)


def spare_disk(folder: Path, positions: int) -> int:
    """Return the disk budget for a tier's predecessor lists, in bytes. Negative if the rest does not fit either."""
    free = int(psutil.disk_usage(str(folder)).free)
    return free - free // MARGIN - unwritten_bytes(folder) - OTHER_DISK_BYTES * positions


def unwritten_bytes(folder: Path) -> int:
    """Return the bytes of score files that are reserved but not written yet."""
    files = [file.stat() for file in folder.glob("scores*.kept")]
    return sum(max(0, status.st_size - 512 * status.st_blocks) for status in files)


# Lookup

AnyLists = sorting.ParentLists | sorting.StoredParentLists | LoadedLists
LookupTask = tuple[list[tuple[int, AnyLists, Array]], Scratch | None]
"""The arguments of `look_up`."""


def look_up(blocks: list[tuple[int, AnyLists, Array]], scratch: Scratch | None) -> Array:
    """Return the parents of the positions of a frontier, int64[…]. *blocks* has (number of the first position, lists,
    sorted positions of the frontier) for each block of lists."""
    # Step 1: read the lists that are on disk, and find where the list of each position begins and ends.
    slices = []
    for first, lists, frontier in blocks:
        if isinstance(lists, sorting.StoredParentLists):
            assert scratch is not None
            lists = lists.read(scratch)
        rows = lists.rows(frontier - first)
        slices.append((lists.begins[rows], lists.begins[rows + 1], lists.parents))
    # Step 2: copy the parents from all blocks into one array.
    out = np.empty(sum(int((ends - begins).sum()) for begins, ends, _ in slices), np.int64)
    end = 0
    for begins, ends, parents in slices:
        end = kernels.copy_lists(begins, ends, parents, out, end)
    return out


class PredecessorLists:
    """The predecessor lists of a tier, in blocks of `2**bits` positions."""

    def __init__(self, work: Work, blocks: list[AnyLists], bits: int, scratch: Scratch | None):
        self.work, self.blocks, self.bits, self.scratch = work, blocks, bits, scratch
        self.may_load = bool(scratch) and work.shares_memory
        """Whether the lists are on disk and may be loaded into memory later."""
        self.pending = sum(block.size for block in blocks if isinstance(block, sorting.StoredParentLists))
        """The number of positions whose parents have not been looked up yet."""
        if scratch and not self.may_load:  # workers in other processes cache what they read
            scratch.cache_at_most(max(0, work.budget.free_bytes() // 2))

    @property
    def only_block(self) -> sorting.ParentLists | None:
        """The lists of all positions if they are in memory, in one block; None otherwise."""
        first = self.blocks[0]
        return first if len(self.blocks) == 1 and isinstance(first, sorting.ParentLists) else None

    def parents_of(self, frontier: Array) -> Iterator[Array]:
        """Yield the parents of some positions, in arrays; a parent as often as it has distinct children among them. If
        the same player moves in parent and child, the complement (`~`) of the parent's number stands for it."""
        self.pending -= len(frontier)
        yield from self.work.starmap(look_up, self.lookup_tasks(frontier))

    def load_if_they_fit(self, scores: Array, children_left: Array, unpropagated: list[int]) -> None:
        """Load the lists that may still be needed into memory, if all of them fit.

        These are the lists of undecided positions, and of positions with a score in *unpropagated*, whose parents have
        not been updated yet. Only undecided parents are loaded.
        """
        needed = in_memory.bytes_needed(self.pending, children_left) if self.may_load else 0
        if not self.may_load or needed > self.work.budget.free_bytes() // 2:
            return
        assert self.scratch is not None
        task_blocks = 1 << in_memory.TOGETHER_BITS
        scratch, arrays = self.scratch, (scores, children_left, np.array(unpropagated))
        stored = [block for block in self.blocks if isinstance(block, sorting.StoredParentLists)]  # all of them are
        tasks = (
            (scratch, stored[begin : begin + task_blocks], begin << self.bits, *arrays)
            for begin in range(0, len(stored), task_blocks)
        )
        self.blocks = list(self.work.starmap(in_memory.load_lists, tasks))
        self.bits += in_memory.TOGETHER_BITS
        self.may_load = False

    def lookup_tasks(self, frontier: Array) -> Iterator[LookupTask]:
        """Yield the tasks of looking up parents for a frontier."""
        if (frontier[1:] < frontier[:-1]).any():
            frontier = np.sort(frontier)
        task: list[tuple[int, AnyLists, Array]] = []
        size = 0
        for number, positions in self.cut(frontier):
            task.append((number << self.bits, self.blocks[number], positions))
            size += len(positions)
            if size >= FRONTIER or len(task) == EVERY:
                yield task, self.scratch
                task, size = [], 0
        if task:
            yield task, self.scratch

    def cut(self, frontier: Array) -> Iterator[tuple[int, Array]]:
        """Yield (number of a block, positions of the sorted frontier in it), at most FRONTIER positions at once."""
        # Where each block's positions are in the sorted frontier.
        bounds = np.searchsorted(frontier, np.arange(len(self.blocks) + 1) << self.bits)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            begin, end = bounds[number : number + 2].tolist()
            for first in range(begin, end, FRONTIER):
                yield number, frontier[first : min(first + FRONTIER, end)]

    def close(self) -> None:
        """Free all lists in memory."""
        self.blocks = []
        if self.scratch:
            self.scratch.close()
