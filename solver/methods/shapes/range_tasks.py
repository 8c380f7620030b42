"""Tasks over ranges of rows of a tier, whose outcomes are in files: initialize a range, advance it, and finish it.

initialize --> outcomes, edges, frontier of a range   |   the frontiers of all ranges --advance--> the same one ply
later

A parent finds out by itself which of its children were decided last, and only its own range is written. So ranges need
nothing of each other but their *frontiers*: the positions that were decided last. No file changes after it is written,
so a task that runs twice, partly, or too late does no harm. The files of a range (see also listed/ranges/steps.py):

    base, deltas    scores and counters of undecided children
    edges           begins int64[rows + 1], edges int32[n], moves uint16[n] (see `kernels.find_edges`)
    frontier        how many are lost, how many won: uint32[2, rows], then their colourings: int32[n]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.ranges.steps import RangeState, to_bytes, write_base
from retrograde.solver.methods.shapes import kernels
from retrograde.solver.methods.shapes.blocks import Block, TierOutcomes
from retrograde.solver.methods.shapes.kernels import DECIDED, NEVER, Frontier
from retrograde.solver.methods.shapes.layout import TierSections, tier_sections
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.scratch import Frame, Scratch, TaskData

EDGES = "edges"
"""The name of the files with edges."""


class RowSpan(NamedTuple):
    """Rows *begin* to *end* of a section, by its number in the tier."""

    section: int
    begin: int
    end: int


class ShapeRange(NamedTuple):
    """A range: its state, its edges, and what was decided in it last, if anything. `undecided` counts positions, and
    `due` is the least remoteness at which later tiers decide one."""

    span: RowSpan
    state: RangeState
    edges: Frame | None
    frontier: Frame | None
    undecided: int
    due: int


RangeFrontiers = tuple[tuple[RowSpan, Frame], ...]
"""Frontiers of ranges of a section, ascending."""


class TierTask(NamedTuple):
    """What each task of a tier needs. `starts` has (tier, first slot) for all tiers of the game. A task reads frontiers
    of up to `frontier_bytes` at once."""

    game: Any
    tier: int
    starts: tuple[tuple[int, int], ...]
    bits: int
    scratch: Scratch
    frontier_bytes: int

    @property
    def sections(self) -> TierSections:
        """The sections of the tier."""
        with READING:
            return sections_for(self.game, self.tier, self.starts, self.bits)

    def block(self, span: RowSpan) -> Block:
        """Return the block of a range."""
        return Block(self.sections, *span, alone=True)


READING = Lock()
"""Held by a thread that reads what others need too: they wait, and then find it in a cache."""


@lru_cache(1)
def sections_for(game: Any, tier: int, starts: tuple[tuple[int, int], ...], bits: int) -> TierSections:
    """Return the sections of a tier."""
    return tier_sections(game, tier, dict(starts).__getitem__, bits)


# Tasks


def initialize_range(task: TierTask, all_scores: SharedArray, number: int, span: RowSpan) -> ShapeRange:
    """Task: write the initial files of range number *number*. *all_scores* has the scores of all slots of the game."""
    block, scratch = task.block(span), task.scratch
    count = block.slots.stop
    outcomes = TierOutcomes(np.zeros(count, np.uint16), np.zeros(count, np.uint8), task.bits)
    block.initialize(all_scores.array, outcomes)
    all_scores.release_pages()
    if not task.sections.cyclic:  # later tiers have decided all positions
        outcomes.children_left[:] = DECIDED
    block.link()
    edges = scratch.write(EDGES, to_bytes(*block.links), uncompressed=True) if block.arrays.inside else None
    block.gather(outcomes, 0)
    state = write_base(scratch, number, 0, outcomes.scores, outcomes.children_left, task.bits)
    new_range = ShapeRange(span, state, edges, frontier=None, undecided=0, due=NEVER)
    return range_of(task, new_range, block, remoteness=0)


def advance_all(
    task: TierTask, last_frontiers: TaskData[dict[int, RangeFrontiers]], remoteness: int, ranges: list[ShapeRange]
) -> Any:
    """Task: advance some ranges, one after another. *last_frontiers* has by section the frontiers of the last
    remoteness."""
    return [advance(task, last_frontiers.content, remoteness, shape_range) for shape_range in ranges]


def advance(
    task: TierTask, last_frontiers: dict[int, RangeFrontiers], remoteness: int, shape_range: ShapeRange
) -> ShapeRange:
    """Decide the positions of a range that have this remoteness; return the range after that."""
    block, after = task.block(shape_range.span), task.sections.after[shape_range.span.section]
    block.links = read_edges(task.scratch, shape_range)
    rows, content = len(task.sections.arrays[after].shapes), None
    # Step 1: advance the range by each part of the frontiers to which edges lead. If they lead to none, but later tiers
    # decide something at this remoteness, advance it by the empty part, which comes last.
    for pieces in (*split_frontiers(last_frontiers.get(after, ()), task.frontier_bytes), ()):
        with READING:
            frontiers = read_frontiers(task.scratch, rows, pieces)
        leads = kernels.leads_to(block.links[1], *(frontier.starts for frontier in frontiers))
        if leads or (not pieces and not content and shape_range.due == remoteness):
            content = content or read_range(task, shape_range, block, remoteness)
            block.advance(content.outcomes, frontiers, remoteness)
            content.times += 1
    if not content:
        return shape_range._replace(frontier=None)
    # Step 2: write what has changed.
    scores, children_left, _ = content.outcomes
    changed = np.flatnonzero(content.before != children_left)
    state = shape_range.state.update(task.scratch, scores, children_left, changed)
    if content.times > 1:
        block.gather(content.outcomes, remoteness)  # of all frontiers together
    return range_of(task, shape_range._replace(state=state), block, remoteness)


@dataclass
class OpenRange:
    """The outcomes of a range, its counters *before* a remoteness, and how often it was advanced since."""

    outcomes: TierOutcomes
    before: Array
    times: int = 0


def read_range(task: TierTask, shape_range: ShapeRange, block: Block, remoteness: int) -> OpenRange:
    """Read the outcomes of a range, and prepare its block for a remoteness."""
    outcomes = TierOutcomes(*shape_range.state.read(task.scratch), task.bits)
    block.gather(outcomes, remoteness - 1)
    return OpenRange(outcomes, outcomes.children_left.copy())


def range_of(task: TierTask, shape_range: ShapeRange, block: Block, remoteness: int) -> ShapeRange:
    """Return a range with what its block knows after a remoteness; write the block's frontier to disk."""
    counts = [np.diff(decided.starts).astype(np.uint32) for decided in (block.lost, block.won)]
    frontier = None
    if len(block.lost.masks) + len(block.won.masks):
        content = to_bytes(*counts, block.lost.masks, block.won.masks)
        frontier = task.scratch.write(frontier_name(remoteness), content, uncompressed=True)
    due = int(block.due.min(initial=NEVER))
    return shape_range._replace(frontier=frontier, undecided=int(block.undecided.sum()), due=due)


