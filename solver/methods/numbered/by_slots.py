"""Solves a tier slot by slot: expand all slots, then propagate outcomes to parents.

Parents come from the rules if they give them, otherwise from predecessor lists or forward passes. Checkpoints are
written now and then (see runtime/checkpoint.py). If workers are other processes, a large tier is solved in
ranges of slots (see listed/ranges/tier.py).
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.contract.game import alternates, defines, is_none
from retrograde.solver.methods.listed.predecessors.lists import PredecessorLists, PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import (
    Children,
    ExpandAgain,
    ForwardPasses,
    ForwardPropagation,
)
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout
from retrograde.solver.methods.listed.predecessors.state import CyclicTierState, TierArrays
from retrograde.solver.methods.listed.ranges import tier as ranges
from retrograde.solver.methods.numbered import kernels, seeds
from retrograde.solver.methods.numbered.seeds import raise_fault
from retrograde.solver.methods.numbered.table import NumberedTable, NumberedTier
from retrograde.solver.methods.numbered.tier_memory import LIST_ITEM_BYTES, checksum_type, memory_by_slots, most_listed
from retrograde.solver.rules.consistency import blame_parents
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.arrays import ArraySlice, CompressedArray
from retrograde.solver.runtime.progress import Deciding, Phase, Telling
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.solved_tiers import Unsolved
from retrograde.solver.runtime.tasks import Remote, workspace
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.propagation import Propagation, make_reporter
from retrograde.solver.values.score import counter_type, score_type

Array = np.ndarray[Any, Any]

MEMORY_CHECK_BLOCKS = 4
"""Blocks between two checks of the memory."""
FRONTIER = 1 << 12
"""Slots in a task of asking the rules for parents."""
FRONTIER_SENT = 1 << 14
"""The same for a worker in another process. Smaller tasks take less time here than sending them."""
PARENTS = 1 << 17
"""Size of the buffer for parents."""


def solve_by_slots(
    table: NumberedTable, k: int, work: Work, phase: Telling, in_file: bool, until_kept: ExitStack
) -> tuple[Array, CompressedArray]:
    """Return the scores of a tier and the numbers of symmetric positions. All later tiers must be solved.

    Scores are written to the tier's part of the score array; if that is in a file (*in_file*), to an array of its own.
    Resumes from the checkpoint of an earlier solve. Checkpoint files stay until the stack *until_kept* is closed.
    """
    # Step 1: allocate the arrays, with checksums of the width that an earlier solve used, or the widest that fits.
    count, has_parents = table.numbering.size(k), defines(table.game, "parents")
    scores = table.part(k)
    if in_file:
        scores = work.zeros(f"scores{table.bits}-{k}", count, score_type(table.bits)).whole()
    left = work.zeros(f"left{k}", count, counter_type(table.bits)).whole()
    checkpoint = until_kept.enter_context(CyclicTierState.checkpoint_of(work, table.bits, k))
    spare = work.budget.left() - memory_by_slots(table.game, count, table.bits).least
    width = (
        checkpoint.progress.checksum_bytes if checkpoint.progress else np.dtype(checksum_type(spare, count)).itemsize
    )
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.dtype(f"u{width}")).whole()
    tier = NumberedTier(table, k, scores, left, sums)
    sizes = CompressedArray(np.uint16)
    known = TierArrays(scores.array, left.array, sizes, sums.array)
    writer = None
    if not has_parents:
        writer = until_kept.enter_context(PredecessorWriter(work, f"predecessors{table.bits}-{k}", count, known[:3]))
    # Step 2: resume from a checkpoint, and expand all slots that remain.
    state = CyclicTierState(checkpoint, known, writer)
    done, marked = state.resume()
    while done < count:
        done, later = expand_slots(tier, state, done, work, phase)
        if later is not None:
            table.solved.wait_for(later)
    # Step 3: build predecessor lists, if they are used, and propagate outcomes.
    with closing(lists) if (lists := state.predecessor_lists()) else nullcontext():
        propagation_of(tier, state, lists, work, phase).run(*marked)
    return known.scores, sizes


def propagation_of(
    tier: NumberedTier, state: CyclicTierState, lists: PredecessorLists | None, work: Work, phase: Telling
) -> Propagation:
    """Return the propagation of a tier, with the source of parents that this solve has.

    Parents come from predecessor *lists* if given, from forward passes if lists were planned but dropped, otherwise
    from the rules.
    """
    known, bits = state.arrays, tier.table.bits
    report, again = make_reporter(phase, tier.number, seeds.EXPANDING_SHARE), not alternates(tier.table.game)
    if state.writer and not lists:
        block = work.block(state.positions, seeds.BLOCK)
        passes = ForwardPasses(work, f"{bits}-{tier.k}", known.left, partial(expansions, tier), block)
        listed = max(0, work.budget.left()) // 2 // LIST_ITEM_BYTES  # the reserve for lists goes to the frontier
        mark = partial(state.save_remoteness, passes, bits)
        return ForwardPropagation(passes, state.save_propagation, bits, known[:2], report, again, listed, mark)
    find_parents = lists.parents_of if lists else partial(parents_of, tier, work)
    listed = most_listed(work.budget.left(), state.positions)
    mark = partial(state.save_remoteness, lists, bits)
    return Propagation(bits, known[:2], find_parents, report, again, listed, mark)


def expand_slots(
    tier: NumberedTier, state: CyclicTierState, done: int, work: Work, phase: Telling
) -> tuple[int, int | None]:
    """Expand slots from number *done* on: fill in initial scores and counters, and store edges or checksums.

    Returns the number of expanded slots, and the number of a tier that must be solved before the rest, or None.
    """
    (scores, left, sizes, sums), writer, count = state.arrays, state.active_writer, state.positions
    shape = writer.layout if writer else None
    in_file = tier.scores.whole is not tier.table.scores
    tasks = ((tier, shape, *ends) for ends in seeds.blocks(count, done, work.block(count, seeds.BLOCK)))
    try:
        for number, (begin, found, links) in enumerate(work.map(seeds.seed, tasks)):
            if in_file and number % MEMORY_CHECK_BLOCKS == 0 and work.budget.left() < 0:
                tier.table.scores.release_pages()
            done = begin + len(found.scores)
            scores[begin:done], left[begin:done], sizes[begin:done] = found[:-1]
            phase.working(seeds.EXPANDING_SHARE * done, tier.number, Deciding(0, count, None))
            if writer and not writer.add_or_give_up(links, done):
                break
            if len(sums):
                edges.add_up(*links, begin, sums)
            state.save_expansion(done)
    except Unsolved as unsolved:
        return done, unsolved.k
    return done, None


# Forward passes


def expansions(tier: NumberedTier, blocks: list[tuple[int, int]]) -> Iterator[ExpandAgain]:
    """Yield a function for each block of slots that expands its undecided positions again."""
    return (partial(expand_again, tier, *ends) for ends in blocks)


def expand_again(tier: NumberedTier, begin: int, end: int, frontier: ArraySlice) -> Children:
    """Return the children of undecided slots that are in a *frontier*, and their number for each slot."""
    rules = tier.table.rules
    left, links = tier.left.array[begin:end], workspace("links", seeds.LINKS)
    counts = np.empty(end - begin, np.int64)
    done, found = 0, []
    while done < end - begin:
        with compilable(rules):
            more, written = kernels.children_again(
                rules_for(rules), tier.number, begin + done, left[done:], frontier.array, links, counts[done:]
            )
        found.append(links[:written].copy())
        done += more
    return np.concatenate(found), counts


# Parents from the rules, checked against the edges found when all slots were expanded


def parents_of(tier: NumberedTier, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the undecided parents of some slots, each as often as it has distinct children there."""
    size = work.block(len(frontier), FRONTIER_SENT if isinstance(work.executor, Remote) else FRONTIER)
    tasks = ((tier, frontier[begin : begin + size]) for begin in range(0, len(frontier), size))
    for parents in work.map(ask_parents, tasks):
        yield from parents


