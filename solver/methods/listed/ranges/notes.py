"""Notes: the progress of a solve by ranges, written now and then so that a killed solve resumes.

A note is a pickled object that names files whose contents never change. It has its own frame, and the journal says
where::

    journal entry    number of the note, fields of its frame
"""

import pickle
import time
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from retrograde.solver.methods.listed.predecessors.checkpoint import Pace
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work


class Notes:
    """Writes notes, and reads the last one of an earlier solve.

    Use it as a context manager: when the tier is solved, all its files are deleted.
    """

    def __init__(self, work: Work, scratch: Scratch, name: str):
        self.scratch, self.log = scratch, work.log(name)
        self.number = 0
        self.lasting: frozenset[Frame] = frozenset()
        """Frames that were synced to disk for the last note."""
        self.superfluous: set[str] = set()
        """Names of obsolete files that the last note may still refer to."""
        self.pace = Pace(self.log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            if self.number:
                self.log.settle()  # the tier's journal entry must be on disk before its files go
            self.scratch.begin(fresh=True)

    def last(self) -> Any:
        """Return the last note; None if there is none or its file is missing."""
        if not len(self.log.resumed):
            return None
        (row,) = self.log.resumed.entry(-1)
        self.log.resumed.clear()
        self.number, *place = row.tolist()
        frame = Frame(name_of(self.number), *place)
        return None if self.scratch.missing([frame]) else pickle.loads(self.scratch.read(frame, once=True))

    def write(self, note: Any, told: Iterable[Frame]) -> None:
        """Write a note that refers to some frames. Delete the files that only earlier notes refer to."""
        begun = time.monotonic()
        self.number += 1
        self.scratch.drop(name_of(self.number))
        frame = self.scratch.write(name_of(self.number), pickle.dumps(note, pickle.HIGHEST_PROTOCOL))
        frames = frozenset(told)
        self.scratch.sync((frames - self.lasting) | {frame})
        self.lasting = frames
        self.log.add((np.array([self.number, *frame[1:]], np.int64),))
        self.log.settle()
        for name in self.superfluous:
            self.scratch.drop(name)
        self.superfluous.clear()
        self.pace.done(begun)

    def leave(self, names: Iterable[str]) -> None:
        """Delete files that no later step reads.

        Without a journal they are deleted at once, otherwise after the next note.
        """
        self.superfluous.update(names)
        if self.log.journal is None:
            for name in self.superfluous:
                self.scratch.drop(name)
            self.superfluous.clear()


def name_of(number: int) -> str:
    """Return the name of the frame of a note. Two names alternate."""
    return f"note{number % 2}"
