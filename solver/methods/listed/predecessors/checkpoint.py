"""Checkpoints: what arrays hold while a tier is solved, now and then put aside in scratch files, so that a kill loses
little.

A checkpoint is some numbers, which say how far the work has come, and the contents of the arrays, in frames of a folder
of its own. Each array is written under two names in turns: what was there before is deleted only once the journal knows
of the new one. An array that has *settled*, and does not change any more, is written once::

    journal entry    edition, settled, numbers … | frames of the first array | frames of the second | …
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from retrograde.solver.runtime.arrays import Compressed
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]

PIECE = 1 << 22
"""Bytes of an array in a frame."""
SHARE = 20
"""What is put aside takes one part in so many of the time, at most."""


class Pace:
    """When it is time to put something aside again: after the pause of a log, and SHARE times as long as it took."""

    def __init__(self, log: Log):
        self.log = log
        self.due = time.monotonic() + log.pause

    @property
    def is_due(self) -> bool:
        """Whether so much has been done since the last time that it is worth being put aside."""
        return self.log.journal is not None and time.monotonic() >= self.due

    def done(self, begun: float) -> None:
        """Note that something has been put aside, which was begun at a time of the monotonic clock."""
        now = time.monotonic()
        self.due = now + max(self.log.pause, SHARE * (now - begun))


class Piece(NamedTuple):
    """The task of putting a stretch of an array aside."""

    scratch: Scratch
    name: str
    content: Array


def put_aside(piece: Piece) -> Frame:
    """Put a stretch of an array aside."""
    return piece.scratch.write(piece.name, np.ascontiguousarray(piece.content).view(np.uint8).data)


class Checkpoint:
    """Puts aside what arrays hold, and reads what another solve has put aside last.

    It is a context manager: once what it is about has come to its end, nothing of it is kept.
    """

    def __init__(self, work: Work, name: str):
        self.work = work
        self.log = work.log(name)
        self.scratch = Scratch(work.scratch / name, 0)
        self.edition = 0
        self.numbers: list[int] = []
        """How far the work had come at the last checkpoint; nothing where there was none, or its files are gone."""
        self.frames: list[list[Frame]] = []
        """By array, where it was put aside last."""
        self.settled = 0
        """How many arrays, the last ones, had settled then."""
        self.pace = Pace(self.log)
        if len(self.log.resumed):
            self.take_up(self.log.resumed.entry(-1))
            self.log.resumed.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            if self.edition:
                self.log.settle()  # what the journal knows of the whole tier lasts before this is gone
            shutil.rmtree(self.scratch.folder, ignore_errors=True)

    def take_up(self, entry: Sequence[Array]) -> None:
        """Take up what the journal says of the last checkpoint, if its files are still there."""
        (edition, settled, *numbers), *listed = (each.tolist() for each in entry)
        frames = [
            [Frame(name_of(number, edition if number < len(listed) - settled else 0), *row) for row in rows_of(each)]
            for number, each in enumerate(listed)
        ]
        if not self.scratch.missing(frame for some in frames for frame in some):
            self.edition, self.settled, self.numbers, self.frames = edition, settled, numbers, frames

    def fill(self, *arrays: Array | Compressed) -> None:
        """Write to arrays, from their front, what they held at the last checkpoint."""
        for array, frames in zip(arrays, self.frames, strict=True):
            begin = 0
            for frame in frames:
                piece = np.frombuffer(self.scratch.read(frame), array.dtype)
                array[begin : begin + len(piece)] = piece
                begin += len(piece)

    def write(self, numbers: list[int], arrays: Sequence[Array | Compressed], settled: int = 0) -> None:
        """Put aside how far the work has come, and what arrays hold; so many, the last ones, have settled."""
        begun = time.monotonic()
        self.scratch.begin(fresh=False)
        changing = len(arrays) - settled
        frames = [
            self.frames[number] if number >= len(arrays) - self.settled
            else self.put(name_of(number, self.edition + 1 if number < changing else 0), array)
            for number, array in enumerate(arrays)
        ]  # fmt: skip
        self.scratch.sync(frame for some in frames for frame in some)
        rows = (np.array([frame[1:] for frame in some], np.int64).ravel() for some in frames)
        self.log.add((np.array([self.edition + 1, settled, *numbers], np.int64), *rows))
        self.log.settle()
        for number in range(len(arrays) - self.settled if self.edition else 0):
            self.scratch.drop(name_of(number, self.edition))
        self.edition, self.settled, self.numbers, self.frames = self.edition + 1, settled, numbers, frames
        self.pace.done(begun)

    def put(self, name: str, array: Array | Compressed) -> list[Frame]:
        """Put an array aside under a name; return its frames."""
        self.scratch.drop(name)  # what a kill has left half-written
        return list(self.work.map_here(put_aside, self.pieces(name, array)))

    def pieces(self, name: str, array: Array | Compressed) -> Iterator[Piece]:
        """Yield the tasks of putting an array aside."""
        size = PIECE // array.dtype.itemsize
        for begin in range(0, len(array), size):
            yield Piece(self.scratch, name, array[begin : min(begin + size, len(array))])


def name_of(number: int, edition: int) -> str:
    """Return the name of the frames of an array in a checkpoint; edition 0 for one that has settled."""
    return f"array{number}-{'settled' if edition == 0 else 'odd' if edition % 2 else 'even'}"


def rows_of(numbers: list[int]) -> Iterator[list[int]]:
    """Yield what the journal says of each frame."""
    return (numbers[at : at + 4] for at in range(0, len(numbers), 4))
