"""Solves a tier with cycles by retrograde analysis, whether its positions are in lists or numbered. Checkpoints.

1. Expand all positions, in order: initial scores, counters of undecided children, and edges within the tier.
2. Invert the edges (`lists.py`), unless the rules give parents themselves.
3. Propagate outcomes, one remoteness at a time. If predecessor lists fit neither in memory nor on disk, forward passes
   find the parents (`passes.py`).

Checkpoints are written between two blocks of positions, between two remotenesses, or within a forward pass. With
predecessor lists, the edges and the initial scores and counters have their own files and journal entries, so that a
checkpoint has only scores and counters.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from typing import Any, NamedTuple

from retrograde.databases.errors import DiskFull
from retrograde.games.contract.game import alternates
from retrograde.solver.methods.listed.predecessors.kernels import bytes_of_frontier
from retrograde.solver.methods.listed.predecessors.lists import PredecessorLists, PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import ExpandAgain, ForwardPasses, ForwardPropagation
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import ArraySlice, CompressedArray
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.concurrent import Unsolved
from retrograde.solver.runtime.progress import Deciding, Telling
from retrograde.solver.runtime.work import Work
from retrograde.solver.values import edges
from retrograde.solver.values.propagation import (
    Propagation,
    can_propagate_at_once,
    make_reporter,
    propagate_at_once,
    scores_at,
)
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS

Ends = tuple[int, int]
"""The first position of a block and the one after its last, counted within the tier."""

MEMORY_CHECK_BLOCKS = 4
"""Blocks between two checks of the memory."""


class CyclicTier(NamedTuple):
    """A tier that is to be solved, as tasks get it: number k of a ListedTable or NumberedTable.

    The arrays have an item for each position of the tier. `children_left` holds the undecided-children counters (see
    values/score.py). `sums` uint8, uint16 or uint32[n] are checksums of the parents (see values/edges.py); empty if
    predecessor lists are used.
    """

    table: Any
    k: int
    scores: ArraySlice
    children_left: ArraySlice
    sums: ArraySlice

    @classmethod
    def with_scores_only(cls, table: Any, k: int) -> "CyclicTier":
        """Return tier number k with its part of the scores, without counters and checksums."""
        nothing = table.scores.slice(0, 0)
        return cls(table, k, table.scores_of(k), nothing, nothing)

    @property
    def number(self) -> int:
        """The tier as the rules number it."""
        return int(self.table.tiers[self.k])

    @property
    def size(self) -> int:
        """The number of positions."""
        return self.scores.end - self.scores.begin


class TierExpansion(NamedTuple):
    """How positions of a tier are expanded, in tasks.

    `tasks` yields the inputs of `expand` for blocks of about `block` positions. `expand` returns the first position of
    a block, its Seeds, and the children within the tier: packed by bucket if a layout is given, otherwise as one array
    and a count for each position. `parents_of` yields the parents of some positions as the rules give them.
    `expand_again` is for forward passes. Expanding takes about `share` of the time.
    """

    tasks: Callable[[CyclicTier, BucketLayout | None, list[Ends], Work], Iterator[Any]]
    expand: Callable[[Any], tuple[int, Any, Any]]
    parents_of: Callable[[CyclicTier, Work, Array], Iterable[Array]]
    expand_again: Callable[[CyclicTier, Work, list[Ends]], Iterable[ExpandAgain]]
    block: int
    share: float


class TierProgress(NamedTuple):
    """The progress at a checkpoint of a tier.

    `expanded` positions are expanded. Checksums of parents have `checksum_bytes` bytes. `frontier` is empty until all
    are expanded. Then it is (class, remoteness) of the positions decided last. Within a forward pass a third number
    says how many positions are updated.
    """

    expanded: int = 0
    checksum_bytes: int = 0
    frontier: tuple[int, ...] = ()


class TierArrays(NamedTuple):
    """The arrays of a CyclicTier, and `sizes`, the numbers of symmetric positions (empty without symmetry)."""

    scores: Array
    children_left: Array
    sizes: Array | CompressedArray
    sums: Array


def checkpoint_of(work: Work, bits: int, k: int) -> Checkpoint:
    """Return the checkpoint of tier number k."""
    return Checkpoint(work, f"checkpoint{bits}-{k}", TierProgress)


class TierSolver:
    """Solves a tier with cycles. All later tiers must be solved.

    *expansion* says how positions are expanded. *sizes* gets the number of symmetric positions of each. *writer*
    collects the edges; None if the rules give parents. The propagation lists no more newly decided positions than
    max(least_listed, free memory / bytes_a_listed), and searches the scores for the others. (With forward passes,
    *least_listed* does not count.)
    """

    def __init__(
        self, tier: CyclicTier, expansion: TierExpansion, work: Work, phase: Telling, sizes: Array | CompressedArray,
        checkpoint: Checkpoint, writer: PredecessorWriter | None, least_listed: int, bytes_a_listed: int,
    ):  # fmt: skip
        self.tier, self.expansion, self.work, self.phase = tier, expansion, work, phase
        self.arrays = TierArrays(tier.scores.array, tier.children_left.array, sizes, tier.sums.array)
        self.checkpoint, self.writer = checkpoint, writer
        self.least_listed, self.bytes_a_listed = least_listed, bytes_a_listed
        self.bits, self.position_count = tier.table.bits, tier.size
        self.done = 0
        """How many positions are expanded."""

    def run(self) -> None:
        """Score all positions. Resumes from the checkpoint of an earlier solve."""
        self.done, frontier = self.resume()
        while self.done < self.position_count:
            try:
                self.expand_rest()
            except Unsolved as unsolved:  # a move leads to a tier that another thread is still solving
                self.tier.table.solved.wait_for(unsolved.k)
        with closing(lists) if (lists := self.predecessor_lists()) else nullcontext():
            # A tier whose lists are one block in memory is decided in one call of machine code.
            if (block := lists and lists.only_block) and can_propagate_at_once(self.position_count, self.bits):
                propagate_at_once(*block, self.bits, *self.arrays[:2])
            else:
                self.propagation(lists).run(*frontier)

    # Expansion

    def expand_rest(self) -> None:
        """Expand the positions that remain: fill in initial scores and counters, and store edges or checksums. Stops
        early if predecessor lists had to be given up. Raises Unsolved if a later tier must be solved first."""
        writer, sums = self.active_writer, self.arrays.sums
        size = self.work.block_size(self.position_count, self.expansion.block)
        blocks = [
            (begin, min(begin + size, self.position_count)) for begin in range(self.done, self.position_count, size)
        ]
        tasks = self.expansion.tasks(self.tier, writer.layout if writer else None, blocks, self.work)
        for number, (begin, seeds, children) in enumerate(self.work.map(self.expansion.expand, tasks)):
            if number % MEMORY_CHECK_BLOCKS == 0 and self.work.budget.free_bytes() < 0:
                self.tier.table.scores.release_pages()
            self.done = begin + len(seeds.scores)
            for array, items in zip(self.arrays[:3], (seeds.scores, seeds.children_left, seeds.sizes), strict=True):
                if len(array) or len(items):
                    array[begin : self.done] = items
            self.phase.working(
                self.expansion.share * self.done, self.tier.number, Deciding(0, self.position_count, None)
            )
            # Predecessor lists do not fit on disk: expand the rest without storing edges.
            if writer and not writer.add_or_give_up(children, self.done):
                return
            if len(sums):
                edges.add_up(*children, begin, sums)
            self.save_expansion()

    @property
    def active_writer(self) -> PredecessorWriter | None:
        """The writer of edges. None if there is none, or if predecessor lists have been given up."""
        return None if self.writer and self.writer.given_up else self.writer

    def predecessor_lists(self) -> PredecessorLists | None:
        """Return the predecessor lists once all positions are expanded. None without a writer or disk space."""
        if not self.active_writer:
            return None
        try:
            return self.active_writer.invert()
        except DiskFull:
            self.active_writer.give_up()
            self.save_expansion()
            return None

    # Propagation

    def propagation(self, lists: PredecessorLists | None) -> Propagation:
        """Return the propagation, whose parents come from *lists*, from forward passes if lists were given up, or from
        the rules."""
        tier, work = self.tier, self.work
        report = make_reporter(self.phase, tier.number, self.expansion.share)
        moves_again = not alternates(tier.table.game)
        most_listed = max(0, work.budget.free_bytes()) // self.bytes_a_listed
        if self.writer and not lists:
            work.budget.check(
                bytes_of_frontier(self.position_count), f"expanding {self.position_count:,} positions again"
            )
            size = work.block_size(self.position_count, self.expansion.block)
            expand = partial(self.expansion.expand_again, tier, work)
            passes = ForwardPasses(work, f"{self.bits}-{tier.k}", self.arrays.children_left, expand, size)
            mark = partial(self.save_remoteness, passes)
            return ForwardPropagation(
                passes, self.save_propagation, self.bits, self.arrays[:2], report, moves_again, most_listed, mark
            )
        parents_of = lists.parents_of if lists else partial(self.expansion.parents_of, tier, work)
        mark, most_listed = partial(self.save_remoteness, lists), max(self.least_listed, most_listed)
        return Propagation(self.bits, self.arrays[:2], parents_of, report, moves_again, most_listed, mark)

    # Checkpoints

    def resume(self) -> tuple[int, tuple[int, ...]]:
        """Fill the arrays from the checkpoint of an earlier solve; return (positions expanded, where propagation
        resumes).

        The latter is (class, remoteness), with a third number within a forward pass, or nothing for the start.
        """
        progress = self.checkpoint.progress or TierProgress()
        # With predecessor lists, initial scores and counters come from their journal; a checkpoint matters only in
        # propagation.
        if self.active_writer and (self.active_writer.done < self.position_count or not progress.frontier):
            return self.active_writer.done, ()
        arrays = self.arrays[:2] if self.active_writer else self.arrays
        if len(self.checkpoint.last.arrays) != len(arrays):  # none, or written before lists were given up
            return self.active_writer.done if self.active_writer else 0, ()
        self.checkpoint.load(*arrays)
        return progress.expanded, progress.frontier

    def save_expansion(self) -> None:
        """Write a checkpoint after some positions have been expanded, if it is due."""
        if self.checkpoint.is_due and not self.active_writer:
            scores, children_left, sizes, sums = self.arrays
            so_far = scores[: self.done], children_left[: self.done], sizes, sums
            self.checkpoint.save(TierProgress(self.done, sums.itemsize), so_far)

    def save_remoteness(self, lists: PredecessorLists | ForwardPasses | None, group: int, remoteness: int) -> None:
        """Write a checkpoint after a remoteness has been propagated, if it is due. Load predecessor *lists* into memory
        if they fit by now. *group* is WIN_CLASS for wins and losses, or TIE_CLASS."""
        if lists:
            # Primitive TIEs are propagated after all WINs and LOSEs.
            ties = scores_at(TIE_CLASS, 0, self.bits) if group == WIN_CLASS else []
            unpropagated = scores_at(group, remoteness, self.bits) + ties
            lists.load_if_they_fit(self.arrays.scores, self.arrays.children_left, unpropagated)
        # With edges in memory alone, a killed solve must expand all positions again, and a checkpoint is of no use.
        if not self.active_writer or self.active_writer.on_disk:
            self.save_propagation(group, remoteness)

    def save_propagation(self, *frontier: int) -> None:
        """Write a checkpoint, if it is due. *frontier* is a class and a remoteness; within a forward pass, the position
        below which parents have been updated follows."""
        if self.checkpoint.is_due:
            # Sizes and sums, the last two arrays, no longer change.
            arrays, settled = (self.arrays[:2], 0) if self.active_writer else (self.arrays, 2)
            progress = TierProgress(self.position_count, self.arrays.sums.itemsize, frontier)
            self.checkpoint.save(progress, arrays, settled)
