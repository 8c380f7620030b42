"""Writes steps: the ranks at which the outcome changes within a tier."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases import layout
from retrograde.databases.encoding import Pair, compressor, pack, regroup, to_planes
from retrograde.databases.frames import Each, FileWriter, Progress

GROUP = 4
"""Blocks in a task."""


@dataclass(frozen=True)
class SolvedSteps:
    """A solved game as steps, tier after tier. Positions that the rules decide within one ply have none."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers that have steps, ascending."""
    counts: NDArray[np.int64]
    """The number of steps in each tier, at least 1."""
    positions: NDArray[np.int64]
    """The position at which each tier's first step begins."""
    masks: NDArray[np.int64]
    """The bits in which the positions of each tier differ."""
    legend: Sequence[layout.LegendRow]
    """Ascends by value, then remoteness; it counts all positions, also those that need no step."""
    steps: Iterable[Pair]
    """For each step its rank and a row of the legend. The rank is that of its first position (`encoding.squeeze`)."""
    start: int | None = None
    """The start's row in the legend."""


class StepGroup(NamedTuple):
    """The steps of a few blocks; the last may be short. Tiers begin at the indices *begins*."""

    ranks: NDArray[np.int64]
    rows: NDArray[Any]
    begins: NDArray[np.int64]


def write_steps(writer: FileWriter, solved: SolvedSteps, each: Each, progress: Progress) -> None:
    """Write steps and their tables."""
    bounds = np.concatenate([[0], np.cumsum(solved.counts, dtype=np.int64)])
    count, outcome = int(bounds[-1]), layout.outcome_dtype(len(solved.legend))
    gap = layout.gap_dtype(max((1 << int(mask).bit_count()) - 1 for mask in solved.masks))
    chunk = min(layout.STEP_BLOCK, count)
    level = layout.STEP_LEVEL if count < layout.MANY_STEPS else layout.FAST_STEP_LEVEL
    steps = writer.new_dataset("steps", layout.records_dtype(outcome, gap), count, chunk, level)
    blocks = np.empty(-(-count // chunk), layout.STEP_BLOCKS)
    for frames in each(partial(compress_group, chunk, level, outcome, gap), groups(solved, bounds, chunk, blocks)):
        progress(steps.write_all(frames))
    blocks["check"] = steps.checks
    tiers = np.empty(len(solved.tiers), layout.STEP_TIERS)
    tiers["tier"], tiers["step"], tiers["position"] = solved.tiers, bounds[:-1], solved.positions
    tiers["mask"] = solved.masks
    writer.write_table("tiers", tiers)
    writer.write_table("blocks", blocks)


def groups(solved: SolvedSteps, bounds: NDArray[np.int64], chunk: int, blocks: NDArray[Any]) -> Iterator[StepGroup]:
    """Yield steps a few blocks of *chunk* steps at a time, and write the first rank of each block to *blocks*.

    *bounds* int64[tiers + 1] has the number of each tier's first step, and the number of all steps. Raises ValueError
    if there are more or fewer.
    """
    step, count = 0, int(bounds[-1])
    for ranks, rows in regroup(solved.steps, chunk * GROUP):
        end = step + len(ranks)
        if end > count or int(rows.max()) >= len(solved.legend):
            raise ValueError("steps do not match the tiers or the legend")
        blocks["rank"][step // chunk : -(-end // chunk)] = ranks[::chunk]
        first_tier, end_tier = np.searchsorted(bounds, [step, end])  # the tiers that begin within the group
        yield StepGroup(ranks, rows, bounds[first_tier:end_tier] - step)
        step = end
    if step != count:
        raise ValueError(f"{step} steps where the tiers have {count}")


def compress_group(chunk: int, level: int, outcome: np.dtype[Any], gap: np.dtype[Any], group: StepGroup) -> list[bytes]:
    """Return a group's compressed blocks: the outcome of each step, and the gap from the rank before."""
    gaps = np.diff(group.ranks, prepend=0)
    gaps[group.begins] = 0
    gaps[::chunk] = 0
    # A gap is 0 only where a tier or a block begins.
    if (gaps < 0).any() or np.count_nonzero(gaps == 0) > len(group.begins) + -(-len(gaps) // chunk):
        raise ValueError("steps do not ascend within their tier")
    items = group.rows.astype(outcome, copy=False), gaps.astype(gap)
    planes = [to_planes(array, array.itemsize, chunk) for array in items]
    return [pack(compressor(level), *block) for block in zip(*planes, strict=True)]
