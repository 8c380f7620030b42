"""Sheets: a whole wave's planes in one file, which the workers of one machine map into memory.

A plane has a bit for each position of all words of the wave, chunk after chunk::

    planes    uint64[planes, words + 1]

Nothing is compressed or copied. A task writes its part at its offset, so that a task that runs twice, or too late,
writes the same bytes there. There is no checksum. Written bytes survive the processes but not the machine. So a sheet's
frame says which boot of which machine wrote it, and others refuse it.
"""

import zlib
from functools import lru_cache
from io import FileIO
from pathlib import Path
from secrets import randbits
from typing import Any

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.cluster.site import boot, machine
from retrograde.solver.runtime.scratch import Frame, Scratch, write_all


def stamp() -> int:
    """Return a number that identifies this boot of this machine."""
    return zlib.crc32(machine().encode())


def are_usable() -> bool:
    """Return whether sheets can be used: the boot of this machine must be known."""
    return bool(boot())


def is_sheet(location: Any) -> bool:
    """Return whether planes are in a sheet: its token is even, those of other writers are odd."""
    return isinstance(location, Frame) and location.token % 2 == 0


def new_sheet(scratch: Scratch, name: str, planes: int, words: int) -> Frame:
    """Create a sheet for *planes* planes of *words* words; raise CannotWrite if that fails."""
    frame = Frame(name, randbits(61) << 1, 0, 8 * planes * (words + 1), stamp())
    with scratch.expect_disk(), FileIO(scratch.folder / frame.file, "w") as file:
        file.truncate(frame.packed)
    return frame


def write_words(scratch: Scratch, sheet: Frame, word: int, planes: Array) -> None:
    """Write the planes of a range of words that begins at number *word*."""
    plane_bytes = sheet.packed // len(planes)
    with scratch.expect_disk(), FileIO(scratch.folder / sheet.file, "r+") as file:
        for number, plane in enumerate(planes):
            file.seek(number * plane_bytes + 8 * word)
            write_all(file, plane.view(np.uint8).data)


def read_sheet(scratch: Scratch, sheet: Frame, planes: int) -> Array:
    """Return all planes, mapped from the file; raise DamagedScratch if it is missing or from another boot."""
    if sheet.size != stamp():
        raise scratch.damaged(sheet)
    try:
        return map_planes(scratch.folder / sheet.file, planes, sheet.packed // (8 * planes))
    except (OSError, ValueError) as error:
        raise scratch.damaged(sheet) from error


@lru_cache(1)
def map_planes(path: Path, planes: int, words: int) -> Array:
    """Return a sheet's planes. They are writable, because kernels would be compiled again for read-only arrays."""
    return np.memmap(path, np.uint64, "r+", shape=(planes, words)).view(np.ndarray)
