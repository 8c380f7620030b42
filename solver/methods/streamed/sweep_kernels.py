"""The compiled loops of the way back that ask the rules of a game: positions scored by the steps of their children."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED
from retrograde.solver.methods.streamed.kernels import ALL, child_by, move_all, sizes_of, values_of
from retrograde.solver.methods.streamed.lists import BLOCK, MASK, blocks_of, unpack
from retrograde.solver.methods.streamed.steps import BEGIN, BITS, find_step
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, room_for_runs
from retrograde.solver.values.score_kernels import pass_up, primitive_score

Array = np.ndarray[Any, Any]

ROW, LINKS, LINKS_END, UNIT = range(4)
"""Columns of the table of lists to be scored: the row in the arena; the rows in the table of links, from one to
another."""
MOVE, LEAD, SPAN, ASCENDS, BEFORE, HINT, LINK = range(7)
"""Columns of the table of links: a move, the same for all links of a list if ALL, in which case each position has moves
of its own; a tier that it leads to; whose steps are where among those loaded; 1 where the children must ascend, because
only part of its steps are loaded; the last child so far; and the last step found."""


class Plan(NamedTuple):
    """What to score: tables of `units`, int64[k, UNIT], and `links`, int64[n, LINK]."""

    units: Array
    links: Array


class Block(NamedTuple):
    """Room for what is known of a block of positions: its `children` by a move, the primitive `values` of these, and
    the `best` score that children have passed up. `worth` has what each primitive value is worth one ply earlier."""

    children: Array
    values: Array
    best: Array
    worth: Array


@kernel
def sweep(game, arena, plan, steps, scored, trouble):
    """Score the positions of lists, one list after another; how it ended is written to *trouble* (see kernels.py)."""
    worth = np.zeros(256, np.int64)
    for value in range(1, 5):
        worth[value] = pass_up(primitive_score(value, BITS), BITS)
    block = Block(np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.int64), worth)
    images, room = np.empty(MOST_IMAGES, np.int64), room_for_runs()
    end = 0
    for unit in range(len(plan.units)):
        trouble[2] = unit
        row = plan.units[unit, ROW]
        links = plan.links[plan.units[unit, LINKS] : plan.units[unit, LINKS_END]]
        for k in range(len(links)):
            links[k, BEFORE], links[k, HINT] = -1, steps.spans[links[k, SPAN], BEGIN]
        runs = find_runs(arena.table[row, MASK], room)
        for number in range(blocks_of(arena, row)):
            count = unpack(arena, row, number, runs, scored.positions[end:])
            keys = scored.positions[end : end + count]
            for i in range(count):
                block.best[i] = -1
            if links[0, MOVE] == ALL:
                look_up_all(game, keys, links, steps, block.best, trouble)
            else:
                look_up_each(game, keys, links, steps, block, trouble)
            if trouble[0] != Trouble.FINE:
                return
            for i in range(count):
                if block.best[i] < 0:
                    trouble[0], trouble[1] = Trouble.BROKEN, keys[i]
                    return
                scored.scores[end + i] = block.best[i]
            sizes_of(game, keys, images, scored.sizes[end:])
            end += count


@kernel
def look_up_each(game, keys, links, steps, block, trouble):
    """Raise the best scores of a block to what the children by one move after another are worth."""
    for k in range(len(links)):
        trouble[3] = links[k, MOVE]
        if not move_all(game, keys, links[k, MOVE], links[k, LEAD], block.children, trouble):
            return
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
        values_of(game, block.children[: len(keys)], block.values, trouble)
        links[k, HINT] = look_up(len(keys), block, steps, links[k, SPAN], links[k, HINT])
        if links[k, HINT] < 0:
            trouble[0] = Trouble.LOST
            return


@kernel
def look_up(count, block, steps, k, hint):
    """Raise the best scores of so many positions to what their children, in tier k, are worth; return the last step,
    -1: one was not found."""
    positions, values, best, worth = block
    starts, passed = steps.starts, steps.passed
    lost = False
    for i in range(count):
        child = positions[i]
        hint += starts[hint + 1] <= child  # twice without a branch, which would be guessed wrong half the time
        hint += starts[hint + 1] <= child
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
    """Raise the *best* scores of positions to what their children by all moves are worth."""
    for i in range(len(keys)):
        trouble[1] = keys[i]
        for move in game.generate_moves(keys[i]):
            child, tier = child_by(game, keys[i], move)
            value = whole(game.primitive(child))
            if value != UNDECIDED:
                score = pass_up(primitive_score(value, BITS), BITS)
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
