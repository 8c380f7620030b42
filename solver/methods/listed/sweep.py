"""Solves a tier without cycles in one pass: each position takes the best of its solved children."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.explore.cutting import TASK, TierBlock, cut_into_tasks
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace
from retrograde.solver.methods.listed.spill.lookup import LocatedChildren, locate_children
from retrograde.solver.methods.listed.table import ListedTable, blocks_of
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import RemotenessOverflow, score_type

Array = np.ndarray[Any, Any]

LONGER = 16
"""In large tiers, blocks are this many times as long. Children that are looked up in a row then lie closer in memory.
"""


def solve_sweeping(table: ListedTable, blocks: list[TierBlock], work: Work) -> Iterator[Done]:
    """Yield the scores and sizes of blocks of tiers without moves inside the tier."""
    if isinstance(table.space, SpilledStateSpace):
        located = locate_children(table.game, table.space.lists_on_disk(), cut_into_tasks(blocks, TASK), work)
        yield from work.map(
            sweep, ((table, *found) for found in zip(cut_into_tasks(blocks, TASK), located, strict=True))
        )
        return
    tasks = cut_into_tasks(blocks, TASK * (4 if table.space.large else 1))
    yield from work.map(sweep, ((table, task, None) for task in tasks))


def sweep(task: tuple[ListedTable, list[TierBlock], LocatedChildren | None]) -> Done:
    """Return the scores and sizes of blocks of tiers without cycles.

    If *located* is given, the children have already been located on disk; otherwise they are located here.
    """
    table, blocks, located = task
    scores, sizes = [], [np.empty(0, np.uint16)]
    times = LONGER if located is None and table.space.large else 1
    parts = (
        block_of
        for k, first, last in (blocks if located is None else blocks[:1])
        for block_of in blocks_of(table, k, first, last, located, times)
    )
    for begin, end, block in parts:
        result = np.empty(end - begin, score_type(table.bits))
        if kernels.sweep(block, table.bits, table.scores.array, result):
            raise RemotenessOverflow
        scores.append(result)
        sizes.append(block.matrix.sizes.copy())
    return np.array(blocks, np.int64).ravel(), np.concatenate(scores), np.concatenate(sizes)
