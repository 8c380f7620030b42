"""Tasks of the exploration: make lists of positions from those of the wave before, and store them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.contract.game import UNDECIDED, Game, RuleError
from retrograde.solver.methods.streamed import forward_kernels as kernels
from retrograde.solver.methods.streamed.journal import ForwardResult, NewSegment
from retrograde.solver.methods.streamed.lists import AT, BLOCK, LENGTH, LIST_COLUMNS, drop_duplicates, pack_lists
from retrograde.solver.methods.streamed.segments import (
    Segment,
    SegmentLoader,
    StreamContext,
    WrongAssumption,
    buffer,
    load,
    segment_of,
)
from retrograde.solver.methods.streamed.steps import BEYOND, TALLIED
from retrograde.solver.rules.examine import differ, examine
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.ports import rules_for
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


class ChildSource(NamedTuple):
    """A segment of tier `owner`, a move, and whether its children must ascend because only part of them is read."""

    owner: int
    segment: Segment
    move: int
    ascends: bool


class Target(NamedTuple):
    """A tier, or one of the `parts` of a large one, to be found. It has the children of the `sources` from `low` up to
    but not including `high`, about `weight` of them."""

    tier: int
    sources: list[ChildSource]
    weight: int
    low: int = 0
    high: int = BEYOND
    part: int = 0
    parts: int = 1


class ForwardTask(NamedTuple):
    """Targets to be found, and the name of the scratch files for their positions."""

    stream: StreamContext
    name: str
    targets: list[Target]


def find_positions(task: ForwardTask) -> ForwardResult | WrongAssumption:
    """Find the positions of some targets and store them; return where, or that an assumption about a tier is wrong.
    Raises RuleError if the rules break the contract."""
    stream, targets = task.stream, task.targets
    # Step 1: Make the children, sorted and without duplicates, and check the images of a few.
    merged = merge_children(stream, targets)
    if isinstance(merged, WrongAssumption):
        return merged
    numbers, ends = merged
    for position in spread_sample(numbers, ends):
        check_image(stream.game, position)
    # Step 2: Remove positions in which the game is over, and find the moves of each tier.
    moves, next_tiers = np.empty((2, len(ends), kernels.MOST_SAME), np.int64)
    shared, over = np.empty(len(ends), np.int64), np.zeros((kernels.BAD_VALUE, TALLIED), np.int64)
    lists = kernels.NewLists(numbers, ends, moves, next_tiers, shared, over)
    tiers, trouble = np.array([target.tier for target in targets], np.int64), np.zeros(4, np.int64)
    with compiling(stream.game, trouble):
        kernels.remove_finished(rules_for(stream.game), tiers, lists, trouble)
    if trouble[0] != Trouble.FINE:
        raise_fault(stream.game, [int(trouble[1])])
    # Step 3: Check a few positions by the interpreted rules.
    for position in spread_sample(numbers, ends):
        if examine(stream.game, position)[0] != UNDECIDED:
            raise RuleError(differ(stream.game, position))
    # Step 4: Store the lists.
    segments = []
    for k, (target, segment) in enumerate(zip(targets, store_lists(stream, task.name, numbers, ends), strict=True)):
        same = int(shared[k]) if segment.length else -1
        moves_of_all = tuple(moves[k, :same].tolist()) if same >= 0 else None
        to = tuple(next_tiers[k, : max(same, 0)].tolist())
        segments.append(NewSegment(target.tier, segment, moves_of_all, to, target.part, target.parts))
    return ForwardResult(segments, over)


def sort_children(task: ForwardTask) -> Segment | WrongAssumption:
    """Make the children of a target, store them sorted, and return the segment."""
    merged = merge_children(task.stream, task.targets)
    return merged if isinstance(merged, WrongAssumption) else store_lists(task.stream, task.name, *merged)[0]


def count_next_tiers(task: tuple[StreamContext, int, Segment]) -> tuple[int, dict[int, int]]:
    """Return (tier of a segment, how many of its children are in each tier)."""
    stream, tier, segment = task
    loader = SegmentLoader(stream.scratch)
    loader.add(segment)
    tiers, trouble = np.empty((MOST_TIERS, 2), np.int64), np.zeros(4, np.int64)
    with compiling(stream.game, trouble):
        found = kernels.count_by_tier(rules_for(stream.game), loader.load(), tiers, trouble)
    if found < 0:
        raise NotApplicable(f"moves lead from one tier to more than {MOST_TIERS:,}")
    return tier, dict(tiers[:found].tolist())


def sample_children(game: Game, tier: int, move: int, positions: Array) -> Array:
    """Return the children of some positions in a tier, by one move or kernels.ALL."""
    out = np.empty(len(positions) * (1 if move >= 0 else MOST_SAMPLED), np.int64)
    target, trouble = target_row(Target(tier, [], 0), 0), np.zeros(4, np.int64)
    with compiling(game, trouble):
        return out[: kernels.sample_children(rules_for(game), positions, move, np.array(target), out, trouble)]


# In a task


def target_row(target: Target, begin: int) -> tuple[int, ...]:
    """Return the row of a target (see kernels.TIER). *begin* is the row of its first source in the arena."""
    return target.tier, begin, begin + len(target.sources), target.low, target.high


def merge_children(stream: StreamContext, targets: list[Target]) -> tuple[Array, Array] | WrongAssumption:
    """Return the children of some targets, sorted and without duplicates, and where each target ends."""
    # Step 1: Load the lists that the children come from.
    loader = SegmentLoader(stream.scratch)
    sources = [source for target in targets for source in target.sources]
    ends = np.cumsum([len(target.sources) for target in targets])
    table = np.array(
        [target_row(target, int(end) - len(target.sources)) for target, end in zip(targets, ends, strict=True)]
    )
    for _, segment, move, ascends in sources:
        loader.add(segment, move, ascends)
    arena, trouble = loader.load(), np.zeros(4, np.int64)
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
    made = make_children(stream, arena, table, sources, sum(target.weight for target in targets) + BLOCK)
    if isinstance(made, WrongAssumption):
        return made
    numbers, ends = made
    for begin, end in pairwise([0, *ends.tolist()]):
        numbers[begin:end].sort()
    drop_duplicates(numbers, ends)
    return numbers, ends


def make_children(
    stream: StreamContext, arena: Any, table: Array, sources: list[ChildSource], least: int
) -> tuple[Array, Array] | WrongAssumption:
    """Return the children of the lists in an arena, target after target, and where those of each target end.

    They are not sorted, have duplicates, and lie in this thread's workspace, which is used again. *least* is its least
    size; if it is too small, it is doubled, and the children are made again. Returns a WrongAssumption if a list turns
    out unsorted or leads to another tier; raises RuleError for broken rules.
    """
    ends, trouble = np.empty(len(table), np.int64), np.zeros(4, np.int64)
    while True:
        numbers = workspace("numbers", least)
        with compiling(stream.game, trouble):
            kernels.make_children(rules_for(stream.game), arena, table, numbers, ends, trouble)
        if trouble[0] == Trouble.FINE:
            return numbers, ends
        owner, segment, move, _ = sources[int(trouble[2])]  # the row of the list in trouble
        if trouble[0] == Trouble.BROKEN:
            raise_fault(stream.game, load(stream.scratch, segment).tolist())
        if trouble[0] != Trouble.NO_ROOM:
            return WrongAssumption(Trouble(int(trouble[0])), owner, move)
        least = 2 * len(numbers)


def store_lists(stream: StreamContext, name: str, numbers: Array, ends: Array) -> list[Segment]:
    """Store sorted lists, which lie one after another in *numbers* and end at *ends*, in one frame; return them."""
    out = buffer("out", int(ends[-1]), len(ends))
    rows = np.zeros((len(ends), LIST_COLUMNS), np.int64)
    size = pack_lists(numbers, ends, out, rows)
    frame = stream.scratch.write(name, out.view(np.uint8)[:size].data) if size else Frame(name, 0, 0, 0, 0)
    segments = []
    for row in rows.tolist():
        begin, blocks = row[AT] // 8, -(-row[LENGTH] // BLOCK)
        samples = out[begin : begin + blocks : stream.sample_interval].copy()  # first positions of blocks
        segments.append(segment_of(name, (*frame[1:], *row), samples))
    return segments


def spread_sample(numbers: Array, ends: Array) -> list[int]:
    """Return a few positions, evenly spread over some lists."""
    count = int(ends[-1])
    few = min(count, SPOT_CHECKS)
    return [int(numbers[(2 * k + 1) * count // (2 * few)]) for k in range(few)]


def raise_fault(game: Game, positions: Iterable[int]) -> NoReturn:
    """Raise the RuleError that the interpreted rules raise for one of some positions."""
    first = None
    for position in positions:
        examine(game, position)  # finds the same fault and describes it in full
        first = position if first is None else first
    raise RuleError(differ(game, first or 0))
