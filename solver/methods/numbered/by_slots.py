"""Solves a tier slot by slot: expand all slots, then propagate outcomes to parents.

Parents come from the rules if they give them, otherwise from predecessor lists or forward passes. Checkpoints are
written now and then (see listed/predecessors/checkpoint.py).
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from typing import Any, NoReturn

import numpy as np

from retrograde.games.contract.game import alternates, defines, is_none
from retrograde.solver.methods.listed.predecessors.checkpoint import Checkpoint
from retrograde.solver.methods.listed.predecessors.links import Links, LinkWriter
from retrograde.solver.methods.listed.predecessors.passes import Children, ForwardPropagation, Look, Passes
from retrograde.solver.methods.listed.predecessors.state import Known, State
from retrograde.solver.methods.numbered import kernels, seeds
from retrograde.solver.methods.numbered.room import LISTED_ITEM, listed_at_most, room_for, sums_type
from retrograde.solver.methods.numbered.seeds import complain
from retrograde.solver.methods.numbered.table import Table, Tier
from retrograde.solver.rules import compiled
from retrograde.solver.rules.active import asked_in, troubles
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.runtime.arrays import Compressed, Part
from retrograde.solver.runtime.progress import Deciding, Telling
from retrograde.solver.runtime.solved_tiers import Unsolved
from retrograde.solver.runtime.tasks import Remote, room
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.propagation import Propagation, make_reporter
from retrograde.solver.values.score import counter_type, score_type

Array = np.ndarray[Any, Any]

EVERY = 4
"""Blocks between two checks of the memory."""
FRONTIER = 1 << 12
"""Slots in a task of asking the rules for parents."""
FRONTIER_SENT = 1 << 14
"""The same for a worker in another process. Smaller tasks take less time here than sending them."""
ROOM = 1 << 17
"""Size of the buffer for parents."""


def solve_by_slots(
    table: Table, k: int, work: Work, phase: Telling, in_file: bool, until_kept: ExitStack
) -> tuple[Array, Compressed]:
    """Return the scores of a tier and the numbers of symmetric positions. All later tiers must be solved.

    Scores are written to the tier's part of the score array; if that is in a file (*in_file*), to an array of its own.
    Resumes from the checkpoint of an earlier solve. Checkpoint files stay until the stack *until_kept* is closed.
    """
    # Step 1: allocate the arrays, with checksums of the width that an earlier solve used, or the widest that fits.
    part = table.numbering.stretch(k)
    count, has_parents = part.stop - part.start, defines(table.game, "parents")
    place = table.scores.part(part.start, part.stop)
    if in_file:
        place = work.zeros(f"scores{table.bits}-{k}", count, score_type(table.bits)).whole()
    left = work.zeros(f"left{k}", count, counter_type(table.bits)).whole()
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
    # Step 2: resume from a checkpoint, and expand all slots that remain.
    state = State(checkpoint, known, writer)
    done, marked = state.taken_up()
    look_at_all(tier, state, done, work, phase)
    # Step 3: build predecessor lists, if they are used, and propagate outcomes.
    with closing(there) if (there := state.turned_round()) else nullcontext():
        propagation_of(tier, state, there, work, phase).run(*marked)
    return known.scores, sizes


def propagation_of(tier: Tier, state: State, there: Links | None, work: Work, phase: Telling) -> Propagation:
    """Return the propagation of a tier, with the source of parents that this solve has.

    Parents come from predecessor lists if *there* is given, from forward passes if lists were planned but dropped,
    otherwise from the rules.
    """
    known, bits = state.known, tier.table.bits
    tell, again = make_reporter(phase, tier.number, seeds.LOOKING), not alternates(tier.table.game)
    if state.writer and not there:
        stretch = work.block(state.positions, seeds.BLOCK)
        passes = Passes(work, f"{bits}-{tier.k}", known.left, partial(looks, tier), stretch)
        listed = max(0, work.budget.left()) // 2 // LISTED_ITEM  # the reserve for lists goes to the frontier
        mark = partial(state.decided, passes, bits)
        return ForwardPropagation(passes, state.paused, bits, (known.scores, known.left), tell, again, listed, mark)
    ask = there.parents_of if there else partial(parents_of, tier, work)
    listed = listed_at_most(work.budget.left(), state.positions)
    mark = partial(state.decided, there, bits)
    return Propagation(bits, (known.scores, known.left), ask, tell, again, listed, mark)


def look_at_all(tier: Tier, state: State, done: int, work: Work, phase: Telling) -> None:
    """Expand the slots of a tier from number *done* on; wait for later tiers that they lead to."""
    while done < state.positions:
        done, later = look(tier, state, done, work, phase)
        if later is not None:
            tier.table.solved.wait_for(later)


def look(tier: Tier, state: State, done: int, work: Work, phase: Telling) -> tuple[int, int | None]:
    """Expand slots from number *done* on: fill in initial scores and counters, and store edges or checksums.

    Returns the number of expanded slots, and the number of a tier that must be solved before the rest, or None.
    """
    (scores, left, sizes, sums), writer, count = state.known, state.links, state.positions
    shape = writer.shape if writer else None
    blocks = seeds.blocks(count, done, work.block(count, seeds.BLOCK))
    in_file = tier.scores.whole is not tier.table.scores
    tasks = ((tier, shape, *ends) for ends in blocks)
    try:
        for number, (begin, found, links) in enumerate(work.map(seeds.seed, tasks)):
            if in_file and number % EVERY == 0 and work.budget.left() < 0:
                tier.table.scores.let_go()
            done = begin + len(found.scores)
            scores[begin:done], left[begin:done], sizes[begin:done] = found[:-1]
            phase.working(seeds.LOOKING * done, tier.number, Deciding(0, count, None))
            if writer and not writer.takes(links, done):
                break
            if len(sums):
                edges.add_up(*links, begin, sums)
            state.looked(done)
    except Unsolved as unsolved:
        return done, unsolved.k
    return done, None


# Forward passes


def looks(tier: Tier, stretches: list[tuple[int, int]]) -> Iterator[Look]:
    """Yield a function for each block of slots that expands its undecided positions again."""
    return (partial(look_again, tier, *ends) for ends in stretches)


def look_again(tier: Tier, begin: int, end: int, frontier: Part) -> Children:
    """Return the children of undecided slots that are in a *frontier*, and their number for each slot."""
    rules = tier.table.rules
    compiled.prepare(rules)
    left, links = tier.left.array[begin:end], room("links", seeds.LINKS)
    counts = np.empty(end - begin, np.int64)
    done, found = 0, []
    while done < end - begin:
        more, written = kernels.children_again(
            rules, tier.number, begin + done, left[done:], frontier.array, links, counts[done:]
        )
        found.append(links[:written].copy())
        done += more
    return np.concatenate(found), counts


# Parents from the rules, checked against the edges found when all slots were expanded


def parents_of(tier: Tier, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the undecided parents of some slots, each as often as it has distinct children there."""
    size = work.block(len(frontier), FRONTIER_SENT if isinstance(work.executor, Remote) else FRONTIER)
    parts = ((tier, frontier[begin : begin + size]) for begin in range(0, len(frontier), size))
    for parents in work.map(ask_parents, parts):
        yield from parents


