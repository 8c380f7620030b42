"""A tier solved slot by slot where workers are other processes, and slots are many: these lie in ranges.

Parents come from links alone. The one who solves has not all scores in memory, nor does he pass anything back himself.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.links.sorting import BYTES_IN_BUCKET, Shape
from retrograde.solver.numbered import seeds
from retrograde.solver.numbered.table import Table, Tier
from retrograde.solver.outcomes.propagation import telling
from retrograde.solver.ranges.files import Sections, joined, put
from retrograde.solver.ranges.propagation import RangedPropagation
from retrograde.solver.ranges.steps import Turn, turn
from retrograde.solver.work.arrays import Compressed
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.scratch import Frame, Scratch
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

RANGES_EACH = 4
"""Ranges of slots for each worker, where there are so many slots and..."""
LEAST_RANGE_BITS = 16
"""...ranges come to so many, as a power of two."""
PIECES, LINKS = "pieces", "links"
"""Under which names it is put aside what is known of slots, and who leads to whom."""
LOOKING = 0.75
"""What looking at all slots once takes of the time that a tier takes, about."""


def solve_by_ranges(table: Table, k: int, work: Work, phase: Phase, in_file: bool) -> tuple[Array, Compressed]:
    """Return the scores of a tier, which are written in their place, and how many positions are symmetric to each; all
    later ones are solved. A solve that was killed begins the tier anew."""
    part = table.numbering.stretch(k)
    count = part.stop - part.start
    shape = shape_of(work, count)
    scratch = Scratch(work.scratch / f"ranges{table.bits}-{k}", 0)
    scratch.begin(fresh=True)
    nothing = table.scores.part(0, 0)
    tier = Tier(table, k, table.scores.part(part.start, part.stop), nothing, nothing)
    sizes, pieces, links = Compressed(np.uint16), [], []
    blocks = seeds.blocks(count, 0, block_of(work, shape))
    for begin, piece, own, there in work.map(look, (Look(scratch, tier, shape, *ends) for ends in blocks)):
        sizes[begin : begin + len(own)] = own
        pieces.append((begin, piece))
        links.append(there)
        phase.working(LOOKING * (begin + len(own)), tier.number, Deciding(0, count, None))
    turns = (
        Turn(
            scratch, number, shape.size(number), shape.width, count >= 1 << 31, table.bits,
            [piece for begin, piece in pieces if begin >> shape.shift == number],
            [there.frame(number) for there in links if there.rows[number, 2]],
        )
        for number in range(shape.buckets)
    )  # fmt: skip
    propagation = RangedPropagation(
        work, scratch, shape.shift, table.bits, work.map(turn, turns), telling(phase, tier.number, LOOKING)
    )
    for name in (PIECES, LINKS):
        scratch.drop(name)
    scratch.cache_at_most(max(0, work.budget.left() // (2 * work.sharing)))  # what each worker reads again
    propagation.run()
    scores = tier.scores.array
    for state in propagation.states:
        begin = shape.begin(state.number)
        scores[begin : begin + state.size] = state.with_draws(scratch)
        if in_file:
            table.scores.let_go()
    scratch.close()
    scratch.begin(fresh=True)
    return scores, sizes


def shape_of(work: Work, count: int) -> Shape:
    """Return how to cut so many slots into ranges: a few for each worker, which have memory for theirs."""
    share = work.budget.left() // (4 * work.sharing * BYTES_IN_BUCKET)
    bits = min(share, count // (RANGES_EACH * work.workers_now)).bit_length() - 1
    return Shape.of(count, min(work.sizes.range_bits, max(bits, LEAST_RANGE_BITS)))


def block_of(work: Work, shape: Shape) -> int:
    """Return how many slots to give to a task of looking at them: none are in two ranges."""
    usual = work.block(shape.positions, seeds.BLOCK)
    return min(1 << usual.bit_length() - 1, 1 << shape.shift)


class Look(NamedTuple):
    """The task of looking at some slots of a tier."""

    scratch: Scratch
    tier: Tier
    shape: Shape
    begin: int
    end: int


def look(task: Look) -> tuple[int, Frame, Array, Sections]:
    """Look at all children of some slots; return where they begin, where what is known of them is put aside, how many
    positions are symmetric to each, and where the links are that lead from them to each range."""
    begin, found, links = seeds.seed((task.tier, task.shape, task.begin, task.end))
    piece = task.scratch.write(PIECES, joined(found.scores, found.left), plain=True)
    return begin, piece, found.sizes, put(task.scratch, LINKS, links, plain=False)
