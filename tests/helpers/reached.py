"""Which positions of a numbered game play can reach from its start, walked forward along a numbering in which the
players are not exchanged, and what a database of the game itself says of them."""

from collections import Counter
from functools import cached_property

import numpy as np

from retrograde.games import DRAW, UNDECIDED, Value
from retrograde.games.contract.game import MOST_IMAGES
from retrograde.games.kinds.placed import placements
from retrograde.games.morris import Morris
from retrograde.games.quixo import Quixo
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.rules.kernels import count_images
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.runtime.kernel import kernel


def of_both_turns(declared):
    """Return placements of the same positions, where those with the other player to move are others."""
    sections = [(one.tier, one.men, one.number) for one in declared.sections]
    sections += [(one.tier, one.men[::-1], one.number + 1) for one in declared.sections]
    return placements(declared.cells, sections, declared.symmetries)


class QuixoOfBoth(Quixo):
    name = "quixo"

    @cached_property
    def placements(self):
        return of_both_turns(super().placements)


class MorrisOfBoth(Morris):
    name = "morris"

    @cached_property
    def placements(self):
        return of_both_turns(super().placements)


@kernel
def walk(game, tiers, starts, met, queue, found, sizes):
    """Go to all positions that can be reached from the slot that the queue begins with; write each canonical one, and
    how many are equal to it by symmetry. Returns how many there are."""
    images = np.empty(MOST_IMAGES, np.int64)
    begin, end = 0, 1
    while begin < end:
        slot = queue[begin]
        k = np.searchsorted(starts, slot, side="right") - 1
        position = game.unindex(tiers[k], slot - starts[k])
        found[begin] = position
        sizes[begin] = count_images(game, position, images)
        begin += 1
        if game.primitive(position) == UNDECIDED:
            for move in game.generate_moves(position):
                child = game.do_move(position, move)
                k = np.searchsorted(tiers, game.tier(child))
                other = starts[k] + game.index(child)
                if not met[other]:
                    met[other] = True
                    queue[end] = other
                    end += 1
    return end


def counts_reached(of_both, database):
    """Return how many positions that can be reached have each value and remoteness in a database."""
    numbering = SlotNumbering.of(of_both)
    row, slot = numbering.slot_of(of_both, of_both.start)
    met = np.zeros(numbering.slots, bool)
    queue, found, sizes = np.empty((3, numbering.slots), np.int64)
    queue[0] = numbering.starts[row] + slot
    met[queue[0]] = True
    count = walk(rules_for(of_both), numbering.tiers, numbering.starts, met, queue, found, sizes)
    values, plies = database.lookup(found[:count])
    total = Counter()
    for outcome in np.unique(values.astype(np.int64) << 32 | np.maximum(plies, 0)).tolist():
        value, remoteness = Value(outcome >> 32), outcome & 0xFFFFFFFF
        same = (values == value) & (np.maximum(plies, 0) == remoteness)
        total[value, None if value == DRAW else remoteness] = int(sizes[:count][same].sum())
    return total


def by_value(counts):
    """Return counts by value alone.

    >>> by_value({("WIN", 1): 2, ("WIN", 3): 1})
    {'WIN': 3}
    """
    total = Counter()
    for (value, _), count in counts.items():
        total[value] += count
    return dict(total)
