"""Solves a large tier in ranges of slots, for workers that are other processes (see listed/ranges/tier.py)."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout
from retrograde.solver.methods.listed.ranges import tier as ranges
from retrograde.solver.methods.numbered import seeds
from retrograde.solver.methods.numbered.table import Table, Tier
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]


def solve_by_ranges(
    table: Table, k: int, work: Work, phase: Phase, in_file: bool, until_kept: ExitStack
) -> tuple[Array, Compressed]:
    """Return the scores of a tier and the numbers of symmetric positions. All later tiers must be solved.

    Scores are written to the tier's part of the score array. Files for resuming stay until the stack *until_kept* is
    closed.
    """
    part, nothing = table.numbering.stretch(k), table.scores.part(0, 0)
    tier = Tier(table, k, table.scores.part(part.start, part.stop), nothing, nothing)
    scores = tier.scores.array
    cut = ranges.RangeTier(
        f"ranges{table.bits}-{k}", tier.number, len(scores), table.bits, look, partial(tasks, tier),
        seeds.BLOCK, seeds.LOOKING,
    )  # fmt: skip
    found, sizes = ranges.solve_in_ranges(cut, work, phase, until_kept)
    for begin, some in found:
        scores[begin : begin + len(some)] = some
        if in_file:
            table.scores.let_go()
    return scores, sizes


class Look(NamedTuple):
    """Task: expand some slots of a tier."""

    scratch: Scratch
    tier: Tier
    shape: BucketLayout
    begin: int
    end: int


def tasks(tier: Tier, scratch: Scratch, shape: BucketLayout, ends: list[ranges.Ends]) -> Iterator[Look]:
    """Yield the tasks of expanding blocks of slots."""
    return (Look(scratch, tier, shape, *each) for each in ends)


def look(task: Look) -> ranges.ExpandedBlock:
    """Expand some slots; write the results and the edges to scratch files."""
    _, found, links = seeds.seed((task.tier, task.shape, task.begin, task.end))
    return ranges.write_block(task.scratch, found.scores, found.left, found.sizes, links)
