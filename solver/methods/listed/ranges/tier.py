"""Solves a large tier in ranges, for workers that are other processes.

The slots may be those of a numbering, or positions of a sorted list: the caller supplies the task that expands them.
Parents come from predecessor lists only. The solving process neither holds the arrays of the tier in memory nor
propagates anything itself.

    slots --expand--> pieces, and edges by range --invert--> ranges --step by step--> scores
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors.sorting import BYTES_IN_BUCKET, Packed, Shape
from retrograde.solver.methods.listed.ranges.files import Sections, joined, put
from retrograde.solver.methods.listed.ranges.notes import Notes
from retrograde.solver.methods.listed.ranges.propagation import Passing, RangedPropagation
from retrograde.solver.methods.listed.ranges.steps import Turn, turn
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import make_reporter

Array = np.ndarray[Any, Any]

RANGES_EACH = 4
"""Ranges for each worker, in a large tier."""
LEAST_RANGE_BITS = 16
"""Slots in a range, at least, as a power of two."""
PIECES, LINKS = "pieces", "links"
"""Names of the files with initial scores and counters of slots, and with edges."""
Ends = tuple[int, int]
"""First slot of a block, and the one after its last."""


class Piece(NamedTuple):
    """Result of expanding a block of slots.

    `frame`: scores and counters. `sizes`: the numbers of symmetric positions, empty for a game without symmetry.
    `links`: edges for each range.
    """

    frame: Frame
    sizes: Array
    links: Sections


class Tier(NamedTuple):
    """A tier of *slots* slots, with scores of *bits* bits for plies.

    `number` is the tier in the rules, `name` the name of its files. *look* is the task function that expands slots and
    returns a Piece. *tasks* yields its inputs, for a scratch folder, the shape of ranges, and blocks of about *usual*
    slots. *looking* is the share of the time that expanding takes.
    """

    name: str
    number: int
    slots: int
    bits: int
    look: Callable[[Any], Piece]
    tasks: Callable[[Scratch, Shape, list[Ends]], Iterator[Any]]
    usual: int
    looking: float


class Looked(NamedTuple):
    """Results of expanding the slots so far.

    `shape`: how slots are cut into ranges. `sizes`: the numbers of symmetric positions. `pieces`, `frames` and `links`:
    for each block its ends, its scores and counters, and its edges.
    """

    shape: Shape
    sizes: Compressed
    pieces: list[Ends]
    frames: list[Frame]
    links: list[Sections]

    @property
    def done(self) -> int:
        """The number of expanded slots."""
        return self.pieces[-1][1] if self.pieces else 0

    def all_frames(self) -> Iterator[Frame]:
        """Yield all frames that are needed to resume."""
        yield from self.frames
        yield from (there.frame(number) for there in self.links for number in there.ranges())


def solve_in_ranges(
    tier: Tier, work: Work, phase: Phase, until_kept: ExitStack
) -> tuple[Iterator[tuple[int, Array]], Compressed]:
    """Solve a tier; return its scores range by range, as (first slot, scores), and the numbers of symmetric positions.

    All later tiers must be solved. A killed solve resumes from its last note. Its files stay until the stack
    *until_kept* is closed.
    """
    scratch = Scratch(work.scratch / tier.name, 0)
    notes = until_kept.enter_context(Notes(work, scratch, tier.name))
    # Step 1: resume from the last note. An earlier solve's shape is kept.
    shape = shape_of(work, tier.slots)
    looked, passing = taken_up(notes) or (Looked(shape, Compressed(np.uint16), [], [], []), None)
    if not looked.pieces:
        scratch.begin(fresh=True)
    # Step 2: expand all slots and assemble the ranges, unless the note was written during propagation.
    if passing is None:
        look_at_all(tier, looked, work, phase, notes)
        passing = Passing.begun(work.map(turn, turns(looked, tier.bits, scratch)))
        notes.leave((PIECES, LINKS))

    def mark(names: set[str]) -> None:
        notes.leave(names)
        if notes.pace.is_due:
            notes.write((looked, passing), passing.frames())

    # Step 3: propagate. Workers may cache files that they read again, in half of their share of the memory.
    scratch.cache_at_most(max(0, work.budget.left() // (2 * work.sharing)))  # for each worker
    tell = make_reporter(phase, tier.number, tier.looking)
    RangedPropagation(work, scratch, looked.shape.shift, tier.bits, passing, tell, mark).run()
    scratch.close()
    # Step 4: call undecided slots draws, range by range.
    states = passing.states
    return ((looked.shape.begin(state.number), state.with_draws(scratch)) for state in states), looked.sizes


def taken_up(notes: Notes) -> tuple[Looked, Passing | None] | None:
    """Return the last note of an earlier solve, if all files that it names still exist."""
    if (note := notes.last()) is None:
        return None
    looked, passing = note
    frames = looked.all_frames() if passing is None else passing.frames()
    return None if notes.scratch.missing(frames) else (looked, passing)


def look_at_all(tier: Tier, looked: Looked, work: Work, phase: Phase, notes: Notes) -> None:
    """Expand all slots of a tier that are not expanded yet."""
    size = block_of(work, looked.shape, tier.usual)
    ends = stretches(looked.done, tier.slots, size)
    found = work.map(tier.look, tier.tasks(notes.scratch, looked.shape, ends))
    for (begin, end), piece in zip(ends, found, strict=True):
        if len(piece.sizes):
            looked.sizes[begin:end] = piece.sizes
        looked.pieces.append((begin, end))
        looked.frames.append(piece.frame)
        looked.links.append(piece.links)
        phase.working(tier.looking * end, tier.number, Deciding(0, tier.slots, None))
        if notes.pace.is_due:
            notes.write((looked, None), looked.all_frames())


def stretches(done: int, slots: int, size: int) -> list[Ends]:
    """Return the remaining blocks of slots, as (begin, end), when *done* slots are done.

    No block crosses a multiple of *size*, even if an earlier solve used another size.

    >>> stretches(3, 10, 4), stretches(8, 8, 4)
    ([(3, 4), (4, 8), (8, 10)], [])
    """
    return [*pairwise(sorted({done, *range(done - done % size + size, slots, size), slots}))]


def piece_of(scratch: Scratch, scores: Array, left: Array, sizes: Array, links: Packed) -> Piece:
    """Write initial scores and counters of some slots, and their edges by range, to disk."""
    frame = scratch.write(PIECES, joined(scores, left), plain=True)
    return Piece(frame, sizes, put(scratch, LINKS, links, plain=False))


def turns(looked: Looked, bits: int, scratch: Scratch) -> Iterator[Turn]:
    """Yield the tasks of assembling the ranges."""
    shape = looked.shape
    for number in range(shape.buckets):
        yield Turn(
            scratch, number, shape.size(number), shape.width, shape.positions >= 1 << 31, bits,
            [
                frame for (begin, _), frame in zip(looked.pieces, looked.frames, strict=True)
                if begin >> shape.shift == number
            ],
            [there.frame(number) for there in looked.links if there.rows[number, 2]],
        )  # fmt: skip


def shape_of(work: Work, count: int) -> Shape:
    """Return how to cut *count* slots into ranges."""
    return cut(count, work.workers_now, work.budget.left() // work.sharing, work.sizes.range_bits)


def cut(count: int, workers: int, memory: int, most_bits: int) -> Shape:
    """Return how to cut *count* slots into ranges of up to `2**most_bits`: a few for each worker.

    A worker has *memory* bytes.
    """
    # As large as a quarter of the memory allows while edges are inverted, but at least RANGES_EACH ranges for each
    # worker.
    bits = min(memory // (4 * BYTES_IN_BUCKET), count // (RANGES_EACH * workers)).bit_length() - 1
    return Shape.of(count, min(most_bits, max(bits, LEAST_RANGE_BITS)))


def block_of(work: Work, shape: Shape, usual: int) -> int:
    """Return the number of slots in a task of expanding. No block may cross a range.

    So it is a power of two, and at most the size of a range.
    """
    block = work.block(shape.positions, usual)
    return min(1 << block.bit_length() - 1, 1 << shape.shift)
