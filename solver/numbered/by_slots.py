"""A tier solved slot by slot: looked at as the rules have it, and then by propagation, with the parents that the rules
give, or else by links.

Where workers are other processes, and there are many slots, these lie in ranges, and parents come from links alone: the
one who solves has not all scores in memory, nor does he pass anything back himself.
"""

from contextlib import closing, nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import alternates, defines
from retrograde.solver.links.links import LinkWriter
from retrograde.solver.links.sorting import BYTES_IN_BUCKET, Shape
from retrograde.solver.numbered import seeds, unmoves
from retrograde.solver.numbered.room import listed_at_most, ranged_from, room_for, sums_type
from retrograde.solver.numbered.table import Table, Tier
from retrograde.solver.outcomes import edges
from retrograde.solver.outcomes.left import left_type
from retrograde.solver.outcomes.propagation import Propagation, telling
from retrograde.solver.outcomes.score import score_type
from retrograde.solver.ranges.files import Sections, joined, put
from retrograde.solver.ranges.propagation import RangedPropagation
from retrograde.solver.ranges.steps import Turn, turn
from retrograde.solver.work.arrays import Compressed
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.scratch import Frame, Scratch
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

EVERY = 4
"""Blocks between two looks at the memory."""
RANGES_EACH = 4
"""Ranges of slots for each worker, where there are so many slots and..."""
LEAST_RANGE_BITS = 16
"""...ranges come to so many, as a power of two."""
PIECES, LINKS = "pieces", "links"
"""Under which names it is put aside what is known of slots, and who leads to whom."""
LOOKING = 0.75
"""What looking at all slots once takes of the time that a tier takes, about. (KRPK 0.6, KRKN 0.8, KRBKR 0.85.)"""


def solve_by_slots(table: Table, k: int, work: Work, phase: Phase, in_file: bool) -> tuple[Array, Compressed]:
    """Return the scores of a tier, and how many positions are symmetric to each; all later ones are solved.

    The scores are written in their place, unless all of them are *in_file* and are found here.
    """
    part = table.numbering.stretch(k)
    ranged = ranged_from(work)
    if ranged is not None and part.stop - part.start >= ranged:
        return solve_by_ranges(table, k, work, phase, in_file)
    count, has_parents = part.stop - part.start, defines(table.game, "parents")
    spare = work.budget.left() - room_for(table.game, count, table.bits).least
    place = table.scores.part(part.start, part.stop)
    if in_file:
        place = work.zeros(f"scores{table.bits}-{k}", count, score_type(table.bits)).whole()
    left = work.zeros(f"left{k}", count, left_type(table.bits)).whole()
    sums = work.zeros(f"sums{k}", count if has_parents else 0, sums_type(spare, count)).whole()
    tier = Tier(table, k, place, left, sums)
    scores, sizes = place.array, Compressed(np.uint16)
    known = scores, left.array, sizes
    writer = None if has_parents else LinkWriter(work, f"links{table.bits}-{k}", count, known)
    shape = writer.shape if writer else None
    blocks = seeds.blocks(count, writer.done if writer else 0, work.block(count, seeds.BLOCK))
    for number, (begin, found, links) in enumerate(work.map(seeds.seed, ((tier, shape, *ends) for ends in blocks))):
        if in_file and number % EVERY == 0 and work.budget.left() < 0:
            table.scores.let_go()
        looked_at = begin + len(found.scores)
        scores[begin:looked_at], left.array[begin:looked_at], sizes[begin:looked_at] = found[:-1]
        phase.working(LOOKING * looked_at, tier.number, Deciding(0, count, None))
        if writer:
            writer.take(links, looked_at)
        else:
            edges.add_up(*links, begin, sums.array)
    tell = telling(phase, tier.number, LOOKING)
    again = not alternates(table.game)
    with closing(writer.turned_round()) if writer else nullcontext() as there:
        ask = there.parents_of if there else partial(unmoves.parents_of, tier, work)
        room = listed_at_most(work.budget.left(), count)
        Propagation(table.bits, scores, left.array, ask, tell, again, room).run()
    return scores, sizes


# By ranges


def solve_by_ranges(table: Table, k: int, work: Work, phase: Phase, in_file: bool) -> tuple[Array, Compressed]:
    """Do the same with the slots in ranges; the scores are written in their place. A solve that was killed begins the
    tier anew."""
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
