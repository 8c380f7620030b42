"""The compiled loops of the backward sweep that call a game's rules.

They score positions by the steps of their children: a position's score is the greatest that its children pass up.
Positions are read in ascending order, so their children by one move mostly ascend as well. Then the step of a child is
the last step found, or one soon after it (`raise_scores`).
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED
from retrograde.solver.methods.listed.spill.kernels import is_at_most
from retrograde.solver.methods.streamed.forward_kernels import ALL, child_by, move_all, write_sizes, write_values
from retrograde.solver.methods.streamed.lists import BLOCK, MASK, blocks_of, unpack
from retrograde.solver.methods.streamed.steps import BEGIN, BITS, find_step
from retrograde.solver.rules.positions import empty_positions, note, position_in, put, whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import find_runs, make_runs_buffer
from retrograde.solver.values.score_kernels import pass_up, primitive_score

ROW, EDGES, EDGES_END = range(3)
"""Columns of the table of lists: the row in the arena, and the rows EDGES up to EDGES_END of the table of edges."""
MOVE, NEXT_TIER, STEPS, ASCENDS, HINT, BEFORE = range(6)
"""Columns of the table of edges.

MOVE: a move that all positions of the list have, or ALL if each position has moves of its own. NEXT_TIER: a tier that
it leads to. STEPS: the row of that tier in `LoadedSteps.tiers`. ASCENDS: 1 if the children must ascend, because only
part of the steps are loaded. HINT: the last step found. BEFORE: the last child so far, a column for each of its words.
"""


class BlockBuffers(NamedTuple):
    """Workspace for a block of positions. `children` by one move, their primitive `values`, and the `best` score that
    children have passed up. `passed_up` maps primitive values to the scores that they pass up."""

    children: Array
    values: Array
    best: Array
    passed_up: Array


@kernel
def score_lists(game, arena, lists, all_edges, steps, scored, trouble):
    """Score the positions of some lists in an arena, one after another, and write them to *scored* (ScoredLists).

    *lists* int64[k, 3] and *all_edges* int64[n, columns] are tables; the edges go to other tiers, whose *steps* are
    LoadedSteps. *trouble* says how it ended (see forward_kernels.py).
    """
    # The scores that finished children pass up; 0 for UNDECIDED. Primitive values are 1 to 4.
    passed_up = np.zeros(256, np.int64)
    for value in range(1, 5):
        passed_up[value] = pass_up(primitive_score(value, BITS), BITS)
    children, values, best = empty_positions(game, BLOCK), np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.int64)
    block = BlockBuffers(children, values, best, passed_up)
    images, run_buffer = empty_positions(game, MOST_IMAGES), make_runs_buffer()
    end = 0
    for number in range(len(lists)):
        trouble[2] = number
        row = lists[number, ROW]
        edges = all_edges[lists[number, EDGES] : lists[number, EDGES_END]]
        # Step 1: Each edge begins at the first step of its tier.
        for k in range(len(edges)):
            edges[k, HINT] = steps.tiers[edges[k, STEPS], BEGIN]
            for column in range(BEFORE, edges.shape[1]):
                edges[k, column] = -1
        runs = find_runs(arena.table[row, MASK], run_buffer)
        for block_number in range(blocks_of(arena, row)):
            # Step 2: Unpack a block of positions.
            count = unpack(arena, row, block_number, runs, scored.positions[end:])
            keys = scored.positions[end : end + count]
            for i in range(count):
                block.best[i] = -1
            # Step 3: Raise the scores by all children, move by move if all positions have the same moves.
            if edges[0, MOVE] == ALL:
                score_all_moves(game, keys, edges, steps, block.best, trouble)
            else:
                score_move_by_move(game, keys, edges, steps, block, trouble)
            if trouble[0] != Trouble.FINE:
                return
            # Step 4: Store the scores. A position without any child breaks the contract.
            for i in range(count):
                if block.best[i] < 0:
                    trouble[0] = Trouble.BROKEN
                    note(trouble, position_in(game, keys, i))
                    return
                scored.scores[end + i] = block.best[i]
            write_sizes(game, keys, images, scored.sizes[end:])
            end += count


@kernel
def score_move_by_move(game, keys, edges, steps, block, trouble):
    """Raise the best scores of a block of positions (*keys*) by the children of one move after another. *edges* are
    rows of the table of edges, one for each move."""
    for k in range(len(edges)):
        trouble[3] = edges[k, MOVE]
        if not move_all(game, keys, edges[k, MOVE], edges[k, NEXT_TIER], block.children, trouble):
            return
        # Only part of the steps are loaded, which is right only if the children ascend, from block to block as well.
        if edges[k, ASCENDS]:
            before = position_in(game, edges[k], BEFORE)
            disorder = False
            for i in range(len(keys)):
                child = position_in(game, block.children, i)
                disorder |= child < before
                before = child
            put(edges[k], BEFORE, before)
            if disorder:
                trouble[0] = Trouble.UNSORTED
                return
        # Children in which the game is over have no step: their primitive values count.
        write_values(game, block.children[: len(keys)], block.values, trouble)
        edges[k, HINT] = raise_scores(game, len(keys), block, steps, edges[k, STEPS], edges[k, HINT])
        if edges[k, HINT] < 0:
            trouble[0] = Trouble.LOST
            return


@kernel
def raise_scores(game, count, block, steps, k, hint):
    """Raise the best scores of *count* positions by their children in *block*. All are in the tier of row k of
    `steps.tiers`. Return the index of the last child's step, -1 if a child has none. *hint* is one near the first."""
    children, values, best, passed_up = block
    starts, passed = steps.starts, steps.passed
    is_missing = False
    for i in range(count):
        child = position_in(game, children, i)
        # Move on by up to two steps, without a branch: the processor would guess it wrong half the time.
        hint += is_at_most(starts, hint + 1, child)
        hint += is_at_most(starts, hint + 1, child)
        # Still not there: search for it.
        if not is_at_most(starts, hint, child) or is_at_most(starts, hint + 1, child):
            hint = find_step(steps, k, child)
        # The score by the child's primitive value or, if the game goes on there, by its step.
        score = passed_up[values[i]]
        step_score = np.int64(passed[hint])
        score = step_score if score == 0 else score
        is_missing |= score == 0
        best[i] = max(best[i], score)
    return -1 if is_missing else hint


@kernel
def score_all_moves(game, keys, edges, steps, best, trouble):
    """Raise the *best* scores of positions (*keys*) by all their children, if positions have moves of their own. Each
    of the *edges* is to a tier that some of the moves lead to."""
    for i in range(len(keys)):
        position = position_in(game, keys, i)
        note(trouble, position)
        for move in game.generate_moves(position):
            child, tier = child_by(game, position, move)
            value = whole(game.primitive(child))
            # Case: the game is over in the child.
            if value != UNDECIDED:
                score = pass_up(primitive_score(value, BITS), BITS)
            # Case: the game goes on. Find the steps of the child's tier.
            else:
                k = 0
                while k < len(edges) and edges[k, NEXT_TIER] != tier:
                    k += 1
                if k == len(edges):
                    trouble[0] = Trouble.OTHER_TIER
                    return
                score = np.int64(steps.passed[find_step(steps, edges[k, STEPS], child)])
                if score == 0:
                    trouble[0] = Trouble.LOST
                    return
            best[i] = max(best[i], score)
    trouble[0] = Trouble.FINE
