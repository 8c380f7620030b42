"""The compiled part of the search for shortest solutions of puzzles; see `puzzles.py`."""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import UNDECIDED, WIN
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import put, stands_at, whole
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.search.hashing import hash_of
from retrograde.solver.search.patterns import Patterns, least_plies

NODES, TROUBLE = range(2)
"""Indices into `counts`: positions searched, and why the search gave up (0 if it did not)."""
STOPPED, BROKEN = 1, 2
"""Why a search gave up: out of time, or a lower bound that falls by more than 1."""
NEVER = 1 << 40
"""The lower bound of a position from which no line leads to a solution."""
DEEPEST = 1000
"""The most plies of a solution."""
HASH_BITS = 40
ROOT = np.int64(0)
"""The first ply, as int64: for a literal, numba would compile the recursive kernel once more."""


class PuzzleMemory(NamedTuple):
    """What the search works with.

    `keys` and `bounds` are the table: positions, and lower bounds of their plies to a solution, 0 if empty. `line` has
    the moves of the solution, `faulty` the position where the rules proved broken. `patterns` are the distances of
    smaller puzzles, or None.
    """

    keys: Array
    bounds: Array
    counts: Array
    stop: Array
    line: Array
    faulty: Array
    patterns: Patterns | None


@lean_kernel
def bound_of(game, position, patterns):
    """Return a lower bound of the plies from an undecided position to a solution."""
    return least_plies(game, position, patterns)


@lean_kernel
def plies_to_solution(game, position, parent, least, plies, ply, memory):
    """Return *plies* if there is a solution so long, else a greater lower bound. The caller knows that none is shorter.

    *parent* is the position before the last move, *least* the lower bound that the rules or patterns give, *ply* the
    distance from the root, *memory* a PuzzleMemory. The result is void if `counts[TROUBLE]` is set.
    """
    counts = memory.counts
    counts[NODES] += 1
    # Step 1: take the greater of the lower bounds: that of the game or that in the table.
    slot = hash_of(key_of(position), HASH_BITS) & (len(memory.keys) - 1)
    least_here = max(least, 1)
    if stands_at(memory.keys, slot, position):
        least_here = max(least_here, memory.bounds[slot])
    if least_here > plies:
        return least_here
    if memory.stop[0]:
        counts[TROUBLE] = STOPPED
        return least_here
    # Step 2: search the children. To take the last move back needs two plies more than the parent, from which no
    # solution takes fewer than plies + 1.
    best = NEVER
    for move, child in game.children(position):
        if child == parent:
            best = min(best, plies + 2)
            continue
        value = whole(game.primitive(child))
        # *below* is a lower bound of the plies from the child: 0 at a solution, NEVER at any other end.
        below = 0 if value == WIN else NEVER
        if value == UNDECIDED:
            below = least_plies(game, child, memory.patterns)
        if below < least - 1:
            counts[TROUBLE] = BROKEN
            put(memory.faulty, 0, position)
            return least_here
        if value == UNDECIDED:
            below = plies_to_solution(game, child, position, below, plies - 1, ply + 1, memory)
            if counts[TROUBLE]:
                return least_here
        best = min(best, below + 1)
        if best <= plies:
            memory.line[ply] = move
            return best
    # Step 3: store the bound.
    put(memory.keys, slot, position)
    memory.bounds[slot] = best
    return best
