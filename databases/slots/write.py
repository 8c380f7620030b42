"""Writes slots: the outcome of each, and nothing about positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases import layout
from retrograde.databases.frames import Each, FileWriter, Progress
from retrograde.databases.legend import Measures

GROUP = 8
"""Blocks in a task."""
ORDINARY, COMPACT = (
    ("slots", layout.SLOT_BLOCK, layout.SLOT_LEVEL),
    ("kept", layout.COMPACT_BLOCK, layout.COMPACT_LEVEL),
)
"""The dataset's name, the slots in a block, and the compression level unless there are many slots."""


@dataclass(frozen=True)
class SolvedSlots:
    """A solved game slot by slot, tier after tier. The legend ascends by value, then remoteness."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    starts: NDArray[np.int64]
    """The first slot of each tier; the last entry is the number of slots."""
    legend: Sequence[layout.LegendRow]
    counts: Sequence[layout.CountRow]
    """How often each outcome occurs in each part of each tier, in order."""
    outcomes: NDArray[Any]
    """For each slot a row of the legend; any row if it stands for no position."""
    start: int | None = None
    """The start's row in the legend, if the game has a start."""
    measures: Measures | None = None
    """The legend's additional columns, and how they were computed."""
    quick: bool = False
    """Whether a fast level of compression begins with MANY_QUICK_SLOTS."""


@dataclass(frozen=True)
class SolvedCompact(SolvedSlots):
    """A solved game of which some parts are kept; `outcomes` has the kept slots, part after part."""

    parts: Sequence[layout.PartRow] = ()
    """The parts of all tiers. The outcomes of each kept part are in the order of its columns already."""

    @property
    def kept(self) -> int:
        return sum(part.slots for part in self.parts if part.kept != layout.DERIVED)


def write_slots(writer: FileWriter, solved: SolvedSlots, each: Each, progress: Progress) -> None:
    """Write the outcomes of all slots in blocks, and tables of the tiers and of counts."""
    outcome, slots = layout.outcome_dtype(len(solved.legend)), int(solved.starts[-1])
    name, block_size, level = ORDINARY
    if slots >= (layout.MANY_QUICK_SLOTS if solved.quick else layout.MANY_SLOTS):
        level = layout.FAST_SLOT_LEVEL
    # A compact file has fewer slots, in larger blocks, and the table of parts.
    if isinstance(solved, SolvedCompact):
        slots, (name, block_size, level) = solved.kept, COMPACT
        writer.write_table("parts", np.array([tuple(part) for part in solved.parts], layout.PARTS))
    if len(solved.outcomes) != slots or int(solved.outcomes.max()) >= len(solved.legend):
        raise ValueError("outcomes do not match the tiers or the legend")
    chunk = min(block_size, slots)
    groups = (solved.outcomes[begin : begin + chunk * GROUP] for begin in range(0, slots, chunk * GROUP))
    frames = writer.write_items(name, outcome, slots, chunk, level, each, groups, progress)
    writer.write_slot_tables(solved.tiers, solved.starts[:-1], frames)
    writer.write_table("counts", np.array([tuple(row) for row in solved.counts], layout.COUNTS))
