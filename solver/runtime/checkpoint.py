"""Checkpoints: a tier's progress and arrays, saved to scratch files now and then, so that a killed solve resumes.

Files alternate between two names: the old ones are deleted only after the journal knows the new ones. An array that has
*settled*, which means that it no longer changes, is written once::

    journal entry    edition | frame of the content
    content          progress | how many arrays have settled | frames of the first array, of the second, …
"""

import time
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Any, NamedTuple, Self

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.journal import pack_entry, read_entry
from retrograde.solver.runtime.log import EntryLog, decode, encode, frames_in
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work

BLOCK_BYTES = 1 << 22
"""Bytes of an array in a frame."""
SHARE = 20
"""Checkpoints take at most one part in this number of the time."""


class CheckpointEntry(NamedTuple):
    """Journal entry: checkpoint number `edition` was saved; `content` is its frame."""

    edition: int
    content: Frame


class CheckpointContent(NamedTuple):
    """The progress, and the frames of each array. The last `settled` arrays no longer change."""

    progress: Any
    settled: int
    arrays: list[list[Frame]]


class Checkpoint:
    """Saves checkpoints of a tier, and loads the last one of an earlier solve; a context manager.

    The progress is any value that `log.encode` takes, made of classes in *kinds*. Files that it names must be in
    `scratch`, a folder that is emptied when the tier is solved.
    """

    def __init__(self, work: Work, name: str, *kinds: type):
        self.work, self.kinds = work, (CheckpointContent, *kinds)
        self.scratch = Scratch(work.scratch / name, 0)
        self.log = EntryLog(work.log(name), self.scratch, CheckpointEntry)
        self.edition = 0
        self.last = CheckpointContent(None, 0, [])
        """The last checkpoint. Its progress is None if nothing was saved, or if files are missing."""
        self.synced: set[Frame] = set()
        """Frames that were synced for the last checkpoint."""
        self.obsolete: set[str] = set()
        """Names of files that only the last checkpoint refers to."""
        self.due = time.monotonic() + self.log.log.pause
        for entry in self.log.read():
            self.edition = entry.edition
        if self.edition:
            self.read(entry.content)

    def read(self, frame: Frame) -> None:
        """Set `last` to the checkpoint whose content is in *frame*, if no file is missing."""
        if not self.scratch.missing([frame]):
            entry = read_entry(BytesIO(self.scratch.read(frame)))
            content = decode(entry[1], self.kinds) if entry else self.last
            if not self.scratch.missing(frames_in(content)):
                self.last = content

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None and self.scratch.folder.exists():
            self.log.settle()  # the tier's journal entry must be on disk before its files go
            self.scratch.begin(fresh=True)

    @property
    def progress(self) -> Any:
        """The progress at the last checkpoint; None without one."""
        return self.last.progress

    @property
    def is_due(self) -> bool:
        """Whether a checkpoint is due: after the log's pause, or SHARE times the last one's time. Without a journal,
        never."""
        return self.log.log.journal is not None and time.monotonic() >= self.due

    def load(self, *arrays: Array | CompressedArray) -> None:
        """Fill arrays with their contents at the last checkpoint."""
        for array, frames in zip(arrays, self.last.arrays, strict=True):
            begin = 0
            for frame in frames:
                block = np.frombuffer(self.scratch.read(frame, once=True), array.dtype)
                array[begin : begin + len(block)] = block
                begin += len(block)

    def save(self, progress: Any, arrays: Sequence[Array | CompressedArray] = (), settled: int = 0) -> None:
        """Save progress and arrays, and delete the checkpoint before. The last *settled* arrays no longer change."""
        began = time.monotonic()
        self.scratch.begin(fresh=False)
        unsettled_before = len(arrays) - self.last.settled  # the others are on disk already
        names = [name_of(number, self.edition) for number in range(unsettled_before)] if self.edition else []
        self.obsolete.update(names, [name_of("progress", self.edition)])
        self.edition += 1
        frames = []
        for number, array in enumerate(arrays):
            if number >= unsettled_before:
                frames.append(self.last.arrays[number])
                continue
            # A settled array's name has no edition, so no later checkpoint makes it obsolete.
            edition = self.edition if number < len(arrays) - settled else None
            frames.append(self.write(name_of(number, edition), array))
        self.last = CheckpointContent(progress, settled, frames)
        # The files must be on disk before the journal names them, and the journal before the old files are deleted.
        needed = set(frames_in(self.last))
        self.scratch.sync(needed - self.synced)
        self.synced = needed
        self.scratch.drop(name := name_of("progress", self.edition))  # a kill may have left it incomplete
        content = self.scratch.write(name, b"".join(pack_entry(name, encode(self.last))))
        self.log.add(CheckpointEntry(self.edition, content))
        self.drop_obsolete()
        now = time.monotonic()
        self.due = now + max(self.log.log.pause, SHARE * (now - began))

    def write(self, name: str, array: Array | CompressedArray) -> list[Frame]:
        """Write an array to disk, in blocks of BLOCK_BYTES; return their frames."""

        def write_block(block: Array) -> Frame:
            return self.scratch.write(name, np.ascontiguousarray(block).view(np.uint8).data)

        self.scratch.drop(name)
        size, length = BLOCK_BYTES // array.dtype.itemsize, len(array)
        blocks = (array[begin : min(begin + size, length)] for begin in range(0, length, size))
        return list(self.work.map_here(write_block, blocks))

    def release(self, names: Iterable[str]) -> None:
        """Delete files that no later step reads: after the next checkpoint, or now if there is no journal."""
        self.obsolete.update(names)
        if self.log.log.journal is None:
            self.drop_obsolete()

    def drop_obsolete(self) -> None:
        """Delete the obsolete files."""
        while self.obsolete:
            self.scratch.drop(self.obsolete.pop())


def name_of(item: int | str, edition: int | None) -> str:
    """Return the name of the files of array number *item*, or of the progress; *edition* is None for settled arrays.

    >>> name_of(2, 7), name_of(2, None), name_of("progress", 8)
    ('array2-odd', 'array2-settled', 'progress-even')
    """
    kind = "settled"
    if edition is not None:
        kind = "odd" if edition % 2 else "even"
    return f"array{item}-{kind}" if isinstance(item, int) else f"{item}-{kind}"
