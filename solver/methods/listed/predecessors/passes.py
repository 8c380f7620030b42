"""Forward passes: what is done where links fit neither in memory nor on the disk. Nobody knows who leads to a position;
so, ply by ply, all that is undecided is looked at again, for children that were decided last.

    decided last --add--> frontier      undecided --look again--> children in the frontier --told--> their parents

Once the links of what may still be asked for fit in memory, a pass takes these, and it is the last one.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import frontier, kept
from retrograde.solver.methods.listed.predecessors.links import AnyPart, Links
from retrograde.solver.methods.listed.predecessors.sorting import Heap, Packed, Shape, Turning, packed, turned
from retrograde.solver.runtime.arrays import Part
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.left import decided_from
from retrograde.solver.values.propagation import Batch, Propagation, scores_at
from retrograde.solver.values.score import WIN_CLASS

Array = np.ndarray[Any, Any]
Children = tuple[Array, Array]
"""The distinct children, within the tier and in the frontier, of the undecided ones of a stretch, or the complements of
those to which the same player moves again, one position after another; and how many each position has, 0 if decided."""
Look = Callable[[Part], Children]
"""Looks at the children of a stretch of positions, in a frontier."""
Looks = Callable[[list[tuple[int, int]]], Iterable[Look]]
"""Gives for each of some stretches of positions, from one number up to another, what looks at it."""


class Looking(NamedTuple):
    """The task of looking at a stretch again."""

    look: Look
    frontier: Part
    begin: int
    shape: Shape

    def children(self) -> Children:
        """Return the children in the frontier."""
        return self.look(self.frontier)


def find_told(task: Looking) -> tuple[int, Array, Array]:
    """Return where a stretch ends, its positions that have what they want in the frontier, and the others, as often as
    they have a child there."""
    links, counts = task.children()
    good, bad = np.empty(len(counts), np.int64), np.empty(len(links), np.int64)
    goods, bads = frontier.told(links, counts, task.begin, task.frontier.array, good, bad)
    return task.begin + len(counts), good[:goods].copy(), bad[:bads].copy()


def find_links(task: Looking) -> Packed:
    """Return the links of a stretch."""
    return packed(task.shape, *task.children(), task.begin)


class Passes:
    """Looks at the undecided positions of a tier again, as what is *left* of each says; so many at once as *stretch*
    says."""

    def __init__(self, work: Work, name: str, left: Array, looks: Looks, stretch: int):
        self.work, self.left, self.looks, self.stretch = work, left, looks, stretch
        self.decided = decided_from(self.left)
        self.shape = Shape.of(len(self.left))
        self.frontier = work.zeros(f"frontier{name}", frontier.bytes_for(len(self.left)), np.uint8).whole()
        self.links: Links | None = None
        """What may still be asked for, once it fits in memory."""

    def told(self, first: int) -> Iterator[tuple[int, Array, Array]]:
        """Yield, stretch by stretch, what `find_told` returns, of positions from number *first* on."""
        return self.work.map(find_told, self.tasks(first))

    def tasks(self, first: int = 0) -> Iterator[Looking]:
        """Yield the tasks of looking at all stretches, from number *first* on, in which something is undecided."""
        count = len(self.left)
        ends = ((begin, min(begin + self.stretch, count)) for begin in range(first, count, self.stretch))
        stretches = [(begin, end) for begin, end in ends if (self.left[begin:end] < self.decided).any()]
        for (begin, _), look in zip(stretches, self.looks(stretches), strict=True):
            yield Looking(look, self.frontier, begin, self.shape)

    def keep(self, scores: Array, left: Array, untold: list[int]) -> None:
        """Take the links of positions that are undecided, as what is *left* says, or have one of the scores *untold*,
        to parents that are undecided, if they fit in memory."""
        if self.links or not self.work.shares_memory:
            return
        known = scores, left, self.decided, np.array(untold)
        needed = kept.bytes_needed(frontier.count_unasked(*known), left)
        if 2 * needed <= self.work.budget.left() // 2:  # they are there twice for a while
            self.frontier.array[:] = 0
            frontier.add_unasked(self.frontier.array, *known)
            self.links = self.taken()

    def taken(self) -> Links:
        """Return the links of what is in the frontier."""
        shape = self.shape
        heaps = [Heap([], []) for _ in range(shape.buckets)]
        for pieces in self.work.map(find_links, self.tasks()):
            for heap, piece in zip(heaps, pieces, strict=True):
                if len(piece):
                    heap.pieces.append(piece)
        wide, bits = shape.positions >= 1 << 31, min(kept.MOST_BITS, shape.shift)
        parts: list[AnyPart] = []
        for bucket, heap in enumerate(heaps):
            parents = turned(Turning(heap, shape.size(bucket), shape.width, wide, None, ""))
            parts += kept.sparse(parents, bits)
            heap.pieces.clear()
        return Links(self.work, parts, bits, None)

    def parents_of(self, positions: Array) -> Iterator[Array]:
        """Yield the parents of some positions, as links say that have been taken."""
        assert self.links
        return self.links.parents_of(positions)


class ForwardPropagation(Propagation):
    """Propagation with parents found by *passes*, until these have taken links. Within a pass *pause* is called with
    the class, the remoteness of the frontier, and up to which position parents have been told."""

    def __init__(self, passes: Passes, pause: Callable[[int, int, int], None], *others: Any):
        bits, scores, left, *rest = others
        super().__init__(bits, scores, left, passes.parents_of, *rest)
        self.passes, self.pause = passes, pause
        self.first = 0
        """From which position on parents are still to be told in the pass that comes first."""

    def run(self, group: int = WIN_CLASS, remoteness: int = 0, first: int = 0) -> None:
        """Score all positions, from the start, from a *mark* on, or from a *pause*."""
        self.first = first
        super().run(group, remoteness)

    def tell_parents(self, group: int, before: dict[int, Batch]) -> None:
        """Tell the parents of what was decided last, by score."""
        if self.passes.links:
            super().tell_parents(group, before)
            return
        if not any(batch.count for batch in before.values()):
            return
        marks = self.passes.frontier.array
        marks[:] = 0
        for score, batch in before.items():
            for some in self.positions(score, batch, due=False):
                frontier.add(marks, some, frontier.mark_of(score >> self.bits))
        scores = scores_at(group, self.remoteness, self.bits)
        if self.first:
            self.note_decided(scores)
        for end, good, bad in self.passes.told(self.first):
            self.looked_again = end / len(self.scores)
            self.settle(good, scores[0])
            if len(bad):
                self.count_down(bad)
            self.pause(group, self.remoteness - 1, end)
        self.first, self.looked_again = 0, None

    def note_decided(self, scores: list[int]) -> None:
        """Note what a pass has decided before it was stopped."""
        for score in scores:
            for some in self.with_score(score, due=False):
                self.note(self.last.setdefault(score, Batch()), some)

    def ask_draws(self) -> None:
        """Ask nothing: that parents and children agree is a matter of rules that give parents."""
