"""Compiled loops for games that number their positions: from slots to positions, their children and parents, and back.

All release the GIL and write to arrays of the caller. Slots are those of one tier, from 0. Scores are as in
values/score.py, with one more: `DRAW_CLASS << bits | EMPTY_PLIES` for a slot without a position.

When the rules break the contract, a kernel writes the fault to *trouble* and stops; the caller raises the error.
"""

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, MOST_IMAGES, MOST_MOVES, TIE, UNDECIDED, WIN, is_none
from retrograde.solver.methods.listed.predecessors.kernels import append_edge, mark_at
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.kernels import count_less, longer, multiplicity
from retrograde.solver.rules.positions import as_position, note, whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.rules.turns import ALWAYS, SOMETIMES, is_players, turns, which_turn
from retrograde.solver.runtime.kernel import ZERO, kernel, lean_kernel
from retrograde.solver.values.edges import difference, mark_of
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES, PRIMITIVE
from retrograde.solver.values.score_kernels import pass_on, pass_up, primitive_score


@lean_kernel
def seed(game, tier, first, tier_scores, seeds, images, links, trouble):
    """Expand the positions of some slots of a tier, from slot *first* on. *tier_scores* are TierScores (see table.py).

    Writes initial scores and counters to *seeds* (see `Seeds`). Writes to *links* the distinct children within the
    tier, position by position: their slots, or the complements (`~`) if the same player moves again. Returns the number
    of slots done, which are not all if *links* is full, and the number of links.

    *trouble* is set to (fault, the last position, its slot). If the fault is UNSOLVED, the third entry is the number of
    the unsolved tier. *images* is a buffer for MOST_IMAGES positions.
    """
    bits, turn_rule = tier_scores.bits, which_turn(game)
    row = count_less(tier_scores.tiers, tier)
    end = ZERO
    for i in range(len(seeds.scores)):
        # Step 1: stop if the links of another position might not fit; the caller continues from here.
        if end + MOST_MOVES > len(links):
            return i, end
        seeds.counts[i] = seeds.sizes[i] = 0
        seeds.children_left[i] = PRIMITIVE
        # Step 2: the slot's position. An empty slot is done.
        position = as_position(game.unindex(tier, first + i))
        if is_none(position):
            seeds.scores[i] = (DRAW_CLASS << bits) | EMPTY_PLIES
            continue
        # Step 3: check the position, and count symmetric ones. Where the game is over, the position is scored at once.
        seeds.sizes[i], value = check_position(game, position, first + i, images, trouble)
        if trouble[0] != Trouble.FINE:
            return i, end
        if value != UNDECIDED:
            seeds.scores[i] = primitive_score(value, bits)
            continue
        # Step 4: visit the children.
        begin = end
        end, later_best = visit_children(game, turn_rule, position, row, tier_scores, links, begin, trouble)
        if trouble[0] != Trouble.FINE:
            return i, end
        # Step 5: the initial score and counter. A position that a later tier saves from losing counts one more child,
        # which never becomes a WIN: so its counter never reaches 0.
        count = end - begin
        is_saved = later_best >= DRAW_CLASS << bits
        seeds.scores[i] = later_best
        seeds.counts[i] = count
        seeds.children_left[i] = min(count + is_saved, PRIMITIVE - 1)  # PRIMITIVE would mean that the game is over
    return len(seeds.scores), end


@lean_kernel
def check_position(game, position, slot, images, trouble):
    """Check a slot's position; write a fault to *trouble*. Return (number of positions symmetric to it, its primitive
    value)."""
    trouble[0] = Trouble.FINE
    note(trouble, position)
    trouble[2] = slot
    # `index` must invert `unindex`.
    if not is_position(position) or whole(game.index(position)) != slot:
        trouble[0] = Trouble.BAD_INDEX
        return 0, UNDECIDED
    size = multiplicity(game, position, images)
    if not 0 < size < MOST_IMAGES:
        trouble[0] = Trouble.BAD_IMAGES
        return 0, UNDECIDED
    value = whole(game.primitive(position))
    if value == UNDECIDED:
        if not is_players(game, position):
            trouble[0] = Trouble.BROKEN
    elif value != WIN and value != LOSE and value != TIE and value != DRAW:
        trouble[0] = Trouble.BAD_PRIMITIVE
    return size, value


@lean_kernel
def visit_children(game, turn_rule, position, row, tier_scores, links, begin, trouble):
    """Write the children of a position in tier number *row* that are in the tier to *links* from *begin* on. Returns
    the end of the links, and the best score that children in later tiers pass up, 0 for none. *turn_rule* is the result
    of `which_turn`."""
    tiers, starts, _, bits, _ = tier_scores
    tier, count = tiers[row], starts[row + 1] - starts[row]
    end = begin
    moves = later_best = 0
    for move in game.generate_moves(position):
        if whole(move) < 0:
            trouble[0] = Trouble.BAD_MOVE
            return end, 0
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            trouble[0] = Trouble.OUT_OF_RANGE
            return end, 0
        child_tier = whole(game.tier(child))
        slot = whole(game.index(child))
        # Case: a child in the same tier, not solved yet. Store the edge, once for each distinct child.
        if child_tier == tier:
            if not 0 <= slot < count:
                trouble[0] = Trouble.BAD_INDEX
                return end, 0
            end = append_edge(links, begin, end, slot if passes(game, turn_rule, position, child) else ~slot)
        else:
            # Case: a child in a later tier. It passes up its score.
            score = later_score(tier_scores, tier, child_tier, slot, trouble)
            if trouble[0] != Trouble.FINE:
                return end, 0
            passes_turn = passes(game, turn_rule, position, child)
            later_best = max(later_best, pass_up(score, bits) if passes_turn else pass_on(score, bits))
        moves += 1
        if moves == MOST_MOVES:
            trouble[0] = Trouble.NO_MOVES  # in fact too many; the interpreted rules find out
            return end, 0
    if moves == 0:
        trouble[0] = Trouble.NO_MOVES
    return end, later_best


