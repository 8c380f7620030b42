"""How often each outcome is there, and where first: counted part by part, and added up."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

Array = np.ndarray[Any, Any]

PART = 1 << 20
"""Items that are counted at once: they fit a cache."""


class Sliced(Protocol):
    """What has a length, and is an array where it is sliced."""

    def __len__(self) -> int: ...

    def __getitem__(self, where: slice, /) -> Array: ...


class Tally(NamedTuple):
    """For each code, int64[codes]: how many records have it, how many positions, symmetric ones counted, and the first
    place among the records; any where there is none."""

    stored: Array
    positions: Array
    first: Array


Adder = Callable[[Array, Array, int, Tally], object]
"""Adds the counts of a part of the records to a tally."""


def tally(codes: Array, sizes: Sliced, count: int, add: Adder | None = None) -> Tally:
    """Count records by their codes, below *count*, and the positions symmetric to theirs (*sizes*; one each if empty).

    A part is added by *add_plain*, or by another function that does the same sooner.

    >>> tally(np.array([2, 0, 2]), np.array([1, 8, 4]), 3).positions.tolist()
    [8, 0, 5]
    """
    total = Tally(*np.zeros((3, count), np.int64))
    for begin in reversed(range(0, len(codes), PART)):
        (add or add_plain)(codes[begin : begin + PART], sizes[begin : begin + PART], begin, total)
    return total


def add_plain(codes: Array, sizes: Array, begin: int, total: Tally) -> None:
    """Add the counts of a part, the first of whose records has the place *begin*; later parts are added before."""
    count = len(total.stored)
    stored = np.bincount(codes, minlength=count)
    total.stored[:] += stored
    total.positions[:] += np.bincount(codes, sizes, count).astype(np.int64) if len(sizes) else stored
    total.first[codes[::-1]] = np.arange(begin + len(codes) - 1, begin - 1, -1)  # the last one written stays


def narrow(scores: Array) -> tuple[Array, Array]:
    """Return small numbers for all scores, their codes, and the score that each stands for, as `(scores, codes)`."""
    if scores.dtype == np.uint16:
        return np.arange(1 << 16), scores
    distinct, codes = np.unique(scores, return_inverse=True)
    return distinct, codes


def present(codes: Array, count: int) -> list[int]:
    """Return which codes, below *count*, there are."""
    parts = (np.bincount(codes[begin : begin + PART], minlength=count) for begin in range(0, len(codes), PART))
    return np.flatnonzero(sum(parts)).tolist()
