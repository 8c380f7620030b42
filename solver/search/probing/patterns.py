"""Finds the databases of the smaller puzzles of a puzzle, and loads their distances into memory."""

from contextlib import suppress
from typing import Any

import numpy as np

from retrograde.databases import open_database
from retrograde.databases.location import database_path
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.catalog import own_tiers, variant
from retrograde.games.contract.game import WIN, Game, RetrogradeError, Traits
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.search.patterns import EMPTY, MOST_PLIES, Patterns, fill_patterns


def missing_patterns(game: Game) -> dict[str, bool]:
    """Return the names of smaller puzzles without a usable database in the home folder, and whether each has a file. If
    it has one, other rules have made it, or it is damaged."""
    puzzles = {variant(puzzle): puzzle for puzzle in game.abstractions}
    return {name: database_path(name).exists() for name, puzzle in puzzles.items() if not can_be_opened(puzzle)}


def can_be_opened(puzzle: Game) -> bool:
    """Return whether a smaller puzzle has a database that its rules have made."""
    with suppress(RetrogradeError, OSError), open_database(database_path(variant(puzzle)), game=puzzle):
        return True
    return False


def has_plain_slots(database: Any) -> bool:
    """Return whether the index of each position is its slot, and each slot has a position."""
    if not isinstance(database, SlotsDatabase):
        return False
    puzzle: Any = database.game
    tiers = own_tiers(puzzle)
    return len(tiers) == 1 and len(database) == puzzle.size(tiers[0]) and not Traits.of(puzzle).has_images


def find_patterns(game: Game) -> Patterns | None:
    """Return the distances of all smaller puzzles; None if there are none, or a database is missing or unusable."""
    smaller = game.abstractions
    if not smaller or missing_patterns(game):
        return None
    databases = [open_database(database_path(variant(puzzle)), game=puzzle) for puzzle in smaller]
    numbered = all(map(has_plain_slots, databases))
    patterns = make_patterns(game, max(map(len, databases)), numbered)
    for number, database in enumerate(databases):
        with database:
            if isinstance(database, SlotsDatabase) and numbered:
                patterns.plies[number, : len(database)] = plies_by_slot(database)
                continue
            for _, positions, values, remotenesses in database.records():
                is_solvable = values == WIN
                fill_patterns(rules_for(game), patterns, number, positions[is_solvable], remotenesses[is_solvable])
    return patterns


def make_patterns(game: Game, most_positions: int, numbered: bool) -> Patterns:
    """Return empty tables for the smaller puzzles of a game. None has more than *most_positions* positions; *numbered*:
    their positions are looked up by slot."""
    smaller = game.abstractions
    # A hash table is at most half full, and its size a power of two.
    slots = most_positions if numbered else 1 << (2 * most_positions).bit_length()
    words = (Traits.of(game).width,) if Traits.of(game).width else ()
    keys = np.zeros((len(smaller), 1 if numbered else slots, *words), np.int64)
    plies = np.full((len(smaller), slots), EMPTY, np.int8)
    rules = tuple(rules_for(puzzle) for puzzle in (smaller if numbered else [game] * len(smaller)))
    return Patterns(keys, plies, rules, numbered, game.abstractions_add)


def plies_by_slot(database: SlotsDatabase) -> Array:
    """Return int8[slots]: the plies to the solution, at most MOST_PLIES; EMPTY if there is none."""
    by_row = [min(row.remoteness, MOST_PLIES) if row.value == WIN else EMPTY for row in database.file.legend]
    plies: Array = np.array(by_row, np.int8)[database.all_slots()]
    return plies
