"""Solves tiers with cycles whose positions are in lists: what `predecessors/tier.py` must know to do so."""

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NoReturn

import numpy as np

from retrograde.games.contract.game import Traits
from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.explore.explore import CYCLIC
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace
from retrograde.solver.methods.listed.predecessors.kernels import Seeds
from retrograde.solver.methods.listed.predecessors.lists import PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import Children, ExpandAgain
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout, pack_edges
from retrograde.solver.methods.listed.predecessors.tier import (
    CyclicTier,
    Ends,
    TierExpansion,
    TierSolver,
    checkpoint_of,
)
from retrograde.solver.methods.listed.spill.lookup import LocatedChildren, locate_children
from retrograde.solver.methods.listed.table import ListedTable, blocks_of, locate
from retrograde.solver.rules.consistency import blame_parents
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.positions import position_in
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import ArraySlice, CompressedArray
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.score import counter_type, decided_from, narrow_counters, score_type

BlockTask = tuple[CyclicTier, BucketLayout | None, int, int, LocatedChildren | None]
"""Task: expand positions *begin* to *end* of a tier. The children come along if they were located on disk."""

BLOCK = 1 << 15
"""Positions in a task of expanding positions."""
RESULT_BLOCK = 1 << 22
"""Positions whose scores go to the store together."""
TASKS = 60_000_000
"""Bytes reserved for running tasks when positions are spilled to disk; less for tiers below 100,000 positions."""
BYTES_A_LISTED = 64
"""When positions are spilled to disk: one newly decided position is listed for each 64 bytes of free memory."""
EXPANDING = 0.6
"""Share of a tier's solving time that the expansion of all positions takes, about."""


def solve_cycles(table: ListedTable, k: int, work: Work, phase: Phase) -> Iterator[Done]:
    """Yield the scores and sizes of tier number k, which has cycles, in blocks (see `results_of`).

    If positions are spilled to disk, predecessor lists are built even if the rules give parents, because locating those
    parents on disk would take longer.
    """
    low, high = table.space.bounds_of(k)
    count, spilled = high - low, isinstance(table.space, SpilledStateSpace)
    has_parents = Traits.of(table.game).has_parents and not spilled
    # With positions on disk, the least memory is for the counters and the running tasks.
    counters = count * np.dtype(counter_type(table.bits)).itemsize
    least = counters + min(TASKS, TASKS // 100_000 * count) if spilled else CYCLIC * count
    work.budget.check(least, f"solving the {count:,} positions of a tier with cycles")
    # Step 1: allocate the arrays, which are shared with the workers.
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.uint32).whole()
    children_left = work.zeros(f"left{k}", count, counter_type(table.bits)).whole()
    tier = CyclicTier(table, k, table.scores_of(k), children_left, sums)
    sizes = CompressedArray(np.uint16) if table.symmetric else np.empty(0, np.uint16)
    # Step 2: open the checkpoint and the edge writer, which resume what an earlier solve has on disk. Then solve.
    with ExitStack() as until_logged:
        checkpoint = until_logged.enter_context(checkpoint_of(work, table.bits, k))
        writer = None
        if not has_parents:
            arrays = tier.scores.array, children_left.array, sizes
            name = f"predecessors{table.bits}-{k}"
            writer = until_logged.enter_context(PredecessorWriter(work, name, count, arrays, spilled))
        bytes_a_listed = BYTES_A_LISTED if spilled else 1
        solver = TierSolver(
            tier, expansion_of_lists(), work, phase, sizes, checkpoint, writer, least_listed=1,
            bytes_a_listed=bytes_a_listed,
        )  # fmt: skip
        solver.run()
        # Step 3: yield the scores. The files of the checkpoint are deleted only after the last block is logged.
        blocks = ((begin, min(begin + RESULT_BLOCK, count)) for begin in range(0, count, RESULT_BLOCK))
        yield from results_of(tier, ((begin, tier.scores.array[begin:end]) for begin, end in blocks), sizes)


