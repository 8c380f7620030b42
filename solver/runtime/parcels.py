"""Sends large data through a shared folder, and only the file's name over the network.

A parcel is a file with a pickle, followed by the arrays in it, each at an offset divisible by 16. A worker that opens
it may be killed, and another opens it again. The process that solves deletes it.
"""

import pickle
import zlib
from contextlib import suppress
from io import FileIO
from itertools import accumulate, pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from retrograde.databases.errors import expect_disk
from retrograde.solver.runtime.scratch import DamagedScratch, write_all

LEAST = 1 << 15
"""Bytes from which data go into a file."""
ALIGNED = 16
"""Each array begins at an offset divisible by this."""


class Parcel(NamedTuple):
    """A file with a checksum; `lengths` are those of the pickle and the arrays in it."""

    path: Path
    checksum: int
    lengths: tuple[int, ...]

    def open(self) -> Any:
        """Return the content; raise DamagedScratch if the checksum is wrong."""
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
        """Delete the file; if that fails it does no harm."""
        with suppress(OSError):
            self.path.unlink()


def pack(content: Any, folder: Path | None) -> bytes | Parcel:
    """Return *content* pickled, or a parcel in *folder* if it is large; raise CannotWrite if that fails."""
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    parts: list[bytes | memoryview] = [pickled, *(array.raw() for array in arrays)]
    lengths = tuple(map(len, parts))
    if folder is None or sum(lengths) < LEAST:
        return pickle.dumps(content, pickle.HIGHEST_PROTOCOL) if arrays else pickled  # *pickled* is without the arrays
    # Large: write the pickle and the arrays, each padded to a multiple of 16 bytes.
    checksum = 0
    path = folder / token_hex(12)
    with expect_disk(f"to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        with FileIO(path, "w") as file:
            for part, (begin, end) in zip(parts, pairwise(bounds_of(lengths)), strict=True):
                for data in (part, bytes(end - begin - len(part))):
                    checksum = zlib.crc32(data, checksum)
                    write_all(file, data)
    return Parcel(path, checksum, lengths)


def unpack(sent: bytes | Parcel) -> Any:
    """Return the content that `pack` was given."""
    return sent.open() if isinstance(sent, Parcel) else pickle.loads(sent)


def bounds_of(lengths: tuple[int, ...]) -> list[int]:
    """Return the offsets of items of these lengths, each padded to a multiple of 16, and the end of the last.

    >>> bounds_of((3, 16, 17))
    [0, 16, 32, 64]
    """
    return [*accumulate((-(-length // ALIGNED) * ALIGNED for length in lengths), initial=0)]  # -(-a // b) rounds up
