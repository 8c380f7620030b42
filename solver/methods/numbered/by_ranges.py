"""A tier solved slot by slot where workers are other processes, and slots are many (see listed/ranges/tier.py)."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors.sorting import Shape
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
    """Return the scores of a tier, which are written in their place, and how many positions are symmetric to each; all
    later ones are solved. What a solve that was killed goes on from stays *until* all is *kept*."""
    part, nothing = table.numbering.stretch(k), table.scores.part(0, 0)
    tier = Tier(table, k, table.scores.part(part.start, part.stop), nothing, nothing)
    scores = tier.scores.array
    cut = ranges.Tier(
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
    """The task of looking at some slots of a tier."""

    scratch: Scratch
    tier: Tier
    shape: Shape
    begin: int
    end: int


def tasks(tier: Tier, scratch: Scratch, shape: Shape, ends: list[ranges.Ends]) -> Iterator[Look]:
    """Yield the tasks of looking at some stretches of slots."""
    return (Look(scratch, tier, shape, *each) for each in ends)


def look(task: Look) -> ranges.Piece:
    """Look at all children of some slots, and put aside what is known then."""
    _, found, links = seeds.seed((task.tier, task.shape, task.begin, task.end))
    return ranges.piece_of(task.scratch, found.scores, found.left, found.sizes, links)
