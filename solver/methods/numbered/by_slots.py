"""Solves a tier slot by slot: what `listed/predecessors/tier.py` must know to do so.

All slots are expanded (`seeds.py`), then outcomes propagate to parents. Parents come from the rules if they give them,
otherwise from predecessor lists or forward passes. If workers are other processes, a large tier is solved in ranges of
slots (see listed/ranges/tier.py).
"""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import NoReturn

import numpy as np

from retrograde.games.contract.game import alternates, defines, is_none
from retrograde.solver.methods.listed.predecessors.lists import PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import Children, ExpandAgain
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout
from retrograde.solver.methods.listed.predecessors.tier import (
    CyclicTier,
    Ends,
    TierExpansion,
    TierSolver,
    checkpoint_of,
)
from retrograde.solver.methods.listed.ranges import tier as ranges
from retrograde.solver.methods.numbered import kernels, seeds
from retrograde.solver.methods.numbered.seeds import raise_fault
from retrograde.solver.methods.numbered.table import NumberedTable
from retrograde.solver.methods.numbered.tier_memory import BYTES_A_LISTED, checksum_type, least_listed, memory_by_slots
from retrograde.solver.rules.consistency import blame_parents
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import ArraySlice, CompressedArray
from retrograde.solver.runtime.progress import Phase, Telling
from retrograde.solver.runtime.tasks import Remote, workspace
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.score import counter_type, score_type

FRONTIER = 1 << 12
"""Slots in a task of asking the rules for parents."""
FRONTIER_SENT = 1 << 14
"""Slots in such a task for a worker in another process: sending smaller ones would take longer than doing them."""
PARENTS = 1 << 17
"""Size of the buffer for parents."""


def solve_by_slots(
    table: NumberedTable, k: int, work: Work, phase: Telling, in_file: bool, until_kept: ExitStack
) -> tuple[Array, CompressedArray]:
    """Return the scores of tier number k and the numbers of symmetric positions. All later tiers must be solved.

    Scores are written to the tier's part of the score array; if that is in a file (*in_file*), to an array of its own.
    Resumes from the checkpoint of an earlier solve. Checkpoint files stay until the stack *until_kept* is closed.
    """
    # Allocate the arrays, with checksums of the width that an earlier solve used, or the widest that fits.
    count, has_parents = table.numbering.size(k), defines(table.game, "parents")
    scores = table.scores_of(k)
    if in_file:
        scores = work.zeros(f"scores{table.bits}-{k}", count, score_type(table.bits)).whole()
    children_left = work.zeros(f"left{k}", count, counter_type(table.bits)).whole()
    checkpoint = until_kept.enter_context(checkpoint_of(work, table.bits, k))
    spare = work.budget.free_bytes() - memory_by_slots(table.game, count, table.bits).least
    widest = np.dtype(checksum_type(spare, count)).itemsize
    width = checkpoint.progress.checksum_bytes if checkpoint.progress else widest
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.dtype(f"u{width}")).whole()
    sizes, writer = CompressedArray(np.uint16), None
    if not has_parents:
        arrays = scores.array, children_left.array, sizes
        writer = until_kept.enter_context(PredecessorWriter(work, f"predecessors{table.bits}-{k}", count, arrays))
    tier = CyclicTier(table, k, scores, children_left, sums)
    least = least_listed(count)
    TierSolver(tier, expansion_of_slots(), work, phase, sizes, checkpoint, writer, least, BYTES_A_LISTED).run()
    return scores.array, sizes


def solve_in_ranges(
    table: NumberedTable, k: int, work: Work, phase: Phase, in_file: bool, until_kept: ExitStack
) -> tuple[Array, CompressedArray]:
    """Return the same as `solve_by_slots`, for a large tier. Scores are written to the score array in any case; its
    pages are released at once if it is *in_file*."""
    tier = CyclicTier.with_scores_only(table, k)
    scores = tier.scores.array
    solved_ranges, sizes = ranges.solve_in_ranges(tier, expansion_of_slots(), work, phase, until_kept)
    for begin, range_scores in solved_ranges:
        scores[begin : begin + len(range_scores)] = range_scores
        if in_file:
            table.scores.release_pages()
    return scores, sizes


