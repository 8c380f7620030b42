"""A tier that no move stays in, solved by one sweep over it: each position from its children, which are solved."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.solver.listed import kernels
from retrograde.solver.listed.explore import TASK, Stretch, cut
from retrograde.solver.listed.table import Table, expand_located
from retrograde.solver.outcomes.score import RemotenessOverflow, score_type
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.work.driver import Done
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

LONGER = 16
"""Where tiers are large, blocks are so many times as long, so that children looked up one after another lie closer."""


def solve_sweeping(table: Table, stretches: list[Stretch], work: Work) -> Iterator[Done]:
    """Yield the scores and sizes of stretches of tiers that no move stays in."""
    yield from work.map(sweep, ((table, task) for task in cut(stretches, TASK * (4 if table.space.large else 1))))


def sweep(task: tuple[Table, list[Stretch]]) -> Done:
    """Return the scores and sizes of stretches of tiers that no move stays in."""
    table, stretches = task
    expander, scores, sizes = expander_of(table.game), [], [np.empty(0, np.uint16)]
    for k, first, last in stretches:
        for begin, end in expander.blocks(first, last, LONGER if table.space.large else 1):
            block = expand_located(table, expander, k, begin, end)
            result = np.empty(end - begin, score_type(table.bits))
            if kernels.sweep(block.columns, block.places, block.matrix, table.bits, table.scores.array, result):
                raise RemotenessOverflow
            scores.append(result)
            sizes.append(block.matrix.sizes.copy())
    return np.array(stretches, np.int64).ravel(), np.concatenate(scores), np.concatenate(sizes)
