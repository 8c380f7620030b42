"""Checkpoints: the arrays of a tier, written to scratch files now and then, so that a killed solve resumes.

A checkpoint is a few numbers, which describe the progress, and the contents of the arrays, in frames of its own folder.
Each array alternates between two names: the old file is deleted only after the journal knows the new one. An array that
has *settled*, which means that it no longer changes, is written once::

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
"""Checkpoints take at most one part in this number of the time."""


class Pace:
    """Decides when the next checkpoint is due.

    It is due after the pause of the log, or SHARE times as long as the last one took, whichever is later.
    """

    def __init__(self, log: Log):
        self.log = log
        self.due = time.monotonic() + log.pause

    @property
    def is_due(self) -> bool:
        """Whether it is time for another checkpoint. Never without a journal."""
        return self.log.journal is not None and time.monotonic() >= self.due

    def done(self, begun: float) -> None:
        """Record that a checkpoint was written that began at *begun*, a time of the monotonic clock."""
        now = time.monotonic()
        self.due = now + max(self.log.pause, SHARE * (now - begun))


class Piece(NamedTuple):
    """Task: write a block of an array to disk."""

    scratch: Scratch
    name: str
    content: Array


def put_aside(piece: Piece) -> Frame:
    """Write a block of an array to disk; return its frame."""
    return piece.scratch.write(piece.name, np.ascontiguousarray(piece.content).view(np.uint8).data)


class Checkpoint:
    """Writes checkpoints of arrays, and reads the last one of an earlier solve.

    Use it as a context manager: when the tier is solved, its files are deleted.
    """

    def __init__(self, work: Work, name: str):
        self.work = work
        self.log = work.log(name)
        self.scratch = Scratch(work.scratch / name, 0)
        self.edition = 0
        self.numbers: list[int] = []
        """The progress at the last checkpoint. Empty if there is none or its files are missing."""
        self.frames: list[list[Frame]] = []
        """The frames of each array at the last checkpoint."""
        self.settled = 0
        """How many arrays, the last ones, had settled by then."""
        self.pace = Pace(self.log)
        if len(self.log.resumed):
            self.take_up(self.log.resumed.entry(-1))
            self.log.resumed.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            if self.edition:
                self.log.settle()  # the tier's journal entry must be on disk before its files go
            shutil.rmtree(self.scratch.folder, ignore_errors=True)

    def take_up(self, entry: Sequence[Array]) -> None:
        """Load the last checkpoint from its journal entry, if its files still exist."""
        (edition, settled, *numbers), *listed = (each.tolist() for each in entry)
        frames = [
            [Frame(name_of(number, edition if number < len(listed) - settled else 0), *row) for row in rows_of(each)]
            for number, each in enumerate(listed)
        ]
        if not self.scratch.missing(frame for some in frames for frame in some):
            self.edition, self.settled, self.numbers, self.frames = edition, settled, numbers, frames

    def fill(self, *arrays: Array | Compressed) -> None:
        """Fill arrays, from their front, with the contents of the last checkpoint."""
        for array, frames in zip(arrays, self.frames, strict=True):
            begin = 0
            for frame in frames:
                piece = np.frombuffer(self.scratch.read(frame), array.dtype)
                array[begin : begin + len(piece)] = piece
                begin += len(piece)

    def write(self, numbers: list[int], arrays: Sequence[Array | Compressed], settled: int = 0) -> None:
        """Write a checkpoint: the progress in *numbers*, and the arrays; the last *settled* arrays no longer change."""
        begun = time.monotonic()
        self.scratch.begin(fresh=False)
        changing = len(arrays) - settled
        # Arrays that had settled before are on disk already.
        frames = [
            self.frames[number] if number >= len(arrays) - self.settled
            else self.put(name_of(number, self.edition + 1 if number < changing else 0), array)
            for number, array in enumerate(arrays)
        ]  # fmt: skip
        # The files must be on disk before the journal names them, and the journal before the old files are deleted.
        self.scratch.sync(frame for some in frames for frame in some)
        rows = (np.array([frame[1:] for frame in some], np.int64).ravel() for some in frames)
        self.log.add((np.array([self.edition + 1, settled, *numbers], np.int64), *rows))
        self.log.settle()
        for number in range(len(arrays) - self.settled if self.edition else 0):
            self.scratch.drop(name_of(number, self.edition))
        self.edition, self.settled, self.numbers, self.frames = self.edition + 1, settled, numbers, frames
        self.pace.done(begun)

    def put(self, name: str, array: Array | Compressed) -> list[Frame]:
        """Write an array to disk under a name; return its frames."""
        self.scratch.drop(name)  # a kill may have left it incomplete
        return list(self.work.map_here(put_aside, self.pieces(name, array)))

    def pieces(self, name: str, array: Array | Compressed) -> Iterator[Piece]:
        """Yield the tasks of writing an array to disk."""
        size = PIECE // array.dtype.itemsize
        for begin in range(0, len(array), size):
            yield Piece(self.scratch, name, array[begin : min(begin + size, len(array))])


def name_of(number: int, edition: int) -> str:
    """Return the name of the files of an array in a checkpoint. Edition 0 stands for a settled array."""
    return f"array{number}-{'settled' if edition == 0 else 'odd' if edition % 2 else 'even'}"


def rows_of(numbers: list[int]) -> Iterator[list[int]]:
    """Yield the fields of each frame from a flat journal array."""
    return (numbers[at : at + 4] for at in range(0, len(numbers), 4))
