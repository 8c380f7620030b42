"""A tier solved slot by slot where workers are other processes, and slots are many: these lie in ranges.

Parents come from links alone. The one who solves has not all scores in memory, nor does he pass anything back himself.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.links.sorting import BYTES_IN_BUCKET, Shape
from retrograde.solver.numbered import seeds
from retrograde.solver.numbered.table import Table, Tier
from retrograde.solver.outcomes.propagation import telling
from retrograde.solver.ranges.files import Sections, joined, put
from retrograde.solver.ranges.notes import Notes
from retrograde.solver.ranges.propagation import Passing, RangedPropagation
from retrograde.solver.ranges.steps import Turn, turn
from retrograde.solver.work.arrays import Compressed
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.scratch import Frame, Scratch
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

RANGES_EACH = 4
"""Ranges of slots for each worker, where there are so many slots and..."""
LEAST_RANGE_BITS = 16
"""...ranges come to so many, as a power of two."""
PIECES, LINKS = "pieces", "links"
"""Under which names it is put aside what is known of slots, and who leads to whom."""


class Looked(NamedTuple):
    """What is known once some slots of a tier have been looked at: how they are cut into ranges, how many positions are
    symmetric to each, and where stretches and their links are."""

    shape: Shape
    sizes: Compressed
    pieces: list[tuple[int, Frame]]
    links: list[Sections]

    def frames(self) -> Iterator[Frame]:
        """Yield where all is."""
        yield from (piece for _, piece in self.pieces)
        yield from (there.frame(number) for there in self.links for number in there.ranges())


def solve_by_ranges(
    table: Table, k: int, work: Work, phase: Phase, in_file: bool, until_kept: ExitStack
) -> tuple[Array, Compressed]:
    """Return the scores of a tier, which are written in their place, and how many positions are symmetric to each; all
    later ones are solved. A solve that was killed goes on from its last note, and files stay *until* all is *kept*."""
    part = table.numbering.stretch(k)
    count = part.stop - part.start
    scratch = Scratch(work.scratch / f"ranges{table.bits}-{k}", 0)
    notes = until_kept.enter_context(Notes(work, scratch, f"ranges{table.bits}-{k}"))
    looked, passing = taken_up(notes) or (Looked(shape_of(work, count), Compressed(np.uint16), [], []), None)
    if not looked.pieces:
        scratch.begin(fresh=True)
    nothing = table.scores.part(0, 0)
    tier = Tier(table, k, table.scores.part(part.start, part.stop), nothing, nothing)
    if passing is None:
        look_at_all(tier, looked, work, phase, notes)
        passing = Passing.begun(work.map(turn, turns(table, looked, scratch)))
        notes.leave((PIECES, LINKS))

    def mark(names: set[str]) -> None:
        notes.leave(names)
        if notes.pace.is_due:
            notes.write((looked, passing))

    scratch.cache_at_most(max(0, work.budget.left() // (2 * work.sharing)))  # what each worker reads again
    tell = telling(phase, tier.number, seeds.LOOKING)
    RangedPropagation(work, scratch, looked.shape.shift, table.bits, passing, tell, mark).run()
    scores = tier.scores.array
    for state in passing.states:
        begin = looked.shape.begin(state.number)
        scores[begin : begin + state.size] = state.with_draws(scratch)
        if in_file:
            table.scores.let_go()
    scratch.close()
    return scores, looked.sizes


def taken_up(notes: Notes) -> tuple[Looked, Passing | None] | None:
    """Return what another solve has noted last, if all files that it tells of are still there."""
    if (note := notes.last()) is None:
        return None
    looked, passing = note
    there = looked if passing is None else passing
    return None if notes.scratch.missing(there.frames()) else (looked, passing)


def look_at_all(tier: Tier, looked: Looked, work: Work, phase: Phase, notes: Notes) -> None:
    """Look at all slots of a tier that have not been looked at."""
    shape, sizes, pieces, links = looked
    count = shape.positions
    blocks = seeds.blocks(count, len(sizes), block_of(work, shape))
    tasks = (Look(notes.scratch, tier, shape, *ends) for ends in blocks)
    for begin, piece, own, there in work.map(look, tasks):
        sizes[begin : begin + len(own)] = own
        pieces.append((begin, piece))
        links.append(there)
        phase.working(seeds.LOOKING * len(sizes), tier.number, Deciding(0, count, None))
        if notes.pace.is_due:
            notes.write((looked, None))


def turns(table: Table, looked: Looked, scratch: Scratch) -> Iterator[Turn]:
    """Yield the tasks of putting together what was found of each range."""
    shape, _, pieces, links = looked
    for number in range(shape.buckets):
        yield Turn(
            scratch, number, shape.size(number), shape.width, shape.positions >= 1 << 31, table.bits,
            [piece for begin, piece in pieces if begin >> shape.shift == number],
            [there.frame(number) for there in links if there.rows[number, 2]],
        )  # fmt: skip


def shape_of(work: Work, count: int) -> Shape:
    """Return how to cut so many slots into ranges: a few for each worker, which have memory for theirs."""
    share = work.budget.left() // (4 * work.sharing * BYTES_IN_BUCKET)
    bits = min(share, count // (RANGES_EACH * work.workers_now)).bit_length() - 1
    return Shape.of(count, min(work.sizes.range_bits, max(bits, LEAST_RANGE_BITS)))


def block_of(work: Work, shape: Shape) -> int:
    """Return how many slots to give to a task of looking at them: none are in two ranges."""
    usual = work.block(shape.positions, seeds.BLOCK)
    return min(1 << usual.bit_length() - 1, 1 << shape.shift)


class Look(NamedTuple):
    """The task of looking at some slots of a tier."""

    scratch: Scratch
    tier: Tier
    shape: Shape
    begin: int
    end: int


def look(task: Look) -> tuple[int, Frame, Array, Sections]:
    """Look at all children of some slots; return where they begin, where what is known of them is put aside, how many
    positions are symmetric to each, and where the links are that lead from them to each range."""
    begin, found, links = seeds.seed((task.tier, task.shape, task.begin, task.end))
    piece = task.scratch.write(PIECES, joined(found.scores, found.left), plain=True)
    return begin, piece, found.sizes, put(task.scratch, LINKS, links, plain=False)
