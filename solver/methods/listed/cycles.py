"""Solves a tier with cycles by retrograde analysis.

1. `expand_all`: expand all positions. Fill scores and undecided-children counters, and store the edges within the tier.
2. `CyclicTierState.predecessor_lists`: invert the edges, unless the rules give parents themselves.
3. `propagation_of(…).run`: propagate outcomes to predecessors, ply by ply. If predecessor lists fit neither in memory
   nor on disk, forward passes find the parents instead.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.contract.game import Traits
from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.explore.cutting import TierBlock
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace
from retrograde.solver.methods.listed.kernels import ListedSeeds
from retrograde.solver.methods.listed.predecessors import frontier as frontiers
from retrograde.solver.methods.listed.predecessors.lists import PredecessorLists, PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import (
    Children,
    ExpandAgain,
    ForwardPasses,
    ForwardPropagation,
)
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout, pack_edges
from retrograde.solver.methods.listed.predecessors.state import CyclicTierState, TierArrays
from retrograde.solver.methods.listed.spill.lookup import LocatedChildren, locate_children
from retrograde.solver.methods.listed.table import CyclicTier, ListedTable, blocks_of, locate
from retrograde.solver.rules.consistency import blame_parents
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.runtime.arrays import ArraySlice, CompressedArray
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.propagation import Propagation, make_reporter
from retrograde.solver.values.score import counter_type, decided_from, narrow_counters, score_type

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 8
"""Bytes of a tier for each position, about, without predecessor lists: counters, sizes, frontiers or checksums."""
BLOCK = 1 << 15
"""Positions in a task of expanding positions."""
HANDED_ON = 1 << 22
"""Positions whose scores are handed on together when memory is short."""
TASKS = 60_000_000
"""Bytes reserved for running tasks when positions are spilled to disk; less for tiers below 100,000 positions."""
BYTES_A_LISTED = 64
"""When positions are spilled to disk: one newly decided position is listed for each 64 bytes of free memory."""
EXPANDING = 0.6
"""Share of a tier's solving time that the expansion of all positions takes, about."""


class InitialScores(NamedTuple):
    """Initial scores and counters of some positions, from expanding them.

    `scores`: the score of a primitive position, otherwise the best score passed up by children in later tiers. `left`:
    undecided-children counters (see kernels.ListedSeeds). `sizes`: numbers of symmetric positions.
    """

    scores: Array
    left: Array
    sizes: Array


def solve_cycles(table: ListedTable, k: int, work: Work, phase: Phase) -> Iterator[Done]:
    """Yield the scores and sizes of a tier with cycles.

    They come all at once, or in several parts if positions are spilled to disk. In that case predecessor lists are
    built even if the rules give parents, because locating those parents on disk would take longer.
    """
    low, high = table.space.stretch(k)
    count, spilled = high - low, isinstance(table.space, SpilledStateSpace)
    has_parents = Traits.of(table.game).has_parents and not spilled
    if spilled:
        work.budget.check(bytes_when_spilled(table, count), f"solving the {count:,} positions of a tier with cycles")
    # Step 1: allocate the arrays, which are shared with the workers.
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.uint32).whole()
    left = work.zeros(f"left{k}", count, counter_type(table.bits)).whole()
    tier = CyclicTier(table, k, low, high, table.scores.part(low, high), left, sums)
    if not spilled:
        work.budget.check(BYTES_A_POSITION * count, f"solving the {count:,} positions of a tier with cycles")
    sizes = CompressedArray(np.uint16) if spilled and table.symmetric else np.zeros(count * table.symmetric, np.uint16)
    arrays = TierArrays(tier.scores.array, left.array, sizes, sums.array)
    block = HANDED_ON if spilled else max(count, 1)
    # Step 2: open the checkpoint and the edge writer, which resume what an earlier solve has on disk.
    with ExitStack() as until_logged:
        checkpoint = until_logged.enter_context(CyclicTierState.checkpoint_of(work, table.bits, k))
        writer = None
        if not has_parents:
            name = f"predecessors{table.bits}-{k}"
            writer = until_logged.enter_context(PredecessorWriter(work, name, count, arrays[:3], spilled))
        propagate(tier, CyclicTierState(checkpoint, arrays, writer), work, phase)
        # Step 3: hand the scores on. The files of the checkpoint are deleted only after the last piece is logged.
        for begin in range(0, count, block):
            end = min(begin + block, count)
            part = sizes[begin:end] if table.symmetric else np.empty(0, np.uint16)
            yield np.array([k, low + begin, low + end], np.int64), arrays.scores[begin:end], part