def ask_parents(task: tuple[NumberedTier, Array]) -> list[Array]:
    """Return the parents of a frontier as the rules give them, in several arrays.

    Raises RuleError if they differ from the parents that were met when all slots were expanded.
    """
    tier, frontier = task
    table, left, sums = tier.table, tier.left.array, tier.sums.array
    rules = table.rules
    out, trouble = workspace("parents", PARENTS), trouble_array(rules, 3)
    found = []
    while len(frontier):
        with compiling(table.game, trouble):
            done, count = kernels.parents_of(rules_for(rules), tier.number, frontier, left, sums, out, trouble)
        if trouble[0] == Trouble.BAD_PARENTS:
            raise_wrong_parents(tier, noted_position(rules, trouble), edges.position_with(trouble[2], len(left)))
        if trouble[0] != Trouble.FINE or not done:
            raise_fault(table.game, table.numbering, noted_position(rules, trouble))
        found.append(out[:count].astype(np.uint32 if len(left) < 1 << 32 and alternates(rules) else np.int64))
        frontier = frontier[done:]
    return found


def raise_wrong_parents(tier: NumberedTier, position: int, missing: int) -> NoReturn:
    """Raise the RuleError for wrong parents. *missing* is a suspect slot, -1 for none."""
    game = tier.table.game
    slots = [missing] * (missing >= 0) + edges.sample_of(len(tier.scores.array)).tolist()
    others = (game.unindex(tier.number, slot) for slot in slots)
    blame_parents(game, position, lambda _: True, (other for other in others if not is_none(other)))


# Ranges of slots, for workers that are other processes


def solve_in_ranges(
    table: NumberedTable, k: int, work: Work, phase: Phase, in_file: bool, until_kept: ExitStack
) -> tuple[Array, CompressedArray]:
    """Return the same as `solve_by_slots`, for a large tier. Scores are written to the score array in any case."""
    tier = table.tier(k)
    scores = tier.scores.array
    ranged = ranges.RangeTier(
        f"ranges{table.bits}-{k}", tier.number, len(scores), table.bits, expand_to_files, partial(range_tasks, tier),
        seeds.BLOCK, seeds.EXPANDING_SHARE,
    )  # fmt: skip
    found, sizes = ranges.solve_in_ranges(ranged, work, phase, until_kept)
    for begin, some in found:
        scores[begin : begin + len(some)] = some
        if in_file:
            table.scores.release_pages()
    return scores, sizes


class ExpandSlotsTask(NamedTuple):
    """Task: expand some slots of a tier, and write the results to *scratch*."""

    scratch: Scratch
    tier: NumberedTier
    shape: BucketLayout
    begin: int
    end: int


def range_tasks(
    tier: NumberedTier, scratch: Scratch, shape: BucketLayout, ends: list[ranges.Ends]
) -> Iterator[ExpandSlotsTask]:
    """Yield the tasks of expanding blocks of slots."""
    return (ExpandSlotsTask(scratch, tier, shape, *each) for each in ends)


def expand_to_files(task: ExpandSlotsTask) -> ranges.ExpandedBlock:
    """Expand some slots; write the results and the edges to scratch files."""
    _, found, links = seeds.seed((task.tier, task.shape, task.begin, task.end))
    return ranges.write_block(task.scratch, found.scores, found.left, found.sizes, links)
