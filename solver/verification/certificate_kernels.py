"""The compiled loop that checks points 1 to 4 of `certificates.py`. It shares no code with the search.

It releases the GIL, and several threads may run it at the same time. Its argument `stored` is a StoredReplies.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.positions import as_position, no_position, position_in
from retrograde.solver.rules.positions import note as note_position
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.verification.kernels import choose, gather_images
from retrograde.solver.verification.storages import find_position, is_image

FOR_EVER, RISING, FALLING = range(3)
"""Why play ends: it need not (FOR_EVER), tiers rise with every two plies (RISING), or bounds fall by two with every two
plies (FALLING)."""


class StoredReplies(NamedTuple):
    """What a certificate holds and claims.

    `positions` ascend: int64[n] or, if they are tuples, int64[n, words]. `replies` are numbers of moves, `bounds` are
    plies (empty if there are none). `goal` is the value claimed. Trying all moves decides positions that are not stored
    within `leaves` plies. `ending` is FOR_EVER, RISING or FALLING.
    """

    positions: Array
    replies: Array
    bounds: Array
    goal: int
    leaves: int
    ending: int


@lean_kernel
def check_replies(game, stored, indices, wrong, images, trouble, every):
    """Check the replies at some indices of a certificate; write the indices of wrong ones to *wrong*, return how many.

    A reply is checked also at one image of the position, or at *every* image. *images* is a buffer for these.
    *trouble* receives the position for which the rules are called, for messages.
    """
    count = 0
    for index in indices:
        position = position_in(game, stored.positions, index)
        note_position(trouble, position)
        fine = is_position(position) and game.canonical(position) == position
        fine = fine and game.primitive(position) + 0 == UNDECIDED  # + 0 makes an int of a member of an enum
        fine = fine and is_reply_right(game, stored, index, images, every)
        if not fine:
            wrong[count] = index
            count += 1
    return count


@lean_kernel
def is_reply_right(game, stored, index, images, every):
    """Return whether the reply at an index is right, also at one image of the position, or at *every* image."""
    position, moves_before = position_in(game, stored.positions, index), stored.replies[index]
    child = no_position(position)
    # Step 1: find the child that the reply leads to; a reply is the number of a move, counted from 0.
    for move in game.generate_moves(position):
        if moves_before == 0:
            child = as_position(game.do_move(position, move))
            break
        moves_before -= 1
    if not is_position(child) or not is_answered(game, stored, index, child):
        return False
    # Step 2: symmetric positions must have a symmetric reply.
    size = gather_images(game, position, images)
    target = game.canonical(child)
    for number in range(1, size if every else min(size, 2)):
        image = position_in(game, images, number if every else choose(key_of(position), size))
        if not is_answered_at(game, stored, index, image, target):
            return False
    return True


@lean_kernel
def is_answered_at(game, stored, index, image, target):
    """Return whether an image of the position at *index* has a good enough move to an image of *target*. That is the
    canonical position after the stored reply."""
    position = position_in(game, stored.positions, index)
    if not is_position(image) or game.canonical(image) != position or game.primitive(image) + 0 != UNDECIDED:
        return False
    for move in game.generate_moves(image):
        other = as_position(game.do_move(image, move))
        if not is_position(other) or game.canonical(other) != target:
            continue
        if other == target or is_image(game, target, other):
            return is_answered(game, stored, index, other)
    return False


@lean_kernel
def is_answered(game, stored, index, child):
    """Return whether the side that has just moved to *child* has reached its goal, or does so after every answer.
    *index* is that of the position from which it moved."""
    value = game.primitive(child) + 0
    bounded = stored.ending == FALLING
    bound = np.int64(stored.bounds[index]) if bounded else 0
    # Case: the reply ends the game.
    if value != UNDECIDED:
        return seen_by_other(value) >= stored.goal and (not bounded or bound >= 1)
    # Case: the other side answers. All answers must be good enough.
    tier = game.tier(position_in(game, stored.positions, index))
    answers = 0
    for move in game.generate_moves(child):
        answers += 1
        position = as_position(game.do_move(child, move))
        if not is_position(position) or (bounded and bound < 2):
            return False
        value = game.primitive(position) + 0
        # The answer ends the game. The value is that of the player to move, who is the side that replied.
        if value != UNDECIDED:
            if value < stored.goal:
                return False
            continue
        # The position after the answer is stored, and is nearer to an end: tiers rise, or its bound is less by two.
        least = game.canonical(position)
        index_after = find_position(game, stored.positions, 0, len(stored.positions), least)
        if index_after >= 0 and (least == position or is_image(game, least, position)):
            if stored.ending == FOR_EVER:
                continue
            if stored.ending == RISING and game.tier(least) > tier:
                continue
            if bounded and stored.bounds[index_after] <= bound - 2:
                continue
        # Otherwise plain play must reach the goal within the plies that are left.
        if not is_decided(game, position, stored.goal, min(stored.leaves, bound - 2) if bounded else stored.leaves):
            return False
    return answers > 0


@lean_kernel
def is_decided(game, position, goal, plies):
    """Return whether the player to move can reach the goal within *plies*, by trying all moves."""
    if plies < 1:
        return False
    # Step 1: does a move reach the goal at once?
    for move in game.generate_moves(position):
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            return False
        value = game.primitive(child) + 0
        if value != UNDECIDED and seen_by_other(value) >= goal:
            return True
    # Step 2: is there a move after which every answer leads to the goal within two plies less?
    for move in game.generate_moves(position):
        child = as_position(game.do_move(position, move))
        if plies < 2 or game.primitive(child) + 0 != UNDECIDED:
            continue
        answers = reached = 0
        for answer in game.generate_moves(child):
            answers += 1
            after = as_position(game.do_move(child, answer))
            if not is_position(after):
                return False
            value = game.primitive(after) + 0
            reaches_goal = value >= goal if value != UNDECIDED else is_decided(game, after, goal, plies - 2)
            if not reaches_goal:  # this answer prevents the goal: try the next move
                break
            reached += 1
        if answers and reached == answers:
            return True
    return False


@lean_kernel
def seen_by_other(value):
    """Return a value as the other player sees it: WIN and LOSE change places."""
    if value == WIN:
        return LOSE + 0
    return WIN + 0 if value == LOSE else value
