"""Storage of waves: in memory, or in scratch files if memory does not suffice.

The tiers of a wave are stored a few at a time. Such a *chunk* is one array, or one frame of a scratch file::

    sets       | occupied, for all groups of the chunk's tiers | words |        uint64[]
    planes     | plane 0 | plane 1 | …                                          uint64[], packed: a bit a position

A task copies the tiers that it needs into arrays of its own, as if the wave had no others. Tiers that several tasks of
this process read are copied once for all of them, if there is memory for it (see batches.py). If there is even more,
waves are *unpacked* on the way back: all tiers of a wave lie in arrays shared by all tasks. Then nothing is packed and
nothing is copied.

Of two mirror-image tiers one is stored (see mirror.py). The other has a row in the table of tiers, but no groups.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.backward_kernels import WaveValues
from retrograde.solver.methods.setwise.forward_kernels import FROM, LINK, SHARED, Sets
from retrograde.solver.methods.setwise.mirror import check_links, fill_mirror_images, image_rows, mark_mirror_images
from retrograde.solver.methods.setwise.words import (
    AFTER_TIER,
    WORD_BITS,
    copy_groups,
    copy_words,
    pack_planes,
    unpack_planes,
)
from retrograde.solver.rules.plain.rules import NO_MIRROR
from retrograde.solver.rules.plain.tier_kernels import BASE, COUNT, FIRST, GROUP, GROUPS, MASK, NUMBER, WORD, WORDS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.cluster.sheets import read_sheet, write_words
from retrograde.solver.runtime.scratch import FASTEST_LEVEL, LEVEL, Frame, Scratch
from retrograde.solver.runtime.tasks import group_by_weight, workspace
from retrograde.solver.runtime.work import TASKS_EACH, Work

NO_LINKS, NO_STARTS = np.empty((0, LINK), np.int64), np.zeros(2, np.int64)
"""The links of the first wave, and of a wave that is no longer needed."""
NO_WORDS = np.empty(0, np.uint64)


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Calls a function for each item, perhaps on threads."""
IMAGES_IN_TASK = 1 << 20
"""Positions whose mirror images a task makes, at least."""
FEWEST_SENT, MOST_SENT = 1 << 15, 1 << 21
"""Words in a task for another process: the least, if memory is short, and the most, so that progress is reported."""
BYTES_A_WORD = 512
"""Memory of a worker for each word of a task, in bytes: its planes, and what it reads of the wave before or after."""
FOR_LOADED = 0.5
"""Share of the free memory that tiers may take which are loaded once for many tasks."""


class WaveStorage(NamedTuple):
    """Where waves are stored: in *scratch* files, or in memory if there are none.

    If `unpacks`, there is memory for two waves to be unpacked on the way back; with a scratch folder, shared files
    (sheets) for their planes. If `uncompressed`, scratch files are not compressed.
    """

    scratch: Scratch | None
    unpacks: bool = False
    uncompressed: bool = False

    def store(self, name: str, words: Array, level: int = LEVEL) -> Array | Frame:
        """Store some words and return where they are. The caller must not change them afterwards."""
        if self.scratch:
            return self.scratch.write(name, words.view(np.uint8).data, self.uncompressed, level)
        if words.base is not None:  # a view of this thread's workspace
            words = words.copy()
        words.flags.writeable = False  # as arrays from scratch are: numba would compile kernels for writable ones too
        return words

    def get(self, location: Array | Frame) -> Array:
        """Return stored words; raise DamagedScratch if they cannot be read."""
        if isinstance(location, np.ndarray):
            return location
        assert self.scratch
        return np.frombuffer(self.scratch.read(location), np.uint64)

    def sync(self, frames: Iterable[Frame]) -> None:
        """Make stored frames survive a power cut. Uncompressed ones are not synced: they are quickly made again."""
        if self.scratch and not self.uncompressed:
            self.scratch.sync(frames)

    def drop(self, name: str) -> None:
        """Delete everything stored under a name."""
        if self.scratch:
            self.scratch.drop(name)


