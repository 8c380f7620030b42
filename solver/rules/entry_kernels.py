"""The machine code behind the entries of a port: kernels that are compiled for each game, and call one rule.

They return int64, whatever kind of number a rule gives, and positions as int64 or tuples of it. A kernel for a rule
that yields items skips the first ones, and writes the next to a buffer.
"""

import numpy as np

from retrograde.games.contract.game import LOSE
from retrograde.solver.rules import kernels
from retrograde.solver.rules.port import BUFFER, store
from retrograde.solver.rules.positions import as_position, swapped, whole
from retrograde.solver.runtime.kernel import entry_kernel


@entry_kernel
def primitive(game, position):
    """Return the value of a primitive position, or UNDECIDED."""
    return np.int64(whole(game.primitive(position)))


@entry_kernel
def do_move(game, position, move):
    """Return the child of a position by a move."""
    return as_position(game.do_move(position, move))


@entry_kernel
def tier(game, position):
    """Return the tier of a position."""
    return np.int64(whole(game.tier(position)))


@entry_kernel
def turn(game, position):
    """Return whose turn it is."""
    return np.int64(whole(game.turn(position)))


@entry_kernel
def index(game, position):
    """Return the slot of a position in its tier."""
    return np.int64(whole(game.index(position)))


@entry_kernel
def unindex(game, tier, slot):
    """Return the position of a slot."""
    return as_position(game.unindex(tier, slot))


@entry_kernel
def odds(game, position, move):
    """Return the weight of a move of chance."""
    return np.int64(whole(game.odds(position, move)))


@entry_kernel
def payoff(game, position, player):
    """Return what a player gets where the game is over."""
    return np.int64(whole(game.payoff(position, player)))


@entry_kernel
def reward(game, position, move, player):
    """Return what a player gets for a move."""
    return np.int64(whole(game.reward(position, move, player)))


@entry_kernel
def promise(game, position, move):
    """Return how promising a move is."""
    return np.int64(whole(game.promise(position, move)))


@entry_kernel
def quiet(game, position):
    """Return whether a position is quiet."""
    return np.int64(whole(game.quiet(position)))


@entry_kernel
def estimate(game, position):
    """Return the estimate of a position."""
    return np.int64(whole(game.estimate(position)))


@entry_kernel
def swapped_position(game, position):
    """Return the position with the players exchanged, or a negative number."""
    return as_position(swapped(game, position))


@entry_kernel
def multiplicity(game, position):
    """Return how many positions are equal to one by symmetry."""
    return np.int64(whole(game.multiplicity(position)))


@entry_kernel
def least_image(game, position):
    """Return the canonical position and its tier."""
    least, tier = kernels.canonical(game, position)
    return as_position(least), np.int64(tier)


@entry_kernel
def generate_moves(game, position, skip, buffer):
    """Write moves to a buffer, and return how many."""
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
    """Write symmetric images to a buffer, and return how many."""
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
    """Write parents to a buffer, and return how many."""
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
    """Write each move with the child that it leads to, and return how many.

    One call for a position is faster than a call for each move.
    """
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
    """Return the canonical position, its tier, and whether the position is an image of it.

    It need not be: the canonical position may lack bits that are no part of a position.
    """
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


KERNELS = {
    "primitive": primitive,
    "do_move": do_move,
    "tier": tier,
    "turn": turn,
    "index": index,
    "unindex": unindex,
    "odds": odds,
    "payoff": payoff,
    "reward": reward,
    "promise": promise,
    "quiet": quiet,
    "estimate": estimate,
    "swapped": swapped_position,
    "multiplicity": multiplicity,
    "least_image": least_image,
    "generate_moves": generate_moves,
    "images": images,
    "parents": parents,
    "canonical": canonical,
    "zeroes": zeroes,
    "address": address,
    "wins_at_once": wins_at_once,
    "children": children,
    "checked_canonical": checked_canonical,
}
"""The kernel of each entry of a port."""
