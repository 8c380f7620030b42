"""The compiled loops of a proof: what each move leaves open, and what a few plies decide.

The player to move *holds* a position by reaching a goal whatever the other side answers. A goal is a value; an end of
the game worth that value or more meets it. Positions that plain play holds within a few plies are left out of
certificates, because the verifier searches as far.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game, is_none
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.positions import as_position, of_positions, put, stands_at, whole
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel

REFUTED = -1
"""Instead of a number of open positions: some answer ends the game below the goal."""
COMPLETE, BROKEN, TOO_MANY = 0, 2, 3  # -1 is REFUTED
"""Results of `list_moves`: complete; the rules return no valid position; more moves than the table holds.

`list_answers` returns their negatives, which are below REFUTED.
"""


class MoveTable(NamedTuple):
    """What `list_moves` writes, with a row for each move.

    `children` int64[moves]. `counts` int64[moves]: how many positions the answers leave open, or REFUTED. `open` and
    `tiers` int64[moves, answers]: these canonical positions, and their tiers. If positions have several words,
    `children` and `open` have a further axis.
    """

    children: Array
    counts: Array
    open: Array
    tiers: Array


def make_move_table(game: Game, moves: int) -> MoveTable:
    """Return a table for *moves* moves, and as many answers to each."""
    children, rows = of_positions(game, moves), of_positions(game, moves * moves)
    tiers = np.zeros((moves, moves), np.int64)
    return MoveTable(children, np.zeros(moves, np.int64), rows.reshape(moves, moves, *rows.shape[1:]), tiers)


@kernel
def list_moves(game, position, goal, plies, table):
    """Write to a MoveTable what each move of an undecided position leaves open. Return (COMPLETE, BROKEN or TOO_MANY;
    the number of moves).

    Positions that plain play decides within *plies* plies are not open.
    """
    row = 0
    for move in game.generate_moves(position):
        if row == len(table.counts):
            return TOO_MANY, row
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            return BROKEN, row
        put(table.children, row, child)
        value = whole(game.primitive(child))
        # Case: the move ends the game, with or below the goal.
        if value != UNDECIDED:
            table.counts[row] = 0 if for_opponent(value) >= goal else REFUTED
        else:
            # Case: the game goes on. Collect the positions after every answer.
            count = list_answers(game, child, goal, plies, table.open[row], table.tiers[row])
            if count < REFUTED:
                return -count, row
            table.counts[row] = count
        row += 1
    return COMPLETE, row


@kernel
def list_answers(game, child, goal, plies, open_positions, tiers):
    """Write the distinct canonical positions, and tiers, that the answers to a move leave open; return how many. Return
    REFUTED if an answer ends the game below the goal, or -BROKEN or -TOO_MANY."""
    count = 0
    for answer in game.generate_moves(child):
        after_answer = as_position(game.do_move(child, answer))
        if not is_position(after_answer):
            return -BROKEN
        value = whole(game.primitive(after_answer))
        if value != UNDECIDED:
            if value < goal:
                return REFUTED
        # Case: the game goes on, and plain play within *plies* plies does not hold the position. Write it once.
        elif not (plies and holds(game, after_answer, goal, plies)):
            least, tier = canonical(game, after_answer)
            if is_none(least):
                return -BROKEN
            i = 0
            while i < count and not stands_at(open_positions, i, least):
                i += 1
            if i == len(open_positions):
                return -TOO_MANY
            if i == count:
                put(open_positions, count, least)
                tiers[count] = tier
                count += 1
    return count


@kernel
def holds(game, position, goal, plies):
    """Return whether the player to move reaches the goal within *plies* plies, whatever the answers; *plies* is odd."""
    # Step 1: a move that ends the game at the goal.
    for move in game.generate_moves(position):
        value = whole(game.primitive(as_position(game.do_move(position, move))))
        if value != UNDECIDED and for_opponent(value) >= goal:
            return True
    if plies < 3:
        return False
    # Step 2: a move after which the goal is met by every answer, or held with two plies fewer.
    for move in game.generate_moves(position):
        child = as_position(game.do_move(position, move))
        if whole(game.primitive(child)) != UNDECIDED:
            continue
        is_held = True
        for answer in game.generate_moves(child):
            after_answer = as_position(game.do_move(child, answer))
            value = whole(game.primitive(after_answer))
            is_held = value >= goal if value != UNDECIDED else holds(game, after_answer, goal, plies - 2)
            if not is_held:
                break
        if is_held:
            return True
    return False


@kernel
def for_opponent(value):
    """Return a value from the other player's view."""
    return LOSE + WIN - value if value in (LOSE, WIN) else value
