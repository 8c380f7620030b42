"""Compiled loops that call a game's rules for blocks of positions. Numba compiles them for each variant.

They release the GIL and write only to arrays of the caller, so that threads run them on different blocks without locks.
In `trouble` they report a fault of the rules (a Trouble code) and the position that the rules are called for.

`expand` writes the children of a block of positions to a matrix. The matrix has a column for each undecided position;
`origins` holds that position's index in the block. Rows follow the order in which the rules generate moves:

row 0   child of the first position by its first move, child of the second position by its first move, …
row 1   … by its second move, …                                                    -1: no such move

If a game codes its positions so that a move preserves their order (see the guide for authors), each row of a sorted
block is sorted too. Loops over a row then access memory in order.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.games import CHANCE, DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.games.contract.game import MOST_IMAGES, MOST_MOVES, PAYOFF_LIMIT, Traits, is_none
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.port import PortType
from retrograde.solver.rules.positions import as_position, no_position, note, position_in, put, stands_at, whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.rules.turns import is_players, turns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel

WEIGHT_LIMIT = 1 << 31
"""The sum of the odds of a position's moves is below this limit."""


class Matrix(NamedTuple):
    """Output arrays of `expand` for a block of positions.

    `children` and `tiers` are int64[rows, columns]; `children` has a further axis if positions have several words.
    `primitives` uint8 and `sizes` uint16 have an entry for each position; `sizes` may be empty. `origins` int32 has the
    position's index for each column. `images` is a buffer for MOST_IMAGES positions.
    """

    children: Array
    tiers: Array
    primitives: Array
    sizes: Array
    origins: Array
    images: Array


@kernel
def count_less(ascending, number):
    """Return how many of the *ascending* numbers are less than *number*.

    Like np.searchsorted, which takes a third of a second longer to compile for each game.

    >>> count_less(np.array([2, 4, 8]), 5)
    2
    """
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
    """Return an array of twice the length that begins with the items of *array*."""
    double = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):  # a slice assignment takes two seconds to compile, because of its error messages
        double[i] = array[i]
    return double


@kernel
def expand(game, tier, positions, matrix, trouble):
    """Write the children of a block of positions, and their tiers, to a Matrix; return (columns written, rows needed).

    The positions are in *tier*, so that no child may be in a lower one. *trouble* receives a Trouble code and the last
    position tried. If the matrix has fewer rows than needed, the output is incomplete: enlarge it and call again.
    """
    children, tiers, primitives, sizes, origins, images = matrix
    rows = children.shape[0]
    columns = 0
    needed = 0
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        trouble[0] = Trouble.FINE
        note(trouble, position)
        # Step 1: count the symmetric positions.
        if len(sizes):
            sizes[i] = count_images(game, position, images)
            if sizes[i] == MOST_IMAGES:
                trouble[0] = Trouble.BAD_IMAGES
                return columns, needed
        # Step 2: ask whether the game is over here.
        value = whole(game.primitive(position))
        primitives[i] = value
        row = 0
        if value == UNDECIDED:
            # Step 3 (undecided): write the canonical child of each move, one row per move.
            for move in game.generate_moves(position):
                if whole(move) < 0:
                    trouble[0] = Trouble.BAD_MOVE
                    return columns, needed
                # Too few rows: keep counting moves, so that the caller learns how many rows it needs.
                if row < rows:
                    child = as_position(game.do_move(position, move))
                    if not is_position(child):
                        trouble[0] = Trouble.OUT_OF_RANGE
                        return columns, needed
                    child, child_tier = canonical(game, child)
                    if is_none(child):  # an image is not a position
                        trouble[0] = Trouble.OUT_OF_RANGE
                        return columns, needed
                    # Tiers never fall along a move; otherwise solving tier by tier would be impossible.
                    if child_tier < tier:
                        trouble[0] = Trouble.TIER_FALLS
                        return columns, needed
                    put(children, (row, columns), child)
                    tiers[row, columns] = child_tier
                row += 1
                # A rule that never stops yielding moves must not hang the kernel.
                if row == MOST_MOVES:
                    return columns, row
            if row == 0:
                trouble[0] = Trouble.NO_MOVES
                return columns, needed
            # Step 4: mark the unused rows of this column, and record the column's position.
            for unused in range(row, rows):
                put(children, (unused, columns), no_position(position))
            origins[columns] = i
            columns += 1
            needed = max(needed, row)
        elif value != WIN and value != LOSE and value != TIE and value != DRAW:
            trouble[0] = Trouble.BAD_PRIMITIVE
            return columns, needed
    return columns, needed


@kernel
def write_primitives(game, positions, primitives, trouble):
    """Write the primitive value of each position; *trouble* receives the last position tried."""
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        primitives[i] = whole(game.primitive(position))


def canonical(game, position):
    """Return the canonical position, as `Game.canonical` does, and its tier."""
    return least_image(game, position)


@overload(canonical)
def compiled_canonical(game, position):
    if isinstance(game, PortType):
        return lambda game, position: game.least_image(position)
    if not Traits.of(game.game).has_images:  # saves the compilation of the loop, which costs more than running it
        return lambda game, position: (position, whole(game.tier(position)))
    return lambda game, position: least_image(game, position)


@kernel
def least_image(game, position):
    """Return (canonical position, its tier): the lowest of a position and its images, by tier first, then by number."""
    least, least_tier = position, whole(game.tier(position))
    for given in game.images(position):
        image = as_position(given)
        tier = whole(game.tier(image))
        if tier < least_tier or (tier == least_tier and image < least):
            least, least_tier = image, tier
    return least, least_tier


