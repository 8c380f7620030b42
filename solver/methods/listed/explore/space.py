"""The state space: all canonical positions that play can reach, as sorted lists tier by tier."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.explore import kernels
from retrograde.solver.methods.listed.explore.kernels import Index, TierLists
from retrograde.solver.methods.listed.spill.lists import SortedList
from retrograde.solver.methods.listed.spill.lookup import ListsOnDisk
from retrograde.solver.methods.listed.spill.packing import Packing, packing_of
from retrograde.solver.methods.listed.spill.row_kernels import pack
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.work import Work

LARGE = 1 << 17
"""Mean number of positions in a tier from which a tier no longer fits a core's cache."""
BYTES_A_KEY = 24
"""Free memory for each position, in bytes, from which on keys are made: for the key, its index, and the solve."""
SPREAD = 8
"""Positions for each entry of an index, about."""


class SharedIndex(NamedTuple):
    """The arrays of an Index; those that workers read are shared."""

    shifts: Array
    bases: Array
    offsets: Array
    begins: SharedArray
    samples: SharedArray


@dataclass
class TieredPositions:
    """The canonical positions of a game, sorted within each tier.

    Tier number k has the positions with indices `starts[k]` to `starts[k + 1]`. `tiers` int64[T] ascends, `starts` is
    int64[T + 1]. `edges` holds the pairs of tiers that a move connects.
    """

    tiers: Array
    starts: Array
    edges: set[tuple[int, int]]

    def __len__(self) -> int:
        return int(self.starts[-1])

    def bounds_of(self, k: int) -> tuple[int, int]:
        """Return the first index of tier number k, and the one after its last."""
        return int(self.starts[k]), int(self.starts[k + 1])

    def has_cycles(self, k: int) -> bool:
        """Return True if a move may stay in tier number k."""
        tier = int(self.tiers[k])
        return (tier, tier) in self.edges

    def read(self, begin: int, end: int) -> Array:
        """Return the positions with indices *begin* to *end*."""
        raise NotImplementedError


@dataclass
class StateSpace(TieredPositions):
    """The state space in memory: `positions` uint32[n] or int64[n], with an `index` for large tiers.

    If positions have several words, *width* is their number, and `positions` are int64[n, words]. `keys` int64[n] are
    the packed positions, and `packing` says how they are packed, if memory suffices. The index is one of keys."""

    shared: SharedArray
    parts_of_index: SharedIndex
    width: int = 0
    packing: Packing | None = None
    keys: SharedArray | None = None

    @property
    def large(self) -> bool:
        """Whether tiers are larger than a core's cache, so that there is an index."""
        return is_large(self.starts)

    @property
    def index(self) -> Index:
        """The index by leading bits, for kernels."""
        return Index(*self.parts_of_index[:3], self.parts_of_index.begins.array, self.parts_of_index.samples.array)

    @property
    def positions(self) -> Array:
        """All positions, tier by tier."""
        return self.shared.array.reshape(-1, self.width) if self.width else self.shared.array

    @property
    def lists(self) -> TierLists:
        """The lists of all tiers, for kernels; of keys, if there are any."""
        return TierLists(self.tiers, self.starts, self.keys.array if self.keys else self.positions)

    @property
    def lists_of_rows(self) -> TierLists:
        """The lists of all tiers, for kernels that compare positions word by word."""
        return TierLists(self.tiers, self.starts, self.positions)

    def read(self, begin: int, end: int) -> Array:
        return self.positions[begin:end]


@dataclass
class SpilledStateSpace(TieredPositions):
    """The state space on disk: a list for each tier, read as *dtype*."""

    lists: list[SortedList]
    dtype: Any

    def read(self, begin: int, end: int) -> Array:
        low, high = int(self.starts.searchsorted(begin, "right")) - 1, int(self.starts.searchsorted(end))
        starts = self.starts[low:high].tolist()
        lists = zip(starts, self.lists[low:high], strict=True)
        slices = [positions[max(0, begin - start) : end - start] for start, positions in lists]
        return np.concatenate(slices).astype(self.dtype, copy=False)

    def lists_on_disk(self) -> ListsOnDisk:
        """Return the lists in the form that lookups take."""
        return ListsOnDisk(self.tiers, self.starts, self.lists)


def keys_of(positions: Array, work: Work) -> tuple[Packing | None, SharedArray | None]:
    """Return how to pack positions of several words, and their keys; (None, None) if memory is short."""
    packing = packing_of(positions, is_exact=False) if work.budget.free_bytes() > BYTES_A_KEY * len(positions) else None
    if packing is None:
        return None, None
    keys = work.zeros("keys", len(positions), np.int64)
    pack(positions, packing, keys.array)
    return packing, keys


def is_large(starts: Array) -> bool:
    """Return True if the mean tier does not fit a core's cache."""
    return int(starts[-1]) >= LARGE * (len(starts) - 1)


def index_of_positions(starts: Array, positions: Array, work: Work) -> SharedIndex:
    """Return an index of positions, or of their keys; it is empty if tiers are small, or positions have several
    words."""
    tiers = len(starts) - 1 if is_large(starts) and positions.ndim == 1 else 0
    shifts, bases, sizes = np.zeros((3, tiers), np.int64)
    for k in range(tiers):
        low, high = int(positions[starts[k]]), int(positions[starts[k + 1] - 1])
        entries = int(starts[k + 1] - starts[k]) // SPREAD + 1
        # Drop low bits until about SPREAD positions share an entry of the index.
        shifts[k] = max(0, ((high - low) // entries).bit_length())
        bases[k] = low >> int(shifts[k])
        sizes[k] = (high >> int(shifts[k])) - int(bases[k]) + 2  # one for each key, and one for the end
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    narrow = np.uint32 if int(starts[-1]) < 1 << 32 else np.int64
    begins = work.zeros("index", int(offsets[-1]), narrow)
    sample = positions[:: kernels.SAMPLE] if tiers else np.empty(0, positions.dtype)
    samples = work.zeros("samples", len(sample), positions.dtype)
    samples.array[:] = sample
    if tiers:
        kernels.fill_index(positions, starts, Index(shifts, bases, offsets, begins.array, samples.array))
    return SharedIndex(shifts, bases, offsets, begins, samples)


def levels(tiers: list[int], edges: set[tuple[int, int]]) -> list[list[int]]:
    """Group the indices of *tiers* into levels, to be solved one after another. No tier of a level depends on another
    of it. *edges* are the pairs of tiers that a move connects.

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
