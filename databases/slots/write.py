"""A solved game with a dense numbering, written: the outcomes of all slots, and nothing about positions."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import h5py
import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import compressor, to_planes
from retrograde.databases.frames import Contents
from retrograde.databases.layout import (
    COUNTS,
    DENSE_BLOCK,
    DENSE_BLOCKS,
    DENSE_LEVEL,
    DENSE_TIERS,
    LEGEND,
    CountRow,
    LegendRow,
    outcome_dtype,
)

GROUP = 8
"""Blocks in a task."""


@dataclass(frozen=True)
class DenseSolved:
    """A solved game, slot by slot, tier after tier. The legend ascends by value, then remoteness."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    starts: NDArray[np.int64]
    """The first slot of each tier, and at the end the number of slots."""
    legend: Sequence[LegendRow]
    counts: Sequence[CountRow]
    """What is in each part of each tier, in order."""
    outcomes: NDArray
    """For each slot a row of the legend; any, where it stands for no position."""
    start: int | None = None
    """The row of the legend of the game's start, if it has one."""


def fill_dense(
    file: h5py.File, solved: DenseSolved, attributes: dict[str, str | int], executor: Executor | None,
    progress: Callable[[int], object],
) -> None:  # fmt: skip
    """Write everything into a new file."""
    from retrograde.databases.write import in_order

    slots, outcome = int(solved.starts[-1]), outcome_dtype(len(solved.legend))
    if len(solved.outcomes) != slots or int(solved.outcomes.max()) >= len(solved.legend):
        raise ValueError("outcomes do not match the tiers or the legend")
    chunk = min(DENSE_BLOCK, slots)
    contents = Contents(file)
    blocks = contents.dataset("slots", outcome, slots, chunk, DENSE_LEVEL)
    threads = threading.local()

    def groups() -> Iterator[Callable[[], list[bytes]]]:
        for begin in range(0, slots, chunk * GROUP):
            part = solved.outcomes[begin : begin + chunk * GROUP].astype(outcome, copy=False)
            yield partial(compress_group, threads, part, outcome.itemsize, chunk)

    for frames in in_order(groups(), executor):
        for frame in frames:
            blocks.write(frame)
        progress(min(blocks.done * chunk, slots))
    tiers = np.empty(len(solved.tiers), DENSE_TIERS)
    tiers["tier"], tiers["slot"] = solved.tiers, solved.starts[:-1]
    contents.table("tiers", tiers)
    contents.table("blocks", blocks.checks.astype("<u4").view(DENSE_BLOCKS))
    contents.table("counts", np.array([tuple(row) for row in solved.counts], COUNTS))
    contents.table("legend", np.array([tuple(row) for row in solved.legend], LEGEND))
    contents.finish(attributes, "slots")


def compress_group(threads: threading.local, outcomes: NDArray, size: int, chunk: int) -> list[bytes]:
    """Return the frames of the blocks of a group."""
    if not hasattr(threads, "compressor"):
        threads.compressor = compressor(DENSE_LEVEL)
    return [threads.compressor.compress(planes.data) for planes in to_planes(outcomes, size, chunk)]