def finish(task: TierTask, shape_range: ShapeRange) -> tuple[Array, Array]:
    """Task: return the final scores of a range, and their counts (see `Block.finish`)."""
    outcomes = TierOutcomes(*shape_range.state.read(task.scratch), task.bits)
    counts = task.block(shape_range.span).finish(outcomes)
    return outcomes.scores, counts


# Files


def frontier_name(remoteness: int) -> str:
    """Return the name of the files with what was decided at a remoteness."""
    return f"frontier{remoteness}"


def data_name(remoteness: int) -> str:
    """Return the name of the files that list the frontiers of a remoteness."""
    return f"frontiers-of-{remoteness}"


def read_edges(scratch: Scratch, shape_range: ShapeRange) -> tuple[Array, Array, Array]:
    """Return the edges of a range, as `kernels.find_edges` writes them."""
    rows = shape_range.span.end - shape_range.span.begin
    if shape_range.edges is None:
        return np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16)
    content = scratch.read(shape_range.edges)
    begins = np.frombuffer(content, np.int64, rows + 1).copy()  # kernels would be compiled again for read-only arrays
    edges = np.frombuffer(content, np.int32, int(begins[-1]), begins.nbytes).copy()
    return begins, edges, np.frombuffer(content, np.uint16, len(edges), begins.nbytes + edges.nbytes).copy()


def split_frontiers(pieces: RangeFrontiers, most: int) -> Iterator[RangeFrontiers]:
    """Yield the frontiers in groups of up to *most* bytes, or of one frontier."""
    group: list[tuple[RowSpan, Frame]] = []
    for piece in pieces:
        if group and sum(frame.size for _, frame in (*group, piece)) > most:
            yield tuple(group)
            group = []
        group.append(piece)
    if group:
        yield tuple(group)


@lru_cache(4)
def read_frontiers(scratch: Scratch, rows: int, pieces: RangeFrontiers) -> tuple[Frontier, Frontier]:
    """Return the frontiers of a section of *rows* rows, (lost, won), from the files of its ranges."""
    counts = np.zeros((2, rows), np.int64)
    lost_masks, won_masks = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for (_, begin, end), frame in pieces:
        content = scratch.read(frame)
        counts[:, begin:end] = np.frombuffer(content, np.uint32, 2 * (end - begin)).reshape(2, -1)
        lost = int(counts[0, begin:end].sum())
        both = np.frombuffer(content, np.int32, offset=8 * (end - begin))  # after two uint32 for each row
        lost_masks.append(both[:lost])
        won_masks.append(both[lost:])
    starts = np.zeros((2, rows + 1), np.int64)
    np.cumsum(counts, axis=1, out=starts[:, 1:])
    return Frontier(np.concatenate(lost_masks), starts[0]), Frontier(np.concatenate(won_masks), starts[1])