def solve_by_ranges(table: ListedTable, k: int, work: Work, phase: Phase) -> Iterator[Done]:
    """Solve a large tier in ranges, in parallel; yield the scores and sizes of each range.

    For workers that are other processes. Predecessor lists are always built, even if the rules give parents.
    """
    from retrograde.solver.methods.listed.ranges import tier as ranges  # here, because few solves need it

    low, high = table.space.stretch(k)
    nothing = table.scores.part(0, 0)
    tier = CyclicTier(table, k, low, high, table.scores.part(low, high), nothing, nothing)

    def tasks(scratch: Scratch, layout: BucketLayout, ends: list[tuple[int, int]]) -> Iterator[Any]:
        blocks = [(k, low + begin, low + end) for begin, end in ends]
        return ((scratch, (tier, layout, *block)) for block in blocks_to_expand(table, blocks, work))

    name, number = f"ranges{table.bits}-{k}", int(table.space.tiers[k])
    cut = ranges.RangeTier(name, number, high - low, table.bits, expand_to_disk, tasks, BLOCK, EXPANDING)
    with ExitStack() as until_logged:
        found, sizes = ranges.solve_in_ranges(cut, work, phase, until_logged)
        for begin, scores in found:
            end = begin + len(scores)
            part = sizes[begin:end] if table.symmetric else np.empty(0, np.uint16)
            yield np.array([k, low + begin, low + end], np.int64), scores, part


def propagate(tier: CyclicTier, state: CyclicTierState, work: Work, phase: Phase) -> None:
    """Solve a tier: expand all positions, then propagate outcomes. Resumes from the checkpoint in *state*."""
    done, frontier = state.resume()
    while done < state.positions:
        done = expand_all(tier, state, done, work, phase)
    with closing(lists) if (lists := state.predecessor_lists()) else nullcontext():
        propagation_of(tier, state, lists, work, phase).run(*frontier)


