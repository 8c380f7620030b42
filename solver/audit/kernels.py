"""The compiled loop of `audit.py`. It shares no code with the solver's kernels, so that it cannot share their faults.

The GIL is released, and threads may run it at the same time: marks are only ever set, never taken back.
"""

import numpy as np

from retrograde.games.game import DRAW, LOSE, POSITION_BITS, TIE, UNDECIDED, WIN
from retrograde.solver.audit.symmetry import SPREAD
from retrograde.solver.work.kernel import kernel

LIMIT = 1 << POSITION_BITS
NEAR = 16
"""Children of a position that are remembered, for those of its image are the same or wrong."""


@kernel
def derive_all(
    game, most_images, tiers, bounds, positions, rows, values, remotenesses,
    records, reached, expanded, tally_stored, tally_positions, tally_first, wrong,
):  # fmt: skip
    """Derive the outcomes of *records*, which ascend; write to *wrong* those that are not so, and return how many.

    So are those of one image of each. Where the mark in *reached* is set, it is set for the children too, and then the
    one in *expanded*. Counts are added to the tallies, by row of the legend. *most_images* is 1 for a game without
    symmetry.
    """
    images = np.empty(most_images, np.int64)
    met = np.full((NEAR, 2), -1, np.int64)
    symmetric = most_images > 1
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
        size = gather_images(game, position, images) if symmetric else 1
        tally_positions[row] += size
        fine = game.canonical(position) == position and game.tier(position) == tiers[k]
        asked, own = position, UNDECIDED + 0
        for turn in range(1 + (size > 1)):  # the position, then an image; one call, so that it is compiled in place
            if turn:
                asked = images[choose(position, size)]
                if not 0 <= asked < LIMIT or game.canonical(asked) != position:
                    fine = False
                    break
            found, primitive, value, remoteness = derive_one(
                game, symmetric, asked, tiers, bounds, positions, rows, values, remotenesses, reached, mark, turn, met
            )
            fine &= found and value == values[row] and remoteness == remotenesses[row]
            fine &= turn == 0 or primitive == own
            own = primitive
            if mark:
                expanded[record] = 1
            mark = np.uint8(0)  # what an image leads to is reached by the position, or it is wrong
        if not fine:
            wrong[count] = record
            count += 1
    return count


@kernel
def derive_one(
    game, symmetric, position, tiers, bounds, positions, rows, values, remotenesses, reached, mark, again, met
):  # fmt: skip
    """Return whether all children are stored, the primitive value, and the value and remoteness that follow.

    The children are marked if there is a *mark*. The first ones go to *met*, with their records; they are looked up
    there *again*.
    """
    fine = True
    primitive = game.primitive(position) + 0  # an enum member becomes an int
    value, remoteness = primitive, -1 if primitive == DRAW else 0
    if primitive == UNDECIDED:
        soonest_lose = soonest_tie = latest_win = -1
        draws = False
        count = 0
        for move in game.generate_moves(position):
            reaches = game.do_move(position, move)
            if not 0 <= reaches < LIMIT:  # rules asked about what is no position might never answer
                fine = False
                continue
            child = game.canonical(reaches)
            i = 0
            while again and i < NEAR and met[i, 0] != child:
                i += 1
            if again and i < NEAR:
                place = met[i, 1]
            else:
                place = look_up(tiers, bounds, positions, game.tier(child), child)
                if not again and count < NEAR:
                    met[count, 0], met[count, 1] = child, place
                    count += 1
            if place < 0 or (symmetric and child != reaches and not is_image(game, child, reaches)):
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
    return fine, primitive, value, remoteness


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
def gather_images(game, position, images):
    """Write the positions equal to one by symmetry, itself first, as far as there is room; return how many."""
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


@kernel
def choose(position, count):
    """Return what `symmetry.choose` does."""
    return 1 + (position * SPREAD >> 33 & 0x7FFFFFFF) % (count - 1)


@kernel
def is_image(game, position, other):
    """Tell whether another position is among the images of one."""
    for image in game.images(position):  # noqa: SIM110  # any() does not compile
        if image == other:
            return True
    return False