class Wave:
    """A wave: its tiers, the links into them, and where its chunks are stored.

    `tiers` is int64[k, TIER]; groups, words and positions count from the beginning of the chunk. `links` is int64[n,
    LINK], and those into tier k are `links[starts[k]:starts[k + 1]]`.
    """

    def __init__(self, number: int, tiers: Array, links: Array, starts: Array):
        self.number, self.tiers, self.links, self.starts = number, tiers, links, starts
        self.begins: list[int] = []
        """The first tier of each chunk."""
        self.sets: list[Any] = []
        self.planes: list[Any] = []
        self.unpacked: WaveValues | None = None
        self.sheet: Frame | None = None
        """The shared file with the planes of all chunks, if they are in one (see sheets.py)."""
        self.mirror = NO_MIRROR
        self.image_rows = self.stored = np.arange(len(tiers))
        """For each tier, the row of its mirror image, and the row of the tier stored for it: its own or that."""

    def drop_mirror_images(self, mirror: Array, before: "Wave") -> None:
        """Store only the one with the lower number of any two mirror-image tiers. Raise NotSymmetric if the links into
        this wave from the wave *before* are not symmetric."""
        self.mirror, self.image_rows = mirror, image_rows(mirror, self.tiers)
        rows = np.repeat(np.arange(len(self.tiers)), np.diff(self.starts))
        links = np.c_[self.links[:, FROM], rows, self.links[:, SHARED]]
        check_links(mirror, before.image_rows, self.image_rows, links)
        numbers = self.tiers[:, NUMBER]
        self.stored = np.where(numbers[self.image_rows] < numbers, self.image_rows, self.stored)
        self.tiers[~self.is_stored, GROUPS] = 0
        number_groups(self.tiers)

    @property
    def is_stored(self) -> Array:
        """Whether each tier is stored itself, not as its mirror image, bool[k]."""
        stored: Array = self.stored == np.arange(len(self.stored))
        return stored

    def links_to_stored(self) -> Array:
        """Return the links into stored tiers."""
        links: Array = self.links[np.repeat(self.is_stored, np.diff(self.starts))]
        return links

    def full_table(self) -> Array:
        """Return the table of tiers; those that are not stored have the counts of their mirror images."""
        tiers = self.tiers.copy()
        tiers[:, [WORDS, COUNT]] = tiers[self.stored][:, [WORDS, COUNT]]
        return tiers

    def without_links(self) -> "Wave":
        """Return a copy without links, to send to tasks that do not need them."""
        wave = copy(self)
        wave.links, wave.starts = NO_LINKS, NO_STARTS
        return wave

    def rows_of(self, chunk: int) -> tuple[int, int]:
        """Return the first tier of a chunk and the one after its last."""
        return self.begins[chunk], self.begins[chunk + 1] if chunk + 1 < len(self.begins) else len(self.tiers)

    def words_by_chunk(self) -> Array:
        """Return the number of words in each chunk."""
        return np.add.reduceat(self.tiers[:, WORDS], self.begins)

    def chunks_of(self, rows: Array) -> Iterator[tuple[int, int, int]]:
        """Yield (chunk, begin, end): which of the ascending *rows* are in which chunk. If the chunks begin at tiers 0
        and 4, the rows [1, 2, 5] yield (0, 0, 2) and (1, 2, 3)."""
        chunks = np.searchsorted(self.begins, rows, "right") - 1
        cuts = np.flatnonzero(np.diff(chunks, prepend=-1, append=-1))
        for begin, end in pairwise(cuts.tolist()):
            yield int(chunks[begin]), begin, end

    def load(
        self, storage: WaveStorage, rows: Array, name: str, more: tuple[int, int] = (0, 0), run: Map = map
    ) -> Sets:
        """Copy the sets of some stored tiers, ascending *rows*, into this thread's arrays *name*, by calls of *run*.

        *more* are further groups and words for which there is space behind them.
        """
        tiers = self.tiers[rows]
        groups, words = count_groups(tiers) + more[0], int(tiers[:, WORDS].sum()) + more[1]
        sets = Sets(tiers, *group_buffers(name, groups), workspace(f"{name} words", words + 1, np.uint64))
        return self.copy_to(sets, storage, rows, run)

    def copy_to(self, sets: Sets, storage: WaveStorage, rows: Array, run: Map = map) -> Sets:
        """Copy the sets of some stored tiers, ascending *rows*, into *sets*, by calls of *run*; return *sets*."""
        number_groups(sets.tiers)
        sets.tiers[:, WORD] = offsets_of(sets.tiers[:, WORDS])
        tasks = [[*range(begin, end)] for _, begin, end in self.chunks_of(rows)]
        run_all(run, partial(self.copy_from_chunk, sets, storage, rows), tasks)
        return sets

    def copy_from_chunk(self, sets: Sets, storage: WaveStorage, rows: Array, to_rows: Array) -> None:
        """Do the work of `copy_to` for tiers of one chunk, whose rows in *sets* are *to_rows*."""
        chunk, tiers = next(self.chunks_of(rows[to_rows]))[0], self.tiers[rows[to_rows]]
        content = storage.get(self.sets[chunk])
        copy_groups(content, tiers, sets, to_rows)
        copy_words(self.words_in(chunk, content), tiers, sets, to_rows)

    def words_in(self, chunk: int, content: Array) -> Array:
        """Return the words in the content of a chunk, which stand behind its groups."""
        return content[count_groups(self.tiers[slice(*self.rows_of(chunk))]) :]

    def values_for(self, storage: WaveStorage, rows: Array, count: int, name: str) -> WaveValues:
        """Return buffers of this thread for some stored tiers with *count* planes, to be filled by `load_planes`.

        If the planes are in a sheet, the sheet is returned as their buffer.
        """
        tiers = self.tiers.copy()
        tiers[rows, GROUP] = offsets_of(tiers[rows, GROUPS] + AFTER_TIER)
        if self.sheet:
            assert storage.scratch
            tiers[:, WORD] += np.repeat(offsets_of(self.words_by_chunk()), np.diff([*self.begins, len(tiers)]))
            planes = read_sheet(storage.scratch, self.sheet, count)
        else:
            tiers[rows, WORD] = offsets_of(tiers[rows, WORDS])
            planes = plane_buffer(name, count, int(tiers[rows, WORDS].sum()))
        return WaveValues(Sets(tiers, *group_buffers(name, count_groups(tiers[rows])), NO_WORDS), planes)

    def load_planes(self, storage: WaveStorage, rows: Array, values: WaveValues, run: Map = map) -> None:
        """Write the groups and planes of some stored tiers, ascending *rows*, to *values*, by calls of *run*.

        The table of *values* has all tiers of the wave, and says where the groups and words of these belong. The words
        of their sets are not loaded, and neither are planes in a sheet.
        """
        tasks = [rows[begin:end].tolist() for _, begin, end in self.chunks_of(rows)]
        run_all(run, partial(self.load_from_chunk, storage, values), tasks)

    def load_from_chunk(self, storage: WaveStorage, values: WaveValues, rows: Array) -> None:
        """Do the work of `load_planes` for *rows* of one chunk."""
        chunk, tiers = next(self.chunks_of(rows))[0], self.tiers[rows]
        content = storage.get(self.sets[chunk])
        copy_groups(content, tiers, values.sets, rows)
        if not self.sheet:
            begins, words = values.sets.tiers[rows, WORD], self.words_in(chunk, content)
            unpack_planes(storage.get(self.planes[chunk]), len(values.planes), tiers, words, begins, values.planes)

    def unpack(self, storage: WaveStorage, count: int, buffers: tuple[Array, ...]) -> WaveValues:
        """Copy the whole wave into *buffers*, with *count* planes; forget its chunks."""
        *set_buffers, planes = buffers
        sets = self.copy_to(Sets(self.tiers.copy(), *set_buffers), storage, np.arange(len(self.tiers)))
        words = int(sets.tiers[:, WORDS].sum()) + 1
        self.unpacked, self.sets = WaveValues(sets, planes[: count * words].reshape(count, words)), []
        return self.unpacked

    def load_with_images(self, storage: WaveStorage, rows: Array, name: str, run: Map = map) -> Sets:
        """Return the sets of some tiers, a row of the table for each of *rows* in this order, in this thread's buffers
        *name*. Tiers that are not stored are made from their mirror images, by calls of *run*."""
        # `stored`: the stored tiers needed. `source_of`: for each row its index among these. `images`: rows to be made.
        stored, source_of = np.unique(self.stored[rows], return_inverse=True)
        images = np.flatnonzero(stored[source_of] != rows)
        # An image has at most a word for each position, and never more than the 64 words of each group.
        sources = self.tiers[stored[source_of[images]]]
        most = int(np.minimum(sources[:, COUNT], sources[:, GROUPS] << WORD_BITS).sum())
        # Stored tiers come first in the arrays, images behind them.
        stored_sets = self.load(storage, stored, name, (count_groups(sources), most), run)
        if not len(images):
            return stored_sets
        tiers = stored_sets.tiers[source_of]
        for column in (NUMBER, BASE, MASK):
            tiers[images, column] = self.tiers[rows[images], column]
        tiers[images, GROUP] = count_groups(stored_sets.tiers) + offsets_of(tiers[images, GROUPS] + AFTER_TIER)
        sets = stored_sets._replace(tiers=tiers)  # the same buffers with another table
        # Find the words of all images, then fill them; both a few tiers at a time.
        tasks = [*group_by_weight(zip(images.tolist(), sources[:, COUNT].tolist(), strict=True), IMAGES_IN_TASK)]
        run_all(run, partial(mark_mirror_images, self.mirror, stored_sets, source_of, sets), tasks)
        tiers[images, WORD] = stored_sets.tiers[:, WORDS].sum() + offsets_of(tiers[images, WORDS])
        run_all(run, partial(fill_mirror_images, self.mirror, stored_sets, source_of, sets), tasks)
        return sets

    def put_planes(self, storage: WaveStorage, chunk: int, words: Array, planes: Array, begin: int) -> Array | Frame:
        """Store the planes of a chunk, whose words begin at *begin* of *words* and *planes*; return where they are."""
        tiers = self.tiers[slice(*self.rows_of(chunk))]
        end = begin + int(tiers[:, WORDS].sum())
        if self.sheet:
            assert storage.scratch
            first = int(offsets_of(self.words_by_chunk())[chunk])
            write_words(storage.scratch, self.sheet, first, planes[:, begin:end])
            return self.sheet
        # A bit for each position, and one more word, which kernels may read.
        count, words_a_plane = len(planes), (int(tiers[-1, FIRST] + tiers[-1, COUNT]) >> 6) + 2
        size = count * words_a_plane
        out = workspace("packed planes", size, np.uint64)[:size]
        pack_planes(words, planes, begin, end, count, out)
        # Packed planes shrink by a third or a half at any level, and are soon dropped.
        return storage.store(f"planes{self.number}", out, FASTEST_LEVEL)