def expansion_of_slots() -> TierExpansion:
    """Return how `TierSolver` expands slots."""
    return TierExpansion(tasks, seeds.seed, parents_of, make_expanders, seeds.BLOCK, seeds.EXPANDING_SHARE)


def tasks(tier: CyclicTier, layout: BucketLayout | None, blocks: list[Ends], work: Work) -> Iterator[seeds.SlotTask]:
    """Yield the tasks of `seeds.seed` for some blocks of slots."""
    return ((tier, layout, *ends) for ends in blocks)


# Forward passes


def make_expanders(tier: CyclicTier, work: Work, blocks: list[Ends]) -> Iterator[ExpandAgain]:
    """Yield a function for each block of slots that expands its undecided positions again."""
    return (partial(expand_again, tier, *ends) for ends in blocks)


def expand_again(tier: CyclicTier, begin: int, end: int, frontier: ArraySlice) -> Children:
    """Return (children that are in a *frontier*, their number for each slot from *begin* to *end*).

    Only undecided slots have such children here. The children of a slot follow those of the slot before.
    """
    rules = tier.table.rules
    children_left, links = tier.children_left.array[begin:end], workspace("links", seeds.LINKS)
    counts = np.empty(end - begin, np.int64)
    done, children = 0, []
    # The kernel stops when the workspace is full, so it may take several calls.
    while done < end - begin:
        with compilable(rules):
            slots_done, link_count = kernels.children_again(
                rules_for(rules), tier.number, begin + done, children_left[done:], frontier.array, links, counts[done:]
            )
        children.append(links[:link_count].copy())
        done += slots_done
    return np.concatenate(children), counts


# Parents from the rules, checked against the edges found when all slots were expanded


def parents_of(tier: CyclicTier, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the undecided parents of some slots, each as often as it has distinct children there."""
    size = work.block_size(len(frontier), FRONTIER_SENT if isinstance(work.executor, Remote) else FRONTIER)
    tasks = ((tier, frontier[begin : begin + size]) for begin in range(0, len(frontier), size))
    for parents in work.map(ask_parents, tasks):
        yield from parents


def ask_parents(task: tuple[CyclicTier, Array]) -> list[Array]:
    """Return the undecided parents of some slots as the rules give them, in several arrays.

    The task is (tier, slots). Raises RuleError if the parents of a slot differ from those that were met when all slots
    were expanded.
    """
    tier, frontier = task
    table, children_left, sums = tier.table, tier.children_left.array, tier.sums.array
    rules = table.rules
    out, trouble = workspace("parents", PARENTS), trouble_array(rules, 3)
    # Half as wide where that is enough. Parents whose player moves again are negative (`~`).
    item = np.uint32 if len(children_left) < 1 << 32 and alternates(rules) else np.int64
    arrays = []
    # The kernel stops when the workspace is full, or on trouble.
    while len(frontier):
        with compiling(table.game, trouble):
            done, count = kernels.parents_of(rules_for(rules), tier.number, frontier, children_left, sums, out, trouble)
        if trouble[0] == Trouble.BAD_PARENTS:
            missing = edges.position_with(trouble[2], len(children_left))
            raise_wrong_parents(tier, noted_position(rules, trouble), missing)
        if trouble[0] != Trouble.FINE or not done:  # not even one slot: its parents do not fit in the workspace
            raise_fault(table.game, table.numbering, noted_position(rules, trouble))
        arrays.append(out[:count].astype(item))
        frontier = frontier[done:]
    return arrays


def raise_wrong_parents(tier: CyclicTier, position: int, missing: int) -> NoReturn:
    """Raise the RuleError for wrong parents. *missing* is the slot of a parent that may be left out, -1 for none."""
    game = tier.table.game
    slots = ([missing] if missing >= 0 else []) + edges.sample_of(tier.size).tolist()
    positions = (game.unindex(tier.number, slot) for slot in slots)
    candidates = (candidate for candidate in positions if not is_none(candidate))
    blame_parents(game, position, lambda _: True, candidates)  # True: every position has a slot
