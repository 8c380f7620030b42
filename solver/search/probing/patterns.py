"""Finds the databases of the smaller puzzles of a puzzle, and loads their distances into memory."""

import numpy as np

from retrograde.databases import open_database
from retrograde.databases.location import database_path
from retrograde.games.catalog import variant
from retrograde.games.contract.game import WIN, Game, Traits
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.patterns import EMPTY, Patterns, fill_patterns


def missing_patterns(game: Game) -> list[str]:
    """Return the smaller puzzles that have no database in the home folder."""
    return [variant(puzzle) for puzzle in game.abstractions if not database_path(variant(puzzle)).exists()]


def find_patterns(game: Game) -> Patterns | None:
    """Return the distances of all smaller puzzles; None if there are none, or a database is missing."""
    smaller = game.abstractions
    if not smaller or missing_patterns(game):
        return None
    databases = [open_database(database_path(variant(puzzle)), game=puzzle) for puzzle in smaller]
    slots = 1 << (2 * max(map(len, databases))).bit_length()
    words = (Traits.of(game).width,) if Traits.of(game).width else ()
    shape = len(smaller), slots
    patterns = Patterns(np.zeros((*shape, *words), np.int64), np.full(shape, EMPTY, np.int16))
    for number, database in enumerate(databases):
        with database:
            for _, positions, values, remotenesses in database.records():
                won = values == WIN
                fill_patterns(rules_for(game), patterns, number, positions[won], remotenesses[won])
    return patterns
