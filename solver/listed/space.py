"""The state space: the canonical positions that play can reach, as sorted lists tier by tier."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.solver.listed.kernels import Lists
from retrograde.solver.work.arrays import Shared

Array = np.ndarray[Any, Any]


@dataclass
class StateSpace:
    """The canonical positions of a game, sorted within each tier: tier k has `positions[starts[k]:starts[k + 1]]`.

    `tiers` int64[T] ascending, `starts` int64[T + 1], `positions` uint32[n] or int64[n]; `edges` are the pairs of tiers
    that a move leads from and to. The *place* of a position is where it is among all positions.
    """

    tiers: Array
    starts: Array
    shared: Shared
    edges: set[tuple[int, int]]

    @property
    def positions(self) -> Array:
        """All positions, tier by tier."""
        return self.shared.array

    @property
    def lists(self) -> Lists:
        """The same for kernels."""
        return Lists(self.tiers, self.starts, self.shared.array)

    def __len__(self) -> int:
        return len(self.shared)

    def stretch(self, k: int) -> tuple[int, int]:
        """Return where tier number k begins and ends."""
        return int(self.starts[k]), int(self.starts[k + 1])

    def has_cycles(self, k: int) -> bool:
        """Tell whether a move may stay in tier number k."""
        tier = int(self.tiers[k])
        return (tier, tier) in self.edges


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
