"""Solves a tier with cycles by retrograde analysis.

1. `gather`: expand all positions. Fill scores and undecided-children counters, and store the edges within the tier.
2. `State.turned_round`: invert the edges into predecessor lists, unless the rules give parents themselves.
3. `propagation_of(…).run`: propagate outcomes to predecessors, ply by ply. If predecessor lists fit neither in memory
   nor on disk, forward passes find the parents instead.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.contract.game import alternates, defines
from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.again import passes_over
from retrograde.solver.methods.listed.explore.cutting import Stretch
from retrograde.solver.methods.listed.explore.space import SpaceAside
from retrograde.solver.methods.listed.kernels import Seeds
from retrograde.solver.methods.listed.predecessors.checkpoint import Checkpoint
from retrograde.solver.methods.listed.predecessors.links import Links, LinkWriter
from retrograde.solver.methods.listed.predecessors.passes import ForwardPropagation
from retrograde.solver.methods.listed.predecessors.sorting import Shape, packed
from retrograde.solver.methods.listed.predecessors.state import Known, State
from retrograde.solver.methods.listed.spill.looking import Looked, located
from retrograde.solver.methods.listed.table import Cyclic, Table, blocks_of, locate
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.propagation import Propagation, make_reporter
from retrograde.solver.values.score import counter_type, narrow_counters, score_type

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 8
"""Bytes of a tier for each position, about, without predecessor lists: counters, sizes, frontiers or checksums."""
STRETCH = 1 << 15
"""Positions in a task of expanding positions."""
PIECE = 1 << 22
"""Positions whose scores are handed on together when memory is short."""
TASKS = 60_000_000
"""Bytes reserved for running tasks when positions are spilled to disk; less for tiers below 100,000 positions."""
LISTED = 64
"""When positions are spilled to disk: one newly decided position is listed for each 64 bytes of free memory."""
LOOKING = 0.6
"""Share of a tier's solving time that expanding all positions takes, about."""


class Found(NamedTuple):
    """Initial scores and counters of some positions, from expanding them.

    `scores`: the score of a primitive position, otherwise the best score passed up by children in later tiers. `left`:
    undecided-children counters (see kernels.Seeds). `sizes`: numbers of symmetric positions.
    """

    scores: Array
    left: Array
    sizes: Array


def solve_cycles(table: Table, k: int, work: Work, phase: Phase) -> Iterator[Done]:
    """Yield the scores and sizes of a tier with cycles.

    They come in one piece, or in several if positions are spilled to disk. In that case predecessor lists are built
    even if the rules give parents, because locating those parents on disk would take longer.
    """
    low, high = table.space.stretch(k)
    count, aside = high - low, isinstance(table.space, SpaceAside)
    has_parents = defines(table.game, "parents") and not aside
    if aside:
        work.budget.check(bytes_aside(table, count), f"solving the {count:,} positions of a tier with cycles")
    # Step 1: allocate the arrays, which are shared with the workers.
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.uint32).whole()
    left = work.zeros(f"left{k}", count, counter_type(table.bits)).whole()
    tier = Cyclic(table, k, low, high, table.scores.part(low, high), left, sums)
    if not aside:
        work.budget.check(BYTES_A_POSITION * count, f"solving the {count:,} positions of a tier with cycles")
    sizes = Compressed(np.uint16) if aside and table.symmetric else np.zeros(count * table.symmetric, np.uint16)
    known = Known(tier.scores.array, left.array, sizes, sums.array)
    piece = PIECE if aside else max(count, 1)
    # Step 2: open the checkpoint and the edge writer, which resume what an earlier solve has on disk.
    with ExitStack() as until_kept:
        checkpoint = until_kept.enter_context(Checkpoint(work, f"checkpoint{table.bits}-{k}"))
        writer = None
        if not has_parents:
            writer = until_kept.enter_context(LinkWriter(work, f"links{table.bits}-{k}", count, known[:3], aside))
        propagate(tier, State(checkpoint, known, writer), work, phase)
        # Step 3: hand the scores on. The files of the checkpoint are deleted only after the last piece is logged.
        for begin in range(0, count, piece):
            end = min(begin + piece, count)
            part = known.sizes[begin:end] if table.symmetric else np.empty(0, np.uint16)
            yield np.array([k, low + begin, low + end], np.int64), known.scores[begin:end], part