def run_all(run: Map, kernel: Callable[[Array], Any], tasks: list[list[int]]) -> None:
    """Call a kernel for each list of rows, by *run*, a function like `map`."""
    deque(run(kernel, map(np.array, tasks)), 0)  # consumes the results


def number_groups(tiers: Array) -> None:
    """Set the column GROUP of a table of tiers: the groups of each tier begin where those before it end."""
    tiers[:, GROUP] = offsets_of(tiers[:, GROUPS] + AFTER_TIER)


def offsets_of(sizes: Array) -> Array:
    """Return where items of some sizes begin if they lie one after another: [3, 0, 2] gives [0, 3, 3]."""
    begins: Array = np.cumsum(sizes) - sizes
    return begins


def count_groups(tiers: Array) -> int:
    """Return how many groups some tiers have, including the AFTER_TIER empty ones behind each."""
    return int((tiers[:, GROUPS] + AFTER_TIER).sum())


def planes_for(plies: int) -> int:
    """Return the number of planes of a wave that is *plies* before the last one: 2 up to 2 plies, 3 up to 6."""
    # Worths below a tie count two plies each (see backward_kernels.py): (plies + 1) // 2 must fit below the highest
    # plane.
    return max(2, ((plies + 1) // 2).bit_length() + 1)


def unpacked_buffers(waves: list[Wave]) -> list[tuple[Array, ...]]:
    """Return two tuples of buffers (occupied, before, words, planes), each large enough for any wave unpacked."""
    groups = max(count_groups(wave.tiers) for wave in waves)
    words = [int(wave.tiers[:, WORDS].sum()) + 1 for wave in waves]
    planes = max(planes_for(len(waves) - 1 - wave.number) * size for wave, size in zip(waves, words, strict=True))
    sizes = {"occupied": groups, "before": groups, "words": max(words), "planes": planes}
    kinds = {"before": np.uint32}
    return [tuple(np.empty(size, kinds.get(name, np.uint64)) for name, size in sizes.items()) for _ in range(2)]


def bytes_of_planes(waves: list[Wave]) -> int:
    """Return the most bytes that the planes of two consecutive waves take when they are not packed."""
    words = [planes_for(len(waves) - 1 - wave.number) * int(wave.tiers[:, WORDS].sum()) for wave in waves]
    return 8 * max(map(sum, pairwise(words)))


def save_memory(work: Work, storage: WaveStorage) -> None:
    """Halve the cache of scratch files if memory is short; raise MemoryLimit if there is none left."""
    if storage.scratch:
        if work.budget.free_bytes() < 0:
            storage.scratch.cache_at_most(storage.scratch.cached // 2)
        work.budget.check_used("solving word by word")


def words_in_task(work: Work, words: int, least: int) -> int:
    """Return how many words a task should have, of *words* in a wave.

    If workers share memory, tasks cost little and have *least* words. If tasks are sent to other processes, there are
    as few as keep all workers busy within their memory; a small wave makes a single task, which is solved here.
    """
    if work.shares_memory:
        return least
    most = max(work.budget.free_bytes() // (work.sharing * BYTES_A_WORD), FEWEST_SENT)
    return min(max(words // (TASKS_EACH * work.workers_now), work.sizes.sent_words), MOST_SENT, most)


def bytes_loaded(groups: int, words: int) -> int:
    """Return the memory for groups (`occupied` and `before`) and for words, those of each plane counted, in bytes."""
    return 12 * groups + 8 * words


def group_buffers(name: str, groups: int) -> tuple[Array, Array]:
    """Return buffers of this thread for `Sets.occupied` and `Sets.before`."""
    return workspace(f"{name} occupied", groups, np.uint64), workspace(f"{name} before", groups, np.uint32)


def plane_buffer(name: str, count: int, words: int) -> Array:
    """Return a buffer of this thread for *count* planes of *words* words, plus one word that kernels may read."""
    return workspace(f"{name} planes", count * (words + 1), np.uint64)[: count * (words + 1)].reshape(count, -1)
