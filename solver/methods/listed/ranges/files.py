"""What is known of a range, in files: written once, each under a name of its own, and never changed.

    base      scores and what is left of all slots, one after another
    delta     slots uint32[n], and the same of these, as they are after a step

So a task that was run twice, or half, or so late that all has gone on, has done no harm: nobody is told of its files.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.values import propagation_kernels
from retrograde.solver.values.left import decided_from, left_type
from retrograde.solver.values.score import DRAW_CLASS, score_type

Array = np.ndarray[Any, Any]

MOST_DELTAS = 8
"""Deltas upon a base, at most..."""
MOST_CHANGED = 0.25
"""...and the share of all slots that they tell of. Then there is a new base."""
LEAST = 1 << 15
"""Bytes of updates that are worth files."""


class State(NamedTuple):
    """What is known of a range of so many slots, by scores of so many *bits* for plies: a base, and deltas upon it.

    `edition` counts the bases; `changed` is how many slots the deltas tell of.
    """

    number: int
    size: int
    bits: int
    base: Frame
    deltas: tuple[Frame, ...] = ()
    edition: int = 0
    changed: int = 0

    @property
    def name(self) -> str:
        """The name of its files."""
        return name_of(self.number, self.edition)

    def read(self, scratch: Scratch) -> tuple[Array, Array]:
        """Return scores and what is left, to be written to."""
        scores, left = (array.copy() for array in fields(scratch.read(self.base), self.bits, self.size))
        for delta in self.deltas:
            content = scratch.read(delta)
            count = len(content) // (4 + scores.itemsize + left.itemsize)
            slots = np.frombuffer(content, np.uint32, count)
            scores[slots], left[slots] = fields(content[4 * count :], self.bits, count)
        return scores, left

    def with_draws(self, scratch: Scratch) -> Array:
        """Return the scores once all else is decided."""
        scores, left = self.read(scratch)
        propagation_kernels.leave_draws(scores, left, decided_from(left), DRAW_CLASS << self.bits)
        return scores

    def after(self, scratch: Scratch, scores: Array, left: Array, slots: Array) -> "State":
        """Return the state after some slots have changed, which is written down."""
        if not len(slots):
            return self
        changed = self.changed + len(slots)
        if len(self.deltas) == MOST_DELTAS or changed > MOST_CHANGED * self.size:
            return written(scratch, self.number, self.edition + 1, scores, left, self.bits)
        content = joined(slots.astype(np.uint32), scores[slots], left[slots])
        delta = scratch.write(self.name, content, plain=True)
        return self._replace(deltas=(*self.deltas, delta), changed=changed)


def name_of(number: int, edition: int) -> str:
    """Return the name of the files of a range since it was written as a whole."""
    return f"range{number}.{edition}"


def written(scratch: Scratch, number: int, edition: int, scores: Array, left: Array, bits: int) -> State:
    """Return the state of a range that is written down as a whole."""
    base = scratch.write(name_of(number, edition), joined(scores, left), plain=True)
    return State(number, len(left), bits, base, edition=edition)


def joined(*arrays: Array) -> memoryview:
    """Return the bytes of some arrays one after another."""
    return np.concatenate([array.view(np.uint8) for array in arrays]).data


def fields(content: bytes | memoryview, bits: int, count: int) -> tuple[Array, Array]:
    """Return the scores and what is left of so many slots where they lie."""
    scores = np.frombuffer(content, score_type(bits), count)
    return scores, np.frombuffer(content, left_type(bits), count, scores.nbytes)


class Sections(NamedTuple):
    """What a task has found for each range: in frames of a name, or here where it is little.

    `rows` int64[ranges, 4] is where the frames are, all 0 for none; or int64[ranges + 1] where in what is *here* each
    begins and ends.
    """

    name: str
    rows: Array
    here: Array | None = None

    def ranges(self) -> list[int]:
        """Return the numbers of the ranges for which there is something."""
        there = self.rows[:, 2] if self.here is None else np.diff(self.rows)
        found: list[int] = np.flatnonzero(there).tolist()
        return found

    def of(self, number: int) -> "Section":
        """Return what there is for a range."""
        if self.here is not None:
            return self.here[self.rows[number] : self.rows[number + 1]]
        return self.frame(number)

    def frame(self, number: int) -> Frame:
        """Return the frame there is for a range."""
        return Frame(self.name, *self.rows[number].tolist())


Section = Frame | Array


def put(scratch: Scratch, name: str, pieces: list[Array], plain: bool) -> Sections:
    """Put aside a piece for each range."""
    nothing = Frame(name, 0, 0, 0, 0)
    frames = [scratch.write(name, piece.view(np.uint8).data, plain) if len(piece) else nothing for piece in pieces]
    return Sections(name, np.array([frame[1:] for frame in frames], np.int64))


def taken(scratch: Scratch, section: Section, dtype: Any) -> Array:
    """Return what was put aside for a range."""
    return np.frombuffer(scratch.read(section, once=True), dtype) if isinstance(section, Frame) else section
