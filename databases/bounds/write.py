"""Writes expected payoffs by slot: two numbers for each, and nothing about positions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import Pair, regroup
from retrograde.databases.frames import Each, FileWriter, Progress
from retrograde.databases.layout import BOUNDS, BOUNDS_LEVEL, SLOT_BLOCK, LegendRow
from retrograde.databases.legend import Measures

GROUP = 8
"""Blocks in a task."""


@dataclass(frozen=True)
class SolvedBounds:
    """Expected payoffs slot by slot, tier after tier."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    starts: NDArray[np.int64]
    """The first slot of each tier; the last entry is the number of slots."""
    legend: Sequence[LegendRow]
    """How many positions with a slot are worth more than 0, less, or neither, for the player to move. Ascends by value.
    """
    bounds: Iterable[Pair]
    """The lower and upper bounds of player 0, some slots at a time."""
    measures: Measures
    start: tuple[int, int] | None
    """The start's bounds for the player to move, if the game has a start."""


def write_bounds(writer: FileWriter, solved: SolvedBounds, each: Each, progress: Progress) -> None:
    """Write the bounds of all slots in blocks, each as its low bound and its width, and a table of the tiers."""
    slots = int(solved.starts[-1])
    chunk = min(SLOT_BLOCK, slots)

    def groups() -> Iterator[NDArray[Any]]:
        for low, high in regroup(solved.bounds, chunk * GROUP):
            rows = np.empty(len(low), BOUNDS)
            rows["low"], rows["width"] = low, high - low
            yield rows

    frames = writer.write_items("bounds", BOUNDS, slots, chunk, BOUNDS_LEVEL, each, groups(), progress)
    writer.write_slot_tables(solved.tiers, solved.starts[:-1], frames)
