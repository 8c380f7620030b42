"""The compiled loop of all audits. It shares no code with the solver's kernels, so that it cannot share their faults.

The GIL is released, and threads may run it at the same time: marks are only ever set, never taken back.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from retrograde.games.contract.game import DRAW, LOSE, POSITION_LIMIT, TIE, UNDECIDED, WIN, defines, is_none
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.turns import turns
from retrograde.solver.rules.whole import as_position, position_in, put, stands_at, whole
from retrograde.solver.rules.whole import note as note_position
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.verification.storages import borrowed, inlined, scattered

Array = np.ndarray[Any, Any]


TIER, LOW, HIGH, SPANS = range(4)
"""Columns of the table of spans: a tier, and the least and the greatest child there that the rules do not decide."""


class Legend(NamedTuple):
    """The value and the remoteness of each row of the legend."""

    values: Array
    remotenesses: Array


class Sheet(NamedTuple):
    """What a task writes down: counts by row of the legend, and the items that are wrong; and room to work in.

    `images` has room for one position if the game has no symmetry, `near` for canonical children with their places and
    rows, -1 where there is none; `trouble[1]` is the position that the rules are asked about.
    """

    tally: Array
    wrong: Array
    images: Array
    near: Array
    trouble: Array


@kernel
def verify_items(game, storage, legend, items, sheet, every):
    """Derive what is stored for some items, which ascend; write down those that are wrong, and return how many.

    Wrong is also an item where one image of its position, or *every* image, is not worth the same, by that image's own
    moves; and one whose `multiplicity` is not the number of its images.
    """
    storage, legend, sheet = borrowed(storage), borrowed(legend), borrowed(sheet)
    count = 0
    for item in items:
        position = as_position(storage.position_at(game, item))
        if is_none(position):
            continue
        note_position(sheet.trouble, position)
        row = storage.row_at(game, item, position)
        size = gather_images(game, position, sheet.images)
        fine = row >= 0 and counts_images(game, position, size)
        if row >= 0:
            note(sheet.tally, row, size, item)
        mark = storage.opens(item)
        asked, own = position, UNDECIDED + 0
        others = size - 1 if every else min(size - 1, 1)
        for turn in range(1 + others):  # the position, then images; one call, so that it is compiled in place
            if turn:
                asked = position_in(game, sheet.images, turn if every else choose(key_of(position), size))
            fine &= is_position(asked) and game.canonical(asked) == position
            fine = fine and storage.belongs(game, item, asked, turn > 0)
            if turn and not fine:  # rules asked about what is no position might never answer
                break
            found, primitive, value, remoteness = derive(game, storage, legend, asked, mark, sheet)
            fine &= found and value == legend.values[row] and remoteness == legend.remotenesses[row]
            fine &= turn == 0 or primitive == own
            own = primitive
            mark = False  # what an image leads to is reached by the position, or it is wrong
        if not fine:
            sheet.wrong[count] = item
            count += 1
    return count


def counts_images(game, position, size):
    """Return whether the rules say by `multiplicity` that so many positions are equal by symmetry, if they say it."""
    return not defines(game, "multiplicity") or game.multiplicity(position) == size


@overload(counts_images)
def _(game, position, size):
    if defines(game.game, "multiplicity"):
        return lambda game, position, size: whole(game.multiplicity(position)) == size
    return lambda game, position, size: True


@inlined
def derive(game, storage, legend, position, marking, sheet):
    """Return whether all children are stored, the primitive value, and the value and remoteness that follow.

    What is stored for a child is for its own player to move. The children are marked if *marking*. Of one of them,
    which looks chosen at random, it is seen whether its place is its own.
    """
    fine = True
    primitive = game.primitive(position) + 0  # an enum member becomes an int
    value, remoteness = primitive, -1 if primitive == DRAW else 0
    if primitive == UNDECIDED:
        soonest_lose = soonest_tie = latest_win = -1
        draws = False
        least = POSITION_LIMIT
        probe, probe_place = position, 0
        for move in game.generate_moves(position):
            reached = as_position(game.do_move(position, move))
            if not is_position(reached):
                fine = False
                continue
            place, row = storage.find(game, reached, sheet)
            if row < 0:
                fine = False
                continue
            if marking:
                storage.mark(place)
            lot = scattered(key_of(reached) * (key_of(position) | 1))
            if lot < least:
                least, probe, probe_place = lot, reached, place
            child_value = legend.values[row]
            plies = storage.counted(game, position, move, reached, legend.remotenesses[row])
            if not turns(game, position, reached):
                child_value = WIN + LOSE - child_value if child_value in (WIN + 0, LOSE + 0) else child_value
            if child_value == LOSE and (soonest_lose < 0 or plies < soonest_lose):
                soonest_lose = plies
            elif child_value == TIE and (soonest_tie < 0 or plies < soonest_tie):
                soonest_tie = plies
            elif child_value == WIN and plies > latest_win:
                latest_win = plies
            elif child_value == DRAW:
                draws = True
        value, remoteness = conclude(soonest_lose, soonest_tie, draws, latest_win)
        if least < POSITION_LIMIT and not storage.stands_for(game, probe_place, probe, sheet.images):
            fine = False
    return fine, primitive, value, remoteness


@inlined
def conclude(soonest_lose, soonest_tie, draws, latest_win):
    """Return value and remoteness from what the children have: least and greatest remotenesses, -1 for none."""
    if soonest_lose >= 0:
        return WIN + 0, soonest_lose + 1
    if soonest_tie >= 0:
        return TIE + 0, soonest_tie + 1
    if draws:
        return DRAW + 0, -1
    return (LOSE + 0, latest_win + 1) if latest_win >= 0 else (UNDECIDED + 0, -1)


@inlined
def note(tally, row, size, item):
    """Count an item that has a row of the legend, and so many images of its position."""
    counts = tally[row]
    if counts.stored == 0:
        counts.first = item
    counts.stored += 1
    counts.positions += size


@inlined
def gather_images(game, position, images):
    """Write the positions equal to one by symmetry, itself first, as far as there is room; return how many."""
    put(images, 0, position)
    if len(images) == 1:
        return 1
    count = 1
    for given in game.images(position):
        image = as_position(given)
        known = False
        for i in range(count):
            known |= stands_at(images, i, image)
        if not known and count < len(images):
            put(images, count, image)
            count += 1
    return count


@kernel
def choose(position, count):
    """Return what `faults.choose` does."""
    return 1 + scattered(position) % (count - 1)


@kernel
def find_filled(game, storage, items):
    """Note which items stand for a position."""
    for item in items:
        storage.filled[item] = not is_none(as_position(storage.position_at(game, item)))


@kernel
def span_children(game, positions, spans, trouble):
    """Write the span of the children in each tier; return how many tiers there are, or -1 if more than rows."""
    count = 0
    for position in positions:
        trouble[1] = position
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
