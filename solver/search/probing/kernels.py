"""The compiled probe of endgame tables. It overloads `told` for searches that have tables.

A position is looked up by the game's own numbers: its tier and its slot in the tier. An entry is the position's worth
(see `search/worth.py`) with BASE in place of `far`, or DRAWN, or UNTOLD::

    tiers     int64[number]      numbers of the tiers, ascending
    bounds    int64[number + 1]  where the entries of each tier begin
    entries   int16[slots]       four in each int64 word
"""

from typing import NamedTuple

from numba.extending import overload

from retrograde.games.contract.game import Game
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.positions import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.memory import words_at
from retrograde.solver.search.worth import BASE, DRAWN, UNTOLD, told


class Words(NamedTuple):
    """Endgame tables as kernels need them: the addresses of the three arrays above and the number of tiers."""

    tiers: int
    bounds: int
    entries: int
    number: int

    def told(self, game: Game, position: int, far: int) -> int:
        """Like `told`, interpreted."""
        return int(looked_up(game, position, far, self))


@overload(told)
def _(game, position, far, words):
    if getattr(words, "instance_class", None) is Words:
        return lambda game, position, far, words: looked_up(game, position, far, words)
    return None


@kernel
def looked_up(game, position, far, words):
    """Return the worth of a position, DRAWN, or UNTOLD if no table has it."""
    tier = whole(game.tier(position))
    tiers, bounds = words_at(words.tiers), words_at(words.bounds)
    # Step 1: binary search for the tier.
    low, high = 0, words.number
    while low < high:
        middle = (low + high) // 2
        if tiers[middle] < tier:
            low = middle + 1
        else:
            high = middle
    if low == words.number or tiers[low] != tier:
        return UNTOLD
    # Step 2: the slot of the canonical position.
    least, its_tier = canonical(game, position)
    slot = whole(game.index(least))
    if its_tier != tier or not 0 <= slot < bounds[low + 1] - bounds[low]:
        return UNTOLD
    # Step 3: extract the signed 16-bit entry from its word.
    place = bounds[low] + slot
    entry = ((words_at(words.entries)[place >> 2] >> 16 * (place & 3) & 0xFFFF) ^ 0x8000) - 0x8000
    # Step 4: convert from BASE to *far*. The result stays a win or a loss if *far* is small.
    if entry in (UNTOLD, DRAWN, 0):
        return entry
    return max(1, entry - BASE + far) if entry > 0 else min(-1, entry + BASE - far)
