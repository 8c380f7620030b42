"""Writes certificates: sorted positions, each with the number of its reply."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases import layout
from retrograde.databases.checked import rows_ascend
from retrograde.databases.encoding import compressor, pack, to_planes
from retrograde.databases.frames import FileWriter
from retrograde.games import Value


@dataclass(frozen=True)
class SolvedCertificate:
    """A claim about the root's value, for the player to move there, and the strategies that prove it."""

    root: Any
    """The position whose value is proved: an int, or a tuple of ints."""
    at_least: Value
    at_most: Value
    leaves: int
    """The most plies that a verifier must search for positions that are left out: 0 or an odd number."""
    positions: NDArray[np.int64]
    """Canonical positions, ascending: int64[n] or, if they are tuples, int64[n, words]."""
    replies: NDArray[np.int64]
    """The number of each position's move, in the order in which the rules generate moves."""
    bounds: NDArray[np.int64] | None = None
    """Plies within which the player to move wins. None if the game must end anyway, or the goal is no win."""


def write_replies(writer: FileWriter, solved: SolvedCertificate) -> None:
    """Write positions with their replies, and the table of blocks."""
    count, bounds = len(solved.positions), solved.bounds is not None
    chunk = min(layout.CERTIFICATE_BLOCK, count)
    greatest = int(solved.replies.max())
    if solved.positions.ndim > 1:
        if not rows_ascend(solved.positions.T):
            raise ValueError("positions do not ascend")
        words_or_gaps = [*solved.positions.T]
        dtype = layout.replies_dtype(greatest, bounds, None, len(words_or_gaps))
    else:
        words_or_gaps = [gaps_of(solved.positions, chunk)]
        dtype = layout.replies_dtype(greatest, bounds, layout.gap_dtype(int(words_or_gaps[0].max())))
    columns: list[NDArray[Any]] = [solved.replies, *words_or_gaps]
    if solved.bounds is not None:
        columns.insert(1, solved.bounds)
    # Each column becomes planes of its own, which `pack` compresses separately.
    planes = [
        to_planes(column.astype(dtype[name]), dtype[name].itemsize, chunk)
        for name, column in zip(dtype.names or (), columns, strict=True)
    ]
    frames = writer.new_dataset("replies", dtype, count, chunk, layout.CERTIFICATE_LEVEL)
    for block in zip(*planes, strict=True):
        frames.write(pack(compressor(layout.CERTIFICATE_LEVEL), *block))
    blocks = np.empty(-(-count // chunk), layout.CERTIFICATE_BLOCKS)  # -(-a // b) rounds up
    blocks["position"], blocks["check"] = solved.positions.reshape(count, -1)[::chunk, 0], frames.checks
    writer.write_table("blocks", blocks)


def gaps_of(positions: NDArray[np.int64], chunk: int) -> NDArray[np.int64]:
    """Return the gap before each position, 0 where a block of *chunk* begins; raise ValueError unless they ascend.

    >>> gaps_of(np.array([3, 5, 9, 20]), 2)  # blocks of two
    array([ 0,  2,  0, 11])
    """
    gaps = np.diff(positions, prepend=positions[:1])
    gaps[::chunk] = 0
    # The first gap of each block is 0, and no other.
    if np.count_nonzero(gaps <= 0) > -(-len(positions) // chunk) or (gaps < 0).any():
        raise ValueError("positions do not ascend")
    return gaps
