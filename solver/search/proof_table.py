"""The table of proof-number search: proof and disproof numbers of questions, in memory of fixed size.

A question is a canonical position and what is asked about its player to move (see `proof_kernels.py`)::

    key      canonical position | 1: does the player to move win?  0: does the player to move not lose?
    numbers  effort: 6 bits | proof number: 28 bits | disproof number: 28 bits           0: empty

An entry holds the whole key, so two questions are never confused. A key can stand in any of the four slots of its
bucket. If they are full, the entry with the least effort is replaced. Effort is log2 of the positions searched. So the
table drops small trees, which are cheap to search again (SmallTreeGC of Nagai, 1999, one bucket at a time).
"""

from typing import Any

import numpy as np

from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.search.hashing import hash_of

Array = np.ndarray[Any, Any]

NUMBER_BITS = 28
INFINITE = (1 << NUMBER_BITS) - 1
"""The proof number of a disproved question, and the disproof number of a proved one."""
HASH_BITS = 35
"""Bits of the hash that chooses a bucket: more than any table has."""
SLOTS = 4
"""Slots of a bucket."""
ENTRY = 16
"""Bytes of an entry."""


def make_table(size: int) -> Array:
    """Return an empty table int64[entries, 2] of at most *size* bytes, with a power of two of entries, at least a
    bucket."""
    entries = 1 << max(size // ENTRY, SLOTS).bit_length() - 1
    return np.zeros((entries, 2), np.int64)


@lean_kernel
def bucket_of(table, key):
    """Return the index of the first slot of the key's bucket."""
    return hash_of(key, HASH_BITS) & len(table) - SLOTS


@lean_kernel
def find(table, key):
    """Probe the table: return the proof and disproof number of a question, or 1 and 1."""
    first = bucket_of(table, key)
    for i in range(first, first + SLOTS):
        if table[i, 0] == key and table[i, 1]:
            return table[i, 1] >> NUMBER_BITS & INFINITE, table[i, 1] & INFINITE
    return 1, 1


@lean_kernel
def store(table, key, proof, disproof, nodes):
    """Store the numbers of a question whose search took *nodes* positions."""
    first = bucket_of(table, key)
    # Step 1: choose the slot: the question's own, else an empty one, else the one with the least effort.
    slot = first
    for i in range(first, first + SLOTS):
        if table[i, 1] and table[i, 0] == key:
            slot = i
            break
        if table[i, 1] >> 2 * NUMBER_BITS < table[slot, 1] >> 2 * NUMBER_BITS or not table[i, 1]:
            slot = i
    # Step 2: effort = log2 of the positions searched. A question's effort never shrinks.
    effort = 0
    while nodes > 1:
        nodes >>= 1
        effort += 1
    if table[slot, 0] == key:
        effort = max(effort, table[slot, 1] >> 2 * NUMBER_BITS)
    table[slot, 0] = key
    table[slot, 1] = effort << 2 * NUMBER_BITS | proof << NUMBER_BITS | disproof
