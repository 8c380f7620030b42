"""The state of a tier with cycles while it is solved, and what of it is put aside, so that a kill loses little.

All children are looked at once, position by position, and then outcomes are passed back, remoteness by remoteness. The
state is put aside between two blocks of positions, or two remotenesses, by a checkpoint with the numbers::

    positions looked at | bytes of a sum about parents | class | remoteness | positions told to their parents
                                                         once outcomes are passed back, and within a pass

Where there are links these are put aside for themselves, with what is known when all children have been looked at;
where they are forgone, for there is no room for them, it is as if there had never been any, and the state is put aside
within a pass (see passes.py) as well.
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
    """What is known of the positions of a tier: scores, how much is left of each (see values/left.py), and how many
    are symmetric to it; and sums about their parents (see values/edges.py), none where there are links."""

    scores: Array
    left: Array
    sizes: Array | Compressed
    sums: Array


class State(NamedTuple):
    """What is *known* of a tier, the *writer* of its links if there are to be any, and where it is put aside."""

    checkpoint: Checkpoint
    known: Known
    writer: LinkWriter | None

    @property
    def links(self) -> LinkWriter | None:
        """What takes the links; None where there are none, or they are forgone."""
        return None if self.writer and self.writer.log.forgone else self.writer

    @property
    def positions(self) -> int:
        """How many positions there are."""
        return len(self.known.scores)

    def taken_up(self) -> tuple[int, list[int]]:
        """Fill what is known with what another solve has put aside; return how many positions were looked at, and the
        class and remoteness from which to pass back outcomes, and within a pass where in it, or nothing."""
        done, _, *marked = self.checkpoint.numbers or (0, 0)
        if self.links:
            done = self.links.done
            if done < self.positions or not marked:
                return done, []
        arrays = self.known[:2] if self.links else self.known
        if not done or len(self.checkpoint.frames) != len(arrays):  # one of the time before links were forgone
            return 0, []
        self.checkpoint.fill(*arrays)
        return done, marked

    def looked(self, done: int) -> None:
        """Put the state aside once so many positions have been looked at, if it is time."""
        if self.checkpoint.pace.is_due and not self.links:
            scores, left, sizes, sums = self.known
            so_far = sizes if isinstance(sizes, Compressed) else sizes[:done]
            self.checkpoint.write([done, sums.itemsize], (scores[:done], left[:done], so_far, sums))

    def turned_round(self) -> Links | None:
        """Return the links, once all positions have been looked at; None where there are none, or no room for them."""
        if not self.links:
            return None
        try:
            return self.links.turned_round()
        except DiskFull:
            self.links.forgo()
            self.looked(self.positions)
            return None

    def decided(self, there: Links | Passes | None, bits: int, group: int, remoteness: int) -> None:
        """Put the state aside once outcomes of a class have been passed back up to a remoteness, if it is time; keep
        in memory the links that are *there*, or that passes find, if they fit by now."""
        if there:
            ties = scores_at(TIE_CLASS, 0, bits) * (group == WIN_CLASS)  # which come last
            there.keep(self.known.scores, self.known.left, scores_at(group, remoteness, bits) + ties)
        if self.checkpoint.pace.is_due and not (self.links and self.links.in_memory_alone):
            arrays, settled = (self.known[:2], 0) if self.links else (self.known, 2)
            self.checkpoint.write([self.positions, self.known.sums.itemsize, group, remoteness], arrays, settled)

    def paused(self, group: int, remoteness: int, end: int) -> None:
        """Put the state aside within a pass, once parents up to one position have been told of what was decided in some
        class and remoteness, if it is time."""
        if self.checkpoint.pace.is_due:
            self.checkpoint.write([self.positions, self.known.sums.itemsize, group, remoteness, end], self.known, 2)
