"""Forward passes: find the parents of decided positions without predecessor lists.

For tiers whose predecessor lists fit neither in memory nor on disk. One pass for each remoteness expands all undecided
positions again and looks for children that were decided last:

    decided last --add--> frontier      undecided --expand--> children in the frontier --split--> updated parents

As soon as the predecessor lists of all positions that may still be needed fit in memory, a pass builds them. It is the
last pass.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from retrograde.solver.methods.listed.predecessors import in_memory, kernels
from retrograde.solver.methods.listed.predecessors.lists import AnyLists, PredecessorLists
from retrograde.solver.methods.listed.predecessors.sorting import (
    BucketEdges,
    BucketLayout,
    PackedEdges,
    invert_edges,
    pack_edges,
)
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import ArraySlice
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import Propagation, ScoredPositions, scores_at
from retrograde.solver.values.score import BLOCK, WIN_CLASS, decided_from

Children = tuple[Array, Array]
"""The children of a block that are in the frontier, one position after another, and their number for each position.

Only undecided positions have any. Children are distinct and within the tier, complements (`~`) if the same player moves
again.
"""
ExpandAgain = Callable[[ArraySlice], Children]
"""Expands a block of positions and returns their children in a frontier."""
ExpandBlocks = Callable[[list[tuple[int, int]]], Iterable[ExpandAgain]]
"""Gives for each block, as (begin, end), a function that expands it."""


PassTask = tuple[ExpandAgain, ArraySlice, int, BucketLayout]
"""Task: expand the undecided positions of a block again."""


def find_parents(expand: ExpandAgain, marks: ArraySlice, begin: int, layout: BucketLayout) -> tuple[int, Array, Array]:
    """Return (end of a block, positions to decide, positions that lose a child).

    The first have a winning move into the frontier (*marks*), or a tie while ties are propagated. The second are the
    other parents of the frontier, once for each child in it. *layout* is not used; `find_edges` gets the same tasks.
    """
    children, counts = expand(marks)
    good, bad = np.empty(len(counts), np.int64), np.empty(len(children), np.int64)
    goods, bads = kernels.split_parents(children, counts, begin, marks.array, good, bad)
    return begin + len(counts), good[:goods].copy(), bad[:bads].copy()


def find_edges(expand: ExpandAgain, marks: ArraySlice, begin: int, layout: BucketLayout) -> PackedEdges:
    """Return the packed edges of a block to children in the frontier."""
    return pack_edges(layout, *expand(marks), begin)


class ForwardPasses:
    """Forward passes over the undecided positions of a tier, *size* positions to a task. *children_left* holds the
    undecided-children counters."""

    def __init__(self, work: Work, name: str, children_left: Array, expand: ExpandBlocks, size: int):
        self.work, self.children_left, self.expand, self.size = work, children_left, expand, size
        self.decided = decided_from(children_left)
        self.layout = BucketLayout.of(len(children_left))
        self.frontier = work.zeros(f"frontier{name}", kernels.bytes_of_frontier(len(children_left)), np.uint8).whole()
        self.lists: PredecessorLists | None = None
        """The predecessor lists that may still be needed, once they fit in memory."""

    def find_parents(self, first: int) -> Iterator[tuple[int, Array, Array]]:
        """Yield the results of `find_parents` for all blocks, from position *first* on."""
        return self.work.starmap(find_parents, self.tasks(first))

    def tasks(self, first: int = 0) -> Iterator[PassTask]:
        """Yield a task for each block with undecided positions, from position *first* on."""
        count = len(self.children_left)
        ends = ((begin, min(begin + self.size, count)) for begin in range(first, count, self.size))
        blocks = [(begin, end) for begin, end in ends if (self.children_left[begin:end] < self.decided).any()]
        for (begin, _), expand in zip(blocks, self.expand(blocks), strict=True):
            yield expand, self.frontier, begin, self.layout

    def load_if_they_fit(self, scores: Array, children_left: Array, unpropagated: list[int]) -> None:
        """Build the predecessor lists that may still be needed, if they fit in memory, with undecided parents only.
        These are the lists of positions that are undecided or have a score in *unpropagated*."""
        if self.lists or not self.work.shares_memory:
            return

        def pending() -> Iterator[Array]:
            for begin in range(0, len(scores), BLOCK):
                block = slice(begin, begin + BLOCK)
                needed = (children_left[block] < self.decided) | np.isin(scores[block], unpropagated)
                yield begin + np.flatnonzero(needed)

        needed = in_memory.bytes_needed(sum(map(len, pending())), children_left)
        if 2 * needed <= self.work.budget.free_bytes() // 2:  # twice: packed and inverted
            self.frontier.array[:] = 0
            for positions in pending():
                kernels.add_to_frontier(self.frontier.array, positions, kernels.LOST)
            self.lists = self.build_lists()

    def build_lists(self) -> PredecessorLists:
        """Run a pass that builds the predecessor lists of all positions in the frontier."""
        layout = self.layout
        buckets = [BucketEdges([], []) for _ in range(layout.buckets)]
        for packed in self.work.starmap(find_edges, self.tasks()):
            for edges, block in zip(buckets, packed, strict=True):
                if len(block):
                    edges.blocks.append(block)
        bits = min(in_memory.MOST_BITS, layout.shift)
        lists: list[AnyLists] = []
        for bucket, edges in enumerate(buckets):
            parents = invert_edges(edges, layout, bucket)
            lists += in_memory.without_empty_lists(parents, bits)
            edges.blocks.clear()
        return PredecessorLists(self.work, lists, bits, None)

    def parents_of(self, positions: Array) -> Iterator[Array]:
        """Yield the parents of some positions from the predecessor lists that a pass has built."""
        assert self.lists
        return self.lists.parents_of(positions)


class ForwardPropagation(Propagation):
    """Propagation whose parents come from forward *passes*, until these have built predecessor lists.

    Within a pass, *pause* is called with the class and remoteness of the frontier, and the position up to which parents
    are updated. *others* are the arguments of Propagation, without `parents_of`.
    """

    def __init__(self, passes: ForwardPasses, pause: Callable[[int, int, int], None], *others: Any):
        bits, arrays, *rest = others
        super().__init__(bits, arrays, passes.parents_of, *rest)
        self.passes, self.pause = passes, pause
        self.first = 0
        """The position from which the next pass starts; above 0 when a solve resumes within a pass."""

    def run(self, group: int = WIN_CLASS, remoteness: int = 0, first: int = 0) -> None:
        """Score all positions, from the start, from a *mark*, or within a pass from a *pause*."""
        self.first = first
        super().run(group, remoteness)

    def update_parents(self, group: int, decided_last: dict[int, ScoredPositions]) -> None:
        """Give the parents of the positions decided last a score, or decrement their counters, in one pass."""
        if self.passes.lists:
            super().update_parents(group, decided_last)
            return
        if not any(batch.count for batch in decided_last.values()):
            return
        # Step 1: mark the positions decided last in the frontier.
        marks = self.passes.frontier.array
        marks[:] = 0
        for score, batch in decided_last.items():
            for positions in self.take_positions(score, batch, due=False):
                kernels.add_to_frontier(marks, positions, kernels.mark_of(score >> self.bits))
        # Step 2: resumed within a pass? Then list the positions that it decided before it was stopped.
        scores = scores_at(group, self.remoteness, self.bits)
        better = scores[0]  # that of a WIN, or of a TIE while ties are propagated
        for score in scores if self.first else ():
            for positions in self.with_score(score, due=False):
                self.add_to_batch(self.last.setdefault(score, ScoredPositions()), positions)
        # Step 3: expand all undecided positions; give the better score to some parents, and decrement the counters of
        # others. The frontier is one remoteness behind.
        for end, good, bad in self.passes.find_parents(self.first):
            self.pass_share = end / len(self.scores)
            self.settle(good, better)
            if len(bad):
                self.count_down(bad)
            self.pause(group, self.remoteness - 1, end)
        self.first, self.pass_share = 0, None

    def check_draws(self) -> None:
        """Do nothing: the check compares parents by the rules with children, and here the rules give none."""
