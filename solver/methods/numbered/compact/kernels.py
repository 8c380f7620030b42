"""Compiled loops over a compact database: look up slots that are kept, and derive outcomes of the others.

positions --expand--> children's slots --index_stored--> indices among kept slots --find--> scores --best_scores--> own
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.rules.kernels import count_less, longer
from retrograde.solver.rules.positions import whole
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.score_kernels import primitive_score

NOWHERE = -1
"""Stands for an index or a row if there is none."""
LEFT_OUT = -2
"""Stands for a row if the file leaves the slot out."""
CHILDREN = 32
"""Buffer size: children for each position, at first."""


class PartTable(NamedTuple):
    """The parts of a compact file's tiers (see `PartRow`), each field an int64 array.

    `firsts`: first slot of the part among all. `sizes`: its slots. `kept`: its first index among kept slots, negative
    if it is left out. `columns`: the column order of its slots.
    """

    firsts: Array
    sizes: Array
    kept: Array
    columns: Array


class ParentTable(NamedTuple):
    """For each expanded position: where its children begin, its tier, and its primitive value."""

    begins: Array
    tiers: Array
    values: Array


@kernel
def index_stored(parts, slots, rows):
    """Replace *slots* by their indices among kept slots; one left out becomes NOWHERE, and its row LEFT_OUT. *parts*
    is a PartTable."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            k = np.searchsorted(parts.firsts, slots[i], side="right") - 1
            if parts.kept[k] < 0:
                slots[i], rows[i] = NOWHERE, LEFT_OUT
            else:
                within, columns = slots[i] - parts.firsts[k], parts.columns[k]
                # The part is stored column by column: a matrix of `columns` columns, transposed.
                if columns > 1:
                    within = (within % columns) * (parts.sizes[k] // columns) + within // columns
                slots[i] = parts.kept[k] + within


@kernel
def expand(game, positions, numbers, bounds, parents, trouble):
    """Return the children of positions, with tiers and slots, and write data about the positions to *parents*.

    The file has tiers of these *numbers*; tier k has the slots `bounds[k]` to `bounds[k + 1]`. A child in another tier
    has the slot NOWHERE. *trouble* gets the position that the rules are asked about, in case they raise.
    """
    size = CHILDREN * len(positions) + CHILDREN
    children, tiers, slots = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    count = 0
    for i in range(len(positions)):
        position = positions[i]
        trouble[1] = position
        parents.begins[i], parents.tiers[i] = count, whole(game.tier(position))
        parents.values[i] = whole(game.primitive(position))
        # A position where the game is over has no children.
        if parents.values[i] == UNDECIDED:
            for move in game.generate_moves(position):
                # The buffers are full: double them.
                if count == len(children):
                    children, tiers, slots = longer(children), longer(tiers), longer(slots)
                child = whole(game.do_move(position, whole(move)))
                children[count], tiers[count], slots[count] = child, whole(game.tier(child)), NOWHERE
                # Find the child's slot, if the file has its tier.
                k = count_less(numbers, tiers[count])
                if k < len(numbers) and numbers[k] == tiers[count]:
                    slot = whole(game.index(child))
                    if 0 <= slot < bounds[k + 1] - bounds[k]:
                        slots[count] = bounds[k] + slot
                count += 1
    return children[:count], tiers[:count], slots[:count]


@kernel
def best_scores(begins, values, scores, bits, best):
    """Write the score of each position: the best that its children pass up, or that of its primitive value."""
    for i in range(len(best)):
        if values[i] != UNDECIDED:
            best[i] = primitive_score(values[i], bits)
        else:
            end = begins[i + 1] if i + 1 < len(begins) else len(scores)
            best[i] = -1
            for j in range(begins[i], end):
                best[i] = max(best[i], scores[j])