def solve_by_ranges(table: ListedTable, k: int, work: Work, phase: Phase) -> Iterator[Done]:
    """Yield the scores and sizes of a large tier, solved in ranges by workers that are other processes."""
    from retrograde.solver.methods.listed.ranges.tier import solve_in_ranges  # here, because few solves need it

    tier = CyclicTier.with_scores_only(table, k)
    with ExitStack() as until_logged:
        yield from results_of(tier, *solve_in_ranges(tier, expansion_of_lists(), work, phase, until_logged))


def results_of(tier: CyclicTier, blocks: Iterator[tuple[int, Array]], sizes: Array | CompressedArray) -> Iterator[Done]:
    """Yield ([k, begin, end], scores, sizes) for the store. *blocks* are (first position within the tier, scores);
    *sizes* are the numbers of symmetric positions of the whole tier."""
    low = tier.table.space.bounds_of(tier.k)[0]
    for begin, scores in blocks:
        end = begin + len(scores)
        block_sizes = sizes[begin:end] if tier.table.symmetric else np.empty(0, np.uint16)
        yield np.array([tier.k, low + begin, low + end], np.int64), scores, block_sizes


# Expansion of all positions


def expansion_of_lists() -> TierExpansion:
    """Return how `TierSolver` expands positions in lists."""
    return TierExpansion(tasks, expand_block, parents_by_rules, make_expanders, BLOCK, EXPANDING)


def tasks(tier: CyclicTier, layout: BucketLayout | None, blocks: list[Ends], work: Work) -> Iterator[BlockTask]:
    """Yield the arguments of `expand_block` for some blocks of a tier."""
    located = located_for(tier, blocks, work, None)
    return ((tier, layout, *ends, children) for ends, children in zip(blocks, located, strict=True))


def located_for(tier: CyclicTier, blocks: list[Ends], work: Work, select: Any) -> Iterator[LocatedChildren | None]:
    """Yield for each block the children of its positions, or of those that *select* (a `Selection`) chooses, located on
    disk. Yields None if positions are in memory: then tasks look the children up."""
    table, low = tier.table, tier.table.space.bounds_of(tier.k)[0]
    if not isinstance(table.space, SpilledStateSpace):
        yield from [None] * len(blocks)
        return
    groups = ([(tier.k, low + begin, low + end)] for begin, end in blocks)
    yield from locate_children(table.game, table.space.lists_on_disk(), groups, work, select)


def expand_block(task: BlockTask) -> tuple[int, Seeds, Any]:
    """Expand a block of positions and separate children within the tier from solved ones (see `TierExpansion`)."""
    tier, layout, begin, end, located = task
    table, count = tier.table, end - begin
    bounds = table.space.bounds_of(tier.k)
    first_index = bounds[0] + begin
    scores, (children_left, sizes) = np.empty(count, score_type(table.bits)), np.empty((2, count), np.uint16)
    seeds = Seeds(scores, children_left, sizes, np.empty(count, np.int32))
    lists = []
    for first, last, block in blocks_of(table, tier.k, first_index, first_index + count, located):
        block_seeds = Seeds(*(array[first - first_index : last - first_index] for array in seeds))
        written = kernels.split_children(block, bounds, table.bits, table.scores.array, block_seeds)
        if table.symmetric:
            block_seeds.sizes[:] = block.matrix.sizes
        lists.append(block.out[:written].astype(np.int32 if tier.size < 1 << 31 else np.int64))
    children = np.concatenate(lists)
    seeds = seeds._replace(
        children_left=narrow_counters(children_left, table.bits), sizes=sizes if table.symmetric else sizes[:0]
    )
    if layout:
        return begin, seeds, pack_edges(layout, children, seeds.counts, begin)
    # A child is a complement if the same player moves again. Checksums of parents do not depend on who moves: undo it.
    if not Traits.of(table.game).alternates:
        children = np.where(children < 0, ~children, children)
    return begin, seeds, (children, seeds.counts)


# Forward passes


