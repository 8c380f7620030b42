"""Tables of puzzles whose pieces change places and turn in them, as in the pocket cube.

Such a game declares `orientations`, a pair (states, digits). The slot of a position is then `order * states**digits +
turns`: the number of the order of the pieces, and `digits` digits in base `states`, which say how they are turned. In
all positions the moves are the same. Each move leads from one order to one other, whatever the turns are. In the turns
it does the same to all orders, and then adds digits, without carry, that depend on the order::

    order  ->  next[move][order]            turns  ->  turned[move][turns] + added[move][order]

So the positions that a move leads from are found in small tables, without the rules. The tables are measured by the
rules, and compared with them at one slot in SAMPLED.
"""

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import RuleError, Traits
from retrograde.solver.runtime.array_type import Array

MOST_TURNS = 1 << 12
"""The most values of the turns. For each move, tables have at most the square of it."""
SAMPLED = 64
"""One slot in this number is compared with the rules."""
ORDERS = 1 << 12
"""Orders that are measured together."""
TABLE_BYTES = 16
"""Bytes for each move and order, while tables are made."""

ChildrenOf = Callable[[Array], Array]
"""Returns the slots of the children of some slots by the rules: a row for each slot, a column for each move."""


class NotOriented(Exception):
    """What a game declares as `orientations` does not agree with its rules."""


def is_oriented(game: Any) -> bool:
    """Return whether a puzzle declares orientations that this module can use. Its class must define `orientations`
    itself: a class that inherits it may have other rules. Raises RuleError if they are no pair of ints."""
    if "orientations" not in vars(type(game)) or game.players != 1 or not game.orientations:
        return False
    try:
        states, digits = map(index, game.orientations)
    except (TypeError, ValueError):
        said = f"orientations are {game.orientations!r:.60}; give a pair of ints, as in (3, 6), or ()"
        raise RuleError(f"{variant(game)}: {said}") from None
    traits = Traits.of(game)
    symmetric = traits.has_images or traits.has_multiplicity
    return not symmetric and states > 1 and digits > 0 and bool(states**digits <= MOST_TURNS)


class OrderTables(NamedTuple):
    """Tables that lead from a position back to the one from which a move leads to it.

    A position with order `a` and turns `b` comes by move `m` from the order `orders[m, a]` and the turns
    `turns[rows[m, a], b]`.
    """

    orders: Array
    rows: Array
    turns: Array

    def parents(self, children: Array) -> Array:
        """Return the slots from which moves lead to some slots. Column m of *children* is for move m."""
        moves, (orders, turns) = np.arange(len(self.orders)), np.divmod(children, self.turns.shape[1])
        return self.orders[moves, orders] * np.int64(self.turns.shape[1]) + self.turns[self.rows[moves, orders], turns]


def subtract(numbers: Array, others: Array, states: int) -> Array:
    """Return the numbers minus others, digit by digit in base *states*, without carry.

    >>> subtract(np.array([5, 7]), np.array([1, 8]), 3).tolist()  # 12 - 01, 21 - 22
    [4, 2]
    """
    result, unit = np.zeros(np.broadcast(numbers, others).shape, np.int32), 1
    while unit < MOST_TURNS:
        digits, other_digits = (((array // unit) % states).astype(np.int16) for array in (numbers, others))
        result += ((digits - other_digits) % np.int16(states)) * np.int32(unit)
        unit *= states
    return result


def make_tables(scores: Array, states: int, children_of: ChildrenOf) -> OrderTables:
    """Return tables that agree with the rules at a position of each order, and at all positions of some order.

    *scores* [orders, turns] are 0 unless the game is over: somewhere in each order, and everywhere in one. Raises
    NotOriented if a move does not lead to each order from one other, or likewise with turns.
    """
    count, size = scores.shape
    # Step 1: what each move does to the turns, apart from what it adds. Look at an order in which all have moves, and
    # subtract what is added to turns 0.
    full_order = int(scores.max(axis=1).argmin())
    children = children_of(full_order * size + np.arange(size)).T
    turned = subtract(children % size, children[:, :1] % size, states)
    # Step 2: from which order each move leads to each order, and what it adds, at the first turns that have moves.
    moves = len(children)
    orders, added = np.full((moves, count), -1, np.int32), np.zeros((moves, count), np.uint16)
    for begin in range(0, count, ORDERS):
        block = np.arange(begin, min(begin + ORDERS, count))
        turns = scores[begin : begin + ORDERS].argmin(axis=1)
        child_orders, child_turns = np.divmod(children_of(block * size + turns).T, size)
        for move in range(moves):
            orders[move, child_orders[move]] = block
            added[move, child_orders[move]] = subtract(child_turns[move], turned[move, turns], states)
    # Step 3: each table must be a permutation. Invert those of the turns; moves of one kind have the same.
    kinds, kind_of = np.unique(turned, axis=0, return_inverse=True)
    inverse = np.argsort(kinds, axis=1)
    if orders.min() < 0 or (np.take_along_axis(kinds, inverse, axis=1) != np.arange(size)).any():
        raise NotOriented
    codes = (kind_of.reshape(-1, 1) * size).astype(np.int32) + added
    # Step 4: a row for each pair (kind of permutation, amount added) that occurs; its code is kind * size + amount.
    used = np.zeros(len(kinds) * size, np.bool_)
    used[codes] = True
    pairs, row_of_code = np.flatnonzero(used), np.cumsum(used, dtype=np.int32) - 1
    parent_turns = np.empty((len(pairs), size), np.uint16)
    for row, (kind, amount) in enumerate(zip(*np.divmod(pairs, size), strict=True)):
        parent_turns[row] = inverse[kind, subtract(np.arange(size), amount, states)]
    return OrderTables(orders, row_of_code[codes], parent_turns)


def table_bytes(orders: int, turns: int, moves: int) -> int:
    """Return the most bytes that the tables of a tier take, about."""
    return TABLE_BYTES * moves * orders + 2 * moves * turns * min(turns, orders)