def solve_by_ranges(table: Table, k: int, work: Work, phase: Phase) -> Iterator[Done]:
    """Solve a large tier in ranges, in parallel; yield the scores and sizes of each range.

    For workers that are other processes. Predecessor lists are always built, even if the rules give parents.
    """
    from retrograde.solver.methods.listed.ranges import tier as ranges  # here, because few solves need it

    low, high = table.space.stretch(k)
    nothing = table.scores.part(0, 0)
    tier = Cyclic(table, k, low, high, table.scores.part(low, high), nothing, nothing)

    def tasks(scratch: Scratch, shape: Shape, ends: list[tuple[int, int]]) -> Iterator[Any]:
        stretches = [(k, low + begin, low + end) for begin, end in ends]
        return ((scratch, (tier, shape, *of)) for of in to_look_at(table, stretches, work))

    cut = ranges.Tier(
        f"ranges{table.bits}-{k}", int(table.space.tiers[k]), high - low, table.bits, put_aside, tasks, STRETCH, LOOKING
    )
    with ExitStack() as until_kept:
        found, sizes = ranges.solve_in_ranges(cut, work, phase, until_kept)
        for begin, scores in found:
            end = begin + len(scores)
            part = sizes[begin:end] if table.symmetric else np.empty(0, np.uint16)
            yield np.array([k, low + begin, low + end], np.int64), scores, part


def propagate(tier: Cyclic, state: State, work: Work, phase: Phase) -> None:
    """Solve a tier: expand all positions, then propagate outcomes. Resumes from the checkpoint in *state*."""
    done, marked = state.taken_up()
    while done < state.positions:
        done = gather(tier, state, done, work, phase)
    with closing(there) if (there := state.turned_round()) else nullcontext():
        propagation_of(tier, state, there, work, phase).run(*marked)


