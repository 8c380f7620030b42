"""The state of a range, in files. Each is written once, under its own name, and never changed.

    base      scores and counters of all slots, one array after the other
    delta     slots uint32[n], then their scores and counters after a step

So a task that runs twice, partly, or too late does no harm: its files are ignored.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.values import propagation_kernels
from retrograde.solver.values.score import DRAW_CLASS, counter_type, decided_from, score_type

Array = np.ndarray[Any, Any]

MOST_DELTAS = 8
"""Deltas on a base, at most."""
MOST_CHANGED = 0.25
"""Share of all slots that deltas may change, at most. Beyond either limit a new base is written."""
LEAST = 1 << 15
"""Bytes of updates that are worth a file; fewer are sent with the result."""


class RangeState(NamedTuple):
    """The state of a range of *size* slots: the frames of a base and of the deltas on it.

    Scores have *bits* bits for plies. `edition` counts the bases; `changed` is the number of slots in deltas.
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
        """The name of the range's files."""
        return name_of(self.number, self.edition)

    def read(self, scratch: Scratch) -> tuple[Array, Array]:
        """Return copies of the scores and the undecided-children counters."""
        scores, left = (array.copy() for array in split_fields(scratch.read(self.base), self.bits, self.size))
        for delta in self.deltas:
            content = scratch.read(delta)
            count = len(content) // (4 + scores.itemsize + left.itemsize)
            slots = np.frombuffer(content, np.uint32, count)
            scores[slots], left[slots] = split_fields(content[4 * count :], self.bits, count)
        return scores, left

    def with_draws(self, scratch: Scratch) -> Array:
        """Return the final scores: every undecided slot becomes a draw."""
        scores, left = self.read(scratch)
        propagation_kernels.leave_draws(scores, left, decided_from(left), DRAW_CLASS << self.bits)
        return scores

    def update(self, scratch: Scratch, scores: Array, left: Array, slots: Array) -> "RangeState":
        """Write the changed *slots* of a range to disk and return its new state."""
        if not len(slots):
            return self
        changed = self.changed + len(slots)
        if len(self.deltas) == MOST_DELTAS or changed > MOST_CHANGED * self.size:
            return write_base(scratch, self.number, self.edition + 1, scores, left, self.bits)
        content = to_bytes(slots.astype(np.uint32), scores[slots], left[slots])
        delta = scratch.write(self.name, content, plain=True)
        return self._replace(deltas=(*self.deltas, delta), changed=changed)


def name_of(number: int, edition: int) -> str:
    """Return the name of the files of a range with this edition of its base."""
    return f"range{number}.{edition}"


def write_base(scratch: Scratch, number: int, edition: int, scores: Array, left: Array, bits: int) -> RangeState:
    """Write a base of a range to disk and return its state."""
    base = scratch.write(name_of(number, edition), to_bytes(scores, left), plain=True)
    return RangeState(number, len(left), bits, base, edition=edition)


def to_bytes(*arrays: Array) -> memoryview:
    """Return the bytes of some arrays, concatenated."""
    return np.concatenate([array.view(np.uint8) for array in arrays]).data


def split_fields(content: bytes | memoryview, bits: int, count: int) -> tuple[Array, Array]:
    """Return views of the scores and counters of *count* slots in *content*."""
    scores = np.frombuffer(content, score_type(bits), count)
    return scores, np.frombuffer(content, counter_type(bits), count, scores.nbytes)


class RangeResults(NamedTuple):
    """The results of a task for each range: in frames, or *here* in memory if they are small.

    In frames: `rows` int64[ranges, 4] are the fields of a frame after its name, all 0 for no frame. In memory: `rows`
    int64[ranges + 1] are the bounds of each range's part in *here*.
    """

    name: str
    rows: Array
    here: Array | None = None

    def ranges(self) -> list[int]:
        """Return the numbers of the ranges that have a result."""
        there = self.rows[:, 2] if self.here is None else np.diff(self.rows)
        found: list[int] = np.flatnonzero(there).tolist()
        return found

    def result(self, number: int) -> "RangeResult":
        """Return the result for a range: an array or a frame."""
        if self.here is not None:
            return self.here[self.rows[number] : self.rows[number + 1]]
        return self.frame(number)

    def frame(self, number: int) -> Frame:
        """Return the frame for a range."""
        return Frame(self.name, *self.rows[number].tolist())

    def all_frames(self) -> Iterator[Frame]:
        """Yield the frames of all ranges, for checkpoints (see runtime/log.py)."""
        return map(self.frame, self.ranges() if self.here is None else ())


RangeResult = Frame | Array


def write_results(scratch: Scratch, name: str, parts: list[Array], plain: bool) -> RangeResults:
    """Write a part for each range to disk."""
    nothing = Frame(name, 0, 0, 0, 0)
    frames = [scratch.write(name, part.view(np.uint8).data, plain) if len(part) else nothing for part in parts]
    return RangeResults(name, np.array([frame[1:] for frame in frames], np.int64))


def read_result(scratch: Scratch, result: RangeResult, dtype: Any) -> Array:
    """Return a result as an array."""
    return np.frombuffer(scratch.read(result, once=True), dtype) if isinstance(result, Frame) else result
