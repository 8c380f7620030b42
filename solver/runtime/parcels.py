"""Parcels: what is too large for the wire goes through a folder that all share, and only its name over the wire.

A parcel is a file of its own: what was pickled, and then the arrays in it, each from a place divisible by 16 on.
Whoever opens it may be killed, and another one open it again; it is deleted by the process that solves.
"""

import pickle
import zlib
from contextlib import suppress
from io import FileIO
from itertools import accumulate, pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from retrograde.databases.errors import refused
from retrograde.solver.runtime.scratch import DamagedScratch, write_all

LEAST = 1 << 15
"""Bytes that are worth a file."""
ALIGNED = 16
"""What the places of arrays are divisible by."""


class Parcel(NamedTuple):
    """A file, with a checksum, in which things of such lengths lie one after another."""

    path: Path
    checksum: int
    lengths: tuple[int, ...]

    def open(self) -> Any:
        """Return what is in it; raise DamagedScratch where it is not what was put there."""
        bounds = bounds_of(self.lengths)
        content = memoryview(bytearray(bounds[-1]))
        done = 0
        with suppress(OSError), FileIO(self.path) as file:
            while more := file.readinto(content[done:]):
                done += more
        if done < len(content) or zlib.crc32(content) != self.checksum:
            raise DamagedScratch(f"the scratch file {str(self.path)!r} is damaged; the same command goes on")
        parts = [content[begin : begin + length] for begin, length in zip(bounds, self.lengths, strict=False)]
        return pickle.loads(parts[0], buffers=parts[1:])

    def drop(self) -> None:
        """Delete the file. (Where that cannot be done it does no harm.)"""
        with suppress(OSError):
            self.path.unlink()


def packed(content: Any, folder: Path | None) -> bytes | Parcel:
    """Return something pickled, or in a parcel where it is large and there is a folder for that; raise CannotWrite
    where it cannot be written."""
    arrays: list[pickle.PickleBuffer] = []
    first = pickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    parts: list[bytes | memoryview] = [first, *(array.raw() for array in arrays)]
    lengths = tuple(map(len, parts))
    if folder is None or sum(lengths) < LEAST:
        return pickle.dumps(content, pickle.HIGHEST_PROTOCOL) if arrays else first
    checksum = 0
    path = folder / token_hex(12)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileIO(path, "w") as file:
            for part, (begin, end) in zip(parts, pairwise(bounds_of(lengths)), strict=True):
                for piece in (part, bytes(end - begin - len(part))):
                    checksum = zlib.crc32(piece, checksum)
                    write_all(file, piece)
    except OSError as error:
        raise refused(f"to {str(folder)!r}", error) from error
    return Parcel(path, checksum, lengths)


def unpacked(sent: bytes | Parcel) -> Any:
    """Return what was packed."""
    return sent.open() if isinstance(sent, Parcel) else pickle.loads(sent)


def bounds_of(lengths: tuple[int, ...]) -> list[int]:
    """Return where things of such lengths begin, and where the last one ends, made up.

    >>> bounds_of((3, 16, 17))
    [0, 16, 32, 64]
    """
    return [*accumulate((-(-length // ALIGNED) * ALIGNED for length in lengths), initial=0)]
