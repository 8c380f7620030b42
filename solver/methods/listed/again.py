"""Forward passes over listed positions: expand undecided positions again (see predecessors/passes.py)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.explore.space import SpaceAside
from retrograde.solver.methods.listed.predecessors import frontier
from retrograde.solver.methods.listed.predecessors.passes import Children, Look, Passes
from retrograde.solver.methods.listed.spill.looking import Looked, located
from retrograde.solver.methods.listed.table import Cyclic, blocks_of_some
from retrograde.solver.runtime.arrays import Part
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import decided_from

Array = np.ndarray[Any, Any]


def passes_over(tier: Cyclic, work: Work, stretch: int) -> Passes:
    """Return forward passes over a tier, *stretch* positions to a task.

    Raises MemoryLimit if their frontier does not fit.
    """
    left = tier.left.array
    work.budget.check(frontier.bytes_for(len(left)), f"looking again at the children of {len(left):,} positions")
    return Passes(work, f"{tier.table.bits}-{tier.k}", left, partial(looks, tier, work), work.block(len(left), stretch))


def looks(tier: Cyclic, work: Work, stretches: list[tuple[int, int]]) -> Iterator[Look]:
    """Yield a function for each block that expands its undecided positions again.

    If positions are spilled to disk, their children have been located by then.
    """
    some = partial(undecided, tier.left.array)
    if not isinstance(tier.table.space, SpaceAside):
        for begin, end in stretches:
            yield partial(look_again, tier, begin, end, some(begin, end), None)
        return
    lists, low = tier.table.space.to_look_in(), tier.low
    groups = ([(tier.k, low + begin, low + end)] for begin, end in stretches)
    found = located(tier.table.game, lists, groups, work, lambda begin, end: some(begin - low, end - low))
    for (begin, end), looked in zip(stretches, found, strict=True):
        yield partial(look_again, tier, begin, end, some(begin, end), looked)


def undecided(left: Array, begin: int, end: int) -> Array:
    """Return the undecided positions of a block, counted from its first.

    Only the pass itself decides positions of this block, and not before it has used this result.
    """
    return np.flatnonzero(left[begin:end] < decided_from(left))


def look_again(tier: Cyclic, begin: int, end: int, rows: Array, looked: Looked | None, marked: Part) -> Children:
    """Return the children of the positions *rows* of a block that are in the *marked* frontier."""
    table, k, low, high, *_ = tier
    counts, found = np.zeros(end - begin, np.int64), [np.empty(0, np.int64)]
    for first, last, block in blocks_of_some(table, k, low + begin + rows, looked):
        own = np.zeros(last - first, np.int64)
        links = kernels.children_again(
            block.columns, block.places, block.matrix.origins, low, high, marked.array, own, block.out
        )
        found.append(block.out[:links].copy())
        counts[rows[first:last]] = own
    return np.concatenate(found), counts
