"""The backward sweep: solves the waves, last wave first, each from the steps of the next.

A task scores segments of positions by the steps of their children, and stores their own steps (`solve_segments`).
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.methods.streamed.backward_kernels import score_lists
from retrograde.solver.methods.streamed.forward import ForwardSweep
from retrograde.solver.methods.streamed.forward_kernels import ALL
from retrograde.solver.methods.streamed.forward_tasks import raise_fault
from retrograde.solver.methods.streamed.lists import AT, BLOCK, SIZE
from retrograde.solver.methods.streamed.segments import (
    Segment,
    SegmentLoader,
    StreamContext,
    StreamTier,
    Wave,
    WrongAssumption,
    list_buffer,
    list_columns,
    list_type,
    load,
    positions_workspace,
    segment_of,
    segment_type,
)
from retrograde.solver.methods.streamed.steps import (
    POSITIONS,
    TIER_COLUMNS,
    LoadedSteps,
    ScoredLists,
    StepBuffers,
    load_steps,
    make_steps,
    make_steps_of_rows,
)
from retrograde.solver.methods.streamed.store import StepsStore
from retrograde.solver.rules.examine import or_a_bug, to_list
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.running_kernels import trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.driver import Done, StoredCounts
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import Frame
from retrograde.solver.runtime.tasks import workspace

MANY_SEGMENTS = 4
"""A tier with this many segments or more is solved in tasks of up to half the size of a task of the exploration.

If children do not ascend, each task loads all steps of their tier, so that few large tasks are better.
"""
Edge = tuple[int, int, int, bool]
"""A move or ALL, a tier that it leads to, the index of its steps in `BackwardTask.steps`, whether children must ascend.

