"""Tasks of the exploration: make lists of positions from those of the wave before, and store them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.contract.game import UNDECIDED, Game, RuleError, Traits
from retrograde.solver.methods.listed.spill.packing import distinct
from retrograde.solver.methods.streamed import forward_kernels as kernels
from retrograde.solver.methods.streamed.journal import ForwardResult, NewSegment
from retrograde.solver.methods.streamed.lists import AT, BLOCK, LENGTH, drop_duplicates, pack_lists
from retrograde.solver.methods.streamed.segments import (
    Segment,
    SegmentLoader,
    StreamContext,
    WrongAssumption,
    least_and_beyond,
    list_buffer,
    list_columns,
    list_type,
    load,
    positions_workspace,
    segment_of,
    tally_columns,
    words,
)
from retrograde.solver.rules.examine import describe_difference, examine, to_list
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import empty_positions
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Frame
from retrograde.solver.runtime.tasks import workspace
from retrograde.solver.runtime.work import NotApplicable

MOST_TIERS = 1 << 12
"""The most tiers that the moves of one tier may lead to."""
MOST_SAMPLED = 64
"""The most children sampled from one position to cut a tier into parts."""
SPOT_CHECKS = 2
"""Positions of a task that are checked by the interpreted rules as well."""
NO_CODES = np.empty(0, np.uint16)


class ChildSource(NamedTuple):
    """A segment of tier `owner`, a move, and whether its children must ascend because only part of them is read."""

    owner: int
    segment: Segment
    move: int
    ascends: bool


class Target(NamedTuple):
    """A tier, or one of the `parts` of a large one, to be found. It has the children of the `sources` from `low` up to
    but not including `high`, about `weight` of them. None stands for an end of the tier."""

    tier: int
    sources: list[ChildSource]
    weight: int
    low: Any = None
    high: Any = None
    part: int = 0
    parts: int = 1


class ForwardTask(NamedTuple):
    """Targets to be found, and the name of the scratch files for their positions, and for finished positions."""

    stream: StreamContext
    name: str
    targets: list[Target]
    finished_name: str = ""


def find_positions(task: ForwardTask) -> ForwardResult | WrongAssumption:
    """Find the positions of some targets and store them; return where, or that an assumption about a tier is wrong.
    Raises RuleError if the rules break the contract."""
    stream, targets, width = task.stream, task.targets, Traits.of(task.stream.game).width
    # Step 1: Make the children, sorted and without duplicates, and check the images of a few.
    merged = merge_children(stream, targets)
    if isinstance(merged, WrongAssumption):
        return merged
    numbers, ends = merged
    for position in spread_sample(numbers, ends):
        check_image(stream.game, position)
    # Step 2: Remove positions in which the game is over, and find the moves of each tier.
    moves, next_tiers = np.empty((2, len(ends), kernels.MOST_SAME), np.int64)
    shared, over = np.empty(len(ends), np.int64), np.zeros((kernels.BAD_VALUE, tally_columns(width)), np.int64)
    finished = finished_lists(width, int(ends[-1]), len(ends))
    lists = kernels.NewLists(numbers, ends, moves, next_tiers, shared, over, finished)
    tiers, trouble = np.array([target.tier for target in targets], np.int64), trouble_array(stream.game, 4)
    with compiling(stream.game, trouble):
        kernels.remove_finished(rules_for(stream.game), tiers, lists, trouble)
    if trouble[0] != Trouble.FINE:
        raise_fault(stream.game, [noted_position(stream.game, trouble)])
    # Step 3: Check a few positions by the interpreted rules.
    for position in spread_sample(numbers, ends):
        if examine(stream.game, position)[0] != UNDECIDED:
            raise RuleError(describe_difference(stream.game, position))
    # Step 4: Store the lists.
    stored = store_lists(stream, task.name, numbers, ends)
    over_lists: list[Any] = [None] * len(targets)
    if width:
        over_lists = store_lists(stream, task.finished_name, finished.positions, finished.ends, finished.codes)
    segments = []
    for k, (target, segment) in enumerate(zip(targets, stored, strict=True)):
        count = int(shared[k]) if segment.length else -1  # -1: no position is left, or moves differ
        moves_of_all = tuple(moves[k, :count].tolist()) if count >= 0 else None
        to = tuple(next_tiers[k, : max(count, 0)].tolist())
        segments.append(NewSegment(target.tier, segment, moves_of_all, to, target.part, target.parts, over_lists[k]))
    return ForwardResult(segments, over)


def finished_lists(width: int, count: int, lists: int) -> kernels.FinishedLists:
    """Return buffers for *count* positions of some lists in which the game is over; without space for ints."""
    ends = np.zeros(lists, np.int64)
    if not width:
        return kernels.FinishedLists(np.empty(0, np.int64), np.empty(0, np.uint16), ends)
    codes = workspace("finished codes", max(count, 1), np.uint16)
    return kernels.FinishedLists(positions_workspace("finished", count, width), codes, ends)


def sort_children(task: ForwardTask) -> Segment | WrongAssumption:
    """Make the children of a target, store them sorted, and return the segment."""
    merged = merge_children(task.stream, task.targets)
    return merged if isinstance(merged, WrongAssumption) else store_lists(task.stream, task.name, *merged)[0]


def count_next_tiers(task: tuple[StreamContext, int, Segment]) -> tuple[int, dict[int, int]]:
    """Return (tier of a segment, how many of its children are in each tier)."""
    stream, tier, segment = task
    loader = SegmentLoader(stream.scratch)
    loader.add(segment)
    arena, tiers, trouble = loader.load(), np.empty((MOST_TIERS, 2), np.int64), trouble_array(stream.game, 4)
    with compiling(stream.game, trouble):
        row_count = kernels.count_by_tier(rules_for(stream.game), arena, tiers, trouble)
    if row_count < 0:
        raise NotApplicable(f"moves lead from one tier to more than {MOST_TIERS:,}")
    return tier, dict(tiers[:row_count].tolist())


def sample_children(game: Game, tier: int, move: int, positions: Array) -> Array:
    """Return the children of some positions in a tier, by one move or kernels.ALL."""
    out = empty_positions(game, len(positions) * (1 if move >= 0 else MOST_SAMPLED))
    target, trouble = target_row(Target(tier, [], 0), 0, Traits.of(game).width), trouble_array(game, 4)
    with compiling(game, trouble):
        return out[: kernels.sample_children(rules_for(game), positions, move, np.array(target), out, trouble)]


# In a task


def target_row(target: Target, begin: int, width: int) -> tuple[int, ...]:
    """Return the row of a target (see kernels.TIER). *begin* is the row of its first source in the arena."""
    least, beyond = least_and_beyond(width)
    low, high = least if target.low is None else target.low, beyond if target.high is None else target.high
    return target.tier, begin, begin + len(target.sources), *words(low), *words(high)


def merge_children(stream: StreamContext, targets: list[Target]) -> tuple[Array, Array] | WrongAssumption:
    """Return the children of some targets, sorted and without duplicates, and where each target ends."""
    # Step 1: Load the lists that the children come from.
    loader = SegmentLoader(stream.scratch)
    sources = [source for target in targets for source in target.sources]
    ends = np.cumsum([len(target.sources) for target in targets])
    width = Traits.of(stream.game).width
    table = np.array(
        [target_row(target, int(end) - len(target.sources), width) for target, end in zip(targets, ends, strict=True)]
    )
    for _, segment, move, ascends in sources:
        loader.add(segment, move, ascends)
    arena, trouble = loader.load(), trouble_array(stream.game, 4)
    # Step 2: If only part of a list is needed, restrict it to the blocks of that part.
    with compiling(stream.game, trouble):
        for row in table:
            for k in range(row[kernels.LISTS], row[kernels.LISTS_END]):
                owner, segment, move, ascends = sources[k]
                if ascends and not kernels.restrict_blocks(
                    rules_for(stream.game), arena, k, segment.last, row, trouble
                ):
                    return WrongAssumption(Trouble.UNSORTED, owner, move)
    # Step 3: Make the children, and sort those of each target. NumPy's vectorised sort is as fast as merging the lists
    # that come out sorted.
    children = make_children(stream, arena, table, sources, sum(target.weight for target in targets) + BLOCK)
    if isinstance(children, WrongAssumption):
        return children
    numbers, ends = children
    sort_lists(numbers, ends)
    return numbers, ends


def sort_lists(numbers: Array, ends: Array) -> None:
    """Sort lists that lie one after another in *numbers*, drop duplicates, close the gaps, and update the *ends*.

    >>> numbers, ends = np.array([5, 3, 5, 9, 2]), np.array([3, 5])  # the lists 5, 3, 5 and 9, 2
    >>> sort_lists(numbers, ends)
    >>> numbers[: ends[-1]], ends
    (array([3, 5, 2, 9]), array([2, 4]))
    """
    if numbers.ndim == 1:
        for begin, end in pairwise([0, *ends.tolist()]):
            numbers[begin:end].sort()
        drop_duplicates(numbers, ends)
        return
    count = 0
    for k, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
        positions = distinct([numbers[begin:end]])
        numbers[count : count + len(positions)] = positions
        ends[k] = count = count + len(positions)


def make_children(
    stream: StreamContext, arena: Any, table: Array, sources: list[ChildSource], least: int
) -> tuple[Array, Array] | WrongAssumption:
    """Return the children of the lists in an arena, target after target, and where those of each target end.

    They are not sorted, have duplicates, and lie in this thread's workspace, which is used again. *least* is its least
    size; if it is too small, it is doubled, and the children are made again. Returns a WrongAssumption if a list turns
    out unsorted or leads to another tier; raises RuleError for broken rules.
    """
    ends, trouble, width = np.empty(len(table), np.int64), trouble_array(stream.game, 4), Traits.of(stream.game).width
    while True:
        numbers = positions_workspace("numbers", least, width)
        with compiling(stream.game, trouble):
            kernels.make_children(rules_for(stream.game), arena, table, numbers, ends, trouble)
        if trouble[0] == Trouble.FINE:
            return numbers, ends
        owner, segment, move, _ = sources[int(trouble[2])]  # the row of the list in trouble
        if trouble[0] == Trouble.BROKEN:
            raise_fault(stream.game, to_list(load(stream.scratch, segment)))
        if trouble[0] != Trouble.NO_ROOM:
            return WrongAssumption(Trouble(int(trouble[0])), owner, move)
        least = 2 * len(numbers)


def store_lists(
    stream: StreamContext, name: str, numbers: Array, ends: Array, codes: Array = NO_CODES
) -> list[Segment]:
    """Store sorted lists, which lie one after another in *numbers* and end at *ends*, in one frame; return them. With
    *codes* they are lists of steps."""
    width = Traits.of(stream.game).width
    out = list_buffer("out", int(ends[-1]), len(ends), width)
    rows = np.zeros((len(ends), list_columns(width)), np.int64)
    size = pack_lists(numbers, codes, ends, out, rows)
    frame = stream.scratch.write(name, out.view(np.uint8)[:size].data) if size else Frame(name, 0, 0, 0, 0)
    segments = []
    for row in rows.view(list_type(width))[:, 0].tolist():
        begin, blocks = row[AT] // 8, -(-row[LENGTH] // BLOCK)
        firsts = out[begin : begin + blocks * max(width, 1)]  # first positions of blocks
        samples = (firsts.reshape(-1, width) if width else firsts)[:: stream.sample_interval].copy()
        segments.append(segment_of(name, (*frame[1:], *row), samples))
    return segments


def spread_sample(numbers: Array, ends: Array) -> list[Any]:
    """Return a few positions, evenly spread over some lists."""
    count = int(ends[-1])
    size = min(count, SPOT_CHECKS)
    return to_list(numbers[[(2 * k + 1) * count // (2 * size) for k in range(size)]]) if size else []


def raise_fault(game: Game, positions: Iterable[Any]) -> NoReturn:
    """Raise the RuleError that the interpreted rules raise for one of some positions."""
    first = None
    for position in positions:
        examine(game, position)  # finds the same fault and describes it in full
        first = position if first is None else first
    raise RuleError(describe_difference(game, first or 0))
