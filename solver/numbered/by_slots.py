"""A tier solved slot by slot: looked at as the rules have it, and then by propagation, with the parents that the rules
give, or else by links. What is known meanwhile is put aside now and then (see work/checkpoint.py).
"""

from contextlib import ExitStack, closing, nullcontext
from functools import partial
from typing import Any

import numpy as np

from retrograde.games.game import alternates, defines
from retrograde.solver.links.checkpoint import Checkpoint
from retrograde.solver.links.links import LinkWriter
from retrograde.solver.links.state import Known, State
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


def solve_by_slots(
    table: Table, k: int, work: Work, phase: Phase, in_file: bool, until_kept: ExitStack
) -> tuple[Array, Compressed]:
    """Return the scores of a tier, and how many positions are symmetric to each; all later ones are solved.

    The scores are written in their place, unless all of them are *in_file*. What another solve has put aside is taken
    up, and what this one puts aside stays there *until* all is *kept*.
    """
    part = table.numbering.stretch(k)
    count, has_parents = part.stop - part.start, defines(table.game, "parents")
    place = table.scores.part(part.start, part.stop)
    if in_file:
        place = work.zeros(f"scores{table.bits}-{k}", count, score_type(table.bits)).whole()
    left = work.zeros(f"left{k}", count, left_type(table.bits)).whole()
    checkpoint = until_kept.enter_context(Checkpoint(work, f"checkpoint{table.bits}-{k}"))
    spare = work.budget.left() - room_for(table.game, count, table.bits).least
    width = checkpoint.numbers[1] if checkpoint.numbers else np.dtype(sums_type(spare, count)).itemsize
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.dtype(f"u{width}")).whole()
    tier = Tier(table, k, place, left, sums)
    sizes = Compressed(np.uint16)
    known = Known(place.array, left.array, sizes, sums.array)
    writer = None
    if not has_parents:
        writer = until_kept.enter_context(LinkWriter(work, f"links{table.bits}-{k}", count, known[:3]))
    state = State(checkpoint, known, writer)
    done, marked = state.taken_up()
    look(tier, state, done, work, phase)
    with closing(writer.turned_round()) if writer else nullcontext() as there:
        ask = there.parents_of if there else partial(unmoves.parents_of, tier, work)
        tell, again = telling(phase, tier.number, LOOKING), not alternates(table.game)
        room = listed_at_most(work.budget.left(), count)
        Propagation(table.bits, known.scores, known.left, ask, tell, again, room, state.decided).run(*marked)
    return known.scores, sizes


def look(tier: Tier, state: State, done: int, work: Work, phase: Phase) -> None:
    """Look at the slots of a tier from number *done* on: fill what is known, and take the links."""
    (scores, left, sizes, sums), writer, count = state.known, state.links, state.positions
    shape = writer.shape if writer else None
    blocks = seeds.blocks(count, done, work.block(count, seeds.BLOCK))
    in_file = tier.scores.whole is not tier.table.scores
    for number, (begin, found, links) in enumerate(work.map(seeds.seed, ((tier, shape, *ends) for ends in blocks))):
        if in_file and number % EVERY == 0 and work.budget.left() < 0:
            tier.table.scores.let_go()
        looked_at = begin + len(found.scores)
        scores[begin:looked_at], left[begin:looked_at], sizes[begin:looked_at] = found[:-1]
        phase.working(LOOKING * looked_at, tier.number, Deciding(0, count, None))
        if writer:
            writer.take(links, looked_at)
        else:
            edges.add_up(*links, begin, sums)
        state.looked(looked_at)
