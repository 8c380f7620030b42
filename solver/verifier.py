"""The compiled loop of `audit.py`. It shares no code with the solver's kernels, so that it cannot share their faults.

The GIL is released, and threads may run it at the same time: marks are only ever set, never taken back.
"""

import numpy as np

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.kernel import kernel


@kernel
def derive_all(
    game, most_images, tiers, bounds, positions, rows, values, remotenesses,
    records, reached, expanded, tally_stored, tally_positions, tally_first, wrong,
):  # fmt: skip
    """Derive the outcomes of *records*, which ascend; write to *wrong* those that are not so, and return how many.

    Where the mark in *reached* is set, it is set for the children too, and then the one in *expanded*. Counts are
    added to the tallies, by row of the legend. *most_images* is 1 for a game without symmetry.
    """
    images = np.empty(most_images, np.int64)
    count = 0
    k = 0
    for record in records:
        while bounds[k + 1] <= record:
            k += 1
        position = positions[record]
        row = rows[record]
        mark = reached[record]  # read once: another thread may set it meanwhile
        tally_stored[row] += 1
        tally_first[row] = min(tally_first[row], record)
        tally_positions[row] += class_size(game, position, images) if most_images > 1 else 1
        fine = game.canonical(position) == position and game.tier(position) == tiers[k]
        value = game.primitive(position) + 0  # an enum member becomes an int
        remoteness = -1 if value == DRAW else 0
        if value == UNDECIDED:
            soonest_lose = soonest_tie = latest_win = -1
            draws = False
            for move in game.generate_moves(position):
                child = game.canonical(game.do_move(position, move))
                place = look_up(tiers, bounds, positions, game.tier(child), child)
                if place < 0:
                    fine = False
                    continue
                if mark:
                    reached[place] = 1
                child_value, plies = values[rows[place]], remotenesses[rows[place]]
                if child_value == LOSE and (soonest_lose < 0 or plies < soonest_lose):
                    soonest_lose = plies
                elif child_value == TIE and (soonest_tie < 0 or plies < soonest_tie):
                    soonest_tie = plies
                elif child_value == WIN and plies > latest_win:
                    latest_win = plies
                elif child_value == DRAW:
                    draws = True
            value, remoteness = conclude(soonest_lose, soonest_tie, draws, latest_win)
        if mark:
            expanded[record] = 1
        if not fine or value != values[row] or remoteness != remotenesses[row]:
            wrong[count] = record
            count += 1
    return count


@kernel
def conclude(soonest_lose, soonest_tie, draws, latest_win):
    """Return value and remoteness from what the children have: least and greatest remotenesses, -1 for none."""
    if soonest_lose >= 0:
        return WIN + 0, soonest_lose + 1
    if soonest_tie >= 0:
        return TIE + 0, soonest_tie + 1
    if draws:
        return DRAW + 0, -1
    return (LOSE + 0, latest_win + 1) if latest_win >= 0 else (UNDECIDED + 0, -1)


@kernel
def look_up(tiers, bounds, positions, tier, position):
    """Return the record of a position in a tier, or -1."""
    k = np.searchsorted(tiers, tier)
    if k == len(tiers) or tiers[k] != tier:
        return -1
    low, high = bounds[k], bounds[k + 1]
    while low < high:
        middle = (low + high) // 2
        if positions[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low if low < bounds[k + 1] and positions[low] == position else -1


@kernel
def class_size(game, position, images):
    """Return how many positions are equal to one by symmetry, itself included."""
    images[0] = position
    count = 1
    for image in game.images(position):
        known = False
        for i in range(count):
            known |= images[i] == image
        if not known and count < len(images):
            images[count] = image
            count += 1
    return count
