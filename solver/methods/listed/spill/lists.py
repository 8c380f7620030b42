"""A sorted list of positions on disk: compressed blocks with checksums, and the first position of each in memory.

list      | block | block | … |        each block: a zstd frame of the gaps between positions, in byte planes

plane 0   | lowest byte of gap 0 | of gap 1 | …      gap 0 is 0
plane 1   | next byte of gap 0   | of gap 1 | …      as many planes as the greatest gap has bytes

An exploration knows its positions as a few such lists for each tier (`SpilledPositions`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from retrograde.solver.methods.listed.spill import kernels
from retrograde.solver.methods.listed.spill.kernels import unique
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]

BLOCK = 1 << 14
"""The most positions in a block."""
MERGED = 1 << 20
"""Positions in a task of merging, about."""
END = 1 << 62
"""A number greater than all positions."""


@dataclass(frozen=True)
class SortedList:
    """Distinct positions in ascending order, on disk. Block b is in `frames[b]` and begins with the position
    `firsts[b]`. It has the positions with indices `begins[b]` to `begins[b + 1]` of the list."""

    scratch: Scratch
    firsts: Array
    begins: Array
    frames: tuple[Frame, ...]

    def __len__(self) -> int:
        return int(self.begins[-1])

    def __getitem__(self, where: slice) -> Array:
        """Return the positions with indices in a slice, int64. It must have both ends, neither negative."""
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
    """Append distinct ascending positions to the scratch file *name*, a frame for each block; return where they are."""
    bounds = [*range(0, len(positions), BLOCK), len(positions)]
    frames = []
    for begin, end in pairwise(bounds):
        block = positions[begin:end].astype(np.int64, copy=False)
        gaps = np.diff(block, prepend=block[:1]).astype("<i8", copy=False)
        # The number of byte planes: the bytes of the greatest gap.
        width = max(1, -(-int(gaps.max()).bit_length() // 8))
        planes = np.ascontiguousarray(gaps.view(np.uint8).reshape(-1, 8)[:, :width].T)
        frames.append(scratch.write(name, planes.data.cast("B")))
    return SortedList(scratch, positions[bounds[:-1]].astype(np.int64), np.array(bounds), tuple(frames))


def concatenate(scratch: Scratch, lists: Sequence[SortedList]) -> SortedList:
    """Return lists concatenated, each of which begins after the end of the one before."""
    starts = np.cumsum([0, *map(len, lists)])
    return SortedList(
        scratch,
        np.concatenate([np.empty(0, np.int64), *(each.firsts for each in lists)]),
        np.concatenate([*(each.begins[:-1] + start for each, start in zip(lists, starts, strict=False)), starts[-1:]]),
        tuple(frame for each in lists for frame in each.frames),
    )


MergeTask = tuple[Scratch, str, list[SortedList], list[SortedList], int, int]
"""The arguments of `merge`."""


def merge_tasks(scratch: Scratch, name: str, lists: list[SortedList], known: list[SortedList]) -> Iterator[MergeTask]:
    """Yield the arguments of `merge` for ranges of about MERGED positions, which begin where blocks begin."""
    firsts = np.sort(np.concatenate([each.firsts for each in lists]))
    bounds = [0, *np.unique(firsts[MERGED // BLOCK :: MERGED // BLOCK]).tolist(), END]
    for low, high in pairwise(bounds):
        yield scratch, name, lists, known, low, high


def merge(
    scratch: Scratch, name: str, lists: list[SortedList], known: list[SortedList], low: int, high: int
) -> SortedList:
    """Merge the positions from *low* on and below *high* of some *lists*, and write those to disk that no *known* list
    has."""
    positions = np.concatenate([each.between(low, high) for each in lists])
    positions.sort()
    positions = positions[: kernels.unique(positions)]
    for other in known:
        positions = subtract(positions, other)
    return write_list(scratch, name, positions)


def subtract(positions: Array, known: SortedList) -> Array:
    """Return those of some sorted positions that a list does not have, reading only blocks that may have one."""
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
        self.arrivals: list[str] = []
        """The names of the lists that have arrived."""

    def name(self) -> str:
        """Return a name that no list has yet."""
        self.names += 1
        return f"list{self.names}"

    def add(self, arrivals: dict[int, list[Array]]) -> None:
        """Sort arrived positions by tier and write them to disk. Empties *arrivals*."""
        self.arrivals.append(name := self.name())
        tiers: list[int] = []

        def heaps() -> Iterator[tuple[Scratch, str, list[Array]]]:
            for tier in list(arrivals):
                for pieces in group_arrays(arrivals.pop(tier)):
                    tiers.append(tier)
                    yield self.scratch, name, pieces

        for number, run in enumerate(self.work.starmap(sort_and_write, heaps())):
            self.arrived.setdefault(tiers[number], []).append(run)

    def take_wave(self) -> dict[int, SortedList]:
        """Return the new positions that have arrived, by tier in order of arrival. Deletes the arrivals."""
        name, arrived = self.name(), self.arrived
        self.arrived = {}
        wave = self.merge_lists((tier, name, lists, self.known.get(tier, [])) for tier, lists in arrived.items())
        while self.arrivals:
            self.scratch.drop(self.arrivals.pop())
        return {tier: new for tier, new in wave.items() if len(new)}

    def remember(self, wave: dict[int, SortedList]) -> None:
        """Add a wave to the known positions. Merges older lists if there are several of similar length; the wave itself
        stays unmerged until the next call."""
        several: ListsByTier = {}
        for tier in wave:
            runs = self.known.setdefault(tier, [])
            count, size = min(1, len(runs)), sum(map(len, runs[-1:]))
            # Merge from the shortest while the next list is less than twice as long as all before it.
            while count < len(runs) and len(runs[-count - 1]) < 2 * size:
                size += len(runs[-count - 1])
                count += 1
            if count > 1:  # few lists remain, and each position is merged seldom
                several[tier] = runs[-count:]
                del runs[-count:]
        self.merge_runs(several)
        for tier, new in wave.items():
            self.known[tier].append(new)

    def merge_runs(self, lists: ListsByTier) -> None:
        """Merge known lists into one for each tier. They must have been removed from `known`."""
        if not lists:
            return
        name = self.name()
        for tier, whole in self.merge_lists((tier, name, some, []) for tier, some in lists.items()).items():
            self.known[tier].append(whole)
        # Delete the files that no known list uses any more.
        used = {frame.name for runs in self.known.values() for run in runs for frame in run.frames}
        for gone in {frame.name for some in lists.values() for run in some for frame in run.frames} - used:
            self.scratch.drop(gone)

    def all_positions(self) -> dict[int, SortedList]:
        """Return one list of all known positions for each tier."""
        several = {tier: runs for tier, runs in self.known.items() if len(runs) > 1}
        self.known.update({tier: [] for tier in several})
        self.merge_runs(several)
        return {tier: self.known[tier][0] for tier in sorted(self.known)}

    def merge_lists(
        self, lists: Iterable[tuple[int, str, list[SortedList], list[SortedList]]]
    ) -> dict[int, SortedList]:
        """Return a merged list for each tier. Each item is (tier, name of the new list, lists to merge, known lists,
        whose positions are left out)."""
        tasks = [
            (tier, task) for tier, name, some, known in lists for task in merge_tasks(self.scratch, name, some, known)
        ]
        pieces: ListsByTier = {}
        merged = self.work.starmap(merge, (task for _, task in tasks))
        for (tier, _), piece in zip(tasks, merged, strict=True):
            pieces.setdefault(tier, []).append(piece)
        return {tier: concatenate(self.scratch, some) for tier, some in pieces.items()}


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
    positions = np.concatenate(pieces)
    pieces.clear()
    positions.sort()
    return write_list(scratch, name, positions[: unique(positions)])
