"""Compiled loops for puzzles whose moves are in tables (see orientations.py): by the rules, and by the tables.

All release the GIL. Several threads may run `pass_back` on different orders: two may write the same score to a slot.
"""

from retrograde.games.contract.game import UNDECIDED, WIN, is_none
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.positions import as_position, note, whole
from retrograde.solver.runtime.kernel import lean_kernel

UNSOLVED = 0
"""The score of a position that is not solved yet: that of a LOSE, which does not occur."""


@lean_kernel
def mark_ends(game, tier, first, scores, won, trouble):
    """Write the scores of some slots from *first* on: *won* where the game is won, and UNSOLVED elsewhere.

    Return how many slots are done: the next one is empty, has another slot, or the game ends otherwise there.
    """
    for i in range(len(scores)):
        position = as_position(game.unindex(tier, first + i))
        if is_none(position):
            return i
        note(trouble, position)
        # `index` must invert `unindex`.
        if not is_position(position) or whole(game.index(position)) != first + i:
            return i
        value = whole(game.primitive(position))
        if value != WIN and value != UNDECIDED:
            return i
        scores[i] = won if value == WIN else UNSOLVED
    return len(scores)


@lean_kernel
def children_of(game, tier, count, slots, children, trouble):
    """Write the slots of the children of some unsolved slots to *children*: a row for each, a column for each move.

    *count* is the size of the tier. Return how many slots are done: the next one has another number of moves, or a
    child without a slot of this tier.
    """
    for i in range(len(slots)):
        position = as_position(game.unindex(tier, slots[i]))
        note(trouble, position)
        moves = 0
        for move in game.generate_moves(position):
            if moves == children.shape[1]:
                return i
            # A child must have a slot of this tier.
            child = as_position(game.do_move(position, move))
            if not is_position(child) or whole(game.tier(child)) != tier:
                return i
            slot = whole(game.index(child))
            if not 0 <= slot < count:
                return i
            children[i, moves] = slot
            moves += 1
        # All positions must have the same number of moves.
        if moves < children.shape[1]:
            return i
    return len(slots)


@lean_kernel
def pass_back(scores, tables, first, end, last, score, frontier):
    """Give the unsolved parents of the positions with score *last* the next *score*. The positions have the orders
    *first* to *end*; *tables* are OrderTables. Return how many of these positions had the score *last*.

    *frontier* is a buffer with an item for each value of the turns.
    """
    size, total = len(frontier), 0
    for order in range(first, end):
        # Step 1: list the turns of the positions of this order with the score. The next item overwrites one without it.
        count = 0
        for turns in range(size):
            frontier[count] = turns
            count += scores[order * size + turns] == last
        total += count
        # Step 2: by a move, all parents have the same order. Their scores and the rows of the tables fit in a cache.
        for move in range(len(tables.orders) if count else 0):
            parent_base = tables.orders[move, order] * size
            parent_turns = tables.turns[tables.rows[move, order]]
            for k in range(count):
                parent = parent_base + parent_turns[frontier[k]]
                if scores[parent] == UNSOLVED:
                    scores[parent] = score
    return total
