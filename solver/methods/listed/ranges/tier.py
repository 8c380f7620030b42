"""Solves a large tier in ranges, for workers that are other processes.

Slots are those of a numbering, or positions of a sorted list (see `TierExpansion`). Parents come from predecessor lists
only. The solving process neither holds the arrays of the tier in memory nor propagates anything itself.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from retrograde.solver.methods.listed.predecessors.sorting import BYTES_IN_BUCKET, BucketLayout, StoredParentLists
from retrograde.solver.methods.listed.predecessors.tier import CyclicTier, Ends, TierExpansion
from retrograde.solver.methods.listed.ranges.steps import (
    AssembledRange,
    RangeResult,
    RangeResults,
    RangeState,
    StepTask,
    assemble,
    run_steps,
    to_bytes,
    write_results,
)
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.tasks import group_by_weight
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import ReportProgress, make_reporter
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS, RemotenessOverflow

TOGETHER = 100_000
"""Least updates in a task. Fewer take less time than sending the task."""
READ = 16
"""Reading this number of slots takes as long as one update."""


@dataclass
class RangePropagationProgress:
    """The progress of propagation, and the files that are needed to resume. Scores have *bits* bits for plies."""

    bits: int
    states: list[RangeState] = field(default_factory=list)
    parents: list[StoredParentLists] = field(default_factory=list)
    decided: int = 0
    due: dict[int, set[int]] = field(default_factory=dict)
    """By remoteness, the ranges that may have slots to be decided then."""
    updates: dict[int, list[RangeResult]] = field(default_factory=dict)
    """By range, the updates for the next step."""
    group: int = WIN_CLASS
    """The class that is propagated: WIN_CLASS for wins and losses, then TIE_CLASS."""
    remoteness: int = 0
    """The remoteness of the next step."""

    @classmethod
    def start(cls, bits: int, ranges: Iterable[AssembledRange]) -> Self:
        """Return the progress at the start, from the assembled ranges."""
        progress = cls(bits)
        for state, parents, decided in ranges:
            progress.states.append(state)
            progress.parents.append(parents)
            progress.decided += decided
        progress.begin(WIN_CLASS)
        return progress

    def begin(self, group: int) -> None:
        """Begin to propagate wins and losses, or ties."""
        self.group, self.remoteness, self.updates = group, 0, {}
        self.due = {0: set(range(len(self.states)))}

    @property
    def over(self) -> bool:
        """Whether this class has no step left."""
        return not self.updates and not self.due


class RangePropagation:
    """Does the same as Propagation, with scores and counters in files of ranges of `2**shift` slots. *mark* is called
    after each step, with the names of files that no later step reads."""

    def __init__(
        self, work: Work, scratch: Scratch, shift: int, progress: RangePropagationProgress, tell: ReportProgress,
        mark: Callable[[set[str]], None],
    ):  # fmt: skip
        self.work, self.scratch, self.shift, self.tell = work, scratch, shift, tell
        self.progress, self.mark = progress, mark
        self.total = sum(state.size for state in progress.states)

    def run(self) -> None:
        """Score all slots except draws: wins and losses first, then ties."""
        progress = self.progress
        while not progress.over or progress.group == WIN_CLASS:
            if progress.over:
                progress.begin(TIE_CLASS)
            # Without updates, skip to the next remoteness at which a slot is due.
            if not progress.updates:
                progress.remoteness = min(progress.due)
            if progress.remoteness >= (1 << progress.bits) - 2:
                raise RemotenessOverflow
            self.mark(self.step())

    def step(self) -> set[str]:
        """Run a step of all ranges that have one; return the names of files that are obsolete now."""
        progress, group, remoteness = self.progress, self.progress.group, self.progress.remoteness
        updates = progress.updates
        due = progress.due.pop(remoteness, set())
        numbers = sorted({*updates, *due})
        steps = (
            StepTask(
                self.scratch, len(progress.states), self.shift, progress.states[number], progress.parents[number],
                group, remoteness, number in due, updates.get(number, []),
            )
            for number in numbers
        )  # fmt: skip
        new_updates: dict[int, list[RangeResult]] = defaultdict(list)
        # Files of updates become obsolete after this step.
        obsolete = {result.name for results in updates.values() for result in results if isinstance(result, Frame)}
        tasks = ((f"updates{group}.{remoteness}", task) for task in group_by_weight(map(weigh, steps), TOGETHER))
        for number, done in zip(numbers, chain.from_iterable(self.work.starmap(run_steps, tasks)), strict=True):
            # A new base has a new name; the files of the old one are obsolete.
            if done.state.name != progress.states[number].name:
                obsolete.add(progress.states[number].name)
            progress.states[number] = done.state
            progress.decided += done.decided
            for later in done.due:
                progress.due.setdefault(later, set()).add(number)
            for target in done.updates.ranges():
                new_updates[target].append(done.updates.result(target))
            self.tell(progress.decided, self.total, remoteness, None)
        progress.updates, progress.remoteness = dict(new_updates), remoteness + 1
        return obsolete


def weigh(step: StepTask) -> tuple[StepTask, int]:
    """Return a step and its weight in updates: a small step is not worth sending alone."""
    return step, step.state.size // READ + sum(map(count_updates, step.updates))


def count_updates(result: RangeResult) -> int:
    """Return the number of updates in a result."""
    return result.size // 4 if isinstance(result, Frame) else len(result)


RANGES_EACH = 4
"""Ranges for each worker, in a large tier."""
LEAST_RANGE_BITS = 16
"""Least slots in a range, as a power of two."""
BLOCKS, EDGES = "blocks", "edges"
"""Names of the files with initial scores and counters of slots, and with edges."""


class ExpandedBlock(NamedTuple):
    """Result of expanding a block of slots: a `frame` with scores and counters, and edges for each range. `sizes` has
    the numbers of symmetric positions, and is empty without symmetry."""

    frame: Frame
    sizes: Array
    edges: RangeResults


class ExpandedSlots(NamedTuple):
    """The slots that are expanded so far, until the ranges are assembled. `layout`: how slots are cut into ranges. For
    each block: its ends, its scores and counters, and its edges."""

    layout: BucketLayout
    ends: list[Ends]
    blocks: list[Frame]
    edges: list[RangeResults]

    @property
    def done(self) -> int:
        """The number of expanded slots."""
        return self.ends[-1][1] if self.ends else 0


class RangeProgress(NamedTuple):
    """The progress of a tier at a checkpoint. `propagation` is None until all slots are expanded."""

    expanded: ExpandedSlots
    propagation: RangePropagationProgress | None


PROGRESS_KINDS = (
    RangeProgress, ExpandedSlots, BucketLayout, RangeResults, RangePropagationProgress, RangeState, StoredParentLists,
)  # fmt: skip
"""The classes in the progress at a checkpoint."""


def solve_in_ranges(
    tier: CyclicTier, expansion: TierExpansion, work: Work, phase: Phase, until_logged: ExitStack
) -> tuple[Iterator[tuple[int, Array]], CompressedArray]:
    """Solve a tier; return its scores range by range, as (first slot, scores), and the numbers of symmetric positions.

    All later tiers must be solved. A killed solve resumes from its last checkpoint. Its files stay until the stack
    *until_logged* is closed.
    """
    bits = tier.table.bits
    checkpoint = until_logged.enter_context(Checkpoint(work, f"ranges{bits}-{tier.k}", *PROGRESS_KINDS))
    scratch, sizes = checkpoint.scratch, CompressedArray(np.uint16)
    # Step 1: resume from the last checkpoint. An earlier solve's layout is kept.
    if checkpoint.progress:
        checkpoint.load(sizes)
    else:
        scratch.begin(fresh=True)
    memory = work.budget.free_bytes() // work.sharing
    layout = cut_into_ranges(tier.size, work.workers_now, memory, work.sizes.range_bits)
    start = RangeProgress(ExpandedSlots(layout, [], [], []), None)
    expanded, propagation = checkpoint.progress or start
    layout = expanded.layout
    # Step 2: expand all slots and assemble the ranges, unless the checkpoint was saved during propagation.
    if propagation is None:
        expand_all(tier, expansion, expanded, sizes, work, phase, checkpoint)
        ranges = work.starmap(assemble, assemble_tasks(expanded, bits, scratch))
        propagation = RangePropagationProgress.start(bits, ranges)
        checkpoint.release((BLOCKS, EDGES))
    progress = RangeProgress(ExpandedSlots(layout, [], [], []), propagation)

    def mark(names: set[str]) -> None:
        checkpoint.release(names)
        if checkpoint.is_due:
            checkpoint.save(progress, (sizes,), settled=1)

    # Step 3: propagate. Workers may cache files that they read again, in half of their share of the memory.
    scratch.cache_at_most(max(0, work.budget.free_bytes() // (2 * work.sharing)))  # for each worker
    tell = make_reporter(phase, tier.number, expansion.share)
    RangePropagation(work, scratch, layout.shift, propagation, tell, mark).run()
    scratch.close()
    # Step 4: call undecided slots draws, range by range.
    return ((layout.begin(state.number), state.with_draws(scratch)) for state in propagation.states), sizes


def expand_all(
    tier: CyclicTier, expansion: TierExpansion, expanded: ExpandedSlots, sizes: CompressedArray, work: Work,
    phase: Phase, checkpoint: Checkpoint,
) -> None:  # fmt: skip
    """Expand the slots that remain, block by block, and add the results to *expanded* and *sizes*."""
    size = block_size(work, expanded.layout, expansion.block)
    blocks = remaining_blocks(expanded.done, tier.size, size)
    tasks = expansion.tasks(tier, expanded.layout, blocks, work)
    written = work.starmap(write_block, ((checkpoint.scratch, expansion.expand, task) for task in tasks))
    for (begin, end), block in zip(blocks, written, strict=True):
        if len(block.sizes):
            sizes[begin:end] = block.sizes
        expanded.ends.append((begin, end))
        expanded.blocks.append(block.frame)
        expanded.edges.append(block.edges)
        phase.working(expansion.share * end, tier.number, Deciding(0, tier.size, None))
        if checkpoint.is_due:
            checkpoint.save(RangeProgress(expanded, None), (sizes,))


def remaining_blocks(done: int, slots: int, size: int) -> list[Ends]:
    """Return the blocks (begin, end) of the slots after the first *done*. None crosses a multiple of *size*.

    >>> remaining_blocks(3, 10, 4), remaining_blocks(8, 8, 4)
    ([(3, 4), (4, 8), (8, 10)], [])
    """
    return [*pairwise(sorted({done, *range(done - done % size + size, slots, size), slots}))]


def write_block(scratch: Scratch, expand: Callable[[Any], Any], block: Any) -> ExpandedBlock:
    """Expand a block of slots; write initial scores and counters, and edges by range, to disk."""
    _, seeds, edges = expand(block)
    frame = scratch.write(BLOCKS, to_bytes(seeds.scores, seeds.children_left), uncompressed=True)
    return ExpandedBlock(frame, seeds.sizes, write_results(scratch, EDGES, edges, uncompressed=False))


def assemble_tasks(expanded: ExpandedSlots, bits: int, scratch: Scratch) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `assemble` for each range."""
    layout = expanded.layout
    for number in range(layout.buckets):
        blocks = [
            frame for (begin, _), frame in zip(expanded.ends, expanded.blocks, strict=True)
            if begin >> layout.shift == number
        ]  # fmt: skip
        # Column 2 of `rows` is the packed length of a frame, 0 for no edges.
        edges = [results.frame(number) for results in expanded.edges if results.rows[number, 2]]
        yield scratch, layout, number, bits, blocks, edges


def cut_into_ranges(count: int, workers: int, memory: int, most_bits: int) -> BucketLayout:
    """Return how to cut *count* slots into ranges of up to `2**most_bits`: a few for each worker with *memory*
    bytes."""
    # As large as a quarter of the memory allows while edges are inverted, but at least RANGES_EACH ranges for each
    # worker.
    bits = min(memory // (4 * BYTES_IN_BUCKET), count // (RANGES_EACH * workers)).bit_length() - 1
    return BucketLayout.of(count, min(most_bits, max(bits, LEAST_RANGE_BITS)))


def block_size(work: Work, layout: BucketLayout, usual: int) -> int:
    """Return the slots in a task of expanding: a power of two, at most a range, so that no block crosses a range."""
    block = work.block_size(layout.positions, usual)
    return min(1 << (block.bit_length() - 1), 1 << layout.shift)
