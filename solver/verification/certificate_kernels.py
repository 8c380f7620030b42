"""The compiled loop that checks certificates. It shares no code with the search and the walk that made them.

The GIL is released, and threads may run it at the same time.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, POSITION_LIMIT, UNDECIDED, WIN
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.verification.kernels import choose, gather_images
from retrograde.solver.verification.storages import borrowed, inlined, is_image

Array = np.ndarray[Any, Any]

FOR_EVER, RISING, FALLING = range(3)
"""How it is seen that play ends: it need not; tiers rise with every two plies; bounds fall by two with every two."""


class Stored(NamedTuple):
    """What a certificate holds: positions, ascending, replies, and bounds, none where there are none; and what it says:
    the goal, within how many plies plain play decides what is left out, and how it is seen that play ends."""

    positions: Array
    replies: Array
    bounds: Array
    goal: int
    leaves: int
    ending: int


@kernel
def check_replies(game, stored, first, last, wrong, images, trouble, every):
    """Check the replies from one to another, exclusive; write the places of those that are wrong; return how many."""
    stored = borrowed(stored)
    count = 0
    for place in range(first, last):
        position = stored.positions[place]
        trouble[1] = position
        fine = 0 <= position < POSITION_LIMIT and game.canonical(position) == position
        fine = fine and game.primitive(position) + 0 == UNDECIDED
        fine = fine and check_one(game, stored, place, images, every)
        if not fine:
            wrong[count] = place
            count += 1
    return count


@kernel
def check_one(game, stored, place, images, every):
    """Return whether the reply of a place is right, there and at one image of the position, or at *every* image."""
    position, child, left = stored.positions[place], -1, stored.replies[place]
    for move in game.generate_moves(position):
        if left == 0:
            child = game.do_move(position, move)
            break
        left -= 1
    if not 0 <= child < POSITION_LIMIT or not is_answered(game, stored, place, child):
        return False
    size = gather_images(game, position, images)
    target = game.canonical(child)
    for number in range(1, size if every else min(size, 2)):
        image = images[number if every else choose(position, size)]
        if not is_answered_at(game, stored, place, image, target):
            return False
    return True


@kernel
def is_answered_at(game, stored, place, image, target):
    """Return whether an image of the position of a place has a move that leads to an image of a *target*, and whose
    answers are as they should be."""
    position = stored.positions[place]
    if not 0 <= image < POSITION_LIMIT or game.canonical(image) != position or game.primitive(image) + 0 != UNDECIDED:
        return False
    for move in game.generate_moves(image):
        other = game.do_move(image, move)
        if not 0 <= other < POSITION_LIMIT or game.canonical(other) != target:
            continue
        if other == target or is_image(game, target, other):
            return is_answered(game, stored, place, other)
    return False


@kernel
def is_answered(game, stored, place, child):
    """Return whether a side that has moved to a child, from the position of a place, has reached its goal, or is going
    to by every answer."""
    value = game.primitive(child) + 0
    bounded = stored.ending == FALLING
    bound = np.int64(stored.bounds[place]) if bounded else 0
    if value != UNDECIDED:
        return to_the_other(value) >= stored.goal and (not bounded or bound >= 1)
    tier = game.tier(stored.positions[place])
    answers = 0
    for move in game.generate_moves(child):
        answers += 1
        position = game.do_move(child, move)
        if not 0 <= position < POSITION_LIMIT or (bounded and bound < 2):
            return False
        value = game.primitive(position) + 0
        if value != UNDECIDED:
            if value < stored.goal:
                return False
            continue
        least = game.canonical(position)
        there = place_of(stored.positions, least)
        if there >= 0 and (least == position or is_image(game, least, position)):
            if stored.ending == FOR_EVER:
                continue
            if stored.ending == RISING and game.tier(least) > tier:
                continue
            if bounded and stored.bounds[there] <= bound - 2:
                continue
        if not is_decided(game, position, stored.goal, min(stored.leaves, bound - 2) if bounded else stored.leaves):
            return False
    return answers > 0


@kernel
def is_decided(game, position, goal, plies):
    """Return whether whoever is to move can reach the goal within so many plies, by trying all there is."""
    if plies < 1:
        return False
    for move in game.generate_moves(position):
        child = game.do_move(position, move)
        if not 0 <= child < POSITION_LIMIT:
            return False
        value = game.primitive(child) + 0
        if value != UNDECIDED and to_the_other(value) >= goal:
            return True
    for move in game.generate_moves(position):
        child = game.do_move(position, move)
        if plies < 2 or game.primitive(child) + 0 != UNDECIDED:
            continue
        answers = reached = 0
        for answer in game.generate_moves(child):
            answers += 1
            following = game.do_move(child, answer)
            if not 0 <= following < POSITION_LIMIT:
                return False
            value = game.primitive(following) + 0
            if not (value >= goal if value != UNDECIDED else is_decided(game, following, goal, plies - 2)):
                break
            reached += 1
        if answers and reached == answers:
            return True
    return False


@kernel
def to_the_other(value):
    """Return what a value is to the other player."""
    if value == WIN:
        return LOSE + 0
    return WIN + 0 if value == LOSE else value


@inlined
def place_of(positions, position):
    """Return the place of a position among others that ascend; -1 where it is not there."""
    low, high = 0, len(positions)
    while low < high:
        middle = (low + high) >> 1
        if positions[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low if low < len(positions) and positions[low] == position else -1
