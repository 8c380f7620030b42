"""A tier solved where workers are other processes, and its slots are many: these lie in ranges.

Whether slots are those of a numbering or positions of a sorted list makes no difference: who knows them has stretches
of them looked at. Parents come from links alone. The one who solves has not all that is known of slots in memory, nor
does he pass anything back himself.

    slots --look--> pieces, and links by range --turn round--> ranges --step by step--> scores
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
from retrograde.solver.values.propagation import telling

Array = np.ndarray[Any, Any]

RANGES_EACH = 4
"""Ranges of slots for each worker, where there are so many slots and..."""
LEAST_RANGE_BITS = 16
"""...ranges come to so many, as a power of two."""
PIECES, LINKS = "pieces", "links"
"""Under which names it is put aside what is known of slots, and who leads to whom."""
Ends = tuple[int, int]
"""From which slot to which."""


class Piece(NamedTuple):
    """What is known of some slots once they have been looked at: where it is put aside, how many positions are
    symmetric to each (nothing where a game has no symmetry), and the links to each range."""

    frame: Frame
    sizes: Array
    links: Sections


class Tier(NamedTuple):
    """A tier of so many *slots*, with scores of so many *bits* for plies; its *number* as the rules have it, and a name
    of its own for what is put aside.

    *look* is a task, which returns a Piece; *tasks* yields what it is given, for a scratch folder, how slots are cut
    into ranges, and stretches of them, of as many as *usual* or so. Looking takes the share *looking* of the time.
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
    """What is known once some slots of a tier have been looked at: how they are cut into ranges, how many positions are
    symmetric to each, and where pieces and their links are."""

    shape: Shape
    sizes: Compressed
    pieces: list[Ends]
    frames: list[Frame]
    links: list[Sections]

    @property
    def done(self) -> int:
        """How many slots have been looked at."""
        return self.pieces[-1][1] if self.pieces else 0

    def all_frames(self) -> Iterator[Frame]:
        """Yield where all is."""
        yield from self.frames
        yield from (there.frame(number) for there in self.links for number in there.ranges())


def solve_in_ranges(
    tier: Tier, work: Work, phase: Phase, until_kept: ExitStack
) -> tuple[Iterator[tuple[int, Array]], Compressed]:
    """Return the scores of a tier, range by range, each with its first slot, and how many positions are symmetric to
    each; all later tiers are solved. A solve that was killed goes on from its last note, and files stay *until* all is
    *kept*."""
    scratch = Scratch(work.scratch / tier.name, 0)
    notes = until_kept.enter_context(Notes(work, scratch, tier.name))
    shape = shape_of(work, tier.slots)
    looked, passing = taken_up(notes) or (Looked(shape, Compressed(np.uint16), [], [], []), None)
    if not looked.pieces:
        scratch.begin(fresh=True)
    if passing is None:
        look_at_all(tier, looked, work, phase, notes)
        passing = Passing.begun(work.map(turn, turns(looked, tier.bits, scratch)))
        notes.leave((PIECES, LINKS))

    def mark(names: set[str]) -> None:
        notes.leave(names)
        if notes.pace.is_due:
            notes.write((looked, passing), passing.frames())

    scratch.cache_at_most(max(0, work.budget.left() // (2 * work.sharing)))  # what each worker reads again
    tell = telling(phase, tier.number, tier.looking)
    RangedPropagation(work, scratch, looked.shape.shift, tier.bits, passing, tell, mark).run()
    scratch.close()
    states = passing.states
    return ((looked.shape.begin(state.number), state.with_draws(scratch)) for state in states), looked.sizes


def taken_up(notes: Notes) -> tuple[Looked, Passing | None] | None:
    """Return what another solve has noted last, if all files that it tells of are still there."""
    if (note := notes.last()) is None:
        return None
    looked, passing = note
    frames = looked.all_frames() if passing is None else passing.frames()
    return None if notes.scratch.missing(frames) else (looked, passing)


def look_at_all(tier: Tier, looked: Looked, work: Work, phase: Phase, notes: Notes) -> None:
    """Look at all slots of a tier that have not been looked at."""
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
    """Return the stretches of some slots that are left, so many of which are done, perhaps in others of another size:
    none crosses a multiple of *size*.

    >>> stretches(3, 10, 4), stretches(8, 8, 4)
    ([(3, 4), (4, 8), (8, 10)], [])
    """
    return [*pairwise(sorted({done, *range(done - done % size + size, slots, size), slots}))]


def piece_of(scratch: Scratch, scores: Array, left: Array, sizes: Array, links: Packed) -> Piece:
    """Put aside what is known of some slots, and the links from them to each range."""
    frame = scratch.write(PIECES, joined(scores, left), plain=True)
    return Piece(frame, sizes, put(scratch, LINKS, links, plain=False))


def turns(looked: Looked, bits: int, scratch: Scratch) -> Iterator[Turn]:
    """Yield the tasks of putting together what was found of each range."""
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
    """Return how to cut so many slots into ranges."""
    return cut(count, work.workers_now, work.budget.left() // work.sharing, work.sizes.range_bits)


def cut(count: int, workers: int, memory: int, most_bits: int) -> Shape:
    """Return how to cut so many slots into ranges of up to so many bits: a few for each worker, which has so many bytes
    of memory."""
    bits = min(memory // (4 * BYTES_IN_BUCKET), count // (RANGES_EACH * workers)).bit_length() - 1
    return Shape.of(count, min(most_bits, max(bits, LEAST_RANGE_BITS)))


def block_of(work: Work, shape: Shape, usual: int) -> int:
    """Return how many slots to give to a task of looking at them: none are in two ranges."""
    block = work.block(shape.positions, usual)
    return min(1 << block.bit_length() - 1, 1 << shape.shift)
