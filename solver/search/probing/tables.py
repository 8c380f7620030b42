"""Finds the databases that a search can probe, and loads their tiers into memory.

They are databases of other games of the same `family`, in which positions, tiers and slots mean the same. An example:
smaller chess endings that captures lead to. Chinook searched with endgame databases in the same way (Lake, Schaeffer
and Lu, 1994). The database of the game itself is excluded: with it, there is nothing to search.
"""

from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from retrograde.databases import Database, Outcome, home_folder, list_databases, open_database
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games import DRAW, TIE, UNDECIDED, Game, RetrogradeError
from retrograde.games.catalog import variant
from retrograde.games.contract.game import POSITION_LIMIT, REMOTENESS, Traits
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.search.bounds import worth_of
from retrograde.solver.search.endgame_tables import BASE, DRAWN, UNKNOWN

MOST_BYTES = 1 << 28
"""Greatest size of all tables together; what exceeds it is left out, the largest tiers first."""
BYTES = 2
"""Bytes of an entry."""


@dataclass
class LoadedTables:
    """Tiers loaded from databases."""

    game: Game
    entries: dict[int, Array] = field(default_factory=dict)
    """Entries int16[slots] of each tier, by tier number; see `endgame_tables.py`."""
    databases: list[Database] = field(default_factory=list)
    """The open databases, which answer `get`."""

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The arrays of `endgame_tables.py`, the header first; cached to keep them alive while kernels use them."""
        tiers = np.array(sorted(self.entries), np.int64)
        bounds = np.cumsum([0, *(len(self.entries[tier]) for tier in tiers.tolist())], dtype=np.int64)
        entries = np.full(-(-bounds[-1] // 4) * 4, UNKNOWN, np.int16)  # whole words
        for tier, begin in zip(tiers.tolist(), bounds, strict=False):
            entries[begin : begin + len(self.entries[tier])] = self.entries[tier]
        header = np.array([*(array.ctypes.data for array in (tiers, bounds, entries)), len(tiers)], np.int64)
        return header, tiers, bounds, entries

    @property
    def address(self) -> int:
        """The address of the header, which kernels take."""
        return int(self.arrays[0].ctypes.data)

    def get(self, position: int) -> Outcome | None:
        """Return the outcome of a position, or None if no database has it."""
        if self.game.tier(self.game.canonical(position)) not in self.entries:
            return None
        probed = self.game.as_probed(position) if hasattr(self.game, "as_probed") else position
        found = next((outcome for database in self.databases if (outcome := database.get(probed))), None)
        # A rule such as that of fifty moves may make a draw before the end.
        return found if found and (found.remoteness or 0) <= self.game.plies_to_draw(position) else None

    def close(self) -> None:
        for database in self.databases:
            database.close()


def find_tables(game: Game, position: int | None = None, most: int = MOST_BYTES) -> LoadedTables | None:
    """Return the tables in the home folder that play from *position* (None: from any) may reach, within *most* bytes,
    or None.

    Databases that cannot be read, or that other rules have made, are skipped.
    """
    rules: Any = find_probed_game(game)  # the contract has no `tiers`, which is a name of options, too
    traits = Traits.of(rules)
    if not traits.is_numbered or not traits.has_tiers or rules.family == game:  # the last: it has no other games
        return None
    least = -POSITION_LIMIT if position is None else game.tier(position)
    # The `tiers` of a probed game are not all of its family, so any tier counts.
    tiers: Container[int] = range(least, POSITION_LIMIT)
    if not hasattr(game, "probed_game"):
        tiers = {tier for tier in rules.tiers if tier >= least}
    tables = LoadedTables(game)
    for path in list_databases(home_folder()):
        if not path.name.startswith(game.name):
            continue
        with suppress(RetrogradeError, OSError):
            database = open_database(path)
            loaded = load_tiers(database, game, tiers, tables.entries, most)
            most -= sum(len(entries) * BYTES for entries in loaded.values())
            tables.entries.update(loaded)
            if loaded:
                tables.databases.append(database)
            else:
                database.close()
    return tables if tables.entries else None


def find_probed_game(game: Any) -> Any:
    """Return the game in whose family the databases are: the game itself, unless it has a `probed_game`."""
    return getattr(game, "probed_game", game)


def load_tiers(
    database: Database, game: Game, tiers: Container[int], loaded_before: Container[int], most: int
) -> dict[int, Array]:
    """Return the entries of those of *tiers* that a database of the family has, within *most* bytes, small tiers first.
    Tiers *loaded_before* are left out."""
    other, endings = database.game, find_probed_game(game)
    if variant(other) == variant(game) or type(other) is not type(endings) or other.family != endings.family:
        return {}
    if not isinstance(database, SlotsDatabase) or database.metric != REMOTENESS:
        return {}
    row_entries = np.array([encode_entry(row.value, row.plies) for row in database.file.legend], np.int16)
    numbers, bounds = database.contents.tiers
    loaded: dict[int, Array] = {}
    for k in np.argsort(np.diff(bounds), kind="stable").tolist():  # the smallest tier first
        number, begin, end = int(numbers[k]), int(bounds[k]), int(bounds[k + 1])
        size = (end - begin) * BYTES
        if number in tiers and number not in loaded_before and size <= most:
            loaded[number] = row_entries[database.all_slots(begin, end)]
            most -= size
    return loaded


def encode_entry(value: int, plies: int | None) -> int:
    """Return the table entry of an outcome; UNKNOWN if its distance is unknown or does not fit."""
    if value == DRAW:
        return DRAWN
    if value == UNDECIDED or (value != TIE and (plies is None or plies >= BASE - 1)):
        return UNKNOWN
    return worth_of(value, plies or 0, BASE)  # type: ignore[arg-type]
