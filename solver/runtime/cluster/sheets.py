"""Sheets: the planes of a whole wave in one file, which workers of one machine read where the system has it.

A sheet has room for a bit of each plane for each position of all words of the wave, chunk after chunk::

    planes    uint64[planes, words + 1]

Nothing is squeezed into it, and nothing copied out of it. A task writes what it has made in a piece, at its place: what
runs twice, or too late, writes the same bytes there. There is no checksum. Written bytes outlive the processes, not the
machine; so a sheet is a frame of its own kind that says by which start of which machine it was written, and another one
does not take it.
"""

import zlib
from functools import lru_cache
from io import FileIO
from pathlib import Path
from secrets import randbits
from typing import Any

import numpy as np

from retrograde.solver.runtime.cluster.machine import boot, machine
from retrograde.solver.runtime.scratch import Frame, Scratch, write_all

Array = np.ndarray[Any, Any]


def stamp() -> int:
    """Return a number of this start of this machine."""
    return zlib.crc32(machine().encode())


def can_be_had() -> bool:
    """Tell whether it is known here which start of the machine this is."""
    return bool(boot())


def is_sheet(where: Any) -> bool:
    """Tell whether planes are in a sheet, of which the token is even; those of other writers are odd."""
    return isinstance(where, Frame) and where.token % 2 == 0


def new_sheet(scratch: Scratch, name: str, planes: int, words: int) -> Frame:
    """Return a sheet with room for so many planes of so many words; raise CannotWrite where there can be none."""
    frame = Frame(name, randbits(61) << 1, 0, 8 * planes * (words + 1), stamp())
    try:
        with FileIO(scratch.folder / frame.file, "w") as file:
            file.truncate(frame.packed)
    except OSError as error:
        raise scratch.cannot_write(error) from error
    return frame


def write_stretch(scratch: Scratch, sheet: Frame, word: int, planes: Array) -> None:
    """Write the planes of some words, from one on."""
    row = sheet.packed // len(planes)
    try:
        with FileIO(scratch.folder / sheet.file, "r+") as file:
            for number, plane in enumerate(planes):
                file.seek(number * row + 8 * word)
                write_all(file, plane.view(np.uint8).data)
    except OSError as error:
        raise scratch.cannot_write(error) from error


def read_sheet(scratch: Scratch, sheet: Frame, planes: int) -> Array:
    """Return all planes where they lie; raise DamagedScratch where they are not there, or another start of a machine
    has written them."""
    if sheet.size != stamp():
        raise scratch.damaged(sheet)
    try:
        return mapped(scratch.folder / sheet.file, planes, sheet.packed // (8 * planes))
    except (OSError, ValueError) as error:
        raise scratch.damaged(sheet) from error


@lru_cache(1)
def mapped(path: Path, planes: int, words: int) -> Array:
    """Return what is in the file of a sheet. (It could be written to: kernels are compiled anew for others.)"""
    return np.memmap(path, np.uint64, "r+", shape=(planes, words)).view(np.ndarray)
