"""A tier solved slot by slot: looked at as the rules have it, and then by propagation, with the parents that the rules
give, or else by links.
"""

from contextlib import closing, nullcontext
from functools import partial
from typing import Any

import numpy as np

from retrograde.games.game import alternates, defines
from retrograde.solver.links.links import LinkWriter
from retrograde.solver.numbered import seeds, unmoves
from retrograde.solver.numbered.room import listed_at_most, room_for, sums_type
from retrograde.solver.numbered.table import Table, Tier
from retrograde.solver.outcomes import edges
from retrograde.solver.outcomes.left import left_type
from retrograde.solver.outcomes.propagation import Propagation, telling
from retrograde.solver.outcomes.score import score_type
from retrograde.solver.work.arrays import Compressed
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

EVERY = 4
"""Blocks between two looks at the memory."""
LOOKING = 0.75
"""What looking at all slots once takes of the time that a tier takes, about. (KRPK 0.6, KRKN 0.8, KRBKR 0.85.)"""


def solve_by_slots(table: Table, k: int, work: Work, phase: Phase, in_file: bool) -> tuple[Array, Compressed]:
    """Return the scores of a tier, and how many positions are symmetric to each; all later ones are solved.

    The scores are written in their place, unless all of them are *in_file*.
    """
    part = table.numbering.stretch(k)
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
