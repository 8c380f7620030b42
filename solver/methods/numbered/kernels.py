"""The compiled loops for games with a numbering: slots become positions, and their children and parents slots.

All release the GIL and write to arrays that the caller gives. Slots are those of one tier, from 0; scores as in
values/score.py, with one more: `DRAW_CLASS << bits | EMPTY_PLIES` for a slot that stands for no position.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, MOST_IMAGES, MOST_MOVES, TIE, UNDECIDED, WIN, is_none
from retrograde.solver.methods.listed.predecessors.frontier import mark_at
from retrograde.solver.methods.listed.predecessors.kernels import with_link
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.kernels import canonical, longer, multiplicity, place_in
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.turns import is_players, turns
from retrograde.solver.rules.whole import as_position, note, position_in, put, stands_at, whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.edges import differs, mark_of
from retrograde.solver.values.left import PRIMITIVE
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES
from retrograde.solver.values.score_kernels import pass_on, pass_up, primitive_score

Array = np.ndarray[Any, Any]


class Slots(NamedTuple):
    """All tiers, ascending, and where the scores of their slots begin; scores have so many *bits* for plies. Only those
    of the tiers that are *solved* are to be read."""

    tiers: Array
    starts: Array
    scores: Array
    bits: int
    solved: Array


class Seeds(NamedTuple):
    """What is known at first of some slots: the score of a primitive position, or EMPTY's, or else the greatest passed
    up by children of later tiers, 0 for none; how many distinct children there are within the tier, and one more where
    a child of a later tier saves the position from losing, or PRIMITIVE; how many positions are symmetric; and how many
    children there are within the tier."""

    scores: Array
    left: Array
    sizes: Array
    counts: Array


@kernel
def seed(game, tier, first, slots, seeds, images, links, trouble):
    """Look at the positions of some slots of a tier, from slot *first*, and at all their children.

    Writes to *seeds* what is known, and to *links* the distinct children within the tier, position by position, or
    their complements (`~`) where the same player moves again. Returns how many slots were done, for *links* may be too
    short for all, and how many links were written. *trouble* becomes what is wrong, and the last position looked at,
    and its slot, or the number of the tier that is UNSOLVED; *images* is room for MOST_IMAGES positions.
    """
    tiers, starts, scores, bits, solved = slots
    k = place_in(tiers, tier)
    count = starts[k + 1] - starts[k]
    end = 0
    for i in range(len(seeds.scores)):
        if end + MOST_MOVES > len(links):
            return i, end
        seeds.counts[i] = seeds.sizes[i] = 0
        seeds.left[i] = PRIMITIVE
        position = as_position(game.unindex(tier, first + i))
        if is_none(position):
            seeds.scores[i] = DRAW_CLASS << bits | EMPTY_PLIES
            continue
        trouble[0] = Trouble.FINE
        note(trouble, position)
        trouble[2] = first + i
        if not is_position(position) or whole(game.index(position)) != first + i:
            trouble[0] = Trouble.BAD_INDEX
            return i, end
        seeds.sizes[i] = multiplicity(game, position, images)
        if not 0 < seeds.sizes[i] < MOST_IMAGES:
            trouble[0] = Trouble.BAD_IMAGES
            return i, end
        value = whole(game.primitive(position))
        if value != UNDECIDED:
            if value != WIN and value != LOSE and value != TIE and value != DRAW:
                trouble[0] = Trouble.BAD_PRIMITIVE
                return i, end
            seeds.scores[i] = primitive_score(value, bits)
            continue
        if not is_players(game, position):
            trouble[0] = Trouble.BROKEN
            return i, end
        begin = end
        moves = passed = 0
        for move in game.generate_moves(position):
            if whole(move) < 0:
                trouble[0] = Trouble.BAD_MOVE
                return i, end
            child = as_position(game.do_move(position, move))
            if not is_position(child):
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, end
            child_tier = whole(game.tier(child))
            slot = whole(game.index(child))
            if child_tier == tier:
                if not 0 <= slot < count:
                    trouble[0] = Trouble.BAD_INDEX
                    return i, end
                end = with_link(links, begin, end, slot if turns(game, position, child) else ~slot)
            else:
                if child_tier < tier:
                    trouble[0] = Trouble.TIER_FALLS
                    return i, end
                k = place_in(tiers, child_tier)
                if k == len(tiers) or tiers[k] != child_tier:
                    trouble[0] = Trouble.BAD_TIER
                    return i, end
                if not 0 <= slot < starts[k + 1] - starts[k]:
                    trouble[0] = Trouble.BAD_INDEX
                    return i, end
                if not solved[k]:
                    trouble[0] = Trouble.UNSOLVED
                    trouble[2] = k
                    return i, end
                score = int(scores[starts[k] + slot])
                passed = max(passed, pass_up(score, bits) if turns(game, position, child) else pass_on(score, bits))
            moves += 1
            if moves == MOST_MOVES:
                trouble[0] = Trouble.NO_MOVES  # rather too many; the interpreted rules will say it
                return i, end
        if moves == 0:
            trouble[0] = Trouble.NO_MOVES
            return i, end
        seeds.scores[i] = passed
        seeds.counts[i] = end - begin
        seeds.left[i] = min(end - begin + (passed >= DRAW_CLASS << bits), PRIMITIVE - 1)
    return len(seeds.scores), end


@kernel
def children_again(game, tier, first, left, frontier, links, counts):
    """Look again at the undecided ones of some slots of a tier, from slot *first*: write their distinct children in a
    *frontier*, or the complements (`~`) where the same player moves again, and how many each has.

    Returns how many slots were done, for *links* may be too short for all, and how many links were written.
    """
    decided = (1 << 8 * left.itemsize) - 2
    end = 0
    for i in range(len(counts)):
        if end + MOST_MOVES > len(links):
            return i, end
        counts[i] = 0
        if left[i] >= decided:
            continue
        position = as_position(game.unindex(tier, first + i))
        begin = end
        for move in game.generate_moves(position):
            child = as_position(game.do_move(position, move))
            if whole(game.tier(child)) != tier:
                continue
            slot = whole(game.index(child))
            if not mark_at(frontier, slot):
                continue
            end = with_link(links, begin, end, slot if turns(game, position, child) else ~slot)
        counts[i] = end - begin
    return len(counts), end


@kernel
def parents_of(game, tier, frontier, left, sums, out, trouble):
    """Write the undecided parents of the slots of a *frontier* one after another, for each slot the distinct ones; the
    complements (`~`) of those where the same player is to move.

    Returns how many slots of the frontier were done, for *out* may be too short for all, and how many parents written.
    Where the parents of a slot do not add up to its sum, that is the trouble, and the third entry by how much.
    """
    primitive = (1 << 8 * left.itemsize) - 1
    own = np.empty(256, np.int64)
    count = 0
    for i in range(len(frontier)):
        position = as_position(game.unindex(tier, frontier[i]))
        trouble[0] = Trouble.FINE
        note(trouble, position)
        begin = count
        met = 0
        total = np.uint32(0)
        for given in game.parents(position):
            parent = as_position(given)
            if not is_position(parent):
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, begin
            if game.tier(parent) != tier:
                continue
            slot = whole(game.index(parent))
            if not 0 <= slot < len(left):
                trouble[0] = Trouble.BAD_INDEX
                return i, begin
            here = left[slot]
            new = here != primitive
            for other in range(met):
                new &= own[other] != slot
            if new:
                if met == len(own):
                    if met == MOST_MOVES:
                        trouble[0] = Trouble.NO_ROOM
                        return i, begin
                    own = longer(own)
                if count == len(out):
                    return i, begin
                own[met] = slot
                met += 1
                total = np.uint32(total + mark_of(slot))
                out[count] = slot if turns(game, parent, position) else ~slot
                count += here < primitive - 1
        if differs(total, sums, frontier[i]):
            trouble[0] = Trouble.BAD_PARENTS
            trouble[2] = differs(total, sums, frontier[i])
            return i, begin
    return len(frontier), count


@kernel
def measure(game, tier, first, images, sizes):
    """Write how many positions are symmetric to those of some slots of a tier, from slot *first*; 0 for empty ones."""
    for i in range(len(sizes)):
        position = as_position(game.unindex(tier, first + i))
        sizes[i] = 0 if is_none(position) else multiplicity(game, position, images)


@kernel
def there_and_back(game, tier, positions, slots, again):
    """Write the slots of positions of a tier, and the positions of these slots."""
    for i in range(len(positions)):
        slots[i] = game.index(position_in(game, positions, i))
        put(again, i, as_position(game.unindex(tier, slots[i])))


@kernel
def children_of(game, position, children):
    """Write the canonical children of a position, one for each move, as far as there is room; return what its primitive
    value is, and how many there are."""
    value = whole(game.primitive(position))
    count = 0
    if value == UNDECIDED:
        for move in game.generate_moves(position):
            child, _ = canonical(game, as_position(game.do_move(position, move)))
            if count < len(children):
                put(children, count, child)
            count += 1
    return value, count


@kernel
def parents_at(game, tier, position, parents):
    """Write the distinct canonical parents of a position that are in a tier, as far as there is room; return how many
    there are."""
    count = 0
    for given in game.parents(position):
        parent, parent_tier = canonical(game, as_position(given))
        new = parent_tier == tier
        for other in range(min(count, len(parents))):
            new &= not stands_at(parents, other, parent)
        if new and count < len(parents):
            put(parents, count, parent)
        count += new
    return count
