"""The state space: the canonical positions that play can reach, as sorted lists tier by tier."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.explore import kernels
from retrograde.solver.methods.listed.explore.kernels import Index, Lists
from retrograde.solver.methods.listed.spill import looking as aside
from retrograde.solver.methods.listed.spill.lists import SortedList
from retrograde.solver.runtime.arrays import Shared
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]


LARGE = 1 << 17
"""Positions in a tier, on average, from which they no longer fit a core's cache."""
SPREAD = 8
"""Positions to an entry of an index, about."""


class Cuts(NamedTuple):
    """What an Index is made of."""

    shifts: Array
    bases: Array
    offsets: Array
    begins: Shared
    samples: Shared


@dataclass
class Tiers:
    """The canonical positions of a game, sorted within each tier: tier k has those from place `starts[k]` to place
    `starts[k + 1]`. The *place* of a position is where it is among all positions.

    `tiers` int64[T] ascending, `starts` int64[T + 1]; `edges` are the pairs of tiers that a move leads from and to.
    """

    tiers: Array
    starts: Array
    edges: set[tuple[int, int]]

    def __len__(self) -> int:
        return int(self.starts[-1])

    def stretch(self, k: int) -> tuple[int, int]:
        """Return where tier number k begins and ends."""
        return int(self.starts[k]), int(self.starts[k + 1])

    def has_cycles(self, k: int) -> bool:
        """Tell whether a move may stay in tier number k."""
        tier = int(self.tiers[k])
        return (tier, tier) in self.edges

    def read(self, begin: int, end: int) -> Array:
        """Return the positions from one place to another."""
        raise NotImplementedError


@dataclass
class StateSpace(Tiers):
    """The same in memory: `positions` uint32[n] or int64[n]; by the `index` one is found in large tiers."""

    shared: Shared
    cuts: Cuts

    @property
    def large(self) -> bool:
        """Whether tiers are too large for a core's cache, so that there is an index."""
        return is_large(self.starts)

    @property
    def index(self) -> Index:
        """Where leading bits begin, for kernels."""
        return Index(*self.cuts[:3], self.cuts.begins.array, self.cuts.samples.array)

    @property
    def positions(self) -> Array:
        """All positions, tier by tier."""
        return self.shared.array

    @property
    def lists(self) -> Lists:
        """The same for kernels."""
        return Lists(self.tiers, self.starts, self.shared.array)

    def read(self, begin: int, end: int) -> Array:
        return self.positions[begin:end]


@dataclass
class SpaceAside(Tiers):
    """The same in scratch: a list for each tier, whose positions are read as *dtype*."""

    lists: list[SortedList]
    dtype: Any

    def read(self, begin: int, end: int) -> Array:
        low, high = int(self.starts.searchsorted(begin, "right")) - 1, int(self.starts.searchsorted(end))
        parts = [np.empty(0, np.int64)]
        for k in range(low, high):
            start = int(self.starts[k])
            parts.append(self.lists[k][max(0, begin - start) : end - start])
        return np.concatenate(parts).astype(self.dtype)

    def to_look_in(self) -> aside.Lists:
        """Return the lists to look for positions in."""
        return aside.Lists(self.tiers, self.starts, self.lists)


def is_large(starts: Array) -> bool:
    """Tell whether tiers that begin there are too large, on average, for a core's cache."""
    return int(starts[-1]) >= LARGE * (len(starts) - 1)


def cuts_of(starts: Array, positions: Array, work: Work) -> Cuts:
    """Return the index of positions, sorted within tiers that begin at *starts*: an empty one of small tiers."""
    tiers = len(starts) - 1 if is_large(starts) else 0
    shifts, bases, sizes = np.zeros((3, tiers), np.int64)
    for k in range(tiers):
        low, high = int(positions[starts[k]]), int(positions[starts[k + 1] - 1])
        entries = int(starts[k + 1] - starts[k]) // SPREAD + 1
        shifts[k] = max(0, ((high - low) // entries).bit_length())
        bases[k] = low >> int(shifts[k])
        sizes[k] = (high >> int(shifts[k])) - int(bases[k]) + 2
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    narrow = np.uint32 if int(starts[-1]) < 1 << 32 else np.int64
    begins = work.zeros("index", int(offsets[-1]), narrow)
    some = positions[:: kernels.SAMPLE] if tiers else positions[:0]
    samples = work.zeros("samples", len(some), positions.dtype)
    samples.array[:] = some
    kernels.index_of(positions, starts, Index(shifts, bases, offsets, begins.array, samples.array))
    return Cuts(shifts, bases, offsets, begins, samples)


def levels(tiers: list[int], edges: set[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers of tiers in groups to be solved one after another; in a group no tier depends on another.

    >>> levels([0, 1, 2, 3], {(0, 1), (0, 2), (1, 3), (2, 3), (1, 1)})
    [[3], [1, 2], [0]]
    """
    children = defaultdict(list)
    for tier, child in edges:
        if tier != child:
            children[tier].append(child)
    level: dict[int, int] = {}
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for k, tier in reversed(list(enumerate(tiers))):
        level[tier] = 1 + max((level[child] for child in children[tier]), default=-1)
        groups[level[tier]].append(k)
    return [sorted(groups[number]) for number in sorted(groups)]
