"""Solves a large tier in ranges, for workers that are other processes.

The slots may be those of a numbering, or positions of a sorted list: the caller supplies the task that expands them.
Parents come from predecessor lists only. The solving process neither holds the arrays of the tier in memory nor
propagates anything itself.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors.sorting import (
    BYTES_IN_BUCKET,
    BucketLayout,
    PackedEdges,
    StoredParentLists,
)
from retrograde.solver.methods.listed.ranges.files import RangeResults, RangeState, to_bytes, write_results
from retrograde.solver.methods.listed.ranges.propagation import RangePropagation, RangePropagationProgress
from retrograde.solver.methods.listed.ranges.steps import AssembleTask, assemble
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import make_reporter

Array = np.ndarray[Any, Any]

RANGES_EACH = 4
"""Ranges for each worker, in a large tier."""
LEAST_RANGE_BITS = 16
"""Slots in a range, at least, as a power of two."""
BLOCKS, EDGES = "blocks", "edges"
"""Names of the files with initial scores and counters of slots, and with edges."""
Ends = tuple[int, int]
"""First slot of a block, and the one after its last."""


class ExpandedBlock(NamedTuple):
    """Result of expanding a block of slots.

    `frame`: scores and counters. `sizes`: the numbers of symmetric positions, empty for a game without symmetry.
    `edges`: edges for each range.
    """

    frame: Frame
    sizes: Array
    edges: RangeResults


class RangeTier(NamedTuple):
    """A tier of *slots* slots, with scores of *bits* bits for plies.

    `number` is the tier in the rules, `name` the name of its files. *expand* is the task function that expands slots
    and returns an ExpandedBlock. *tasks* yields its inputs, for a scratch folder, the layout of ranges, and blocks of
    about *usual* slots. *expanding* is the share of the time that this takes.
    """

    name: str
    number: int
    slots: int
    bits: int
    expand: Callable[[Any], ExpandedBlock]
    tasks: Callable[[Scratch, BucketLayout, list[Ends]], Iterator[Any]]
    usual: int
    expanding: float


class ExpandedSlots(NamedTuple):
    """The slots that are expanded so far, until the ranges are assembled.

    `layout`: how slots are cut into ranges. For each block: its ends, its scores and counters, and its edges.
    """

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
    tier: RangeTier, work: Work, phase: Phase, until_logged: ExitStack
) -> tuple[Iterator[tuple[int, Array]], CompressedArray]:
    """Solve a tier; return its scores range by range, as (first slot, scores), and the numbers of symmetric positions.

    All later tiers must be solved. A killed solve resumes from its last checkpoint. Its files stay until the stack
    *until_logged* is closed.
    """
    checkpoint = until_logged.enter_context(Checkpoint(work, tier.name, *PROGRESS_KINDS))
    scratch, sizes = checkpoint.scratch, CompressedArray(np.uint16)
    # Step 1: resume from the last checkpoint. An earlier solve's layout is kept.
    if checkpoint.progress:
        checkpoint.load(sizes)
    else:
        scratch.begin(fresh=True)
    start = RangeProgress(ExpandedSlots(layout_for(work, tier.slots), [], [], []), None)
    expanded, propagation = checkpoint.progress or start
    layout = expanded.layout
    # Step 2: expand all slots and assemble the ranges, unless the checkpoint was saved during propagation.
    if propagation is None:
        expand_all(tier, expanded, sizes, work, phase, checkpoint)
        ranges = work.map(assemble, assemble_tasks(expanded, tier.bits, scratch))
        propagation = RangePropagationProgress.start(tier.bits, ranges)
        checkpoint.release((BLOCKS, EDGES))
    progress = RangeProgress(ExpandedSlots(layout, [], [], []), propagation)

    def mark(names: set[str]) -> None:
        checkpoint.release(names)
        if checkpoint.is_due:
            checkpoint.save(progress, (sizes,), settled=1)

    # Step 3: propagate. Workers may cache files that they read again, in half of their share of the memory.
    scratch.cache_at_most(max(0, work.budget.left() // (2 * work.sharing)))  # for each worker
    tell = make_reporter(phase, tier.number, tier.expanding)
    RangePropagation(work, scratch, layout.shift, propagation, tell, mark).run()
    scratch.close()
    # Step 4: call undecided slots draws, range by range.
    return ((layout.begin(state.number), state.with_draws(scratch)) for state in propagation.states), sizes


def expand_all(
    tier: RangeTier, expanded: ExpandedSlots, sizes: CompressedArray, work: Work, phase: Phase, checkpoint: Checkpoint
) -> None:
    """Expand all slots of a tier that are not expanded yet."""
    size = block_size(work, expanded.layout, tier.usual)
    blocks = remaining_blocks(expanded.done, tier.slots, size)
    results = work.map(tier.expand, tier.tasks(checkpoint.scratch, expanded.layout, blocks))
    for (begin, end), block in zip(blocks, results, strict=True):
        if len(block.sizes):
            sizes[begin:end] = block.sizes
        expanded.ends.append((begin, end))
        expanded.blocks.append(block.frame)
        expanded.edges.append(block.edges)
        phase.working(tier.expanding * end, tier.number, Deciding(0, tier.slots, None))
        if checkpoint.is_due:
            checkpoint.save(RangeProgress(expanded, None), (sizes,))


def remaining_blocks(done: int, slots: int, size: int) -> list[Ends]:
    """Return the remaining blocks of slots, as (begin, end), when *done* slots are done.

    No block crosses a multiple of *size*, even if an earlier solve used another size.

    >>> remaining_blocks(3, 10, 4), remaining_blocks(8, 8, 4)
    ([(3, 4), (4, 8), (8, 10)], [])
    """
    return [*pairwise(sorted({done, *range(done - done % size + size, slots, size), slots}))]


def write_block(scratch: Scratch, scores: Array, left: Array, sizes: Array, edges: PackedEdges) -> ExpandedBlock:
    """Write initial scores and counters of some slots, and their edges by range, to disk."""
    frame = scratch.write(BLOCKS, to_bytes(scores, left), plain=True)
    return ExpandedBlock(frame, sizes, write_results(scratch, EDGES, edges, plain=False))


def assemble_tasks(expanded: ExpandedSlots, bits: int, scratch: Scratch) -> Iterator[AssembleTask]:
    """Yield the tasks of assembling the ranges."""
    layout = expanded.layout
    for number in range(layout.buckets):
        blocks = [
            frame for (begin, _), frame in zip(expanded.ends, expanded.blocks, strict=True)
            if begin >> layout.shift == number
        ]  # fmt: skip
        edges = [results.frame(number) for results in expanded.edges if results.rows[number, 2]]
        yield AssembleTask(scratch, layout, number, bits, blocks, edges)


def layout_for(work: Work, count: int) -> BucketLayout:
    """Return how to cut *count* slots into ranges."""
    return cut_into_ranges(count, work.workers_now, work.budget.left() // work.sharing, work.sizes.range_bits)


def cut_into_ranges(count: int, workers: int, memory: int, most_bits: int) -> BucketLayout:
    """Return how to cut *count* slots into ranges of up to `2**most_bits`: a few for each worker.

    A worker has *memory* bytes.
    """
    # As large as a quarter of the memory allows while edges are inverted, but at least RANGES_EACH ranges for each
    # worker.
    bits = min(memory // (4 * BYTES_IN_BUCKET), count // (RANGES_EACH * workers)).bit_length() - 1
    return BucketLayout.of(count, min(most_bits, max(bits, LEAST_RANGE_BITS)))


def block_size(work: Work, layout: BucketLayout, usual: int) -> int:
    """Return the number of slots in a task of expanding. No block may cross a range.

    So it is a power of two, and at most the size of a range.
    """
    block = work.block(layout.positions, usual)
    return min(1 << block.bit_length() - 1, 1 << layout.shift)