def propagation_of(
    tier: CyclicTier, state: CyclicTierState, lists: PredecessorLists | None, work: Work, phase: Phase
) -> Propagation:
    """Return the propagation of a tier, with the source of parents that this solve has.

    Parents come from predecessor lists if *lists* are given, from forward passes if lists were planned but dropped,
    otherwise from the rules.
    """
    table, arrays = tier.table, state.arrays
    tell = make_reporter(phase, int(table.space.tiers[tier.k]), EXPANDING)
    again = not Traits.of(table.game).alternates
    most = max(1, work.budget.left() // BYTES_A_LISTED) if isinstance(table.space, SpilledStateSpace) else 1 << 62
    if state.writer and not lists:
        passes = passes_over(tier, work)
        mark = partial(state.save_remoteness, passes, table.bits)
        save = state.save_propagation
        return ForwardPropagation(passes, save, table.bits, arrays[:2], tell, again, most, mark)
    parents_of = lists.parents_of if lists else partial(parents_by_rules, tier, work)
    mark = partial(state.save_remoteness, lists, table.bits)
    return Propagation(table.bits, arrays[:2], parents_of, tell, again, most, mark)


def bytes_when_spilled(table: ListedTable, count: int) -> int:
    """Return the least memory for a tier of *count* positions that are spilled to disk, beside scores, in bytes."""
    return count * np.dtype(counter_type(table.bits)).itemsize + min(TASKS, TASKS // 100_000 * count)


def expand_all(tier: CyclicTier, state: CyclicTierState, done: int, work: Work, phase: Phase) -> int:
    """Expand positions from number *done* on: fill in initial scores and counters, and store the edges.

    If the rules give parents, checksums of the parents are summed up instead of storing edges. Returns the number of
    expanded positions; fewer than all if predecessor lists had to be given up.
    """
    count, writer = state.positions, state.active_writer
    layout = writer.layout if writer else None
    begins = range(tier.low + done, tier.high, BLOCK)
    blocks = [(tier.k, begin, min(begin + BLOCK, tier.high)) for begin in begins]
    tasks = ((tier, layout, *block) for block in blocks_to_expand(tier.table, blocks, work))
    for begin, initial, children in work.map(expand_block, tasks):
        done = begin + len(initial.scores)
        for array, part in zip(state.arrays[:3], initial, strict=True):
            if len(part):
                array[begin:done] = part
        phase.working(EXPANDING * done, int(tier.table.space.tiers[tier.k]), Deciding(0, count, None))
        # Predecessor lists do not fit on disk: expand the rest without storing edges.
        if writer and not writer.add_or_give_up(children, done):
            break
        if len(state.arrays.sums):
            edges.add_up(*children, begin, state.arrays.sums)
        state.save_expansion(done)
    return done


def blocks_to_expand(
    table: ListedTable, blocks: list[TierBlock], work: Work
) -> Iterator[tuple[int, int, LocatedChildren | None]]:
    """Yield (begin, end, located) for each block; *located* has the children of positions on disk."""
    if isinstance(table.space, SpilledStateSpace):
        located = locate_children(table.game, table.space.lists_on_disk(), ([block] for block in blocks), work)
        for (_, begin, end), children in zip(blocks, located, strict=True):
            yield begin, end, children
    else:
        for _, begin, end in blocks:
            yield begin, end, None


def parents_by_rules(tier: CyclicTier, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the parents of a frontier within the tier, as the rules give them."""
    blocks = expander_of(tier.table.game).blocks(0, len(frontier))
    yield from work.map(ask_parents, ((tier, frontier[begin:end]) for begin, end in blocks))


# Forward passes


def passes_over(tier: CyclicTier, work: Work) -> ForwardPasses:
    """Return forward passes over a tier. Raises MemoryLimit if their frontier does not fit."""
    left = tier.left.array
    work.budget.check(frontiers.bytes_for(len(left)), f"expanding {len(left):,} positions again")
    size = work.block(len(left), BLOCK)
    return ForwardPasses(work, f"{tier.table.bits}-{tier.k}", left, partial(expansions, tier, work), size)


def expansions(tier: CyclicTier, work: Work, blocks: list[tuple[int, int]]) -> Iterator[ExpandAgain]:
    """Yield a function for each block that expands its undecided positions again.

    If positions are spilled to disk, their children have been located by then.
    """
    if not isinstance(tier.table.space, SpilledStateSpace):
        for begin, end in blocks:
            yield partial(expand_again, tier, begin, end, undecided_rows(tier, begin, end), None)
        return
    lists, low = tier.table.space.lists_on_disk(), tier.low
    groups = ([(tier.k, low + begin, low + end)] for begin, end in blocks)
    rows = lambda begin, end: undecided_rows(tier, begin - low, end - low)  # noqa: E731
    found = locate_children(tier.table.game, lists, groups, work, rows)
    for (begin, end), located in zip(blocks, found, strict=True):
        yield partial(expand_again, tier, begin, end, undecided_rows(tier, begin, end), located)


def undecided_rows(tier: CyclicTier, begin: int, end: int) -> Array:
    """Return the undecided positions of a block, counted from its first.

    Only the pass itself decides positions of this block, and not before it has used this result.
    """
    left = tier.left.array
    return np.flatnonzero(left[begin:end] < decided_from(left))


def expand_again(
    tier: CyclicTier, begin: int, end: int, rows: Array, located: LocatedChildren | None, frontier: ArraySlice
) -> Children:
    """Return the children of the positions *rows* of a block that are in a *frontier*."""
    counts, found = np.zeros(end - begin, np.int64), [np.empty(0, np.int64)]
    bounds = kernels.TierBounds(tier.low, tier.high)
    for first, last, block in blocks_of(tier.table, tier.k, 0, len(rows), located, indices=tier.low + begin + rows):
        own = np.zeros(last - first, np.int64)
        matrix = kernels.Places(block.columns, block.places, block.matrix)
        written = kernels.children_in_frontier(matrix, bounds, frontier.array, own, block.out)
        found.append(block.out[:written].copy())
        counts[rows[first:last]] = own
    return np.concatenate(found), counts


# Tasks


def expand_to_disk(task: tuple[Scratch, Any]) -> Any:
    """Expand a block of positions; write the results and the edges, sorted by range, to scratch files."""
    from retrograde.solver.methods.listed.ranges.tier import write_block

    scratch, block = task
    _, initial, children = expand_block(block)
    return write_block(scratch, *initial, children)


def expand_block(
    task: tuple[CyclicTier, BucketLayout | None, int, int, LocatedChildren | None],
) -> tuple[int, InitialScores, Any]:
    """Expand a block of positions and separate children within the tier from solved ones.

    Returns the number of the block's first position within the tier, the initial scores and counters, and the children
    within the tier: packed by bucket if *layout* is given, otherwise as one array and a count for each position.
    *located* has the children if they were located on disk.
    """
    (table, k, low, high, *_), layout, begin, end, located = task
    count = end - begin
    initial = InitialScores(np.empty(count, score_type(table.bits)), *np.empty((2, count), np.uint16))
    counts = np.empty(count, np.int32)
    bounds, lists = kernels.TierBounds(low, high), []
    for first, last, block in blocks_of(table, k, begin, end, located):
        here = slice(first - begin, last - begin)
        seeds = ListedSeeds(initial.scores[here], initial.left[here], counts[here])
        matrix = kernels.Places(block.columns, block.places, block.matrix)
        written = kernels.split_children(matrix, bounds, table.bits, table.scores.array, seeds, block.out)
        if table.symmetric:
            initial.sizes[here] = block.matrix.sizes
        lists.append(block.out[:written].astype(np.int32 if high - low < 1 << 31 else np.int64))
    children = np.concatenate(lists)
    initial = initial._replace(
        left=narrow_counters(initial.left, table.bits), sizes=initial.sizes[: count * table.symmetric]
    )
    if layout:
        return begin - low, initial, pack_edges(layout, children, counts, begin - low)
    # Checksums of parents do not depend on who moves: undo the complements.
    if not Traits.of(table.game).alternates:
        children = np.where(children < 0, ~children, children)
    return begin - low, initial, (children, counts)


def ask_parents(task: tuple[CyclicTier, Array]) -> Array:
    """Return the parents of a frontier as the rules give them.

    Raises RuleError if they differ from the parents that were met when all positions were expanded.
    """
    tier, frontier = task
    table, k, low, *_ = tier
    positions = table.space.positions[low + frontier]
    expander = expander_of(table.game)
    block = expander.expand_parents(int(table.space.tiers[k]), positions)
    locate(table, block)  # unreachable parents are in no list
    places = block.places[:, : block.columns]
    wrong, mark = edges.compare(frontier, places, low, tier.left.array, tier.sums.array)
    if wrong >= 0:
        refuse_parents(tier, int(positions[wrong]), edges.position_with(mark, tier.high - low))
    if Traits.of(table.game).alternates:
        return places[places >= 0] - low
    expander.mark_moves_again(positions, block, np.arange(block.columns))
    numbers: Array = np.where(places < 0, ~(-2 - places - low), places - low)
    numbers = numbers[places != -1]
    return numbers


def refuse_parents(tier: CyclicTier, position: int, missing: int) -> NoReturn:
    """Raise the RuleError for wrong parents. *missing* is the number of a suspect, -1 for none."""
    own = tier.table.space.positions[tier.low : tier.high]
    places = [missing] * (missing >= 0) + edges.sample_of(len(own)).tolist()

    def is_position(parent: int) -> bool:
        place = int(own.searchsorted(parent))
        return place < len(own) and int(own[place]) == parent

    blame_parents(tier.table.game, position, is_position, map(int, own[places]))
