"""The compiled loops for games with a dense numbering: slots become positions, and their children and parents slots.

All release the GIL and write to arrays that the caller gives. Slots are those of one tier, from 0; scores as in
score.py, with one more: `DRAW_CLASS << bits | EMPTY_PLIES` for a slot that stands for no position.
"""

import numpy as np

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.outcomes.edges import add_atomically, mark_of, was_undecided
from retrograde.solver.outcomes.score import DRAW_CLASS, EMPTY_PLIES
from retrograde.solver.outcomes.score_kernels import pass_up, primitive_score
from retrograde.solver.rules.kernels import (
    BAD_IMAGES,
    BAD_MOVE,
    BAD_PRIMITIVE,
    BAD_TIER,
    FINE,
    LIMIT,
    MOST_IMAGES,
    MOST_MOVES,
    NO_MOVES,
    OUT_OF_RANGE,
    TIER_FALLS,
    count_images,
    find,
)
from retrograde.solver.rules.whole import whole
from retrograde.solver.work.kernel import kernel

BAD_INDEX, BAD_PARENTS = 100, 101
"""Beside the troubles of kernels.py: index() gives what is no slot of the tier; parents() does not give those."""


@kernel
def seed(game, tier, first, tiers, starts, scores, bits, images, own, result, sizes, best, left, sums, trouble):
    """Look at the positions of some slots of a tier, from slot *first*, and at all their children.

    Writes to *result* what is known already: the score of a primitive position, UNDECIDED's or EMPTY's; to *sizes* how
    many positions are symmetric; to *best* the greatest score passed up by children of later tiers, whose *scores* are
    known, 0 for none; to *left* the number of distinct children within the tier, and one more where a child of a later
    tier saves the position from losing. Adds to the *sums* of those children, if it has room, what stands for their
    parents (see edges.py). *tiers* ascend and have their slots in *scores* from *starts* on. *trouble* becomes what is
    wrong, and the last position looked at, and its slot; *images* and *own* are room to work in.
    """
    row = find(tiers, 0, len(tiers), tier, 0)
    slots = starts[row + 1] - starts[row]
    for i in range(len(result)):
        best[i] = left[i] = sizes[i] = 0
        position = whole(game.unindex(tier, first + i))
        if position < 0:
            result[i] = DRAW_CLASS << bits | EMPTY_PLIES
            continue
        trouble[0] = FINE
        trouble[1] = position
        trouble[2] = first + i
        if position >= LIMIT or whole(game.index(position)) != first + i:
            trouble[0] = BAD_INDEX
            return
        sizes[i] = count_images(game, position, images)
        if sizes[i] == MOST_IMAGES:
            trouble[0] = BAD_IMAGES
            return
        value = whole(game.primitive(position))
        if value != UNDECIDED:
            if value != WIN and value != LOSE and value != TIE and value != DRAW:
                trouble[0] = BAD_PRIMITIVE
                return
            result[i] = primitive_score(value, bits)
            continue
        result[i] = DRAW_CLASS << bits | 1
        moves = count = passed = 0
        for move in game.generate_moves(position):
            if whole(move) < 0:
                trouble[0] = BAD_MOVE
                return
            child = whole(game.do_move(position, move))
            if not 0 <= child < LIMIT:
                trouble[0] = OUT_OF_RANGE
                return
            child_tier = whole(game.tier(child))
            slot = whole(game.index(child))
            if child_tier == tier:
                if not 0 <= slot < slots:
                    trouble[0] = BAD_INDEX
                    return
                new = True
                for other in range(count):
                    new &= own[other] != slot
                own[count] = slot
                count += new
            else:
                if child_tier < tier:
                    trouble[0] = TIER_FALLS
                    return
                row = find(tiers, 0, len(tiers), child_tier, 0)
                if row == len(tiers) or tiers[row] != child_tier:
                    trouble[0] = BAD_TIER
                    return
                if not 0 <= slot < starts[row + 1] - starts[row]:
                    trouble[0] = BAD_INDEX
                    return
                passed = max(passed, pass_up(int(scores[starts[row] + slot]), bits))
            moves += 1
            if moves == MOST_MOVES:
                trouble[0] = NO_MOVES  # rather too many; the interpreted rules will say it
                return
        if moves == 0:
            trouble[0] = NO_MOVES
            return
        best[i] = passed
        left[i] = count + (passed >= DRAW_CLASS << bits)
        if len(sums):
            mark = mark_of(first + i)
            for k in range(count):
                add_atomically(sums, own[k], mark)


@kernel
def parents_of(game, tier, frontier, scores, bits, sums, own, out, trouble):
    """Write the undecided parents of the slots of a *frontier* one after another, for each slot the distinct ones.

    Returns how many slots of the frontier were done, for *out* may be too short for all, and how many parents written.
    Where the parents of a slot do not add up to its sum, that is the trouble, and the third entry by how much.
    """
    undecided = DRAW_CLASS << bits | 1
    count = 0
    for i in range(len(frontier)):
        position = game.unindex(tier, frontier[i])
        trouble[0] = FINE
        trouble[1] = position
        begin = count
        met = 0
        total = np.uint32(0)
        for given in game.parents(position):
            parent = whole(given)
            if not 0 <= parent < LIMIT:
                trouble[0] = OUT_OF_RANGE
                return i, begin
            if game.tier(parent) != tier:
                continue
            slot = whole(game.index(parent))
            if not 0 <= slot < len(scores):
                trouble[0] = BAD_INDEX
                return i, begin
            score = np.int64(scores[slot])
            new = was_undecided(score, bits)
            for other in range(met):
                new &= own[other] != slot
            if new:
                if met == MOST_MOVES or count == len(out):
                    return i, begin
                own[met] = slot
                met += 1
                total = np.uint32(total + mark_of(slot))
                out[count] = slot
                count += score == undecided
        if total != sums[frontier[i]]:
            trouble[0] = BAD_PARENTS
            trouble[2] = np.uint32(sums[frontier[i]] - total)
            return i, begin
    return len(frontier), count


@kernel
def measure(game, tier, first, images, sizes):
    """Write how many positions are symmetric to those of some slots of a tier, from slot *first*; 0 for empty ones."""
    for i in range(len(sizes)):
        position = game.unindex(tier, first + i)
        sizes[i] = 0 if position < 0 else count_images(game, position, images)


@kernel
def there_and_back(game, tier, positions, slots, again):
    """Write the slots of positions of a tier, and the positions of these slots."""
    for i in range(len(positions)):
        slots[i] = game.index(positions[i])
        again[i] = game.unindex(tier, slots[i])
