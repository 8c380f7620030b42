"""Counts how often each outcome occurs, and where first: block by block, then added up."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

Array = np.ndarray[Any, Any]

BLOCK = 1 << 20
"""Items in a block: they fit in a cache."""


class SliceableArray(Protocol):
    """Has a length, and gives an array when it is sliced."""

    def __len__(self) -> int: ...

    def __getitem__(self, where: slice, /) -> Array: ...


class OutcomeTally(NamedTuple):
    """Counts for each code, int64[codes].

    `stored`: records with this code. `positions`: positions, symmetric ones included. `first`: the index of the first
    record, arbitrary if there is none.
    """

    stored: Array
    positions: Array
    first: Array


Adder = Callable[[Array, Array, int, OutcomeTally], object]
"""Adds the counts of a block of records to a tally."""


def tally(codes: Array, sizes: SliceableArray, count: int, add: Adder | None = None) -> OutcomeTally:
    """Count records by code, and positions by the sizes of their symmetry classes.

    Codes are below *count*. If *sizes* is empty, each record counts as one position. *add* adds a block; it is
    *add_plain* or a faster equivalent.

    >>> tally(np.array([2, 0, 2]), np.array([1, 8, 4]), 3).positions.tolist()
    [8, 0, 5]
    """
    total = OutcomeTally(*np.zeros((3, count), np.int64))
    for begin in reversed(range(0, len(codes), BLOCK)):
        (add or add_plain)(codes[begin : begin + BLOCK], sizes[begin : begin + BLOCK], begin, total)
    return total


def add_plain(codes: Array, sizes: Array, begin: int, total: OutcomeTally) -> None:
    """Add the counts of a block whose first record has the index *begin*. Later blocks are added before earlier
    ones."""
    count = len(total.stored)
    stored = np.bincount(codes, minlength=count)
    total.stored[:] += stored
    total.positions[:] += np.bincount(codes, sizes, count).astype(np.int64) if len(sizes) else stored
    total.first[codes[::-1]] = np.arange(
        begin + len(codes) - 1, begin - 1, -1
    )  # reversed: the first index is written last and stays


def narrow(scores: Array) -> tuple[Array, Array]:
    """Return (scores, codes): small numbers for all scores, and the score that each stands for."""
    if scores.dtype == np.uint16:
        return np.arange(1 << 16), scores
    distinct, codes = np.unique(scores, return_inverse=True)
    return distinct, codes


def present(codes: Array, count: int) -> list[int]:
    """Return the codes below *count* that occur."""
    counts = (np.bincount(codes[begin : begin + BLOCK], minlength=count) for begin in range(0, len(codes), BLOCK))
    return np.flatnonzero(sum(counts)).tolist()
