"""The known positions of an exploration, on disk: a few sorted lists for each tier."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.spill.kernels import unique
from retrograde.solver.methods.listed.spill.lists import (
    MergeTask,
    SortedList,
    concatenate,
    merge,
    merge_tasks,
    write_list,
)
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]
ListsByTier = dict[int, list[SortedList]]
"""Sorted lists by tier. Lists of known positions are disjoint."""

RUN = 1 << 22
"""Positions that are sorted and written together, about."""


class SortTask(NamedTuple):
    """Task: sort positions and write them to disk under a name."""

    scratch: Scratch
    name: str
    pieces: list[Array]


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

        def heaps() -> Iterator[SortTask]:
            for tier in list(arrivals):
                for pieces in group_arrays(arrivals.pop(tier)):
                    tiers.append(tier)
                    yield SortTask(self.scratch, name, pieces)

        for number, run in enumerate(self.work.map(sort_and_write, heaps())):
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
        """Add a wave to the known positions.

        Merges older lists if there are several of similar length; the wave itself stays unmerged until the next call.
        """
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
        """Return all known positions: a list for each tier, in ascending order of tiers."""
        several = {tier: runs for tier, runs in self.known.items() if len(runs) > 1}
        self.known.update({tier: [] for tier in several})
        self.merge_runs(several)
        return {tier: self.known[tier][0] for tier in sorted(self.known)}

    def merge_lists(
        self, lists: Iterable[tuple[int, str, list[SortedList], list[SortedList]]]
    ) -> dict[int, SortedList]:
        """Return a merged list for each tier.

        Each item is (tier, name of the new list, lists, known lists). The result has the positions of the lists that
        are not in the known lists.
        """
        tiers: list[int] = []
        pieces: ListsByTier = {}

        def tasks() -> Iterator[MergeTask]:
            for tier, name, some, known in lists:
                for task in merge_tasks(self.scratch, name, some, known):
                    tiers.append(tier)
                    yield task

        for number, piece in enumerate(self.work.map(merge, tasks())):
            pieces.setdefault(tiers[number], []).append(piece)
        return {tier: concatenate(self.scratch, some) for tier, some in pieces.items()}


def group_arrays(pieces: list[Array]) -> Iterator[list[Array]]:
    """Yield arrays in groups of at least RUN positions, cutting longer ones. Empties *pieces*."""
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


def sort_and_write(task: SortTask) -> SortedList:
    """Sort positions, drop duplicates, and write them to disk."""
    positions = np.concatenate(task.pieces)
    task.pieces.clear()
    positions.sort()
    return write_list(task.scratch, task.name, positions[: unique(positions)])
