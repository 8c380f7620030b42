"""A solved game written as steps: where, in ascending order, the outcomes of a tier's positions change."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import h5py
import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import compressor, pack, to_planes
from retrograde.databases.frames import Contents
from retrograde.databases.layout import (
    LEGEND,
    STEP_BLOCK,
    STEP_BLOCKS,
    STEP_LEVEL,
    STEP_TIERS,
    LegendRow,
    gap_dtype,
    outcome_dtype,
    records_dtype,
)

GROUP = 4
"""Blocks in a task."""


@dataclass(frozen=True)
class SteppedSolved:
    """A solved game, as steps, tier after tier; only of positions where the game goes on and nobody wins in one."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers that have steps, ascending."""
    counts: NDArray[np.int64]
    """Steps in each tier, at least 1."""
    positions: NDArray[np.int64]
    """Where the first step of each tier begins."""
    masks: NDArray[np.int64]
    """The bits in which positions of the tier differ."""
    legend: Sequence[LegendRow]
    """Ascends by value, then remoteness; it counts all positions, those as well that need no step."""
    steps: Iterable[tuple[NDArray[np.int64], NDArray]]
    """For each step its rank (the bits under the mask of where it begins, pushed together) and a row of the legend."""
    start: int | None = None
    """The row of the legend of the game's start."""


def fill_steps(
    file: h5py.File, solved: SteppedSolved, attributes: dict[str, str | int], executor: Executor | None,
    progress: Callable[[int], object],
) -> None:  # fmt: skip
    """Write everything into a new file."""
    from retrograde.databases.write import in_order, regroup

    bounds = np.concatenate([[0], np.cumsum(solved.counts, dtype=np.int64)])
    count, outcome = int(bounds[-1]), outcome_dtype(len(solved.legend))
    gap = gap_dtype(max((1 << int(mask).bit_count()) - 1 for mask in solved.masks))
    chunk = min(STEP_BLOCK, count)
    contents = Contents(file)
    written = contents.dataset("steps", records_dtype(outcome, gap), count, chunk, STEP_LEVEL)
    blocks = np.empty(-(-count // chunk), STEP_BLOCKS)
    threads = threading.local()

    def groups() -> Iterator[Callable[[], list[bytes]]]:
        step = 0
        for ranks, rows in regroup(solved.steps, chunk * GROUP):
            end = step + len(ranks)
            if end > count or int(rows.max()) >= len(solved.legend):
                raise ValueError("steps do not match the tiers or the legend")
            blocks["rank"][step // chunk : -(-end // chunk)] = ranks[::chunk]
            begins = bounds[slice(*np.searchsorted(bounds, [step, end]))] - step
            yield partial(compress_steps, threads, ranks, rows.astype(outcome, copy=False), begins, chunk, gap)
            step = end
        if step != count:
            raise ValueError(f"{step} steps where the tiers have {count}")

    for frames in in_order(groups(), executor):
        for frame in frames:
            written.write(frame)
        progress(min(written.done * chunk, count))
    blocks["check"] = written.checks
    tiers = np.empty(len(solved.tiers), STEP_TIERS)
    tiers["tier"], tiers["step"], tiers["position"] = solved.tiers, bounds[:-1], solved.positions
    tiers["mask"] = solved.masks
    contents.table("tiers", tiers)
    contents.table("blocks", blocks)
    contents.table("legend", np.array([tuple(row) for row in solved.legend], LEGEND))
    contents.finish(attributes, "steps")


def compress_steps(
    threads: threading.local, ranks: NDArray[np.int64], rows: NDArray, begins: NDArray[np.int64], chunk: int, gap:
    np.dtype
) -> list[bytes]:  # fmt: skip
    """Return the frames of consecutive blocks; tiers begin at the indices *begins*."""
    gaps = np.diff(ranks, prepend=0)
    gaps[begins] = 0
    gaps[::chunk] = 0
    if (gaps < 0).any() or np.count_nonzero(gaps == 0) > len(begins) + -(-len(gaps) // chunk):
        raise ValueError("steps do not ascend within their tier")
    if not hasattr(threads, "compressor"):
        threads.compressor = compressor(STEP_LEVEL)
    planes = (to_planes(part, part.itemsize, chunk) for part in (rows, gaps.astype(gap)))
    return [pack(threads.compressor, *parts) for parts in zip(*planes, strict=True)]