@lean_kernel
def passes(game, turn_rule, position, child):
    """Return whether the move passes the turn, as `turns` does; *turn_rule* is the result of `which_turn`."""
    return turns(game, position, child) if turn_rule == SOMETIMES else turn_rule == ALWAYS


@lean_kernel
def later_score(tier_scores, tier, child_tier, slot, trouble):
    """Return the score of a child in a tier after *tier*; check its tier and slot."""
    tiers, starts, scores, _, solved = tier_scores
    if child_tier < tier:
        trouble[0] = Trouble.TIER_FALLS
        return 0
    k = count_less(tiers, child_tier)
    if k == len(tiers) or tiers[k] != child_tier:
        trouble[0] = Trouble.BAD_TIER
        return 0
    if not 0 <= slot < starts[k + 1] - starts[k]:
        trouble[0] = Trouble.BAD_INDEX
        return 0
    # Tiers that are solved concurrently may have to wait for each other.
    if not solved[k]:
        trouble[0] = Trouble.UNSOLVED
        trouble[2] = k
        return 0
    return int(scores[starts[k] + slot])


@kernel
def children_again(game, tier, first, children_left, frontier, links, counts):
    """Expand undecided slots of a tier again, from slot *first* on, for children in a *frontier*.

    Writes distinct children to *links*, complements (`~`) if the same player moves again, and their number for each
    slot to *counts*. Returns the number of slots done, which are not all if *links* is full, and the number of links.
    """
    # The two greatest values of the counter's type mean "decided" (see values/score.py).
    decided, turn_rule = (1 << (8 * children_left.itemsize)) - 2, which_turn(game)
    end = 0
    for i in range(len(counts)):
        if end + MOST_MOVES > len(links):
            return i, end
        counts[i] = 0
        if children_left[i] >= decided:
            continue
        position = as_position(game.unindex(tier, first + i))
        begin = end
        for move in game.generate_moves(position):
            child = as_position(game.do_move(position, move))
            # Only children within the tier can be in its frontier.
            if whole(game.tier(child)) != tier:
                continue
            slot = whole(game.index(child))
            if not mark_at(frontier, slot):
                continue
            end = append_edge(links, begin, end, slot if passes(game, turn_rule, position, child) else ~slot)
        counts[i] = end - begin
    return len(counts), end


@kernel
def parents_of(game, tier, frontier, children_left, sums, out, trouble):
    """Write the undecided parents of the slots of a *frontier*, distinct for each slot.

    Complements (`~`) stand for parents where the same player moves again. Returns the number of slots done, which are
    not all if *out* is full, and the number of parents written. If the parents of a slot do not add up to its checksum,
    that is the trouble, and its third entry is the difference.
    """
    # The counter of primitive positions and empty slots, which have no children (see values/score.py).
    primitive, turn_rule = (1 << (8 * children_left.itemsize)) - 1, which_turn(game)
    slot_parents = np.empty(256, np.int64)  # the parents of one slot; it grows when full
    count = 0
    for i in range(len(frontier)):
        # Step 1: ask the rules for the parents of this slot's position.
        position = as_position(game.unindex(tier, frontier[i]))
        trouble[0] = Trouble.FINE
        note(trouble, position)
        begin = count
        distinct = ZERO  # parents of this slot, each once
        total = np.uint32(0)
        for given in game.parents(position):
            parent = as_position(given)
            if not is_position(parent):
                trouble[0] = Trouble.OUT_OF_RANGE
                return i, begin
            # Parents in earlier tiers are solved later.
            if game.tier(parent) != tier:
                continue
            slot = whole(game.index(parent))
            if not 0 <= slot < len(children_left):
                trouble[0] = Trouble.BAD_INDEX
                return i, begin
            # Step 2: skip parents where the game is over, and parents that were given twice.
            counter = children_left[slot]
            if counter == primitive:
                continue
            if distinct == len(slot_parents):
                slot_parents = longer(slot_parents)
            before, distinct = distinct, append_edge(slot_parents, ZERO, distinct, slot)
            if distinct == before:
                continue
            if distinct > MOST_MOVES:
                trouble[0] = Trouble.NO_ROOM
                return i, begin
            if count == len(out):
                return i, begin
            # Step 3: add the parent to the checksum; decided parents count there, but are not written.
            total = np.uint32(total + mark_of(slot))
            out[count] = slot if passes(game, turn_rule, parent, position) else ~slot
            count += counter < primitive - 1  # the two greatest counters mean "decided"
        # Step 4: compare with the checksum from when all slots were expanded.
        if difference(total, sums, frontier[i]):
            trouble[0] = Trouble.BAD_PARENTS
            trouble[2] = difference(total, sums, frontier[i])
            return i, begin
    return len(frontier), count


@kernel
def count_symmetric(game, tier, first, images, sizes):
    """Write the number of positions symmetric to each slot's position; 0 for empty slots."""
    for i in range(len(sizes)):
        position = as_position(game.unindex(tier, first + i))
        sizes[i] = 0 if is_none(position) else multiplicity(game, position, images)
