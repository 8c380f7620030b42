"""A sorted list of positions on disk: compressed blocks with checksums, and the first position of each in memory.

list      | block | block | … |        each block: a zstd frame of the gaps between positions, in byte planes

plane 0   | lowest byte of gap 0 | of gap 1 | …      gap 0 is 0
plane 1   | next byte of gap 0   | of gap 1 | …      as many planes as the greatest gap has bytes

Positions of several words have as many planes for each word; in place of a gap, these have the word's exclusive or with
that of the position before.

An exploration knows its positions as a few such lists for each tier (`SpilledPositions`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from retrograde.solver.methods.listed.spill.kernels import decode_planes, indices_of
from retrograde.solver.methods.listed.spill.packing import distinct
from retrograde.solver.rules.positions import from_items, to_items
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work

BLOCK = 1 << 14
"""The most positions in a block."""
MERGED = 1 << 20
"""Positions in a task of merging, about."""


@dataclass(frozen=True)
class SortedList:
    """Distinct positions in ascending order, on disk. Block b is in `frames[b]` and begins with the position
    `firsts[b]`, an item (see `to_items`). It has the positions with indices `begins[b]` to `begins[b + 1]` of the list.
    """

    scratch: Scratch
    firsts: Array
    begins: Array
    frames: tuple[Frame, ...]

    def __len__(self) -> int:
        return int(self.begins[-1])

    @property
    def width(self) -> int:
        """The number of words of a position, 0 for ints."""
        return self.firsts.itemsize // 8 if self.firsts.dtype.kind == "V" else 0

    def __getitem__(self, span: slice) -> Array:
        """Return the positions with indices in a slice, int64. It must have both ends, neither negative."""
        begin, end = span.start, min(span.stop, len(self))
        if begin >= end:
            return self.blocks(0, 0)
        low, high = int(self.begins.searchsorted(begin, "right")) - 1, int(self.begins.searchsorted(end))
        before = int(self.begins[low])
        return self.blocks(low, high)[begin - before : end - before]

    def blocks(self, low: int, high: int) -> Array:
        """Return the positions of blocks *low* to *high* - 1, int64."""
        count, width = int(self.begins[high] - self.begins[low]), self.width
        words = max(1, width)  # an int counts as one word
        out = np.empty((count, words), np.int64)
        firsts = from_items(self.firsts[low:high], width).reshape(-1, words)
        bounds = (self.begins[low : high + 1] - self.begins[low]).tolist()
        for block in range(low, high):
            begin, end = bounds[block - low : block - low + 2]
            planes = np.frombuffer(self.scratch.read(self.frames[block]), np.uint8).reshape(words, -1, end - begin)
            for word in range(words):
                decode_planes(firsts[block - low, word], planes[word], width > 0, out[begin:end, word])
        return out if width else out[:, 0]

    def between(self, low: Any, high: Any) -> Array:
        """Return the positions from item *low* on and below item *high*; None stands for an end of the list."""
        first = 0 if low is None else max(0, int(self.firsts.searchsorted(low, "right")) - 1)
        end = len(self.firsts) if high is None else int(self.firsts.searchsorted(high))
        positions = self.blocks(first, end)
        items = to_items(positions)
        bounds = (None if bound is None else items.searchsorted(bound) for bound in (low, high))
        return positions[slice(*bounds)]


def write_list(scratch: Scratch, name: str, positions: Array) -> SortedList:
    """Append distinct ascending positions to the scratch file *name*, a frame for each block; return where they are."""
    bounds = [*range(0, len(positions), BLOCK), len(positions)]
    frames = []
    for begin, end in pairwise(bounds):
        block = positions[begin:end].astype(np.int64, copy=False)
        before = np.concatenate([block[:1], block[:-1]])
        gaps = (block - before if block.ndim == 1 else block ^ before).astype("<i8", copy=False)
        # The number of byte planes for each word: the bytes of the greatest gap.
        planes_a_word = max(1, -(-int(gaps.max()).bit_length() // 8))
        low_bytes = gaps.view(np.uint8).reshape(len(block), -1, 8)[:, :, :planes_a_word]
        planes = np.ascontiguousarray(low_bytes.reshape(len(block), -1).T)
        frames.append(scratch.write(name, planes.data.cast("B")))
    firsts = to_items(positions[bounds[:-1]].astype(np.int64))
    return SortedList(scratch, firsts, np.array(bounds), tuple(frames))


def concatenate(scratch: Scratch, lists: Sequence[SortedList]) -> SortedList:
    """Return lists concatenated, each of which begins after the end of the one before."""
    starts = np.cumsum([0, *map(len, lists)])
    return SortedList(
        scratch,
        np.concatenate([part.firsts for part in lists]),
        np.concatenate([*(part.begins[:-1] + start for part, start in zip(lists, starts, strict=False)), starts[-1:]]),
        tuple(frame for part in lists for frame in part.frames),
    )


MergeTask = tuple[Scratch, str, list[SortedList], list[SortedList], Any, Any]
"""The arguments of `merge`."""


def merge_tasks(scratch: Scratch, name: str, lists: list[SortedList], known: list[SortedList]) -> Iterator[MergeTask]:
    """Yield the arguments of `merge` for ranges of about MERGED positions, which begin where blocks begin."""
    firsts = np.sort(np.concatenate([positions.firsts for positions in lists]))
    bounds = [None, *np.unique(firsts[MERGED // BLOCK :: MERGED // BLOCK]), None]
    for low, high in pairwise(bounds):
        yield scratch, name, lists, known, low, high


def merge(
    scratch: Scratch, name: str, lists: list[SortedList], known: list[SortedList], low: Any, high: Any
) -> SortedList:
    """Merge the positions of some *lists* between two items (see `between`), and write those to disk that no *known*
    list has."""
    positions = distinct([part.between(low, high) for part in lists])
    for other in known:
        positions = subtract(positions, other)
    return write_list(scratch, name, positions)


def subtract(positions: Array, known: SortedList) -> Array:
    """Return those of some sorted positions that a list does not have, reading only blocks that may have one."""
    if not len(positions):
        return positions
    items = to_items(positions)
    # The blocks of the list that may have one: from the one that may have the first position to that of the last.
    low = max(0, int(known.firsts.searchsorted(items[0], "right")) - 1)
    high = int(known.firsts.searchsorted(items[-1], "right"))
    # Where each block's share of the positions begins; blocks without any are not read.
    bounds = [0, *items.searchsorted(known.firsts[low + 1 : high]).tolist(), len(positions)]
    indices = np.full(len(positions), -1, np.int64)
    for block, begin, end in zip(range(low, high), bounds[:-1], bounds[1:], strict=False):
        if end > begin:
            indices_of(positions[begin:end], known.blocks(block, block + 1), 0, indices[begin:end])
    return positions[indices < 0]


ListsByTier = dict[int, list[SortedList]]
"""Sorted lists by tier. Lists of known positions are disjoint."""

RUN = 1 << 22
"""Positions that are sorted and written together, about."""


class SpilledPositions:
    """Known positions on disk, and positions that have arrived and may be new."""

    def __init__(self, work: Work):
        self.work = work
        self.scratch = Scratch(work.scratch / "positions", 0)
        self.scratch.begin(fresh=True)
        self.names = 0
        self.known: ListsByTier = {}
        self.arrived: ListsByTier = {}
        self.arrived_names: list[str] = []
        """The names of the files with arrived lists."""

    def new_name(self) -> str:
        """Return a name that no list has yet."""
        self.names += 1
        return f"list{self.names}"

    def add(self, arrivals: dict[int, list[Array]]) -> None:
        """Sort arrived positions by tier and write them to disk. Empties *arrivals*."""
        self.arrived_names.append(name := self.new_name())
        tiers: list[int] = []

        def tasks() -> Iterator[tuple[Scratch, str, list[Array]]]:
            for tier in list(arrivals):  # a copy of the keys, because each is removed
                for pieces in group_arrays(arrivals.pop(tier)):
                    tiers.append(tier)
                    yield self.scratch, name, pieces

        for number, sorted_list in enumerate(self.work.starmap(sort_and_write, tasks())):
            self.arrived.setdefault(tiers[number], []).append(sorted_list)

    def take_wave(self) -> dict[int, SortedList]:
        """Return the new positions that have arrived, by tier in order of arrival. Deletes the arrivals."""
        name, arrived = self.new_name(), self.arrived
        self.arrived = {}
        wave = self.merge_lists((tier, name, lists, self.known.get(tier, [])) for tier, lists in arrived.items())
        while self.arrived_names:
            self.scratch.drop(self.arrived_names.pop())
        return {tier: new for tier, new in wave.items() if len(new)}

    def remember(self, wave: dict[int, SortedList]) -> None:
        """Add a wave to the known positions. Merges older lists if there are several of similar length; the wave itself
        stays unmerged until the next call."""
        to_merge: ListsByTier = {}
        for tier in wave:
            runs = self.known.setdefault(tier, [])
            count, size = min(1, len(runs)), sum(map(len, runs[-1:]))
            # Merge from the shortest while the next list is less than twice as long as all before it.
            while count < len(runs) and len(runs[-count - 1]) < 2 * size:
                size += len(runs[-count - 1])
                count += 1
            if count > 1:  # few lists remain, and each position is merged seldom
                to_merge[tier] = runs[-count:]
                del runs[-count:]
        self.merge_runs(to_merge)
        for tier, new in wave.items():
            self.known[tier].append(new)

    def merge_runs(self, lists: ListsByTier) -> None:
        """Merge known lists into one for each tier. They must have been removed from `known`."""
        if not lists:
            return
        name = self.new_name()
        for tier, merged in self.merge_lists((tier, name, runs, []) for tier, runs in lists.items()).items():
            self.known[tier].append(merged)
        # Delete the files that no known list uses any more.
        used = {frame.name for runs in self.known.values() for run in runs for frame in run.frames}
        for unused in {frame.name for runs in lists.values() for run in runs for frame in run.frames} - used:
            self.scratch.drop(unused)

    def all_positions(self) -> dict[int, SortedList]:
        """Return one list of all known positions for each tier."""
        to_merge = {tier: runs for tier, runs in self.known.items() if len(runs) > 1}
        self.known.update({tier: [] for tier in to_merge})
        self.merge_runs(to_merge)
        return {tier: self.known[tier][0] for tier in sorted(self.known)}

    def merge_lists(
        self, lists: Iterable[tuple[int, str, list[SortedList], list[SortedList]]]
    ) -> dict[int, SortedList]:
        """Return a merged list for each tier. Each item is (tier, name of the new list, lists to merge, known lists);
        the new list has no position of a known list."""
        tasks = [
            (tier, task) for tier, name, runs, known in lists for task in merge_tasks(self.scratch, name, runs, known)
        ]
        pieces: ListsByTier = {}
        merged = self.work.starmap(merge, (task for _, task in tasks))
        for (tier, _), piece in zip(tasks, merged, strict=True):
            pieces.setdefault(tier, []).append(piece)
        return {tier: concatenate(self.scratch, parts) for tier, parts in pieces.items()}


def group_arrays(pieces: list[Array]) -> Iterator[list[Array]]:
    """Yield the arrays, last first, in groups of fewer than 2 × RUN positions. Empties *pieces*. An array longer than
    RUN is cut; each part after its first is a group of its own."""
    group: list[Array] = []
    count = 0
    while pieces:
        piece = pieces.pop()
        for begin in range(RUN, len(piece), RUN):
            yield [piece[begin : begin + RUN]]
        group.append(piece[:RUN])
        count += len(group[-1])
        if count >= RUN or not pieces:
            yield group
            group, count = [], 0


def sort_and_write(scratch: Scratch, name: str, pieces: list[Array]) -> SortedList:
    """Sort positions, drop duplicates, and write them to disk under a name. Empties *pieces*."""
    return write_list(scratch, name, distinct(pieces))
