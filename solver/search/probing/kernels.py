"""The compiled probe of endgame tables. It overloads `probe_tables` for searches that have tables.

A position is looked up by the game's own numbers: its tier and its slot in the tier. An entry is the position's worth
(see `search/bounds.py`) with BASE in place of `far`, or DRAWN, or UNKNOWN::

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
from retrograde.solver.search.bounds import BASE, DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.memory import words_at


class TableAddresses(NamedTuple):
    """Endgame tables as kernels need them: the addresses of the three arrays above and the number of tiers."""

    tiers: int
    bounds: int
    entries: int
    number: int

    def probe(self, game: Game, position: int, far: int) -> int:
        """Like `probe_tables`, interpreted."""
        return int(look_up(game, position, far, self))


@overload(probe_tables)
def _(game, position, far, tables):
    if getattr(tables, "instance_class", None) is TableAddresses:
        return lambda game, position, far, tables: look_up(game, position, far, tables)
    return None


@kernel
def look_up(game, position, far, addresses):
    """Return the worth of a position, DRAWN, or UNKNOWN if no table has it."""
    tier = whole(game.tier(position))
    tiers, bounds = words_at(addresses.tiers), words_at(addresses.bounds)
    # Step 1: binary search for the tier.
    low, high = 0, addresses.number
    while low < high:
        middle = (low + high) // 2
        if tiers[middle] < tier:
            low = middle + 1
        else:
            high = middle
    if low == addresses.number or tiers[low] != tier:
        return UNKNOWN
    # Step 2: the slot of the canonical position.
    least, its_tier = canonical(game, position)
    slot = whole(game.index(least))
    if its_tier != tier or not 0 <= slot < bounds[low + 1] - bounds[low]:
        return UNKNOWN
    # Step 3: extract the signed 16-bit entry from its word.
    index = bounds[low] + slot
    entry = ((words_at(addresses.entries)[index >> 2] >> 16 * (index & 3) & 0xFFFF) ^ 0x8000) - 0x8000
    # Step 4: convert from BASE to *far*. The result stays a win or a loss if *far* is small.
    if entry in (UNKNOWN, DRAWN, 0):
        return entry
    return max(1, entry - BASE + far) if entry > 0 else min(-1, entry + BASE - far)