def make_expanders(tier: CyclicTier, work: Work, blocks: list[Ends]) -> Iterator[ExpandAgain]:
    """Yield a function for each block that expands its undecided positions again."""
    low = tier.table.space.bounds_of(tier.k)[0]
    select = lambda begin, end: undecided_rows(tier, begin - low, end - low)  # noqa: E731
    for ends, located in zip(blocks, located_for(tier, blocks, work, select), strict=True):
        yield partial(expand_again, tier, *ends, undecided_rows(tier, *ends), located)


def undecided_rows(tier: CyclicTier, begin: int, end: int) -> Array:
    """Return the undecided positions of a block, counted from its first: the same until a pass expands the block."""
    children_left = tier.children_left.array
    return np.flatnonzero(children_left[begin:end] < decided_from(children_left))


def expand_again(
    tier: CyclicTier, begin: int, end: int, rows: Array, located: LocatedChildren | None, frontier: ArraySlice
) -> Children:
    """Return (children that are in a *frontier*, how many of them each position from *begin* to *end* has). Only the
    positions *rows*, counted from *begin*, are expanded."""
    counts, children = np.zeros(end - begin, np.int64), [np.empty(0, np.int64)]
    bounds = tier.table.space.bounds_of(tier.k)
    indices = bounds[0] + begin + rows
    for first, last, block in blocks_of(tier.table, tier.k, 0, len(rows), located, indices=indices):
        block_counts = np.zeros(last - first, np.int64)
        written = kernels.children_in_frontier(block, bounds, frontier.array, block_counts)
        children.append(block.out[:written].copy())
        counts[rows[first:last]] = block_counts  # first and last count within rows
    return np.concatenate(children), counts


# Parents from the rules, checked against the edges found when all positions were expanded


def parents_by_rules(tier: CyclicTier, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the parents of the positions whose numbers in the tier are in *frontier*, in arrays (see `ask_parents`)."""
    blocks = expander_of(tier.table.game).blocks(0, len(frontier))
    yield from work.map(ask_parents, ((tier, frontier[begin:end]) for begin, end in blocks))


def ask_parents(task: tuple[CyclicTier, Array]) -> Array:
    """Return the parents of a frontier as the rules give them: numbers in the tier, each once for each of its children.

    A number n is ~n if the same player moves again. Parents that play cannot reach are left out. Raises RuleError if
    the parents differ, by a checksum, from those met when all positions were expanded.
    """
    tier, frontier = task
    table, low = tier.table, tier.table.space.bounds_of(tier.k)[0]
    positions = table.space.positions[low + frontier]
    expander = expander_of(table.game)
    block = expander.expand_parents(tier.number, positions)
    locate(table, block)  # unreachable parents are in no list
    indices = block.indices[:, : block.columns]
    wrong, difference = edges.compare(frontier, indices, low, tier.children_left.array, tier.sums.array)
    if wrong >= 0:
        # If one parent is missing, the difference of the checksums is its mark.
        missing = edges.position_with(difference, tier.size)
        refuse_parents(tier, position_in(table.game, positions, wrong), missing)
    if Traits.of(table.game).alternates:
        numbers: Array = indices[indices >= 0] - low
        return numbers
    expander.mark_moves_again(positions, block, np.arange(block.columns))
    # An index is -1 for no parent, and -2 minus the true index if the same player moves again.
    numbers = np.where(indices < 0, ~(-2 - indices - low), indices - low)[indices != -1]
    return numbers


def refuse_parents(tier: CyclicTier, position: Any, missing: int) -> NoReturn:
    """Raise the RuleError for wrong parents of a position. *missing* is the number in the tier of a parent that
    `parents()` may have left out, -1 for none."""
    positions = tier.table.space.positions[slice(*tier.table.space.bounds_of(tier.k))]
    position_at = partial(position_in, tier.table.game, positions)
    candidates = ([missing] if missing >= 0 else []) + edges.sample_of(len(positions)).tolist()

    def is_stored(parent: Any) -> bool:
        number = bisect_left(range(len(positions)), parent, key=position_at)
        return number < len(positions) and bool(position_at(number) == parent)

    blame_parents(tier.table.game, position, is_stored, map(position_at, candidates))
