"""The compiled loop of `dense_audit.py`. It shares no code with the solver's kernels, so that it shares no faults."""

import numpy as np

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.audit.kernels import LIMIT, choose, conclude, gather_images, is_image
from retrograde.solver.work.kernel import kernel


@kernel
def find_filled(game, tier, begin, end, filled):
    """Write which slots of a tier from *begin* to *end* stand for a position."""
    for slot in range(begin, end):
        filled[slot - begin] = game.unindex(tier, slot) >= 0


@kernel
def derive_slots(
    game, most_images, tiers, bounds, filled, rows, values, remotenesses, tier, begin, end,
    tally_stored, tally_positions, tally_first, wrong,
):  # fmt: skip
    """Derive the outcomes of the slots of a tier from *begin* to *end*; write to *wrong* those that are not so.

    So are those of one image of each. Returns how many are wrong. *rows* are those of all tiers, which begin at
    *bounds*, and *filled* tells which stand for a position. Counts are added to the tallies, by row of the legend.
    """
    images = np.empty(most_images, np.int64)
    symmetric = most_images > 1
    own = bounds[np.searchsorted(tiers, tier)]
    count = 0
    for slot in range(begin, end):
        position = game.unindex(tier, slot)
        if position < 0:
            continue
        row = rows[own + slot]
        tally_stored[row] += 1
        tally_first[row] = min(tally_first[row], slot)
        size = gather_images(game, position, images) if symmetric else 1
        tally_positions[row] += size
        fine, primitive, value, remoteness = derive_slot(
            game, symmetric, position, tiers, bounds, filled, rows, values, remotenesses
        )
        fine &= value == values[row] and remoteness == remotenesses[row]
        fine &= game.canonical(position) == position and game.tier(position) == tier and game.index(position) == slot
        if size > 1 and fine:
            image = images[choose(position, size)]
            fine = 0 <= image < LIMIT and game.canonical(image) == position
            if fine:
                fine, other, value, remoteness = derive_slot(
                    game, symmetric, image, tiers, bounds, filled, rows, values, remotenesses
                )
                fine &= value == values[row] and remoteness == remotenesses[row] and other == primitive
                fine &= game.tier(image) == tier and game.index(image) == slot
        if not fine:
            wrong[count] = slot
            count += 1
    return count


@kernel
def derive_slot(game, symmetric, position, tiers, bounds, filled, rows, values, remotenesses):
    """Return whether all children have slots that stand for positions, the primitive value, and value and remoteness.

    Of one child, chosen by the position, it is seen whether its slot stands for it.
    """
    fine = True
    primitive = game.primitive(position) + 0  # an enum member becomes an int
    value, remoteness = primitive, -1 if primitive == DRAW else 0
    if primitive == UNDECIDED:
        soonest_lose = soonest_tie = latest_win = -1
        draws = False
        count = probe = probe_tier = probe_place = 0
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            if not 0 <= child < LIMIT:
                fine = False
                continue
            child_tier = game.tier(child)
            k = np.searchsorted(tiers, child_tier)
            if k == len(tiers) or tiers[k] != child_tier:
                fine = False
                continue
            place = game.index(child)
            if place < 0 or place >= bounds[k + 1] - bounds[k]:
                fine = False
                continue
            if not filled[bounds[k] + place]:
                fine = False
                continue
            if choose(position + count, count + 2) == 1:
                probe, probe_tier, probe_place = child, child_tier, place
            count += 1
            child_row = rows[bounds[k] + place]
            child_value, plies = values[child_row], remotenesses[child_row]
            if child_value == LOSE and (soonest_lose < 0 or plies < soonest_lose):
                soonest_lose = plies
            elif child_value == TIE and (soonest_tie < 0 or plies < soonest_tie):
                soonest_tie = plies
            elif child_value == WIN and plies > latest_win:
                latest_win = plies
            elif child_value == DRAW:
                draws = True
        there = game.unindex(probe_tier, probe_place) if count else 0
        if count and there != probe and not (symmetric and is_image(game, there, probe)):
            fine = False
        value, remoteness = conclude(soonest_lose, soonest_tie, draws, latest_win)
    return fine, primitive, value, remoteness
