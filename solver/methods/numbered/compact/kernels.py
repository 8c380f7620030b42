"""Compiled loops by which a compact database is looked up: where slots are kept, and what follows where they are not.

positions --reach--> children, in slots --keep--> places among what is kept --find--> scores --best_of--> own scores
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.rules.kernels import longer, place_in
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score_kernels import primitive_score

Array = np.ndarray[Any, Any]

NOWHERE = -1
"""In the place of a slot or a row: there is none."""
LEFT_OUT = -2
"""In the place of a row: the slot is not kept."""
CHILDREN = 32
"""Children of a position that there is room for at first."""


class PartTable(NamedTuple):
    """What a compact file says of the parts of its tiers (see `PartRow`), each an int64 array."""

    firsts: Array
    sizes: Array
    kept: Array
    columns: Array


class Parents(NamedTuple):
    """Positions, by index: where their children begin, their tiers, and their primitive values."""

    begins: Array
    tiers: Array
    values: Array


@kernel
def keep(parts, places, rows):
    """Turn slots, among those of all tiers, into places among those that are kept; where one is not kept it is NOWHERE,
    and its row LEFT_OUT."""
    for i in range(len(places)):
        if places[i] >= 0:
            k = np.searchsorted(parts.firsts, places[i], side="right") - 1
            if parts.kept[k] < 0:
                places[i], rows[i] = NOWHERE, LEFT_OUT
            else:
                within, columns = places[i] - parts.firsts[k], parts.columns[k]
                if columns > 1:
                    within = within % columns * (parts.sizes[k] // columns) + within // columns
                places[i] = parts.kept[k] + within


@kernel
def reach(game, positions, numbers, bounds, parents, trouble):
    """Return the children of positions, their tiers, and their slots, NOWHERE where the tier is not in the file; write
    what there is of the parents.

    The file has tiers of these *numbers*, the slots of which are between the *bounds*.
    """
    size = CHILDREN * len(positions) + CHILDREN
    children, tiers, slots = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    count = 0
    for i in range(len(positions)):
        position = positions[i]
        trouble[1] = position
        parents.begins[i], parents.tiers[i] = count, whole(game.tier(position))
        parents.values[i] = whole(game.primitive(position))
        if parents.values[i] == UNDECIDED:
            for move in game.generate_moves(position):
                if count == len(children):
                    children, tiers, slots = longer(children), longer(tiers), longer(slots)
                child = whole(game.do_move(position, whole(move)))
                children[count], tiers[count], slots[count] = child, whole(game.tier(child)), NOWHERE
                k = place_in(numbers, tiers[count])
                if k < len(numbers) and numbers[k] == tiers[count]:
                    slot = whole(game.index(child))
                    if 0 <= slot < bounds[k + 1] - bounds[k]:
                        slots[count] = bounds[k] + slot
                count += 1
    return children[:count], tiers[:count], slots[:count]


@kernel
def best_of(begins, values, scores, bits, best):
    """Write the score of each position: the greatest of those that its children pass up, or that of its own value."""
    for i in range(len(best)):
        if values[i] != UNDECIDED:
            best[i] = primitive_score(values[i], bits)
        else:
            end = begins[i + 1] if i + 1 < len(begins) else len(scores)
            best[i] = -1
            for j in range(begins[i], end):
                best[i] = max(best[i], scores[j])