def ask_parents(task: tuple[Tier, Array]) -> list[Array]:
    """Return the parents of a frontier as the rules give them, in pieces.

    Raises RuleError if they differ from the parents that were met when all slots were expanded.
    """
    tier, frontier = task
    table, left, sums = tier.table, tier.left.array, tier.sums.array
    rules = table.rules
    compiled.prepare(rules)
    out, trouble = room("parents", ROOM), troubles(rules, 3)
    pieces = []
    while len(frontier):
        with compiling(table.game, trouble):
            done, count = kernels.parents_of(rules, tier.number, frontier, left, sums, out, trouble)
        if trouble[0] == Trouble.BAD_PARENTS:
            complain_of_parents(tier, asked_in(rules, trouble), edges.position_with(trouble[2], len(left)))
        if trouble[0] != Trouble.FINE or not done:
            complain(table.game, table.numbering, asked_in(rules, trouble))
        pieces.append(out[:count].astype(np.uint32 if len(left) < 1 << 32 and alternates(rules) else np.int64))
        frontier = frontier[done:]
    return pieces


def complain_of_parents(tier: Tier, position: int, missing: int) -> NoReturn:
    """Raise the RuleError for wrong parents. *missing* is a suspect slot, -1 for none."""
    game = tier.table.game
    slots = [missing] * (missing >= 0) + edges.sample_of(len(tier.scores.array)).tolist()
    others = (game.unindex(tier.number, slot) for slot in slots)
    blame_parents(game, position, lambda _: True, (other for other in others if not is_none(other)))
