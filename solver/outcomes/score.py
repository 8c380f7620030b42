"""A score is value and remoteness in one number, such that the greater is the better for the player to move.

    | class | plies |      of 16 bits: 2 for the class, 14 for the plies (of 32 bits: 2 and 30)

    class 0  LOSE      plies = remoteness               the later the better
          1  DRAW      plies = 0, or 1 for UNDECIDED, or 2 for what is no position
          2  TIE       plies = greatest - remoteness    the sooner the better
          3  WIN       plies = greatest - remoteness

The score of a position that is not primitive is the greatest that its children pass up; a child passes up its own value
as the other player sees it, one ply later.
"""

from typing import Any

import numpy as np

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN, RetrogradeError, Value

LOSE_CLASS, DRAW_CLASS, TIE_CLASS, WIN_CLASS = range(4)
CLASSES = (LOSE, DRAW, TIE, WIN)
EMPTY_PLIES = 2
PLIES_BITS = (14, 30)
"""Bits for the remoteness in a score; the more are used where the fewer have been too few."""


def plies_bits(dtype: Any) -> int:
    """Return the number of bits for plies in scores of a type: 14 or 30."""
    return np.dtype(dtype).itemsize * 8 - 2


def encode(value: Value, remoteness: int, bits: int) -> int:
    """Return the score of a value and remoteness (any number for a DRAW) with so many bits for plies."""
    if value in (DRAW, UNDECIDED):
        return DRAW_CLASS << bits | (value == UNDECIDED)
    plies = remoteness if value == LOSE else (1 << bits) - 1 - remoteness
    return CLASSES.index(value) << bits | plies


def decode(score: int, bits: int) -> tuple[Value, int]:
    """Return the value and remoteness of a score; the remoteness of a DRAW is -1.

    >>> decode(encode(WIN, 5, 14), 14)
    (<Value.WIN: 4>, 5)
    """
    value, plies = CLASSES[score >> bits], score & (1 << bits) - 1
    if value == DRAW:
        return (UNDECIDED if plies else DRAW), -1
    return value, plies if value == LOSE else (1 << bits) - 1 - plies


class RemotenessOverflow(RetrogradeError, OverflowError):
    """A position is further from the end than scores of this size can say."""

    def __init__(self) -> None:
        super().__init__(f"a position is {1 << PLIES_BITS[-1]:,} plies or more from the end; no database can say so")
