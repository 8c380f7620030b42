"""Compiled loops that ask the rules about one position, to be compared with what they say interpreted."""

from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.positions import as_position, position_in, put, stands_at, whole
from retrograde.solver.runtime.kernel import kernel


@kernel
def to_slots_and_back(game, tier, positions, slots, again):
    """Write to *slots* the slots of a tier's positions, and to *again* the positions of these slots."""
    for i in range(len(positions)):
        slots[i] = game.index(position_in(game, positions, i))
        put(again, i, as_position(game.unindex(tier, slots[i])))


@kernel
def children_of(game, position, children):
    """Write the canonical child of each move, as many as *children* has space for. Return the primitive value, and how
    many were written."""
    value = whole(game.primitive(position))
    count = 0
    if value == UNDECIDED:
        for move in game.generate_moves(position):
            if count == len(children):
                break
            child, _ = canonical(game, as_position(game.do_move(position, move)))
            put(children, count, child)
            count += 1
    return value, count


@kernel
def parents_at(game, tier, position, parents):
    """Write the distinct canonical parents within *tier*, as many as *parents* has space for; return how many."""
    count = 0
    for given in game.parents(position):
        if count == len(parents):
            break
        parent, parent_tier = canonical(game, as_position(given))
        new = parent_tier == tier
        for other in range(count):
            new &= not stands_at(parents, other, parent)
        if new:
            put(parents, count, parent)
            count += 1
    return count
