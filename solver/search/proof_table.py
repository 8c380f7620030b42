"""The table of proof-number search: proof and disproof numbers of questions met, in memory of a fixed size.

A question is a canonical position and what is asked of its player to move (see `proof_kernels.py`)::

    key      canonical position | 1: does the player to move win?  0: does the player to move not lose?
    numbers  effort: 6 bits | proof number: 28 bits | disproof number: 28 bits           0: empty

Keys are held whole, so that no two are ever taken for one another. A key may stand in any of the four places of its
bucket; where they are full, the one that took the least effort, in powers of two of positions looked at, is given up:
the small trees that it would be cheap to search again (SmallTreeGC of Nagai, 1999, a bucket at a time).
"""

from typing import Any

import numpy as np

from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.mixing import mixed

Array = np.ndarray[Any, Any]

NUMBER_BITS = 28
INFINITE = (1 << NUMBER_BITS) - 1
"""The proof number of what is disproved, and the disproof number of what is proved."""
MIXED_BITS = 35
"""Bits of which a bucket is chosen: more than any table has."""
PLACES = 4
ENTRY = 16
"""Bytes of an entry."""


def make_table(size: int) -> Array:
    """Return an empty table of at most *size* bytes, and of one bucket at least: int64[entries, 2].

    The entries are a power of two.
    """
    entries = 1 << max(size // ENTRY, PLACES).bit_length() - 1
    return np.zeros((entries, 2), np.int64)


@kernel
def bucket_of(table, key):
    """Return the first of the places where a key may stand."""
    return mixed(key, MIXED_BITS) & len(table) - PLACES


@kernel
def find(table, key):
    """Return the proof and the disproof number that are known of a question; 1 and 1 where none are."""
    first = bucket_of(table, key)
    for i in range(first, first + PLACES):
        if table[i, 0] == key and table[i, 1]:
            return table[i, 1] >> NUMBER_BITS & INFINITE, table[i, 1] & INFINITE
    return 1, 1


@kernel
def keep(table, key, proof, disproof, nodes):
    """Write the numbers of a question that took so many positions."""
    first = bucket_of(table, key)
    place = first
    for i in range(first, first + PLACES):
        if table[i, 1] and table[i, 0] == key:
            place = i
            break
        if table[i, 1] >> 2 * NUMBER_BITS < table[place, 1] >> 2 * NUMBER_BITS or not table[i, 1]:
            place = i
    effort = 0
    while nodes > 1:
        nodes >>= 1
        effort += 1
    if table[place, 0] == key:
        effort = max(effort, table[place, 1] >> 2 * NUMBER_BITS)
    table[place, 0] = key
    table[place, 1] = effort << 2 * NUMBER_BITS | proof << NUMBER_BITS | disproof
