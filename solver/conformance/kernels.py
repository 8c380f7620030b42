"""The compiled loop that asks a numbering about positions, to be compared with what it says interpreted."""

from retrograde.solver.rules.positions import as_position, position_in, put
from retrograde.solver.runtime.kernel import kernel


@kernel
def to_slots_and_back(game, tier, positions, slots, again):
    """Write to *slots* the slots of a tier's positions, and to *again* the positions of these slots."""
    for i in range(len(positions)):
        slots[i] = game.index(position_in(game, positions, i))
        put(again, i, as_position(game.unindex(tier, slots[i])))
