"""A score is value and remoteness in one number: the greater, the better for the player to move.

    | class | plies |      of 16 bits: 2 for the class, 14 for the plies (of 32 bits: 2 and 30)

    class 0  LOSE      plies = remoteness               the later the better
          1  DRAW      plies = 0, or 1 for UNDECIDED, or 2 for a slot without a position
          2  TIE       plies = greatest - remoteness    the sooner the better
          3  WIN       plies = greatest - remoteness

A position that is not primitive has the greatest of the scores that its children pass up. A child passes up its own
value one ply later, as the other player sees it or, if the same player moves again, unchanged.

Counters of undecided children (`children_left`) say how many children must still turn out to be WINs before a position
is a LOSE. The two greatest numbers of the type mark decided positions:

    255   PRIMITIVE: decided from the start, or no position at all      (65535 in arrays of 16 bits)
    254   decided since then
    0…253 undecided: the number of undecided children in the same tier, plus one if a child in a later tier saves it

An undecided position's score is meanwhile the greatest one passed up by children of later tiers, 0 for none. So one
byte of a parent answers every question about it.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, RetrogradeError, Value
from retrograde.solver.runtime.array_type import Array

Result = TypeVar("Result")

LOSE_CLASS, DRAW_CLASS, TIE_CLASS, WIN_CLASS = range(4)
CLASSES = (LOSE, DRAW, TIE, WIN)
EMPTY_PLIES = 2
BLOCK = 1 << 20
"""Items of an array of scores that are handled together: they fit in a cache."""
GREATEST_BITS = 30
"""The most bits for the remoteness in a score, which is what a database has room for."""


def score_type(bits: int) -> type[np.unsignedinteger[Any]]:
    return np.uint16 if bits <= 14 else np.uint32


def encode(value: Value, remoteness: int, bits: int) -> int:
    """Return the score of a value and remoteness, with *bits* bits for plies. A DRAW has no remoteness.

    >>> encode(WIN, 3, 8) > encode(WIN, 5, 8) > encode(TIE, 9, 8) > encode(LOSE, 6, 8) > encode(LOSE, 4, 8)
    True
    >>> hex(encode(WIN, 3, 8)), hex(encode(LOSE, 4, 8))
    ('0x3fc', '0x4')
    """
    if value in (DRAW, UNDECIDED):
        return (DRAW_CLASS << bits) | (value == UNDECIDED)
    plies = remoteness if value == LOSE else (1 << bits) - 1 - remoteness
    return (CLASSES.index(value) << bits) | plies


def scores_of_legend(legend: Iterable[Any], bits: int) -> Array:
    """Return the score of each row of a legend."""
    return np.array([encode(row.value, row.remoteness, bits) for row in legend], score_type(bits))


def decode(score: int, bits: int) -> tuple[Value, int]:
    """Return the value and remoteness of a score; the remoteness of a DRAW is -1.

    >>> decode(encode(WIN, 5, 14), 14)
    (<Value.WIN: 4>, 5)
    """
    value, plies = CLASSES[score >> bits], score & ((1 << bits) - 1)
    if value == DRAW:
        return (UNDECIDED if plies else DRAW), -1
    return value, (plies if value == LOSE else (1 << bits) - 1 - plies)


class RemotenessOverflow(RetrogradeError, OverflowError):
    """A position is further from the end than scores of this size can represent."""

    def __str__(self) -> str:
        return f"a position is {1 << GREATEST_BITS:,} plies or more from the end; no database can say so"


def with_enough_bits(choices: Sequence[int], solve: Callable[[int], Result]) -> Result:
    """Call *solve* with each number of bits until one is enough for the remoteness; return its result."""
    *fewer, most = choices
    for bits in fewer:
        with suppress(RemotenessOverflow):
            return solve(bits)
    return solve(most)


# Counters of undecided children

PRIMITIVE = (1 << 16) - 1
"""The counter of positions decided from the start, in arrays of 16 bits."""


class TooManyChildren(RemotenessOverflow):
    """A position has more children than a counter can hold."""

    def __str__(self) -> str:
        return f"a position has {PRIMITIVE - 1:,} children or more in its tier; no more can be counted"


def counter_type(bits: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if bits <= 14 else np.uint16


def decided_from(counters: Array) -> int:
    """Return the least counter that marks a decided position: 254 for 8-bit counters."""
    return int(np.iinfo(counters.dtype).max) - 1


def narrow_counters(counters: Array, bits: int) -> Array:
    """Return 16-bit counters in the type that goes with scores of *bits* bits; raise TooManyChildren if they do not
    fit.

    >>> narrow_counters(np.array([3, PRIMITIVE], np.uint16), 14)
    array([  3, 255], dtype=uint8)
    """
    kind = counter_type(bits)
    most = np.iinfo(kind).max
    if ((counters >= most - 1) & (counters != PRIMITIVE)).any():
        raise TooManyChildren
    return np.minimum(counters, most).astype(kind)
