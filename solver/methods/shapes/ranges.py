"""Solves a tier in ranges of rows, whose outcomes are in files: for workers elsewhere, and if memory is short.

`range_tasks.py` has the tasks, and says what is in the files.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.ranges.steps import RangeState
from retrograde.solver.methods.shapes.blocks import merge_counts
from retrograde.solver.methods.shapes.layout import TierSections
from retrograde.solver.methods.shapes.range_tasks import (
    RowSpan,
    ShapeRange,
    TierTask,
    advance_all,
    data_name,
    finish,
    frontier_name,
    initialize_range,
    read_frontiers,
)
from retrograde.solver.methods.shapes.tiers import Report, check_steps, next_remoteness
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.scratch import Frame, TaskData
from retrograde.solver.runtime.tasks import group_by_weight
from retrograde.solver.runtime.work import Work

RANGES_EACH = 4
"""Ranges for each worker, in a large tier."""
LEAST_SLOTS = 1 << 16
"""Least slots in a range, about."""
BYTES_IN_RANGE = 24
"""Bytes of a worker for each slot of a range: scores and counters as read, copied and changed, and a frontier."""
FRONTIER_SHARE = 16
"""A task reads frontiers of one part in this number of its memory at once."""
TOGETHER = 100_000
"""Least work of a task, in decided positions. Less takes less time than sending the task."""
READ = 16
"""Reading this number of slots takes as long as deciding one."""


class ShapeRangeProgress(NamedTuple):
    """The progress of a tier at a checkpoint: how it is cut, and the ranges so far, decided up to `remoteness`."""

    spans: list[RowSpan]
    ranges: list[ShapeRange]
    remoteness: int


PROGRESS_KINDS = ShapeRangeProgress, RowSpan, ShapeRange, RangeState
"""The classes in the progress at a checkpoint."""


class ShapeRanges:
    """Solves a tier in ranges. *all_scores* has the scores of all slots of the game; all later tiers must be solved.

    Raises what ShapeTier raises. A killed solve resumes from its last checkpoint.
    """

    def __init__(
        self, game: Any, tier: int, starts: dict[int, int], all_scores: SharedArray, bits: int, work: Work,
        checkpoint: Checkpoint,
    ):  # fmt: skip
        self.all_scores, self.work, self.checkpoint = all_scores, work, checkpoint
        memory = max(0, work.budget.free_bytes()) // work.sharing
        scratch = checkpoint.scratch
        # On threads frontiers are read once for all; other workers keep what they read, in half of their memory.
        scratch.cache_at_most(0 if work.shares_memory else memory // 2)
        self.task = TierTask(game, tier, tuple(starts.items()), bits, scratch, memory // FRONTIER_SHARE)
        self.sections = self.task.sections
        if not checkpoint.progress:
            scratch.begin(fresh=True)
        spans = spans_of_sections(self.sections, work.workers_now, memory, work.sizes.range_bits)
        progress: ShapeRangeProgress = checkpoint.progress or ShapeRangeProgress(spans, [], 0)
        self.spans, self.ranges, self.remoteness = progress

    def solve(self, scores: Array, report: Report) -> Array:
        """Write the scores of the tier; return the counts of its outcomes (see `legend.py` of the numbered method)."""
        check_steps(self.task.game, self.task.tier, self.sections)
        self.initialize(report)
        if self.sections.cyclic:
            self.propagate(report)
        counts = self.finish(scores)
        read_frontiers.cache_clear()
        self.task.scratch.close()
        return counts

    def initialize(self, report: Report) -> None:
        """Write the initial files of all ranges."""
        first, done = len(self.ranges), sum(one.state.size for one in self.ranges)  # after those of a checkpoint
        tasks = ((self.task, self.all_scores, number, span) for number, span in enumerate(self.spans[first:], first))
        for one in self.work.starmap(initialize_range, tasks):
            self.ranges.append(one)
            done += one.state.size
            report(done, 0, None)
            self.save_if_due()

    def propagate(self, report: Report) -> None:
        """Decide all positions, remoteness by remoteness."""
        slots = sum(one.state.size for one in self.ranges)
        while True:
            fresh = any(one.frontier for one in self.ranges)
            due = (one.due for one in self.ranges)
            if (following := next_remoteness(self.remoteness, fresh, due, self.task.bits)) is None:
                return
            obsolete = {frontier_name(self.remoteness), data_name(self.remoteness)}
            self.remoteness = following
            obsolete |= self.advance()
            report(slots, slots - sum(one.undecided for one in self.ranges), self.remoteness)
            self.checkpoint.release(obsolete)
            self.save_if_due()

    def advance(self) -> set[str]:
        """Advance all ranges that may change at this remoteness; return the names of files that are obsolete now."""
        by_section: dict[int, list[tuple[RowSpan, Frame]]] = defaultdict(list)
        for one in self.ranges:
            if one.frontier:
                by_section[one.span.section].append((one.span, one.frontier))
        frontiers = {section: tuple(frames) for section, frames in by_section.items()}
        # About how many positions each section's frontier has, of four bytes each.
        weights = {section: sum(frame.size for _, frame in frames) // 4 for section, frames in frontiers.items()}
        last_frontiers = TaskData(frontiers, self.task.scratch, data_name(self.remoteness - 1))
        # A range changes if children may have been decided, or if later tiers decide some of its positions.
        numbers, tasks = [], []
        for number, one in enumerate(self.ranges):
            weight = weights.get(self.sections.after[one.span.section], 0)
            if one.undecided and (weight or one.due == self.remoteness):
                numbers.append(number)
                # (range, work in decided positions): reading its slots, and its share of the frontier's parents.
                tasks.append((one, one.state.size // READ + weight // len(self.ranges)))
            else:
                self.ranges[number] = one._replace(frontier=None)
        arguments = ((self.task, last_frontiers, self.remoteness, group) for group in group_by_weight(tasks, TOGETHER))
        advanced = self.work.starmap(advance_all, arguments)
        obsolete = set()
        for number, one in zip(numbers, chain.from_iterable(advanced), strict=True):
            if one.state.name != self.ranges[number].state.name:
                obsolete.add(self.ranges[number].state.name)
            self.ranges[number] = one
        return obsolete

    def finish(self, scores: Array) -> Array:
        """Write the final scores, range by range; return their counts."""
        blocks: dict[int, list[tuple[int, Array]]] = {number: [] for number in range(len(self.sections.arrays))}
        done = self.work.starmap(finish, ((self.task, one) for one in self.ranges))
        for one, (range_scores, counts) in zip(self.ranges, done, strict=True):
            arrays = self.sections.arrays[one.span.section]
            start = arrays.start + one.span.begin * len(arrays.masks)
            scores[start : start + len(range_scores)] = range_scores
            self.all_scores.release_pages()
            blocks[one.span.section].append((start, counts))
        return np.array([row for number, counts in blocks.items() for row in merge_counts(number, counts)], np.int64)

    def save_if_due(self) -> None:
        """Save a checkpoint if one is due."""
        if self.checkpoint.is_due:
            self.checkpoint.save(ShapeRangeProgress(self.spans, self.ranges, self.remoteness))


def spans_of_sections(sections: TierSections, workers: int, memory: int, most_bits: int) -> list[RowSpan]:
    """Return the ranges of a tier, for workers with *memory* bytes each: up to `2**most_bits` slots, or one row."""
    sizes = [(len(arrays.shapes), len(arrays.masks)) for arrays in sections.arrays]
    return [*row_spans(sizes, workers, memory, most_bits)]


def row_spans(sizes: Iterable[tuple[int, int]], workers: int, memory: int, most_bits: int) -> Iterator[RowSpan]:
    """Yield the ranges of a tier; *sizes* has (rows, slots in a row) of each section.

    >>> [*row_spans([(5, 70), (1, 900)], workers=1, memory=10_000, most_bits=8)]
    [RowSpan(section=0, begin=0, end=3), RowSpan(section=0, begin=3, end=5), RowSpan(section=1, begin=0, end=1)]
    """
    sizes = list(sizes)
    slots = slots_in_range(sum(rows * slots_a_row for rows, slots_a_row in sizes), workers, memory, most_bits)
    for section, (rows, slots_a_row) in enumerate(sizes):
        rows_in_range = max(1, slots // slots_a_row)
        for begin in range(0, rows, rows_in_range):
            yield RowSpan(section, begin, min(begin + rows_in_range, rows))


def slots_in_range(count: int, workers: int, memory: int, most_bits: int) -> int:
    """Return about how many of *count* slots a range has, for workers with *memory* bytes each."""
    slots = min(memory // (2 * BYTES_IN_RANGE), count // (RANGES_EACH * workers))
    return min(1 << most_bits, max(slots, LEAST_SLOTS))
