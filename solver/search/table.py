"""The transposition table: bounds and best moves of positions, one 64-bit word each, in memory of fixed size.

A word identifies its position completely, so two positions are never confused. A word is read and written at once, so
threads share the table without locks. The canonical position is permuted by a bijection. The low bits of the result
choose a bucket of two words; the rest is stored in the word::

    | rest of the position | best move: 6 bits | upper bound | lower bound |      0: empty

A bound has `plies` + 1 bits and is stored with `far` added. The newer of a bucket's two positions comes first.

Where positions have several words, an entry is such a word, whose rest is 1, and the whole position behind it. Nothing
rests on a hash: that only chooses the bucket. Such entries are not written at once, so one thread searches alone.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import POSITION_BITS, RetrogradeError
from retrograde.solver.runtime.array_type import Array

WORD_BITS = 63
"""Bits used of a word: its sign stays clear."""
BEST_BITS = 6
FEWEST_PLY_BITS, MOST_PLY_BITS = 6, 14
"""Fewest and most bits for a number of plies."""
BUCKET_BYTES = 16
"""Bytes of a bucket: two words."""


class TableTooSmall(RetrogradeError, ValueError):
    """A table is too small for the positions of this game."""


class TableLayout(NamedTuple):
    """Layout of a table: bits of a position, a bucket number and a bound; and `far` of `bounds.py`."""

    position_bits: int
    bucket_bits: int
    bound_bits: int
    far: int


class TranspositionTable(NamedTuple):
    """A table: `words` int64[2 × buckets × words of an entry], its layout, and the endgame tables' address or None."""

    words: Array
    layout: TableLayout
    endgame_tables: int | None = None


def make_table(
    size: int, position_bits: int = POSITION_BITS, width: int = 0, grows_to: int = 0, scores_in: int = 0
) -> TranspositionTable:
    """Return an empty table of at most *size* bytes for positions of *position_bits* bits; raise TableTooSmall.

    *width* is the number of words of a position, 0 for ints. The greatest distance `far` depends only on *grows_to*,
    the size that the table may have later (0: *size*). If bounds are scores, which may be greater than any distance,
    they take all bits that are free in a table of *scores_in* bytes, whatever the size now.
    """
    # The distance takes as many bits as fit beside the longest positions in a table of the later size.
    ply_bits = min(max(plies_bits(bucket_bits_of(grows_to or size), POSITION_BITS), FEWEST_PLY_BITS), MOST_PLY_BITS)
    if scores_in:
        unused = plies_bits(0, 1) if width else plies_bits(min(bucket_bits_of(scores_in), position_bits), position_bits)
        ply_bits = max(ply_bits, unused)
    bucket_bits = min(bucket_bits_of(size // (1 + width)), position_bits)
    if not width and ply_bits > plies_bits(bucket_bits, position_bits):
        # The fewest buckets for which `plies_bits` is FEWEST_PLY_BITS.
        least = BUCKET_BYTES << (2 * (FEWEST_PLY_BITS + 1) + BEST_BITS + position_bits - WORD_BITS)
        raise TableTooSmall(f"positions of {position_bits} bits need a table of {least:,} bytes or more; give --table")
    layout = TableLayout(position_bits, bucket_bits, ply_bits + 1, (1 << ply_bits) - 1)
    return TranspositionTable(np.zeros((2 * (1 + width)) << bucket_bits, np.int64), layout)


def bucket_bits_of(size: int) -> int:
    """Return log2 of the greatest power of two of buckets, of one-word entries, that fit into *size* bytes."""
    return max(size // BUCKET_BYTES, 1).bit_length() - 1


def plies_bits(bucket_bits: int, position_bits: int) -> int:
    """Return how many bits each of a word's two bounds has for plies; a bound has one bit more."""
    return (WORD_BITS - BEST_BITS - position_bits + bucket_bits) // 2 - 1
