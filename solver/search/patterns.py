"""Lower bounds for puzzles from the distances of smaller puzzles: pattern databases.

A puzzle declares smaller ones, its `abstractions`, and a map to each, `abstracted`. A move of the puzzle is a move in
one of the smaller puzzles at most, and changes nothing in the others. So the distances there add up to a lower bound
(Culberson and Schaeffer, 1998; Korf and Felner, 2002). If a move may be a move in several (`abstractions_add` is
False), the greatest of the distances is one.

The distances of each smaller puzzle are in a hash table with whole positions and linear probing. If the smaller puzzles
number their positions, the slots are those of the numberings instead, and there are no keys. All tables have the same
size::

    keys    int64[puzzles, slots(, words)]   positions
    plies   int8[puzzles, slots]             plies to the solution, EMPTY in an empty slot, at most MOST_PLIES

`probing/` fills the tables from databases.
"""

from typing import Any, NamedTuple

from numba import types
from numba.extending import overload

from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import as_position, position_in, put, stands_at, whole
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.hashing import hash_of

EMPTY = -1
"""The plies in an empty slot."""
HASH_BITS = 40
"""Bits of the hash that chooses a slot: more than any table has."""
MOST_PLIES = 127
"""A greater distance counts as this, which is a lower bound too, and falls by 1 at most with a move."""


class Patterns(NamedTuple):
    """The distances of smaller puzzles; see above. If not *add*, the greatest of them is the lower bound."""

    keys: Array
    plies: Array
    puzzles: tuple[Any, ...]
    """The rules of the smaller puzzles, if these are numbered, else of the puzzle itself."""
    are_numbered: bool
    add: bool


@kernel
def fill_patterns(game, patterns, number, positions, remotenesses):
    """Store positions int64[n(, words)] of smaller puzzle *number*, and their plies to the solution."""
    for i in range(len(remotenesses)):
        position = position_in(game, positions, i)
        slot = slot_in_patterns(patterns, number, position)
        put(patterns.keys, (number, slot), position)
        patterns.plies[number, slot] = min(remotenesses[i], MOST_PLIES)


@kernel
def slot_in_patterns(patterns, number, position):
    """Return the slot of a position of smaller puzzle *number*. If it is not stored, return the empty slot for it."""
    # Case: the puzzle's numbering gives the slot.
    if patterns.are_numbered:
        return whole(patterns.puzzles[number].index(position))
    # Case: a hash table. Go on from the slot of the hash to the position or an empty slot.
    slot_mask = patterns.plies.shape[1] - 1  # the number of slots is a power of two
    slot = hash_of(key_of(position), HASH_BITS) & slot_mask
    while patterns.plies[number, slot] != EMPTY and not stands_at(patterns.keys, (number, slot), position):
        slot = (slot + 1) & slot_mask
    return slot


def least_plies(game, position, patterns):
    """Return a lower bound of the plies from an undecided position: the game's own, or that of *patterns*, if not None.
    A search without patterns compiles no code for them."""
    return plies_by_patterns(game, position, patterns) if patterns else whole(game.least_plies(position))


@overload(least_plies)
def compile_least_plies(game, position, patterns):
    if isinstance(patterns, types.NoneType):
        return lambda game, position, patterns: whole(game.least_plies(position))
    return lambda game, position, patterns: plies_by_patterns(game, position, patterns)


@kernel
def plies_by_patterns(game, position, patterns):
    """Return the sum of the distances of the smaller puzzles, or the greatest if they do not add up. Return the game's
    own lower bound if that is greater."""
    plies = 0
    for number in range(patterns.plies.shape[0]):
        smaller = as_position(game.abstracted(position, number))
        distance = max(0, patterns.plies[number, slot_in_patterns(patterns, number, smaller)])
        plies = plies + distance if patterns.add else max(plies, distance)
    return max(plies, whole(game.least_plies(position)))
