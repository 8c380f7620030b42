"""What is left of a position: how many children must still turn out to be WINs before it is a LOSE.

Once a position is decided nothing is left of it, and the greatest two numbers of the type say so: `PRIMITIVE`, where
that was so from the start (or there is no position at all), and the one below, where it came about. All others are of
undecided positions, whose score is meanwhile the greatest one passed up by children of later tiers, 0 for none. So
every question that is asked of a parent, wherever it lies, is asked of one byte.
"""

from typing import Any

import numpy as np

from retrograde.solver.values.score import RemotenessOverflow

Array = np.ndarray[Any, Any]

PRIMITIVE = (1 << 16) - 1
"""What is left of what was decided from the start, in arrays of 16 bits."""


class TooManyChildren(RemotenessOverflow):
    """A position has more children than there is room for a number of them."""

    def __str__(self) -> str:
        return f"a position has {PRIMITIVE - 1:,} children or more in its tier; no more can be counted"


def left_type(bits: int) -> type[np.unsignedinteger[Any]]:
    """Return the type of what is left, beside scores with so many bits for plies."""
    return np.uint8 if bits <= 14 else np.uint16


def decided_from(left: Array) -> int:
    """Return the number from which on nothing is left, and positions are decided."""
    return int(np.iinfo(left.dtype).max) - 1


def narrowed(left: Array, bits: int) -> Array:
    """Return what is left, uint16[n], in the type that goes with so many bits for plies; raise TooManyChildren where
    positions have too many for it.

    >>> narrowed(np.array([3, PRIMITIVE], np.uint16), 14)
    array([  3, 255], dtype=uint8)
    """
    kind = left_type(bits)
    most = np.iinfo(kind).max
    if ((left >= most - 1) & (left != PRIMITIVE)).any():
        raise TooManyChildren
    return np.minimum(left, most).astype(kind)
