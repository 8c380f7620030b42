"""Notes: what the one who solves by ranges must know to go on, now and then put aside, so that a kill loses little.

A note is an object with the places of files, whose contents never change, in a frame of its own; the journal says
where::

    journal entry    number of the note, and where its frame is
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
    """Writes notes, and reads the last one of another solve. It is a context manager: once what they are about has come
    to its end, all files are deleted."""

    def __init__(self, work: Work, scratch: Scratch, name: str):
        self.scratch, self.log = scratch, work.log(name)
        self.number = 0
        self.lasting: frozenset[Frame] = frozenset()
        """Frames that have been synced for the last note."""
        self.superfluous: set[str] = set()
        """Names of files of which the last note may still tell."""
        self.pace = Pace(self.log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            if self.number:
                self.log.settle()  # what the journal knows of the whole tier lasts before this is gone
            self.scratch.begin(fresh=True)

    def last(self) -> Any:
        """Return the last note; None where there is none."""
        if not len(self.log.resumed):
            return None
        (row,) = self.log.resumed.entry(-1)
        self.log.resumed.clear()
        self.number, *place = row.tolist()
        frame = Frame(name_of(self.number), *place)
        return None if self.scratch.missing([frame]) else pickle.loads(self.scratch.read(frame, once=True))

    def write(self, note: Any, told: Iterable[Frame]) -> None:
        """Write a note that tells of some frames, and delete what only those before have told of."""
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
        """Delete files that no later step reads: at once where nothing is noted, else behind the next note."""
        self.superfluous.update(names)
        if self.log.journal is None:
            for name in self.superfluous:
                self.scratch.drop(name)
            self.superfluous.clear()


def name_of(number: int) -> str:
    """Return the name of the frame of a note."""
    return f"note{number % 2}"
