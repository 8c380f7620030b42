"""Counters of undecided children: how many children must still turn out to be WINs before a position is a LOSE.

The two greatest numbers of the type mark decided positions:

 255   PRIMITIVE: decided from the start, or no position at all      (65535 in arrays of 16 bits)
 254   decided since then
 0…253 undecided: the number of undecided children in the same tier

An undecided position's score is meanwhile the greatest one passed up by children of later tiers, 0 for none. So one
byte of a parent answers every question about it.
"""

from typing import Any

import numpy as np

from retrograde.solver.values.score import RemotenessOverflow

Array = np.ndarray[Any, Any]

PRIMITIVE = (1 << 16) - 1
"""The counter of positions decided from the start, in arrays of 16 bits."""


class TooManyChildren(RemotenessOverflow):
    """A position has more children than a counter can hold."""

    def __str__(self) -> str:
        return f"a position has {PRIMITIVE - 1:,} children or more in its tier; no more can be counted"


def left_type(bits: int) -> type[np.unsignedinteger[Any]]:
    """Return the type of the counters used with scores that have *bits* bits for plies."""
    return np.uint8 if bits <= 14 else np.uint16


def decided_from(left: Array) -> int:
    """Return the least number that marks a decided position."""
    return int(np.iinfo(left.dtype).max) - 1


def narrowed(left: Array, bits: int) -> Array:
    """Return counters of 16 bits in the type used with scores that have *bits* bits for plies.

    Raises TooManyChildren if a count does not fit.

    >>> narrowed(np.array([3, PRIMITIVE], np.uint16), 14)
    array([  3, 255], dtype=uint8)
    """
    kind = left_type(bits)
    most = np.iinfo(kind).max
    if ((left >= most - 1) & (left != PRIMITIVE)).any():
        raise TooManyChildren
    return np.minimum(left, most).astype(kind)
