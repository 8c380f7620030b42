"""A solved game with a dense numbering, written: the outcomes of all slots, and nothing about positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import compressor, to_planes
from retrograde.databases.frames import Contents, Each, Progress
from retrograde.databases.layout import (
    COUNTS,
    SLOT_BLOCK,
    SLOT_BLOCKS,
    SLOT_LEVEL,
    SLOT_TIERS,
    CountRow,
    LegendRow,
    outcome_dtype,
)
from retrograde.databases.legend import Measures

GROUP = 8
"""Blocks in a task."""


@dataclass(frozen=True)
class SolvedSlots:
    """A solved game, slot by slot, tier after tier. The legend ascends by value, then remoteness."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    starts: NDArray[np.int64]
    """The first slot of each tier, and at the end the number of slots."""
    legend: Sequence[LegendRow]
    counts: Sequence[CountRow]
    """What is in each part of each tier, in order."""
    outcomes: NDArray[Any]
    """For each slot a row of the legend; any, where it stands for no position."""
    start: int | None = None
    """The row of the legend of the game's start, if it has one."""
    measures: Measures | None = None
    """What the legend has beside value and remoteness, and how it was computed."""


def write_slots(contents: Contents, solved: SolvedSlots, each: Each, progress: Progress) -> None:
    """Write slots and the tables that lead to them."""
    slots, outcome = int(solved.starts[-1]), outcome_dtype(len(solved.legend))
    if len(solved.outcomes) != slots or int(solved.outcomes.max()) >= len(solved.legend):
        raise ValueError("outcomes do not match the tiers or the legend")
    chunk = min(SLOT_BLOCK, slots)
    blocks = contents.blocks("slots", outcome, slots, chunk, SLOT_LEVEL)
    groups = (solved.outcomes[begin : begin + chunk * GROUP] for begin in range(0, slots, chunk * GROUP))
    for frames in each(partial(compress_group, chunk, outcome), groups):
        progress(blocks.write_all(frames))
    tiers = np.empty(len(solved.tiers), SLOT_TIERS)
    tiers["tier"], tiers["slot"] = solved.tiers, solved.starts[:-1]
    contents.table("tiers", tiers)
    contents.table("blocks", blocks.checks.astype("<u4").view(SLOT_BLOCKS))
    contents.table("counts", np.array([tuple(row) for row in solved.counts], COUNTS))


def compress_group(chunk: int, outcome: np.dtype[Any], rows: NDArray[Any]) -> list[bytes]:
    """Return the frames of the blocks of a group."""
    planes = to_planes(rows.astype(outcome, copy=False), outcome.itemsize, chunk)
    return [compressor(SLOT_LEVEL).compress(block.data) for block in planes]