@kernel
def mark_moves_again(game, columns, positions, origins, children, indices, trouble):
    """Mark the children at which the same player moves again: their index i in *indices* becomes -2 - i. Return False
    at chance's turn, and write that position to *trouble*.

    *children* and *indices* have a row for each move; column c belongs to `positions[origins[c]]`.
    """
    for row in range(children.shape[0]):
        for column in range(columns):
            if indices[row, column] >= 0:
                position = position_in(game, positions, origins[column])
                child = position_in(game, children, (row, column))
                if not is_players(game, position):
                    note(trouble, position)
                    return False
                if not is_players(game, child):
                    note(trouble, child)
                    return False
                if not turns(game, position, child):
                    indices[row, column] = -2 - indices[row, column]
    return True


def count_images(game, position, images):
    """Return how many positions are equal to one by symmetry, itself included, at most MOST_IMAGES."""
    return gather_images(game, position, images)


@overload(count_images)
def compiled_count_images(game, position, images):
    return lambda game, position, images: gather_images(game, position, images) if game.has_images else 1


@kernel
def gather_images(game, position, images):
    """Write the distinct positions equal to one by symmetry, itself first. Return how many.

    Those after the first MOST_IMAGES are ignored.
    """
    put(images, 0, position)
    count = 1
    for given in game.images(position):
        image = as_position(given)
        # Boards have 8 or 16 images, so a linear search is enough.
        new = count < MOST_IMAGES
        for j in range(count):
            new &= not stands_at(images, j, image)
        if new:
            put(images, count, image)
            count += 1
    return count


def multiplicity(game, position, images):
    """Return how many positions are symmetric to one, itself included; by `game.multiplicity` if it exists."""
    return game.multiplicity(position) if Traits.of(game).has_multiplicity else count_images(game, position, images)


@overload(multiplicity)
def compiled_multiplicity(game, position, images):
    return lambda game, position, images: (
        game.multiplicity(position) if game.has_multiplicity else count_images(game, position, images)
    )


@kernel
def expand_parents(game, tier, positions, parents, trouble):
    """Write the distinct canonical parents of each position in its own tier, a column each; otherwise like `expand`."""
    rows = parents.shape[0]
    needed = 0
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        trouble[0] = Trouble.FINE
        note(trouble, position)
        row = 0
        # Step 1: take the canonical position of each parent that the rules yield.
        for given in game.parents(position):
            parent = as_position(given)
            if not is_position(parent):
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, needed
            parent, parent_tier = canonical(game, parent)
            if is_none(parent):
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, needed
            # Step 2: keep parents of this tier only, each once.
            new = parent_tier == tier
            for other in range(min(row, rows)):
                new &= position_in(game, parents, (other, i)) != parent
            if new:
                if row < rows:
                    put(parents, (row, i), parent)
                row += 1
                if row == MOST_MOVES:
                    return i, row
        # Step 3: fill up the column with -1.
        needed = max(needed, row)
        for unused in range(row, rows):
            put(parents, (unused, i), no_position(position))
    return len(positions), needed


@kernel
def ask_movers(game, positions, movers, trouble):
    """Write the player to move at each position to *movers*; *trouble* receives the last position tried."""
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        movers[i] = whole(game.turn(position))


@kernel
def weigh_block(game, positions, primitives, origins, weights, trouble):
    """Write who moves in a block's positions, what its ends and moves pay, and the odds of chance's moves.

    *weights* is a Weights of `weights.py`; column c is for `positions[origins[c]]`. *trouble* receives a Trouble code
    and the last position tried.
    """
    movers, pays, odds, rewards = weights
    # Step 1: whose turn it is, and payoffs where the game is over.
    for i in range(len(positions)):
        position = position_in(game, positions, i)
        note(trouble, position)
        movers[i] = whole(game.turn(position))
        for player in range(pays.shape[1] if primitives[i] != UNDECIDED else 0):
            pays[i, player] = whole(game.payoff(position, player))
            if not -PAYOFF_LIMIT < pays[i, player] < PAYOFF_LIMIT:
                trouble[0] = Trouble.BROKEN
                return
    for column in range(len(origins)):
        position = position_in(game, positions, origins[column])
        note(trouble, position)
        turn = movers[origins[column]]
        if not CHANCE <= turn < game.players:
            trouble[0] = Trouble.BROKEN
            return
        if turn != CHANCE and not len(rewards):
            continue
        # Step 2: odds of chance's moves, and what each move pays. A player's moves have weight 0.
        total = 0
        # Weights must be positive, and their sum below WEIGHT_LIMIT, so that products fit in 64 bits.
        for row, move in enumerate(game.generate_moves(position)):
            weight = whole(game.odds(position, move)) if turn == CHANCE else 0
            total += weight
            if row >= odds.shape[0] or (turn == CHANCE and weight < 1) or not 0 <= total < WEIGHT_LIMIT:
                trouble[0] = Trouble.BROKEN
                return
            odds[row, column] = weight
            for player in range(rewards.shape[2] if len(rewards) else 0):
                rewards[row, column, player] = whole(game.reward(position, move, player))
                if not -PAYOFF_LIMIT < rewards[row, column, player] < PAYOFF_LIMIT:
                    trouble[0] = Trouble.BROKEN
                    return
