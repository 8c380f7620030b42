"""The compiled loops that ask the rules of a game about positions; they are compiled for each variant.

They release the GIL and write to arrays that the caller gives: blocks run on threads without locks.

The children of a block of positions, in the order in which the rules generate the moves, make a matrix with a column
for each position that is undecided (`origins` has its place in the block)::

    row 0   child of one position by its first move, of the next one by its first move, …       -1: no such move
    row 1   … by its second move, …

Where a game codes its positions so that a move keeps their order (see the guide for authors), a row is sorted when the
positions are, and whatever is done with it runs along memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.games.contract.game import (
    CHANCE,
    DRAW,
    LOSE,
    MOST_IMAGES,
    MOST_MOVES,
    PAYOFF_LIMIT,
    POSITION_LIMIT,
    TIE,
    UNDECIDED,
    WIN,
    defines,
)
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.turns import is_players, turns
from retrograde.solver.rules.whole import as_position, put, stands_at, whole
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

WEIGHT_LIMIT = 1 << 31
"""What the odds of a position add up to is below this."""


class Matrix(NamedTuple):
    """The children of a block of positions: `children` and their `tiers`, int64[rows, positions].

    `primitives` uint8 and `sizes` uint16 have an entry for each position, `sizes` perhaps none; `origins` int32 has one
    for each column. `images` is room for MOST_IMAGES positions.
    """

    children: Array
    tiers: Array
    primitives: Array
    sizes: Array
    origins: Array
    images: Array


@kernel
def place_in(ascending, number):
    """Return how many of some ascending numbers are below one, as np.searchsorted does, which takes the compiler ten
    times as long: a third of a second for each game."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def longer(array):
    """Return an array of twice the length that begins as another one does."""
    double = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):  # an array at once takes the compiler two seconds, for errors in words
        double[i] = array[i]
    return double


@kernel
def expand(game, tier, positions, matrix, trouble):
    """Write primitive values, numbers of symmetric positions (if `sizes` has room), children, and their tiers.

    Returns the numbers of columns written and rows needed; where the matrices have fewer rows, the call was in vain.
    *trouble* becomes what is wrong, and the last position looked at.
    """
    children, tiers, primitives, sizes, origins, images = matrix
    rows = children.shape[0]
    columns = 0
    needed = 0
    for i in range(len(positions)):
        position = positions[i]
        trouble[0] = Trouble.FINE
        trouble[1] = position
        if len(sizes):
            sizes[i] = count_images(game, position, images)
            if sizes[i] == MOST_IMAGES:
                trouble[0] = Trouble.BAD_IMAGES
                return columns, needed
        value = whole(game.primitive(position))
        primitives[i] = value
        row = 0
        if value == UNDECIDED:
            for move in game.generate_moves(position):
                if whole(move) < 0:
                    trouble[0] = Trouble.BAD_MOVE
                    return columns, needed
                if row < rows:
                    child = whole(game.do_move(position, move))
                    if not 0 <= child < POSITION_LIMIT:
                        trouble[0] = Trouble.OUT_OF_RANGE
                        return columns, needed
                    child, child_tier = canonical(game, child)
                    if child < 0:  # an image is no position
                        trouble[0] = Trouble.OUT_OF_RANGE
                        return columns, needed
                    if child_tier < tier:
                        trouble[0] = Trouble.TIER_FALLS
                        return columns, needed
                    children[row, columns] = child
                    tiers[row, columns] = child_tier
                row += 1
                if row == MOST_MOVES:
                    return columns, row
            if row == 0:
                trouble[0] = Trouble.NO_MOVES
                return columns, needed
            for rest in range(row, rows):
                children[rest, columns] = -1
            origins[columns] = i
            columns += 1
            needed = max(needed, row)
        elif value != WIN and value != LOSE and value != TIE and value != DRAW:
            trouble[0] = Trouble.BAD_PRIMITIVE
            return columns, needed
    return columns, needed


def canonical(game, position):
    """Return what `Game.canonical` does, and its tier."""
    return least_image(game, position)


@overload(canonical)
def _(game, position):
    if not defines(game.game, "images"):  # most of the loop's cost is its compilation
        return lambda game, position: (position, whole(game.tier(position)))
    return lambda game, position: least_image(game, position)


@kernel
def least_image(game, position):
    """Return the least of the positions equal to one by symmetry, lowest tier first, and its tier."""
    least, least_tier = position, whole(game.tier(position))
    for given in game.images(position):
        image = as_position(given)
        tier = whole(game.tier(image))
        if tier < least_tier or (tier == least_tier and image < least):
            least, least_tier = image, tier
    return least, least_tier