Children must ascend if only part of the tier's steps are loaded.
"""


@cache
def solved_segment_type(width: int) -> np.dtype[Any]:
    """Return the numpy type of a row about a solved segment. The row has its tier, its number there, and where
    its steps and its steps for the database (`records`) are."""
    segment = segment_type(width)
    return np.dtype([("tier", np.int64), ("segment", np.int64), ("steps", segment), ("records", segment)])


def frames_in_entry(width: int, wave: int, table: Array, *_: Array) -> Iterator[Frame]:
    """Yield the frames of a log entry of a wave that are still needed if it is the last one solved. *width* is the
    number of words of a position, 0 for ints."""
    for *_, steps, records in table.view(solved_segment_type(width)).tolist():
        yield segment_of("records", records).frame
        if wave:  # no wave comes before the first, so its steps are not needed
            yield segment_of(f"steps{wave}", steps).frame


class StreamedStore(StepsStore):
    """The store of the streamed method."""

    def __init__(self, forward: ForwardSweep, log: Log):
        super().__init__(forward.waves, forward.scratch, forward.over, log)
        self.forward, self.width = forward, Traits.of(forward.game).width

    def groups(self) -> Iterator[int]:
        """Yield the numbers of the waves, last first; raise DamagedScratch if a needed file is gone."""
        self.check_files(self.forward.finished_frames())
        for number in range(len(self.waves)):
            self.check_files(self.needed_frames(number))
        yield from reversed(range(len(self.waves)))

    def needed_frames(self, number: int) -> list[Frame]:
        """Return the frames of a wave that are still needed. These have positions to be solved, steps for the database,
        and steps for the wave before, number - 1, until that is solved."""
        tiers = self.waves[number].values()
        segments = [tier.segments[k] for tier in tiers for k in tier.unsolved]
        segments += [records for tier in tiers for records in tier.records.values()]
        if number and any(tier.unsolved for tier in self.waves[number - 1].values()):
            segments += [steps for tier in tiers for steps in tier.steps.values()]
        return [segment.frame for segment in segments]

    def include_finished(self, positions_a_record: float) -> float:
        """Set `times` so that finished positions are reported along with solved ones, as in the summary; return it.
        *positions_a_record* is the number of positions that a stored one stands for, by symmetry."""
        solved = sum(tier.count for wave in self.waves for tier in wave.values()) * positions_a_record
        self.times = 1 + int(self.over[:, POSITIONS].sum()) / max(solved, 1)
        return self.times

    def keep(self, done: Done) -> StoredCounts:
        """Store the steps of solved segments, and return how many positions they have."""
        (wave,), table, tally = done
        count = number = 0
        for number, k, steps, records in table.view(solved_segment_type(self.width)).tolist():
            tier = self.waves[int(wave)][number]
            tier.steps[k] = segment_of(f"steps{wave}", steps)
            tier.records[k] = segment_of("records", records)
            count += tier.segments[k].length
        return self.count(int(wave), count, number, tally)

    def solve(self, number: int, phase: Phase) -> Iterator[Done]:
        """Solve the segments of a wave and yield their results. Then drop its positions, and the steps of the next
        one."""
        tiers = self.waves[number].values()
        # After a wrong assumption the tier has changed, and its unsolved segments are tried again.
        while any(tier.unsolved for tier in tiers):
            self.forward.count_next_tiers(self.waves[number])
            for done in self.forward.work.as_completed(solve_segments, self.tasks(number)):
                if isinstance(done, WrongAssumption):
                    self.waves[number][done.tier].drop_assumption(done)
                else:
                    yield done
                    self.forward.save_memory()
        self.scratch.sync(self.needed_frames(number))
        self.log.settle()
        self.scratch.drop(f"steps{number + 1}")
        self.scratch.drop(f"positions{number}")

    def tasks(self, number: int) -> Iterator["BackwardTask"]:
        """Yield tasks that solve the remaining segments of a wave, several small ones together."""
        next_wave = self.waves[number + 1] if number + 1 < len(self.waves) else {}
        segments: list[UnsolvedSegment] = []
        ranges = StepRanges(next_wave)
        total = 0
        unsolved = sum(tier.segments[k].length for tier in self.waves[number].values() for k in tier.unsolved)
        least, half = self.forward.work.sizes.stream_positions, self.forward.children // 2
        small_task = max(least, min(half, self.forward.work.task_size(unsolved, least)))
        large_task = max(least, half)
        for tier in self.waves[number].values():
            for k in tier.unsolved:
                if tier.moves is None and not tier.next_tiers:  # just changed: `count_next_tiers` must run first
                    break
                edges = self.edges(tier, tier.segments[k], ranges)
                segments.append(UnsolvedSegment(tier.number, tier.mask, k, tier.segments[k], edges))
                total += tier.segments[k].length
                if total >= (large_task if len(tier.segments) >= MANY_SEGMENTS else small_task):
                    yield BackwardTask(self.forward.stream, number, segments, ranges.steps, self.tally.shape)
                    segments, ranges, total = [], StepRanges(next_wave), 0
        if segments:
            yield BackwardTask(self.forward.stream, number, segments, ranges.steps, self.tally.shape)

    def edges(self, tier: StreamTier, segment: Segment, ranges: "StepRanges") -> list[Edge]:
        """Return the edges out of a segment. The segments that have its children go to *ranges*, so that their steps
        are loaded."""
        whole_tier = self.forward.least, self.forward.beyond
        if tier.moves is None:
            return [(ALL, to, ranges.add(to, *whole_tier), False) for to in tier.next_tiers]
        edges = []
        for move, to in zip(tier.moves, tier.next_tiers, strict=True):
            child_tier = ranges.wave.get(to)
            in_parts = child_tier and len(child_tier.segments) > 1  # otherwise its steps are loaded whole anyway
            ends = self.forward.child_range(tier, segment, move, to) if in_parts else None
            # Load only the steps between the first and the last child, if samples say that children ascend; else all.
            edges.append((move, to, ranges.add(to, *(ends or whole_tier)), ends is not None))
        return edges


class StepRanges:
    """The steps that a task needs: ranges of segments of the next wave's tiers, each once."""

    def __init__(self, wave: Wave):
        self.wave = wave
        self.numbers: dict[tuple[int, int, int], int] = {}
        self.steps: list[list[Segment]] = []

    def add(self, tier_number: int, first: Any, last: Any) -> int:
        """Return the number (in `steps`) of the segments that cover a tier's positions from *first* to *last*."""
        low, high = 0, 0
        if tier := self.wave.get(tier_number):
            high = len(tier.segments)
            while low < high and tier.segments[low].last < first:
                low += 1
            while high > low and tier.segments[high - 1].first > last:
                high -= 1
        if (tier_number, low, high) not in self.numbers:
            self.numbers[tier_number, low, high] = len(self.steps)
            self.steps.append([tier.steps[k] for k in range(low, high)] if tier else [])
        return self.numbers[tier_number, low, high]


# Tasks


class UnsolvedSegment(NamedTuple):
    """Segment number k of a tier, the tier's mask, and the edges out of the segment."""

    tier: int
    mask: int
    k: int
    segment: Segment
    edges: list[Edge]


class BackwardTask(NamedTuple):
    """Segments of a wave to be solved; `steps` are the steps needed, by tier; `tally` is the shape of a tally."""

    stream: StreamContext
    wave: int
    segments: list[UnsolvedSegment]
    steps: list[list[Segment]]
    tally: tuple[int, ...]


