"""The compiled loops of a proof's walk: what each move of a position leaves open, and what a few plies decide.

A side *holds* a position, in which it is to move, if it reaches its goal whatever the other side answers. A goal is a
value, and an end of the game that is worth so much, or more, is good enough. What plain play within some plies shows to
be held need not be in a certificate, for its verifier looks as far.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, POSITION_LIMIT, UNDECIDED, WIN
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

REFUTED = -1
"""In place of a number of open positions: the move is answered by an end that is not good enough."""
FINE, BROKEN, CROWDED = 0, 2, 3
"""How a look ended: well; with rules that give what is no position; with more moves than there is room. Their negatives
are less than REFUTED."""


class Sheet(NamedTuple):
    """What a look writes down, by the number of the move: the child, int64[moves]; how many positions the answers leave
    open to the side that made the move, or REFUTED; which they are, canonical, int64[moves, answers]; their tiers."""

    children: Array
    counts: Array
    open: Array
    tiers: Array


def make_sheet(moves: int) -> Sheet:
    """Return room for so many moves, and as many answers to each."""
    room = np.zeros((2, moves, moves), np.int64)
    return Sheet(np.zeros(moves, np.int64), np.zeros(moves, np.int64), room[0], room[1])


@kernel
def look(game, position, goal, plies, sheet):
    """Write down what each move of an undecided position leaves open; return how it ended, and how many moves it has.

    What plain play decides within so many *plies* is not open.
    """
    row = 0
    for move in game.generate_moves(position):
        if row == len(sheet.counts):
            return CROWDED, row
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            return BROKEN, row
        sheet.children[row] = child
        value = whole(game.primitive(child))
        if value != UNDECIDED:
            sheet.counts[row] = 0 if flipped(value) >= goal else REFUTED
        else:
            count = answers_left(game, child, goal, plies, sheet.open[row], sheet.tiers[row])
            if count < REFUTED:
                return -count, row
            sheet.counts[row] = count
        row += 1
    return FINE, row


@kernel
def answers_left(game, child, goal, plies, left, tiers):
    """Write the canonical positions that the answers to a move leave open, each once, and their tiers; return how many.

    REFUTED where an answer ends the game badly, and what is less where the look cannot go on.
    """
    count = 0
    for answer in game.generate_moves(child):
        following = whole(game.do_move(child, answer))
        if not 0 <= following < POSITION_LIMIT:
            return -BROKEN
        value = whole(game.primitive(following))
        if value != UNDECIDED:
            if value < goal:
                return REFUTED
        elif not (plies and holds(game, following, goal, plies)):
            least, tier = canonical(game, following)
            if least < 0:
                return -BROKEN
            seen = 0
            while seen < count and left[seen] != least:
                seen += 1
            if seen == len(left):
                return -CROWDED
            if seen == count:
                left[count], tiers[count] = least, tier
                count += 1
    return count


@kernel
def holds(game, position, goal, plies):
    """Return whether the player to move reaches the goal within so many plies, an odd number, whatever is answered."""
    for move in game.generate_moves(position):
        value = whole(game.primitive(whole(game.do_move(position, move))))
        if value != UNDECIDED and flipped(value) >= goal:
            return True
    if plies < 3:
        return False
    for move in game.generate_moves(position):
        child = whole(game.do_move(position, move))
        if whole(game.primitive(child)) != UNDECIDED:
            continue
        kept = True
        for answer in game.generate_moves(child):
            following = whole(game.do_move(child, answer))
            value = whole(game.primitive(following))
            kept = value >= goal if value != UNDECIDED else holds(game, following, goal, plies - 2)
            if not kept:
                break
        if kept:
            return True
    return False


@kernel
def flipped(value):
    """Return what a value is to the other player."""
    return LOSE + WIN - value if value in (LOSE, WIN) else value
