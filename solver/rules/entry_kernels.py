"""The machine code behind the entries of a port: kernels that are compiled for each game, and call one rule.

Most do just what the rule of the same name does. They return int64, whatever kind of number a rule gives, and positions
as int64 or tuples of it. A kernel for a rule that yields items skips the first ones, writes the next to a buffer, and
returns how many it has written.
"""

import numpy as np

from retrograde.games.contract.game import LOSE
from retrograde.solver.rules import kernels, positions
from retrograde.solver.rules.port import BUFFER, ENTRIES, store
from retrograde.solver.rules.positions import as_position, whole
from retrograde.solver.runtime.kernel import entry_kernel


@entry_kernel
def primitive(game, position):
    return np.int64(whole(game.primitive(position)))


@entry_kernel
def do_move(game, position, move):
    return as_position(game.do_move(position, move))


@entry_kernel
def tier(game, position):
    return np.int64(whole(game.tier(position)))


@entry_kernel
def turn(game, position):
    return np.int64(whole(game.turn(position)))


@entry_kernel
def index(game, position):
    return np.int64(whole(game.index(position)))


@entry_kernel
def unindex(game, tier, slot):
    return as_position(game.unindex(tier, slot))


@entry_kernel
def odds(game, position, move):
    return np.int64(whole(game.odds(position, move)))


@entry_kernel
def payoff(game, position, player):
    return np.int64(whole(game.payoff(position, player)))


@entry_kernel
def reward(game, position, move, player):
    return np.int64(whole(game.reward(position, move, player)))


@entry_kernel
def promise(game, position, move):
    return np.int64(whole(game.promise(position, move)))


@entry_kernel
def quiet(game, position):
    return np.int64(whole(game.quiet(position)))


@entry_kernel
def estimate(game, position):
    return np.int64(whole(game.estimate(position)))


@entry_kernel
def swapped(game, position):
    """Return the position with the players exchanged, or a negative number."""
    return as_position(positions.swapped(game, position))


@entry_kernel
def multiplicity(game, position):
    return np.int64(whole(game.multiplicity(position)))


@entry_kernel
def least_image(game, position):
    """Return the canonical position and its tier."""
    least, tier = kernels.canonical(game, position)
    return as_position(least), np.int64(tier)


@entry_kernel
def generate_moves(game, position, skip, buffer):
    """Write the moves after the first *skip*, at most BUFFER of them; return how many."""
    count = 0
    for move in game.generate_moves(position):
        if count >= skip:
            store(buffer, count - skip, np.int64(whole(move)))
        count += 1
        if count == skip + BUFFER:
            break
    return max(count - skip, 0)


@entry_kernel
def images(game, position, skip, buffer):
    """Write the images after the first *skip*, at most BUFFER of them; return how many."""
    count = 0
    for image in game.images(position):
        if count >= skip:
            store(buffer, count - skip, as_position(image))
        count += 1
        if count == skip + BUFFER:
            break
    return max(count - skip, 0)


@entry_kernel
def parents(game, position, skip, buffer):
    """Write the parents after the first *skip*, at most BUFFER of them; return how many."""
    count = 0
    for parent in game.parents(position):
        if count >= skip:
            store(buffer, count - skip, as_position(parent))
        count += 1
        if count == skip + BUFFER:
            break
    return max(count - skip, 0)


@entry_kernel
def canonical(game, position):
    """Return the canonical position by the contract's own method; the verifier does not trust `least_image`."""
    return as_position(game.canonical(position))


@entry_kernel
def zeroes(game, position, move):
    """Return whether a move restarts the count of the fifty-move rule."""
    return np.int64(whole(game.zeroes(position, move)))


@entry_kernel
def address(game, position):
    """Return the tier of a position, and its slot there."""
    return np.int64(whole(game.tier(position))), np.int64(whole(game.index(position)))


@entry_kernel
def children(game, position, skip, buffer):
    """Write each move with its child, and return how many. One call for a position is faster than one for each move."""
    count = 0
    for move in game.generate_moves(position):
        if count >= skip:
            store(buffer, count - skip, (np.int64(whole(move)), as_position(game.do_move(position, move))))
        count += 1
        if count == skip + BUFFER:
            break
    return max(count - skip, 0)


@entry_kernel
def checked_canonical(game, position):
    """Return the canonical position, its tier, and whether *position* is an image of it: false if it has stray bits."""
    least = as_position(game.canonical(position))
    tier = np.int64(whole(game.tier(least)))
    if least == position:
        return least, tier, np.int64(1)
    for image in game.images(least):
        if as_position(image) == position:
            return least, tier, np.int64(1)
    return least, tier, np.int64(0)


@entry_kernel
def wins_at_once(game, position):
    """Return whether a move leads to a position where the opponent has lost."""
    for move in game.generate_moves(position):
        if whole(game.primitive(as_position(game.do_move(position, move)))) == LOSE:
            return np.int64(1)
    return np.int64(0)


@entry_kernel
def least_plies(game, position):
    return np.int64(whole(game.least_plies(position)))


@entry_kernel
def plies_to_draw(game, position):
    return np.int64(whole(game.plies_to_draw(position)))


@entry_kernel
def abstracted(game, position, number):
    return as_position(game.abstracted(position, number))


KERNELS = {name: globals()[name] for name in ENTRIES}
"""The kernel of each entry of a port: the function of the same name above."""