@kernel
def mark_moves_again(game, columns, positions, origins, children, places):
    """Turn the place of each child where the player of its position moves again into -2 less the place.

    Column i of *children* and *places* is of `positions[origins[i]]`. Returns a position at which it is the turn of
    none of the players, -1 where there is none.
    """
    for row in range(children.shape[0]):
        for i in range(columns):
            if places[row, i] >= 0:
                position, child = positions[origins[i]], children[row, i]
                for one in (position, child):
                    if not is_players(game, one):
                        return one
                if not turns(game, position, child):
                    places[row, i] = -2 - places[row, i]
    return -1


def count_images(game, position, images):
    """Return how many positions are equal to one by symmetry, itself included (at most MOST_IMAGES)."""
    return gather_images(game, position, images)


@overload(count_images)
def _(game, position, images):
    if not defines(game.game, "images"):
        return lambda game, position, images: 1
    return lambda game, position, images: gather_images(game, position, images)


@kernel
def gather_images(game, position, images):
    """Write the positions equal to one by symmetry, itself first; return how many (at most MOST_IMAGES)."""
    put(images, 0, position)
    count = 1
    for given in game.images(position):
        image = as_position(given)
        new = count < MOST_IMAGES
        for j in range(count):
            new &= not stands_at(images, j, image)
        if new:
            put(images, count, image)
            count += 1
    return count


def multiplicity(game, position, images):
    """Return the same as *count_images*, from the rules where they tell it."""
    return game.multiplicity(position) if defines(game, "multiplicity") else count_images(game, position, images)


@overload(multiplicity)
def _(game, position, images):
    if defines(game.game, "multiplicity"):
        return lambda game, position, images: whole(game.multiplicity(position))
    return lambda game, position, images: count_images(game, position, images)


@kernel
def expand_parents(game, tier, positions, parents, trouble):
    """Write the distinct canonical parents of each position that are in its tier, row by row; -1 for none.

    Returns the numbers of columns written, one for each position, and rows needed, as `expand` does.
    """
    rows = parents.shape[0]
    needed = 0
    for i in range(len(positions)):
        trouble[0] = Trouble.FINE
        trouble[1] = positions[i]
        row = 0
        for given in game.parents(positions[i]):
            parent = whole(given)
            if not 0 <= parent < POSITION_LIMIT:
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, needed
            parent, parent_tier = canonical(game, parent)
            if parent < 0:
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, needed
            new = parent_tier == tier
            for other in range(min(row, rows)):
                new &= parents[other, i] != parent
            if new:
                if row < rows:
                    parents[row, i] = parent
                row += 1
                if row == MOST_MOVES:
                    return i, row
        needed = max(needed, row)
        for rest in range(row, rows):
            parents[rest, i] = -1
    return len(positions), needed


@kernel
def ask_movers(game, positions, found, trouble):
    """Write whose turn it is; *trouble* becomes the last position looked at."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        found[i] = whole(game.turn(positions[i]))


@kernel
def weigh_block(game, positions, primitives, origins, weights, trouble):
    """Fill the weights of a block (see listed/weights.py); *trouble* becomes what is wrong, and the last position."""
    turns, odds, rewards, pays = weights
    players = game.players
    for i in range(len(positions)):
        if primitives[i] == UNDECIDED:
            continue
        trouble[1] = positions[i]
        paid = whole(game.payoff(positions[i], 0))
        other = whole(game.payoff(positions[i], 1)) if players == 2 else 0
        if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
            trouble[0] = Trouble.BROKEN
            return
        pays[i] = paid - other
    for column in range(len(origins)):
        position = positions[origins[column]]
        trouble[1] = position
        turn = whole(game.turn(position))
        if not CHANCE <= turn < players:
            trouble[0] = Trouble.BROKEN
            return
        turns[column] = turn
        if turn != CHANCE and not len(rewards):
            continue
        total = 0
        for row, move in enumerate(game.generate_moves(position)):
            weight = whole(game.odds(position, move)) if turn == CHANCE else 0
            total += weight
            if row >= odds.shape[0] or (turn == CHANCE and weight < 1) or not 0 <= total < WEIGHT_LIMIT:
                trouble[0] = Trouble.BROKEN
                return
            odds[row, column] = weight
            if len(rewards):
                paid = whole(game.reward(position, move, 0))
                other = whole(game.reward(position, move, 1)) if players == 2 else 0
                if not (-PAYOFF_LIMIT < paid < PAYOFF_LIMIT and -PAYOFF_LIMIT < other < PAYOFF_LIMIT):
                    trouble[0] = Trouble.BROKEN
                    return
                rewards[row, column] = paid - other
