"""The compiled loops of `step_audit.py`. They share no code with the solver's but how positions are squeezed to
ranks."""

import numpy as np

from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.audit.kernels import LIMIT, choose, conclude, gather_images, is_image
from retrograde.solver.outcomes.bits import find_runs, rank_of, room_for_runs
from retrograde.solver.work.kernel import kernel

TIER, LOW, HIGH, SPANS = range(4)
"""Columns of the table of spans: a tier, and the least and the greatest child there that the rules do not decide."""

LISTS, LISTS_END, STEPS, STEPS_END, MASK, FIRST, COLUMNS = range(7)
"""Columns of the table of tiers: from where to where the positions and the steps of each are; the mask, and where its
first step begins."""


@kernel
def span_children(game, positions, spans):
    """Write the span of the children in each tier; return how many tiers there are, or -1 if more than rows."""
    count = 0
    for position in positions:
        for move in game.generate_moves(position):
            child = game.canonical(game.do_move(position, move))
            if game.primitive(child) != UNDECIDED:
                continue
            tier = game.tier(child)
            k = 0
            while k < count and spans[k, TIER] != tier:
                k += 1
            if k == len(spans):
                return -1
            if k == count:
                spans[k, TIER], spans[k, LOW], spans[k, HIGH] = tier, child, child
                count += 1
            spans[k, LOW] = min(spans[k, LOW], child)
            spans[k, HIGH] = max(spans[k, HIGH], child)
    return count


@kernel
def wins_at_once(game, position):
    """Tell whether a move leads to a position where the game is over and lost."""
    for move in game.generate_moves(position):  # noqa: SIM110  # any() does not compile
        if game.primitive(game.do_move(position, move)) == LOSE:
            return True
    return False


@kernel
def stored_row(game, position, table, k, ranks, rows, win_in_one, room):
    """Return what the database says of an undecided position of a tier: a row of the legend, or -1."""
    if wins_at_once(game, position):
        return win_in_one
    first, mask = table[k, FIRST], table[k, MASK]
    if table[k, STEPS] == table[k, STEPS_END] or (position ^ first) & ~mask:
        return -1
    rank = rank_of(position, find_runs(mask, room))
    low, high = table[k, STEPS], table[k, STEPS_END]
    while low < high:
        middle = (low + high) // 2
        if ranks[middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return rows[low - 1] if low > table[k, STEPS] else -1


@kernel
def derive_steps(
    game, most_images, tier, positions, reached, own, tiers, table, lists, marks, ranks, rows, values, remotenesses,
    win_in_one, tally_stored, tally_positions, tally_first, wrong,
):  # fmt: skip
    """Derive the outcomes of positions of a tier, which ascend; write to *wrong* those that are not so, and return how
    many.

    So are those of one image of each. *own* is the row of *table* of that tier, the other rows are of *tiers*, where
    the children are. *lists* are their positions and *marks* those that are reached; *ranks* and *rows* the steps.
    Counts are added to the tallies, by row of the legend; *tally_first* is the least position.
    """
    images = np.empty(most_images, np.int64)
    symmetric = most_images > 1
    room = room_for_runs()
    count = 0
    for i in range(len(positions)):
        position = positions[i]
        row = stored_row(game, position, table, own, ranks, rows, win_in_one, room)
        size = gather_images(game, position, images) if symmetric else 1
        if row >= 0:
            tally_stored[row] += 1
            tally_positions[row] += size
            if tally_first[row] < 0:
                tally_first[row] = position
        fine, value, remoteness = derive_step(
            game, symmetric, position, tiers, table, lists, marks, True, ranks, rows, values, remotenesses, win_in_one,
            room,
        )  # fmt: skip
        fine &= row >= 0 and value == values[row] and remoteness == remotenesses[row] and reached[i] != 0
        fine &= game.canonical(position) == position and game.tier(position) == tier
        if size > 1 and fine:
            image = images[choose(position, size)]
            fine = 0 <= image < LIMIT and game.canonical(image) == position and game.primitive(image) == UNDECIDED
            if fine:
                fine, value, remoteness = derive_step(
                    game, symmetric, image, tiers, table, lists, marks, False, ranks, rows, values, remotenesses,
                    win_in_one, room,
                )  # fmt: skip
            fine &= value == values[row] and remoteness == remotenesses[row]
        if not fine:
            wrong[count] = position
            count += 1
    return count


@kernel
def derive_step(
    game, symmetric, position, tiers, table, lists, marks, marking, ranks, rows, values, remotenesses, win_in_one,
    room,
):  # fmt: skip
    """Return whether all children are found, and the value and remoteness that follow for an undecided position.

    The children are marked if *marking*.
    """
    fine = True
    soonest_lose = soonest_tie = latest_win = -1
    draws = False
    for move in game.generate_moves(position):
        reaches = game.do_move(position, move)
        if not 0 <= reaches < LIMIT:
            fine = False
            continue
        child = game.canonical(reaches)
        if symmetric and child != reaches and not is_image(game, child, reaches):
            fine = False
            continue
        value, plies = game.primitive(child) + 0, 0
        if value == UNDECIDED:
            child_tier = game.tier(child)
            k = 0
            while k < len(tiers) and tiers[k] != child_tier:
                k += 1
            if k == len(tiers):  # an image's child may be in a tier where no child of the position is
                fine = False
                continue
            low, high = table[k, LISTS], table[k, LISTS_END]
            while low < high:
                middle = (low + high) // 2
                if lists[middle] < child:
                    low = middle + 1
                else:
                    high = middle
            if low == table[k, LISTS_END] or lists[low] != child:
                fine = False
                continue
            if marking:
                marks[low] = 1
            child_row = stored_row(game, child, table, k, ranks, rows, win_in_one, room)
            if child_row < 0:
                fine = False
                continue
            value, plies = values[child_row], remotenesses[child_row]
        if value == LOSE and (soonest_lose < 0 or plies < soonest_lose):
            soonest_lose = plies
        elif value == TIE and (soonest_tie < 0 or plies < soonest_tie):
            soonest_tie = plies
        elif value == WIN and plies > latest_win:
            latest_win = plies
        elif value == DRAW:
            draws = True
    value, remoteness = conclude(soonest_lose, soonest_tie, draws, latest_win)
    return fine, value, remoteness
