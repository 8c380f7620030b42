"""The state of a tier with cycles while it is solved, and its checkpoints.

A tier is solved in two stages: expand all positions, in order, then propagate outcomes, one remoteness at a time.
Checkpoints are written between two blocks of positions or between two remotenesses.

With predecessor lists, the edges and the initial scores and counters have their own files and journal entries, so that
a checkpoint has only scores and counters. If predecessor lists were given up for lack of space, checkpoints are written
within forward passes, too (see passes.py).
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.databases.errors import DiskFull
from retrograde.solver.methods.listed.predecessors.lists import PredecessorLists, PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import ForwardPasses
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import scores_at
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS

Array = np.ndarray[Any, Any]


class TierProgress(NamedTuple):
    """The progress at a checkpoint of a tier.

    `expanded` positions are expanded. Checksums of parents have `checksum_bytes` bytes. `frontier` is empty until all
    are expanded. Then it is [class, remoteness] of the positions decided last. Within a forward pass a third number
    says how many positions are updated.
    """

    expanded: int = 0
    checksum_bytes: int = 0
    frontier: tuple[int, ...] = ()


class TierArrays(NamedTuple):
    """Arrays about the positions of a tier.

    `scores`; `left`, the undecided-children counters (see values/score.py); `sizes`, the numbers of symmetric
    positions; `sums`, checksums of the parents (see values/edges.py), empty if predecessor lists are used.
    """

    scores: Array
    left: Array
    sizes: Array | CompressedArray
    sums: Array


class CyclicTierState(NamedTuple):
    """The arrays of a tier, the writer of its edges (None if the rules give parents), and its checkpoint."""

    checkpoint: Checkpoint
    arrays: TierArrays
    writer: PredecessorWriter | None

    @staticmethod
    def checkpoint_of(work: Work, bits: int, k: int) -> Checkpoint:
        """Return the checkpoint of tier number k, solved with *bits* bits for plies."""
        return Checkpoint(work, f"checkpoint{bits}-{k}", TierProgress)

    @property
    def active_writer(self) -> PredecessorWriter | None:
        """The writer of edges. None if there is none, or if predecessor lists have been given up."""
        return None if self.writer and self.writer.given_up else self.writer

    @property
    def positions(self) -> int:
        """The number of positions of the tier."""
        return len(self.arrays.scores)

    def resume(self) -> tuple[int, tuple[int, ...]]:
        """Fill the arrays from the checkpoint of an earlier solve.

        Returns the number of positions that are expanded, and where propagation resumes: (class, remoteness), with a
        third number within a forward pass, or nothing for the start.
        """
        progress = self.checkpoint.progress or TierProgress()
        # With predecessor lists, initial scores and counters come from their journal; a checkpoint matters only in
        # propagation.
        if self.active_writer and (self.active_writer.done < self.positions or not progress.frontier):
            return self.active_writer.done, ()
        arrays = self.arrays[:2] if self.active_writer else self.arrays
        if len(self.checkpoint.last.arrays) != len(arrays):  # none, or written before lists were given up
            return self.active_writer.done if self.active_writer else 0, ()
        self.checkpoint.load(*arrays)
        return progress.expanded, progress.frontier

    def save_expansion(self, done: int) -> None:
        """Write a checkpoint after *done* positions have been expanded, if it is due."""
        if self.checkpoint.is_due and not self.active_writer:
            scores, left, sizes, sums = self.arrays
            so_far = sizes if isinstance(sizes, CompressedArray) else sizes[:done]
            self.checkpoint.save(TierProgress(done, sums.itemsize), (scores[:done], left[:done], so_far, sums))

    def predecessor_lists(self) -> PredecessorLists | None:
        """Return the predecessor lists once all positions are expanded. None without a writer or disk space."""
        if not self.active_writer:
            return None
        try:
            return self.active_writer.invert()
        except DiskFull:
            self.active_writer.give_up()
            self.save_expansion(self.positions)
            return None

    def save_remoteness(
        self, lists: PredecessorLists | ForwardPasses | None, bits: int, group: int, remoteness: int
    ) -> None:
        """Write a checkpoint after a remoteness has been propagated, if it is due.

        *group* is WIN_CLASS for wins and losses, or TIE_CLASS. Also loads the predecessor *lists*, or those of forward
        passes, into memory if they fit by now.
        """
        if lists:
            ties = scores_at(TIE_CLASS, 0, bits) * (group == WIN_CLASS)  # ties are propagated last
            unpropagated = scores_at(group, remoteness, bits) + ties
            lists.load_if_they_fit(self.arrays.scores, self.arrays.left, unpropagated)
        # With edges in memory alone, a killed solve must expand all positions again.
        if not self.active_writer or self.active_writer.on_disk:
            self.save_propagation(group, remoteness)

    def save_propagation(self, *frontier: int) -> None:
        """Write a checkpoint, if it is due.

        *frontier* is a class and a remoteness. Within a forward pass, it ends with the position below which parents
        have been updated.
        """
        if self.checkpoint.is_due:
            arrays, settled = (self.arrays[:2], 0) if self.active_writer else (self.arrays, 2)
            progress = TierProgress(self.positions, self.arrays.sums.itemsize, frontier)
            self.checkpoint.save(progress, arrays, settled)
