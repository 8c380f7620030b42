"""Which databases hold positions that a search may come to, and what they say of them, in memory.

They are those of other games of the same `family`, in which positions, tiers and slots mean the same: of smaller chess
endings, say, to which captures lead (endings met from the front, as in Chinook; Lake, Schaeffer and Lu, 1994). The
database of the game itself is not among them: where there is one, a search has nothing to find.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from retrograde.databases import Database, Outcome, home_folder, list_databases, open_database
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.catalog import variant
from retrograde.games.contract.game import DRAW, METRICS, TIE, UNDECIDED, Game, RetrogradeError, defines, is_numbered
from retrograde.solver.search.probing.kernels import Words
from retrograde.solver.search.worth import BASE, DRAWN, UNTOLD, worth_of

Array = np.ndarray[Any, Any]

MOST_BYTES = 1 << 28
"""Of all tables together; what is beyond is left out, the largest tiers first."""
BYTES = 2


@dataclass
class Tables:
    """Tiers that databases hold: what each says of its slots, by the tier's number."""

    game: Game
    entries: dict[int, Array] = field(default_factory=dict)
    """int16[slots] for each tier, as `kernels.py` has them."""
    databases: list[Database] = field(default_factory=list)
    """Those that are open, which answer for single positions."""

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The numbers of the tiers, where each begins, and the entries of all; kept as long as kernels know them."""
        tiers = sorted(self.entries)
        bounds = np.cumsum([0, *(len(self.entries[tier]) for tier in tiers)])
        entries = np.full(-(-bounds[-1] // 4) * 4, UNTOLD, np.int16)  # whole words
        for tier, begin in zip(tiers, bounds, strict=False):
            entries[begin : begin + len(self.entries[tier])] = self.entries[tier]
        return np.array(tiers, np.int64), bounds.astype(np.int64), entries

    @cached_property
    def words(self) -> Words:
        """The tables as kernels have them."""
        tiers, bounds, entries = self.arrays
        return Words(tiers.ctypes.data, bounds.ctypes.data, entries.ctypes.data, len(tiers))

    def get(self, position: int) -> Outcome | None:
        """Return what a position is worth, if a database has it."""
        if self.game.tier(self.game.canonical(position)) not in self.entries:
            return None
        return next((known for database in self.databases if (known := database.get(position))), None)

    def close(self) -> None:
        """Close the databases."""
        for database in self.databases:
            database.close()


def find_tables(game: Game, position: int, most: int = MOST_BYTES) -> Tables | None:
    """Return the tables of the home folder in which play from a position may come; None where there are none.

    What cannot be read, or was made by other rules, is passed over.
    """
    if not is_numbered(game) or not defines(game, "tier") or game.family == game:
        return None
    rules: Any = game  # the contract has no `tiers`, which is a name of options, too
    tiers = {tier for tier in rules.tiers if tier >= game.tier(position)}
    tables, left = Tables(game), most
    for path in list_databases(home_folder()):
        if not path.name.startswith(game.name):
            continue
        with suppress(RetrogradeError, OSError):
            database = open_database(path)
            taken = taken_from(database, game, tiers - tables.entries.keys(), left)
            left -= sum(len(entries) * BYTES for entries in taken.values())
            tables.entries.update(taken)
            if taken:
                tables.databases.append(database)
            else:
                database.close()
    return tables if tables.entries else None


def taken_from(database: Database, game: Game, tiers: set[int], most: int) -> dict[int, Array]:
    """Return those of some tiers that a database of the family has, the small ones first, in so many bytes at most."""
    other = database.game
    if variant(other) == variant(game) or type(other) is not type(game) or other.family != game.family:
        return {}
    if not isinstance(database, SlotsDatabase) or database.metric != METRICS[0]:
        return {}
    codes = np.array([entry_of(row.value, row.plies) for row in database.file.legend] + [UNTOLD], np.int16)
    numbers, bounds = database.contents.tiers
    found: dict[int, Array] = {}
    for k in np.argsort(np.diff(bounds), kind="stable").tolist():
        size = int(bounds[k + 1] - bounds[k])
        if int(numbers[k]) in tiers and size * BYTES <= most:
            found[int(numbers[k])] = codes[database.all_slots(int(bounds[k]), int(bounds[k + 1]))]
            most -= size * BYTES
    return found


def entry_of(value: int, plies: int | None) -> int:
    """Return the entry of an outcome."""
    if value == DRAW:
        return DRAWN
    if value == UNDECIDED or (value != TIE and (plies is None or plies >= BASE - 1)):
        return UNTOLD
    return worth_of(value, plies or 0, BASE)  # type: ignore[arg-type]