def solve_segments(task: BackwardTask) -> Done | WrongAssumption:
    """Solve some segments of a wave and write their steps to scratch files.

    Returns (number of the wave, rows of `solved_segment_type` as flat int64, tally by code as flat int64), or a
    WrongAssumption if one turns out wrong.
    """
    scored = score(task)
    if isinstance(scored, WrongAssumption):
        return scored
    segments, scratch, width = task.segments, task.stream.scratch, Traits.of(task.stream.game).width
    # Step 1: Make the steps, twice. Reserve space: a segment has at most a step for each position. Of `list_rows`
    # [segments, 2, columns], row 0 of a segment describes its steps for parents, row 1 those for the database.
    lengths = [unsolved.segment.length for unsolved in segments]
    starts, codes = positions_workspace("steps", max(lengths), width), workspace("codes", max(lengths), np.uint16)
    for_parents, for_database = (list_buffer(name, sum(lengths), len(segments), width) for name in ("out", "more"))
    list_rows = np.zeros((len(segments), 2, list_columns(width)), np.int64)
    list_info = np.array([(unsolved.segment.length, unsolved.tier, unsolved.mask) for unsolved in segments], np.int64)
    tally = np.zeros(task.tally, np.int64)
    buffers = StepBuffers(starts, codes, for_parents, for_database, list_rows)
    if width:
        make_steps_of_rows(rules_for(task.stream.game), scored, list_info, tally, buffers)
    else:
        make_steps(scored, list_info, tally, buffers)
    # Step 2: Write both lists to scratch files. The first file is dropped when the wave before is solved.
    bytes_used = (list_rows[:, :, AT] + list_rows[:, :, SIZE]).max(axis=0).tolist()
    parents_frame = scratch.write(f"steps{task.wave}", for_parents.view(np.uint8)[: bytes_used[0]].data)
    database_frame = scratch.write("records", for_database.view(np.uint8)[: bytes_used[1]].data)
    # Step 3: Describe each segment by where its lists are. A frame without its name is a part of SEGMENT.
    rows = [
        (unsolved.tier, unsolved.k, (*parents_frame[1:], *steps), (*database_frame[1:], *records))
        for unsolved, (steps, records) in zip(segments, list_rows.view(list_type(width))[:, :, 0].tolist(), strict=True)
    ]
    table = np.array(rows, solved_segment_type(width)).view(np.int64)
    return np.array([task.wave], np.int64), table, tally.ravel()


def score(task: BackwardTask) -> ScoredLists | WrongAssumption:
    """Return the scores of all positions of a task, one list for each segment, or the assumption that is wrong."""
    game, width = task.stream.game, Traits.of(task.stream.game).width
    loader = SegmentLoader(task.stream.scratch)
    # Step 1: Load the positions and list the edges.
    list_table, edge_table = list[tuple[int, ...]](), list[tuple[int, ...]]()
    for unsolved in task.segments:
        list_table.append((loader.add(unsolved.segment), len(edge_table), len(edge_table) + len(unsolved.edges)))
        hint_and_before = (0,) * (1 + max(width, 1))  # the last columns, which `score_lists` fills in
        edge_table += [(*edge, *hint_and_before) for edge in unsolved.edges]
    # Step 2: Load the steps of the children. Each tier gets two more, at its ends (see `load_steps`).
    tier_rows = []
    for steps in task.steps:
        first_row = len(loader.rows)
        for segment in steps:
            loader.add(segment)
        tier_rows.append((first_row, len(loader.rows)))
    arena = loader.load()
    needed = sum(segment.length for steps in task.steps for segment in steps) + 2 * len(tier_rows)
    loaded = LoadedSteps(
        positions_workspace("starts", needed, width), workspace("passed", needed, np.uint16),
        workspace("buckets", needed, np.int32), np.empty((len(tier_rows), TIER_COLUMNS), np.int64),
    )  # fmt: skip
    load_steps(arena, np.array(tier_rows, np.int64), loaded)
    # Step 3: Score the positions.
    position_count = sum(unsolved.segment.length for unsolved in task.segments)
    scored = ScoredLists(
        positions_workspace("numbers", position_count + BLOCK, width),
        workspace("scores", position_count, np.uint16),
        workspace("sizes", position_count + BLOCK),
    )
    trouble = trouble_array(game, 4)
    with compiling(game, trouble):
        tables = np.array(list_table, np.int64), np.array(edge_table, np.int64)
        score_lists(rules_for(game), arena, *tables, loaded, scored, trouble)
    return scored if trouble[0] == Trouble.FINE else wrong_assumption(task, game, trouble)


def wrong_assumption(task: BackwardTask, game: Game, trouble: Array) -> WrongAssumption:
    """Return the WrongAssumption that *trouble* stands for; raise a RuleError if the rules break the contract."""
    kind, unsolved, move = Trouble(int(trouble[0])), task.segments[int(trouble[2])], int(trouble[3])
    if kind == Trouble.BROKEN:
        raise_fault(game, to_list(load(task.stream.scratch, unsolved.segment)))
    if kind == Trouble.UNSORTED or (kind == Trouble.OTHER_TIER and unsolved.edges[0][0] != ALL):
        return WrongAssumption(kind, unsolved.tier, move)
    raise RuleError(
        f"{variant(game)}, tier {unsolved.tier}: a child is not among the positions found before; the rules must "
        f"depend on the position alone. {or_a_bug(game)}"
    )
