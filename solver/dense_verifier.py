"""The compiled loop of `dense_audit.py`. It shares no code with the solver's kernels, so that it shares no faults."""

import numpy as np

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.kernel import kernel
from retrograde.solver.verifier import class_size, conclude


@kernel
def derive_slots(
    game, most_images, tiers, bounds, rows, values, remotenesses, tier, begin, end,
    tally_stored, tally_positions, tally_first, wrong,
):  # fmt: skip
    """Derive the outcomes of the slots of a tier from *begin* to *end*; write to *wrong* those that are not so.

    Returns how many these are. *rows* are those of all tiers, which begin at *bounds*. Counts are added to the tallies,
    by row of the legend.
    """
    images = np.empty(most_images, np.int64)
    own = bounds[np.searchsorted(tiers, tier)]
    count = 0
    for slot in range(begin, end):
        position = game.unindex(tier, slot)
        if position < 0:
            continue
        row = rows[own + slot]
        tally_stored[row] += 1
        tally_first[row] = min(tally_first[row], slot)
        tally_positions[row] += class_size(game, position, images) if most_images > 1 else 1
        fine = game.canonical(position) == position and game.tier(position) == tier and game.index(position) == slot
        value = game.primitive(position) + 0  # an enum member becomes an int
        remoteness = -1 if value == DRAW else 0
        if value == UNDECIDED:
            soonest_lose = soonest_tie = latest_win = -1
            draws = False
            for move in game.generate_moves(position):
                child = game.do_move(position, move)
                child_tier = game.tier(child)
                k = np.searchsorted(tiers, child_tier)
                if k == len(tiers) or tiers[k] != child_tier:
                    fine = False
                    continue
                place = game.index(child)
                if place < 0 or place >= bounds[k + 1] - bounds[k]:
                    fine = False
                    continue
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
            value, remoteness = conclude(soonest_lose, soonest_tie, draws, latest_win)
        if not fine or value != values[row] or remoteness != remotenesses[row]:
            wrong[count] = slot
            count += 1
    return count
