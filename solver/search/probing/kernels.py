"""The compiled look into tables: what searches call `told` is this where they are given tables.

A position is looked up by the game's own numbers: its tier, and its slot in that. An entry is the worth of the position
(see `search/worth.py`) as it would be if plies were told apart up to BASE, or DRAWN, or UNTOLD.
"""

from typing import NamedTuple

from numba.extending import overload

from retrograde.games.contract.game import Game
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.memory import words_at
from retrograde.solver.search.worth import BASE, DRAWN, UNTOLD, told


class Words(NamedTuple):
    """Tables as kernels have them, by addresses (see `memory.py`): int64[number] the numbers of the tiers, ascending,
    int64[number + 1] where the entries of each begin, and int16[] the entries."""

    tiers: int
    bounds: int
    entries: int
    number: int

    def told(self, game: Game, position: int, far: int) -> int:
        """Return what `told` does, interpreted."""
        return int(looked_up(game, position, far, self))


@overload(told)
def _(game, position, far, words):
    if getattr(words, "instance_class", None) is Words:
        return lambda game, position, far, words: looked_up(game, position, far, words)
    return None


@kernel
def looked_up(game, position, far, words):
    """Return the worth of a position, DRAWN, or UNTOLD where it is in no table."""
    tier = whole(game.tier(position))
    tiers, bounds = words_at(words.tiers), words_at(words.bounds)
    low, high = 0, words.number
    while low < high:
        middle = (low + high) // 2
        if tiers[middle] < tier:
            low = middle + 1
        else:
            high = middle
    if low == words.number or tiers[low] != tier:
        return UNTOLD
    least, its_tier = canonical(game, position)
    slot = whole(game.index(least))
    if its_tier != tier or not 0 <= slot < bounds[low + 1] - bounds[low]:
        return UNTOLD
    place = bounds[low] + slot
    entry = ((words_at(words.entries)[place >> 2] >> 16 * (place & 3) & 0xFFFF) ^ 0x8000) - 0x8000
    if entry in (UNTOLD, DRAWN, 0):
        return entry
    return max(1, entry - BASE + far) if entry > 0 else min(-1, entry + BASE - far)
