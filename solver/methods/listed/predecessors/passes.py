"""Forward passes: find the parents of decided positions without predecessor lists.

For tiers whose predecessor lists fit neither in memory nor on disk. One pass for each remoteness expands all undecided
positions again and looks for children that were decided last:

    decided last --add--> frontier      undecided --expand--> children in the frontier --told--> updated parents

As soon as the predecessor lists of all positions that may still be needed fit in memory, a pass builds them. It is the
last pass.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.listed.predecessors import frontier, kept
from retrograde.solver.methods.listed.predecessors.links import AnyPart, Links
from retrograde.solver.methods.listed.predecessors.sorting import Heap, Packed, Shape, Turning, packed, turned
from retrograde.solver.runtime.arrays import Part
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import Propagation, ScoredPositions, scores_at
from retrograde.solver.values.score import WIN_CLASS, decided_from

Array = np.ndarray[Any, Any]
Children = tuple[Array, Array]
"""The children of a block that are in the frontier, and their number for each position.

Only undecided positions have any. Children are distinct and within the tier, one position after another; complements
(`~`) if the same player moves again.
"""
Look = Callable[[Part], Children]
"""Expands a block of positions and returns their children in a frontier."""
Looks = Callable[[list[tuple[int, int]]], Iterable[Look]]
"""Gives for each block, as (begin, end), a function that expands it."""


class Looking(NamedTuple):
    """Task: expand the undecided positions of a block again."""

    look: Look
    frontier: Part
    begin: int
    shape: Shape

    def children(self) -> Children:
        """Return the children in the frontier."""
        return self.look(self.frontier)


def find_told(task: Looking) -> tuple[int, Array, Array]:
    """Return the end of a block, its positions with a winning child in the frontier, and the others.

    The others appear once for each child in the frontier (see `frontier.told`).
    """
    links, counts = task.children()
    good, bad = np.empty(len(counts), np.int64), np.empty(len(links), np.int64)
    goods, bads = frontier.told(links, counts, task.begin, task.frontier.array, good, bad)
    return task.begin + len(counts), good[:goods].copy(), bad[:bads].copy()


def find_links(task: Looking) -> Packed:
    """Return the packed edges of a block."""
    return packed(task.shape, *task.children(), task.begin)


class Passes:
    """Forward passes over the undecided positions of a tier, *stretch* positions to a task.

    *left* holds the undecided-children counters.
    """

    def __init__(self, work: Work, name: str, left: Array, looks: Looks, stretch: int):
        self.work, self.left, self.looks, self.stretch = work, left, looks, stretch
        self.decided = decided_from(self.left)
        self.shape = Shape.of(len(self.left))
        self.frontier = work.zeros(f"frontier{name}", frontier.bytes_for(len(self.left)), np.uint8).whole()
        self.links: Links | None = None
        """The predecessor lists that may still be needed, once they fit in memory."""

    def told(self, first: int) -> Iterator[tuple[int, Array, Array]]:
        """Yield the results of `find_told` for all blocks, from position *first* on."""
        return self.work.map(find_told, self.tasks(first))

    def tasks(self, first: int = 0) -> Iterator[Looking]:
        """Yield a task for each block with undecided positions, from position *first* on."""
        count = len(self.left)
        ends = ((begin, min(begin + self.stretch, count)) for begin in range(first, count, self.stretch))
        stretches = [(begin, end) for begin, end in ends if (self.left[begin:end] < self.decided).any()]
        for (begin, _), look in zip(stretches, self.looks(stretches), strict=True):
            yield Looking(look, self.frontier, begin, self.shape)

    def keep(self, scores: Array, left: Array, untold: list[int]) -> None:
        """Build the predecessor lists that may still be needed, if they fit in memory.

        These are the lists of positions that are undecided or have a score in *untold*, with undecided parents only.
        """
        if self.links or not self.work.shares_memory:
            return
        known = scores, left, self.decided, np.array(untold)
        needed = kept.bytes_needed(frontier.count_unasked(*known), left)
        if 2 * needed <= self.work.budget.left() // 2:  # twice: packed and inverted
            self.frontier.array[:] = 0
            frontier.add_unasked(self.frontier.array, *known)
            self.links = self.taken()

    def taken(self) -> Links:
        """Run a pass that builds the predecessor lists of all positions in the frontier."""
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
        """Yield the parents of some positions from the predecessor lists that a pass has built."""
        assert self.links
        return self.links.parents_of(positions)


class ForwardPropagation(Propagation):
    """Propagation whose parents come from forward *passes*, until these have built predecessor lists.

    Within a pass, *pause* is called with the class and remoteness of the frontier, and the position up to which parents
    are updated.
    """

    def __init__(self, passes: Passes, pause: Callable[[int, int, int], None], *others: Any):
        bits, arrays, *rest = others
        super().__init__(bits, arrays, passes.parents_of, *rest)
        self.passes, self.pause = passes, pause
        self.first = 0
        """The position from which the next pass starts; above 0 when a solve resumes within a pass."""

    def run(self, group: int = WIN_CLASS, remoteness: int = 0, first: int = 0) -> None:
        """Score all positions, from the start, from a *mark*, or within a pass from a *pause*."""
        self.first = first
        super().run(group, remoteness)

    def update_parents(self, group: int, before: dict[int, ScoredPositions]) -> None:
        """Update the parents of the positions decided last, which come by score."""
        if self.passes.links:
            super().update_parents(group, before)
            return
        if not any(batch.count for batch in before.values()):
            return
        # Step 1: mark the positions decided last in the frontier.
        marks = self.passes.frontier.array
        marks[:] = 0
        for score, batch in before.items():
            for some in self.positions(score, batch, due=False):
                frontier.add(marks, some, frontier.mark_of(score >> self.bits))
        # Step 2: resumed within a pass? Then list the positions that it decided before it was stopped.
        scores = scores_at(group, self.remoteness, self.bits)
        if self.first:
            self.note_decided(scores)
        # Step 3: expand all undecided positions; give the best score to some parents, and decrement the counters of
        # others.
        for end, good, bad in self.passes.told(self.first):
            self.pass_share = end / len(self.scores)
            self.settle(good, scores[0])
            if len(bad):
                self.count_down(bad)
            self.pause(group, self.remoteness - 1, end)
        self.first, self.pass_share = 0, None

    def note_decided(self, scores: list[int]) -> None:
        """List the positions that a pass decided before it was stopped."""
        for score in scores:
            for some in self.with_score(score, due=False):
                self.note(self.last.setdefault(score, ScoredPositions()), some)

    def check_draws(self) -> None:
        """Do nothing: this check compares the rules' own parents with children, and here the rules give no parents."""
