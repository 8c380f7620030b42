"""Writes certificates: sorted positions, each with the number of its reply."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases import layout
from retrograde.databases.encoding import compressor, pack, to_planes
from retrograde.databases.frames import Contents
from retrograde.games import Value


@dataclass(frozen=True)
class SolvedCertificate:
    """A claim about the root's value, for the player to move there, and the strategies that prove it."""

    root: int
    at_least: Value
    at_most: Value
    leaves: int
    """The most plies that a verifier must search for positions that are left out: 0 or an odd number."""
    positions: NDArray[np.int64]
    """Canonical positions, ascending."""
    replies: NDArray[np.int64]
    """The number of each position's move, in the order in which the rules generate moves."""
    bounds: NDArray[np.int64] | None = None
    """Plies within which the player to move wins. None if the game must end anyway, or the goal is no win."""


def write_replies(contents: Contents, solved: SolvedCertificate) -> None:
    """Write positions with their replies, and the table of blocks."""
    positions = solved.positions
    bounds = solved.bounds is not None
    gaps = np.diff(positions, prepend=positions[:1])
    chunk = min(layout.CERTIFICATE_BLOCK, len(positions))
    # The first gap of each block is 0, and no other: positions ascend.
    gaps[::chunk] = 0
    if np.count_nonzero(gaps <= 0) > -(-len(positions) // chunk) or (gaps < 0).any():
        raise ValueError("positions do not ascend")
    dtype = layout.replies_dtype(int(solved.replies.max()), layout.gap_dtype(int(gaps.max())), bounds)
    columns: list[NDArray[Any]] = [solved.replies, *([solved.bounds] if solved.bounds is not None else []), gaps]
    # Each column becomes planes of its own, which `pack` compresses separately.
    planes = [
        to_planes(column.astype(dtype[name]), dtype[name].itemsize, chunk)
        for name, column in zip(dtype.names or (), columns, strict=True)
    ]
    frames = contents.blocks("replies", dtype, len(positions), chunk, layout.CERTIFICATE_LEVEL)
    for parts in zip(*planes, strict=True):
        frames.write(pack(compressor(layout.CERTIFICATE_LEVEL), *parts))
    blocks = np.empty(-(-len(positions) // chunk), layout.CERTIFICATE_BLOCKS)
    blocks["position"], blocks["check"] = positions[::chunk], frames.checks
    contents.table("blocks", blocks)
