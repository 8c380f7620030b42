"""Copies tiers that a game shares with others of its family from existing databases.

For example, the tier of two men against one is the same in every draughts endgame, with any total number of pieces.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from retrograde.databases import DatabaseFile, database_path, home_folder, list_databases
from retrograde.databases.slots.read import SlotsReader
from retrograde.games.catalog import make, rests_on, rules_digest, variant
from retrograde.games.contract.game import METRICS, RetrogradeError
from retrograde.solver.methods.numbered.store import NumberedStore
from retrograde.solver.runtime.driver import Done
from retrograde.solver.values.score import encode, score_type

Sources = dict[int, Path]
"""For the number of a tier, a database that has it."""


def find_sources(store: NumberedStore, path: Path) -> Sources:
    """Return the tiers that other databases have, in the folder of *path* or the usual one."""
    game, numbering, bits = store.table.game, store.own, store.table.bits
    folders = home_folder(), path.parent
    if rests_on(game):  # no other variant's database has its tiers
        found = [file for folder in folders if (file := database_path(variant(game), folder)).is_file()]
    else:
        found = [file for folder in folders for file in list_databases(folder)]
    files = {file.resolve(): file for file in found}
    files.pop(path.resolve(), None)
    sources: Sources = {}
    for file in files.values():
        try:
            with DatabaseFile(file) as database:
                slots, digest = database.contents, rules_digest(type(game))
                if not isinstance(slots, SlotsReader) or (database.game_name, database.rules) != (game.name, digest):
                    continue
                if (database.metric if database.measures else METRICS[0]) != store.metric:
                    continue
                if make(type(game), database.variant.partition(":")[2]).family != game.family:
                    continue  # equal tier numbers and sizes mean nothing in another family
                if max(row.remoteness for row in database.legend) >= (1 << bits) - 2:
                    continue  # does not fit in scores of this size
                for tier, size in zip(slots.tiers.numbers, np.diff(slots.tiers.bounds), strict=True):
                    k = numbering.row(int(tier))
                    if k >= 0 and numbering.size(k) == size:
                        sources.setdefault(k, file)
        except (RetrogradeError, OSError):  # unreadable: ignore it
            continue
    return sources


def copy_tiers(store: NumberedStore, sources: Sources) -> Iterator[Done]:
    """Yield the scores and counts of tiers from the databases that have them. Skips damaged databases."""
    if not sources:
        return
    from retrograde.solver.methods.numbered.seeds import (  # here, as it loads the compiler
        BLOCK,
        blocks,
        count_symmetric,
    )

    table = store.table
    for k, file in sources.items():
        try:
            with DatabaseFile(file) as database:
                if not isinstance(slots := database.contents, SlotsReader):
                    continue
                there = int(slots.tiers.numbers.searchsorted(table.numbering.tiers[k]))
                outcomes = slots.all_slots(*slots.tiers.bounds[there : there + 2].tolist())
                legend = [encode(value, plies, table.bits) for value, plies, *_ in database.legend]
        except (RetrogradeError, OSError):
            continue
        tier, sizes = table.tier(k), np.empty(len(outcomes), np.uint16)
        tasks = ((tier, *ends) for ends in blocks(len(outcomes), 0, BLOCK))
        for begin, some in store.work.map(count_symmetric, tasks):
            sizes[begin : begin + len(some)] = some
        scores = np.array(legend, score_type(table.bits))[outcomes]
        scores[sizes == 0] = table.empty
        yield store.count_and_write(k, scores, sizes)
