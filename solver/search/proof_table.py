"""The table of proof-number search: proof and disproof numbers of questions, in memory of fixed size.

A question is a canonical position and what is asked about its player to move (see `proof_kernels.py`)::

    numbers  effort: 6 bits | proof number: 28 bits | disproof number: 28 bits           0: empty
    key      canonical position | 1: does the player to move win?  0: does the player to move not lose?

A key has as many words as a position; the bit of the question stands in the first word. An entry holds the whole key,
so two questions are never confused. A key can stand in any of the four slots of its bucket. If they are full, the entry
with the least effort is replaced. Effort is log2 of the positions searched. So the table drops small trees, which are
cheap to search again (SmallTreeGC of Nagai, 1999, one bucket at a time).
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import put, stands_at
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.search.hashing import hash_of
from retrograde.solver.search.memory import words_in

NUMBER_BITS = 28
EFFORT_SHIFT = 2 * NUMBER_BITS
INFINITE = (1 << NUMBER_BITS) - 1
"""The proof number of a disproved question, and the disproof number of a proved one."""
HASH_BITS = 35
"""Bits of the hash that chooses a bucket: more than any table has."""
SLOTS = 4
"""Slots of a bucket."""
KEY = 1
"""Where the key begins in an entry, behind the word of its numbers."""
WORD_BYTES = 8


def make_table(size: int, words: int = 1) -> Array:
    """Return an empty table int64[] of at most *size* bytes, for positions of so many words. The number of its entries
    is a power of two, at least a bucket."""
    entries = 1 << (max(size // (WORD_BYTES * (KEY + words)), SLOTS).bit_length() - 1)
    return np.zeros(entries * (KEY + words), np.int64)


def question_of(position: Any, wins: int) -> Any:
    """Return the key of a question: does the player to move win (*wins* is 1), or not lose (0)?"""
    if isinstance(position, tuple):
        return (question_of(position[0], wins), *position[1:])
    return (position << 1) | wins


def position_of_question(key: Any) -> Any:
    """Return the position of a question."""
    return (key[0] >> 1, *key[1:]) if isinstance(key, tuple) else key >> 1


def asks_win(key: Any) -> int:
    """Return 1 if a question is whether the player to move wins, else 0."""
    return int((key[0] if isinstance(key, tuple) else key) & 1)


@overload(question_of)
def compile_question_of(position, wins):
    if isinstance(position, types.BaseTuple):
        return lambda position, wins: ((position[0] << 1) | wins,) + position[1:]  # noqa: RUF005  # numba has no (a, *b)
    return lambda position, wins: (position << 1) | wins


@overload(position_of_question)
def compile_position_of_question(key):
    if isinstance(key, types.BaseTuple):
        return lambda key: (key[0] >> 1,) + key[1:]  # noqa: RUF005  # numba has no (a, *b)
    return lambda key: key >> 1


@overload(asks_win)
def compile_asks_win(key):
    if isinstance(key, types.BaseTuple):
        return lambda key: key[0] & 1
    return lambda key: key & 1


@lean_kernel
def bucket_of(table, key):
    """Return the index of the first word of the key's bucket."""
    entry_words = KEY + words_in(key)
    # The number of entries is a power of two. The mask also clears the lowest two bits, so a bucket's SLOTS fit behind.
    return (hash_of(key_of(key), HASH_BITS) & (len(table) // entry_words - SLOTS)) * entry_words


@lean_kernel
def find(table, key):
    """Probe the table: return (proof, disproof) number of a question; (1, 1) if it is not there."""
    first, entry_words = bucket_of(table, key), KEY + words_in(key)
    for entry in range(first, first + SLOTS * entry_words, entry_words):
        if stands_at(table, entry + KEY, key) and table[entry]:
            return (table[entry] >> NUMBER_BITS) & INFINITE, table[entry] & INFINITE
    return 1, 1


@lean_kernel
def store(table, key, proof, disproof, nodes):
    """Store the numbers of a question whose search took *nodes* positions."""
    first, entry_words = bucket_of(table, key), KEY + words_in(key)
    # Step 1: choose the slot: the question's own, else an empty one, else the one with the least effort.
    slot = first
    for entry in range(first, first + SLOTS * entry_words, entry_words):
        if table[entry] and stands_at(table, entry + KEY, key):
            slot = entry
            break
        if table[entry] >> EFFORT_SHIFT < table[slot] >> EFFORT_SHIFT or not table[entry]:
            slot = entry
    # Step 2: effort = log2 of the positions searched. A question's effort never shrinks.
    effort = 0
    while nodes > 1:
        nodes >>= 1
        effort += 1
    if stands_at(table, slot + KEY, key):
        effort = max(effort, table[slot] >> EFFORT_SHIFT)
    put(table, slot + KEY, key)
    table[slot] = (effort << EFFORT_SHIFT) | (proof << NUMBER_BITS) | disproof
