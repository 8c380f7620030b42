"""Endgame tables probed in search: a position of a smaller, solved game counts as an end of known worth.

A position is looked up by the game's own numbers: its tier and its slot in the tier. An entry is the position's worth
(see `bounds.py`) with BASE in place of `far`, or DRAWN, or UNKNOWN. Kernels get the tables by one address::

    header    int64[4]           addresses of the three arrays below, and the number of tiers
    tiers     int64[number]      numbers of the tiers, ascending
    bounds    int64[number + 1]  where the entries of each tier begin
    entries   int16[slots]       four in each int64 word

`probing/` loads the tables from databases.
"""

from typing import TYPE_CHECKING, Protocol

from numba import types
from numba.extending import overload

from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.positions import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.memory import words_at

if TYPE_CHECKING:
    from retrograde.databases import Outcome

BASE = 1 << 14
"""Value of `far` in the entries."""
DRAWN, UNKNOWN = (1 << 15) - 1, -(1 << 15)
"""Entries for a DRAW, and for an unknown position."""
TIERS, BOUNDS, ENTRIES, TIER_COUNT = range(4)
"""Indices into the header."""


class EndgameTables(Protocol):
    """Endgame tables that a search probes."""

    @property
    def address(self) -> int:
        """The address of the header."""

    def get(self, position: int) -> "Outcome | None":
        """Return the outcome of a position, or None if no table has it."""


def probe_tables(game, position, far, address):
    """Return the worth of an undecided position, DRAWN, or UNKNOWN. If *address* is None, no code for tables is
    compiled, because that made searches without tables some percent slower."""
    return UNKNOWN if address is None else look_up_worth(game, position, far, address)


@overload(probe_tables)
def compile_probe_tables(game, position, far, address):
    if isinstance(address, types.NoneType):
        return lambda game, position, far, address: UNKNOWN
    return lambda game, position, far, address: look_up_worth(game, position, far, address)


def address_of(tables: EndgameTables | None) -> int | None:
    """Return the address that kernels take; None if there are no tables."""
    return tables.address if tables else None


@kernel
def look_up_worth(game, position, far, address):
    """Return the worth of a position, DRAWN, or UNKNOWN if no table has it."""
    header = words_at(address)
    tiers, bounds, count = words_at(header[TIERS]), words_at(header[BOUNDS]), header[TIER_COUNT]
    # Step 1: binary search for the tier.
    tier = whole(game.tier(position))
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if tiers[middle] < tier:
            low = middle + 1
        else:
            high = middle
    if low == count or tiers[low] != tier:
        return UNKNOWN
    # Step 2: the slot of the canonical position.
    least, own_tier = canonical(game, position)
    slot = whole(game.index(least))
    if own_tier != tier or not 0 <= slot < bounds[low + 1] - bounds[low]:
        return UNKNOWN
    # Step 3: extract the signed 16-bit entry from its word.
    index = bounds[low] + slot
    bits = (words_at(header[ENTRIES])[index >> 2] >> (16 * (index & 3))) & 0xFFFF
    entry = (bits ^ 0x8000) - 0x8000
    if entry in (UNKNOWN, DRAWN, 0):
        return entry
    # Step 4: a win or a loss is no longer known if a rule may make a draw before.
    if BASE - abs(entry) > whole(game.plies_to_draw(position)):
        return UNKNOWN
    # Step 5: convert from BASE to *far*. The result stays a win or a loss if *far* is small.
    return max(1, entry - BASE + far) if entry > 0 else min(-1, entry + BASE - far)
