"""The state of a tier with cycles while it is solved, and its checkpoints.

A tier is solved in two stages: expand all positions, in order, then propagate outcomes, one remoteness at a time.
Checkpoints are written between two blocks of positions or between two remotenesses. The numbers of a checkpoint::

    positions expanded | bytes of a checksum of parents | class | remoteness | positions whose parents are updated
                                                          '- while propagating -'  '- only within a forward pass -'

With predecessor lists, the edges and the initial scores and counters have their own files and journal entries, so that
a checkpoint has only scores and counters. If predecessor lists were given up for lack of space, checkpoints are written
within forward passes, too (see passes.py).
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.databases.errors import DiskFull
from retrograde.solver.methods.listed.predecessors.checkpoint import Checkpoint
from retrograde.solver.methods.listed.predecessors.links import Links, LinkWriter
from retrograde.solver.methods.listed.predecessors.passes import Passes
from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.values.propagation import scores_at
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS

Array = np.ndarray[Any, Any]


class Known(NamedTuple):
    """Arrays about the positions of a tier.

    `scores`; `left`, the undecided-children counters (see values/score.py); `sizes`, the numbers of symmetric
    positions; `sums`, checksums of the parents (see values/edges.py), empty if predecessor lists are used.
    """

    scores: Array
    left: Array
    sizes: Array | Compressed
    sums: Array


class State(NamedTuple):
    """The arrays of a tier, the writer of its edges (None if the rules give parents), and its checkpoint."""

    checkpoint: Checkpoint
    known: Known
    writer: LinkWriter | None

    @property
    def links(self) -> LinkWriter | None:
        """The writer of edges. None if there is none, or if predecessor lists have been given up."""
        return None if self.writer and self.writer.log.forgone else self.writer

    @property
    def positions(self) -> int:
        """The number of positions of the tier."""
        return len(self.known.scores)

    def taken_up(self) -> tuple[int, list[int]]:
        """Resume: fill the arrays from the checkpoint of an earlier solve.

        Returns the number of positions that are expanded, and where propagation resumes: [class, remoteness], with a
        third number within a forward pass, or nothing for the start.
        """
        done, _, *marked = self.checkpoint.numbers or (0, 0)
        # With predecessor lists, initial scores and counters come from their journal; a checkpoint matters only in
        # propagation.
        if self.links:
            done = self.links.done
            if done < self.positions or not marked:
                return done, []
        arrays = self.known[:2] if self.links else self.known
        if not done or len(self.checkpoint.frames) != len(arrays):  # written before lists were given up
            return 0, []
        self.checkpoint.fill(*arrays)
        return done, marked

    def looked(self, done: int) -> None:
        """Write a checkpoint after *done* positions have been expanded, if it is due."""
        if self.checkpoint.pace.is_due and not self.links:
            scores, left, sizes, sums = self.known
            so_far = sizes if isinstance(sizes, Compressed) else sizes[:done]
            self.checkpoint.write([done, sums.itemsize], (scores[:done], left[:done], so_far, sums))

    def turned_round(self) -> Links | None:
        """Return the predecessor lists once all positions are expanded. None if there are none or the disk is full."""
        if not self.links:
            return None
        try:
            return self.links.turned_round()
        except DiskFull:
            self.links.forgo()
            self.looked(self.positions)
            return None

    def decided(self, there: Links | Passes | None, bits: int, group: int, remoteness: int) -> None:
        """Write a checkpoint after a remoteness has been propagated, if it is due.

        *group* is WIN_CLASS for wins and losses, or TIE_CLASS. Also loads the predecessor lists in *there*, or from
        forward passes, into memory if they fit by now.
        """
        if there:
            ties = scores_at(TIE_CLASS, 0, bits) * (group == WIN_CLASS)  # ties are propagated last
            there.keep(self.known.scores, self.known.left, scores_at(group, remoteness, bits) + ties)
        if self.checkpoint.pace.is_due and not (self.links and self.links.in_memory_alone):
            arrays, settled = (self.known[:2], 0) if self.links else (self.known, 2)
            self.checkpoint.write([self.positions, self.known.sums.itemsize, group, remoteness], arrays, settled)

    def paused(self, group: int, remoteness: int, end: int) -> None:
        """Write a checkpoint within a forward pass, if it is due.

        *group* and *remoteness* are those of the frontier. Parents below position *end* have been updated.
        """
        if self.checkpoint.pace.is_due:
            self.checkpoint.write([self.positions, self.known.sums.itemsize, group, remoteness, end], self.known, 2)
