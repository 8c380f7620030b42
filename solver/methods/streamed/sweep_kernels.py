"""The compiled loops of the way back that call a game's rules: they score positions by the steps of their children.

A position's score is the greatest that its children pass up. Positions are read in ascending order, so their children
by one move mostly ascend as well. Then the step of a child is the last step found, or one soon after it (`look_up`).
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED
from retrograde.solver.methods.streamed.kernels import ALL, child_by, move_all, sizes_of, values_of
from retrograde.solver.methods.streamed.lists import BLOCK, MASK, blocks_of, unpack
from retrograde.solver.methods.streamed.steps import BEGIN, BITS, find_step
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer
from retrograde.solver.values.score_kernels import pass_up, primitive_score

Array = np.ndarray[Any, Any]

ROW, LINKS, LINKS_END, UNIT = range(4)
"""Columns of the table of lists to be scored: the row in the arena, and the rows LINKS up to LINKS_END of the table
of links. UNIT is the number of columns."""
MOVE, LEAD, SPAN, ASCENDS, BEFORE, HINT, LINK = range(7)
"""Columns of the table of links.

MOVE: a move that all positions of the list have, or ALL if each position has moves of its own. LEAD: a tier that it
leads to. SPAN: the row of that tier's steps in `Steps.spans`. ASCENDS: 1 if the children must ascend, because only
part of the steps are loaded. BEFORE: the last child so far. HINT: the last step found.
"""


class Plan(NamedTuple):
    """What to score: tables of `units`, int64[k, UNIT], and `links`, int64[n, LINK]."""

    units: Array
    links: Array


class Block(NamedTuple):
    """Workspace for a block of positions.

    `children` by one move, their primitive `values`, and the `best` score that children have passed up. `worth` maps
    primitive values to the scores that they pass up.
    """

    children: Array
    values: Array
    best: Array
    worth: Array


@kernel
def sweep(game, arena, plan, steps, scored, trouble):
    """Score the positions of some lists, one list after another. *trouble* says how it ended (see kernels.py)."""
    # The scores that finished children pass up; 0 for UNDECIDED. Primitive values are 1 to 4.
    worth = np.zeros(256, np.int64)
    for value in range(1, 5):
        worth[value] = pass_up(primitive_score(value, BITS), BITS)
    block = Block(np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.int64), worth)
    images, room = np.empty(MOST_IMAGES, np.int64), make_runs_buffer()
    end = 0
    for unit in range(len(plan.units)):
        trouble[2] = unit
        row = plan.units[unit, ROW]
        links = plan.links[plan.units[unit, LINKS] : plan.units[unit, LINKS_END]]
        # Step 1: Each link begins at the first step of its tier.
        for k in range(len(links)):
            links[k, BEFORE], links[k, HINT] = -1, steps.spans[links[k, SPAN], BEGIN]
        runs = find_runs(arena.table[row, MASK], room)
        for number in range(blocks_of(arena, row)):
            # Step 2: Unpack a block of positions.
            count = unpack(arena, row, number, runs, scored.positions[end:])
            keys = scored.positions[end : end + count]
            for i in range(count):
                block.best[i] = -1
            # Step 3: Raise the scores by all children, move by move if all positions have the same moves.
            if links[0, MOVE] == ALL:
                look_up_all(game, keys, links, steps, block.best, trouble)
            else:
                look_up_each(game, keys, links, steps, block, trouble)
            if trouble[0] != Trouble.FINE:
                return
            # Step 4: Store the scores. A position without any child breaks the contract.
            for i in range(count):
                if block.best[i] < 0:
                    trouble[0], trouble[1] = Trouble.BROKEN, keys[i]
                    return
                scored.scores[end + i] = block.best[i]
            sizes_of(game, keys, images, scored.sizes[end:])
            end += count


@kernel
def look_up_each(game, keys, links, steps, block, trouble):
    """Raise the best scores of a block by the children of one move after another."""
    for k in range(len(links)):
        trouble[3] = links[k, MOVE]
        if not move_all(game, keys, links[k, MOVE], links[k, LEAD], block.children, trouble):
            return
        # Only part of the steps are loaded, which is right only if the children ascend, from block to block as well.
        if links[k, ASCENDS]:
            before = links[k, BEFORE]
            disorder = False
            for i in range(len(keys)):
                disorder |= block.children[i] < before
                before = block.children[i]
            links[k, BEFORE] = before
            if disorder:
                trouble[0] = Trouble.UNSORTED
                return
        # Children in which the game is over have no step: their primitive values count.
        values_of(game, block.children[: len(keys)], block.values, trouble)
        links[k, HINT] = look_up(len(keys), block, steps, links[k, SPAN], links[k, HINT])
        if links[k, HINT] < 0:
            trouble[0] = Trouble.LOST
            return


@kernel
def look_up(count, block, steps, k, hint):
    """Raise the best scores of *count* positions by their children in tier k; return the last step found.

    *hint* is a step near the first child. Returns -1 if a child was not found.
    """
    positions, values, best, worth = block
    starts, passed = steps.starts, steps.passed
    lost = False
    for i in range(count):
        child = positions[i]
        # Move on by up to two steps.
        hint += starts[hint + 1] <= child  # without a branch: the processor would guess it wrong half the time
        hint += starts[hint + 1] <= child
        # Still not there: search for it.
        if starts[hint] > child or starts[hint + 1] <= child:
            hint = find_step(steps, k, child)
        score = worth[values[i]]
        step = np.int64(passed[hint])
        score = step if score == 0 else score
        lost |= score == 0
        best[i] = max(best[i], score)
    return -1 if lost else hint


@kernel
def look_up_all(game, keys, links, steps, best, trouble):
    """Raise the *best* scores of positions by all their children, if positions have moves of their own."""
    for i in range(len(keys)):
        trouble[1] = keys[i]
        for move in game.generate_moves(keys[i]):
            child, tier = child_by(game, keys[i], move)
            value = whole(game.primitive(child))
            # Case: the game is over in the child.
            if value != UNDECIDED:
                score = pass_up(primitive_score(value, BITS), BITS)
            # Case: the game goes on. Find the steps of the child's tier.
            else:
                k = 0
                while k < len(links) and links[k, LEAD] != tier:
                    k += 1
                if k == len(links):
                    trouble[0] = Trouble.OTHER_TIER
                    return
                score = np.int64(steps.passed[find_step(steps, links[k, SPAN], child)])
                if score == 0:
                    trouble[0] = Trouble.LOST
                    return
            best[i] = max(best[i], score)
    trouble[0] = Trouble.FINE
