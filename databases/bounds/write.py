"""Writes expected payoffs by slot: two numbers for each, and nothing about positions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import compressor, to_planes
from retrograde.databases.frames import Contents, Each, Progress
from retrograde.databases.layout import BOUNDS, BOUNDS_LEVEL, SLOT_BLOCK, SLOT_BLOCKS, SLOT_TIERS, LegendRow
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
    bounds: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]
    """The lower and upper bounds of player 0, some slots at a time."""
    measures: Measures
    start: tuple[int, int] | None
    """The start's bounds for the player to move, if the game has a start."""


def write_bounds(contents: Contents, solved: SolvedBounds, each: Each, progress: Progress) -> None:
    """Write bounds and their tables."""
    slots = int(solved.starts[-1])
    chunk = min(SLOT_BLOCK, slots)
    blocks = contents.blocks("bounds", BOUNDS, slots, chunk, BOUNDS_LEVEL)
    for frames in each(compress, groups(solved.bounds, chunk, chunk * GROUP)):
        progress(blocks.write_all(frames))
    tiers = np.empty(len(solved.tiers), SLOT_TIERS)
    tiers["tier"], tiers["slot"] = solved.tiers, solved.starts[:-1]
    contents.table("tiers", tiers)
    contents.table("blocks", blocks.checks.astype("<u4").view(SLOT_BLOCKS))


def groups(bounds: Iterable[tuple[Any, Any]], chunk: int, size: int) -> Iterable[tuple[int, NDArray[Any]]]:
    """Yield (chunk, stored rows), *size* rows at a time; the last may be fewer."""
    waiting: list[NDArray[Any]] = []
    count = 0
    for low, high in bounds:
        rows = np.empty(len(low), BOUNDS)
        rows["low"], rows["width"] = low, high - low
        waiting.append(rows)
        count += len(rows)
        while count >= size:
            whole = np.concatenate(waiting)
            yield chunk, whole[:size]
            waiting, count = [whole[size:]], count - size
    if count:
        yield chunk, np.concatenate(waiting)


def compress(task: tuple[int, NDArray[Any]]) -> list[bytes]:
    """Return the frames of a group's blocks."""
    chunk, rows = task
    planes = to_planes(rows, rows.itemsize, chunk)
    return [compressor(BOUNDS_LEVEL).compress(block.data) for block in planes]