def propagation_of(tier: Cyclic, state: State, there: Links | None, work: Work, phase: Phase) -> Propagation:
    """Return the propagation of a tier, with the source of parents that this solve has.

    Parents come from predecessor lists if *there* is given, from forward passes if lists were planned but dropped,
    otherwise from the rules.
    """
    table, known = tier.table, state.known
    tell = make_reporter(phase, int(table.space.tiers[tier.k]), LOOKING)
    again = not alternates(table.game)
    room = max(1, work.budget.left() // LISTED) if isinstance(table.space, SpaceAside) else 1 << 62
    if state.writer and not there:
        passes = passes_over(tier, work, STRETCH)
        mark = partial(state.decided, passes, table.bits)
        return ForwardPropagation(passes, state.paused, table.bits, (known.scores, known.left), tell, again, room, mark)
    ask = there.parents_of if there else partial(ask_rules, tier, work)
    mark = partial(state.decided, there, table.bits)
    return Propagation(table.bits, (known.scores, known.left), ask, tell, again, room, mark)


def bytes_aside(table: Table, count: int) -> int:
    """Return the least memory for a tier of *count* positions that are spilled to disk, beside scores, in bytes."""
    return count * np.dtype(counter_type(table.bits)).itemsize + min(TASKS, TASKS // 100_000 * count)


def gather(tier: Cyclic, state: State, done: int, work: Work, phase: Phase) -> int:
    """Expand positions from number *done* on: fill in initial scores and counters, and store the edges.

    If the rules give parents, checksums of the parents are summed up instead of storing edges. Returns the number of
    expanded positions; fewer than all if predecessor lists had to be given up.
    """
    count, writer = state.positions, state.links
    shape = writer.shape if writer else None
    begins = range(tier.low + done, tier.high, STRETCH)
    stretches = [(tier.k, begin, min(begin + STRETCH, tier.high)) for begin in begins]
    tasks = ((tier, shape, *of) for of in to_look_at(tier.table, stretches, work))
    for begin, found, links in work.map(look_at, tasks):
        done = begin + len(found.scores)
        for all_of_it, part in zip(state.known[:3], found, strict=True):
            if len(part):
                all_of_it[begin:done] = part
        phase.working(LOOKING * done, int(tier.table.space.tiers[tier.k]), Deciding(0, count, None))
        # Predecessor lists do not fit on disk: expand the rest without storing edges.
        if writer and not writer.takes(links, done):
            break
        if len(state.known.sums):
            edges.add_up(*links, begin, state.known.sums)
        state.looked(done)
    return done


def to_look_at(table: Table, stretches: list[Stretch], work: Work) -> Iterator[tuple[int, int, Looked | None]]:
    """Yield (begin, end, looked) for each block; *looked* has the located children of positions on disk."""
    if isinstance(table.space, SpaceAside):
        looked = located(table.game, table.space.to_look_in(), ([stretch] for stretch in stretches), work)
        for (_, begin, end), found in zip(stretches, looked, strict=True):
            yield begin, end, found
    else:
        for _, begin, end in stretches:
            yield begin, end, None


def ask_rules(tier: Cyclic, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the parents of a frontier within the tier, as the rules give them. Replaces `Links.parents_of`."""
    blocks = expander_of(tier.table.game).blocks(0, len(frontier))
    yield from work.map(ask_parents, ((tier, frontier[begin:end]) for begin, end in blocks))


# Tasks


def put_aside(task: tuple[Scratch, Any]) -> Any:
    """Expand a block of positions; write the results and the edges, sorted by range, to scratch files."""
    from retrograde.solver.methods.listed.ranges.tier import piece_of

    scratch, stretch = task
    _, found, links = look_at(stretch)
    return piece_of(scratch, found.scores, found.left, found.sizes, links)


def look_at(task: tuple[Cyclic, Shape | None, int, int, Looked | None]) -> tuple[int, Found, Any]:
    """Expand a block of positions and separate children within the tier from solved ones.

    Returns the number of the block's first position within the tier, the initial scores and counters, and the children
    within the tier: packed by bucket if *shape* is given, otherwise as one array and a count for each position.
    *looked* has the children if they were located on disk.
    """
    (table, k, low, high, *_), shape, begin, end, looked = task
    count = end - begin
    known = Found(np.empty(count, score_type(table.bits)), *np.empty((2, count), np.uint16))
    counts = np.empty(count, np.int32)
    lists = []
    for first, last, block in blocks_of(table, k, begin, end, looked):
        here = slice(first - begin, last - begin)
        seeds = Seeds(known.scores[here], known.left[here], counts[here])
        links = kernels.divide(
            block.columns, block.places, block.matrix, low, high, table.bits, table.scores.array, seeds, block.out
        )
        if table.symmetric:
            known.sizes[here] = block.matrix.sizes
        lists.append(block.out[:links].astype(np.int32 if high - low < 1 << 31 else np.int64))
    links = np.concatenate(lists)
    known = known._replace(left=narrow_counters(known.left, table.bits), sizes=known.sizes[: count * table.symmetric])
    if shape:
        return begin - low, known, packed(shape, links, counts, begin - low)
    # Checksums of parents do not depend on who moves: undo the complements.
    if not alternates(table.game):
        links = np.where(links < 0, ~links, links)
    return begin - low, known, (links, counts)


def ask_parents(task: tuple[Cyclic, Array]) -> Array:
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
        complain_of_parents(tier, int(positions[wrong]), edges.position_with(mark, tier.high - low))
    if alternates(table.game):
        return places[places >= 0] - low
    expander.mark_moves_again(positions, block, np.arange(block.columns))
    numbers: Array = np.where(places < 0, ~(-2 - places - low), places - low)
    numbers = numbers[places != -1]
    return numbers


def complain_of_parents(tier: Cyclic, position: int, missing: int) -> NoReturn:
    """Raise the RuleError for wrong parents. *missing* is the number of a suspect, -1 for none."""
    own = tier.table.space.positions[tier.low : tier.high]
    places = [missing] * (missing >= 0) + edges.sample_of(len(own)).tolist()

    def known(parent: int) -> bool:
        place = int(own.searchsorted(parent))
        return place < len(own) and int(own[place]) == parent

    blame_parents(tier.table.game, position, known, map(int, own[places]))
