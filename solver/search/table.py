"""The transposition table: what is known of positions met in a search, in one word each, in memory of a fixed size.

A word holds the whole position, so that no two are ever taken for one another, and is written and read at once, so that
threads share the table without locks. The canonical position, of so many bits, is mixed by a bijection; its lower bits
choose a bucket of two words, and the rest stands in the word::

    | rest of the position | best move: 6 bits | most worth | least worth |      0: empty

A bound has `plies` + 1 bits, and is kept with `far` added. In a bucket the later of two positions comes first.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import POSITION_BITS, RetrogradeError

Array = np.ndarray[Any, Any]

WORD = 63
BEST_BITS = 6
FEWEST_PLIES, MOST_PLIES = 6, 14
"""Bits for plies."""
BUCKET = 16
"""Bytes of a bucket."""


class TableTooSmall(RetrogradeError, ValueError):
    """A table that has no room for positions of this game."""


class Shape(NamedTuple):
    """The shape of a table: numbers of bits, and `far` as `worth.py` has it."""

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int


class Table(NamedTuple):
    """A table: `words` int64[2 × buckets], its shape, and the tables of solved positions that are asked beside it."""

    words: Array
    shape: Shape
    leaves: Any = None


def make_table(size: int, position_bits: int = POSITION_BITS) -> Table:
    """Return an empty table of at most *size* bytes for positions of so many bits; raise TableTooSmall.

    How far plies are told apart is decided by the size alone: as far as there would be room with the longest positions.
    """
    bucket_bits = max(size // BUCKET, 1).bit_length() - 1
    plies = min(max(plies_bits(bucket_bits, POSITION_BITS), FEWEST_PLIES), MOST_PLIES)
    bucket_bits = min(bucket_bits, position_bits)
    if plies > plies_bits(bucket_bits, position_bits):
        least = BUCKET << 2 * (FEWEST_PLIES + 1) + BEST_BITS + position_bits - WORD
        raise TableTooSmall(f"positions of {position_bits} bits need a table of {least:,} bytes or more; give --table")
    return Table(np.zeros(2 << bucket_bits, np.int64), Shape(position_bits, bucket_bits, plies + 1, (1 << plies) - 1))


def plies_bits(bucket_bits: int, position_bits: int) -> int:
    """Return how many bits for plies there is room for in the word of a position."""
    return (WORD - BEST_BITS - position_bits + bucket_bits) // 2 - 1
