"""Tiers that a game shares with others of its family, taken from databases that are there already.

The tier of rook against bare king, say, is the same in all chess endgames that can lead to it.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

from retrograde.databases import DatabaseFile, home_folder, list_databases
from retrograde.databases.open import digest_in
from retrograde.databases.slots.read import SlotsReader
from retrograde.games.game import RetrogradeError
from retrograde.solver.listed.cyclic import flowing
from retrograde.solver.numbered import kernels as dense_kernels
from retrograde.solver.numbered.dense import BLOCK, DenseScores
from retrograde.solver.outcomes.score import encode
from retrograde.solver.rules import kernels

Sources = dict[int, Path]
"""For the numbers of tiers, in the order of a Numbering, a database that has them."""


def find_sources(scores: DenseScores, path: Path) -> Sources:
    """Return which tiers are found in other databases, in the folder of *path* or the usual one."""
    game, numbering = scores.game, scores.numbering
    files = {file.resolve(): file for folder in (home_folder(), path.parent) for file in list_databases(folder)}
    files.pop(path.resolve(), None)
    sources: Sources = {}
    for file in files.values():
        try:
            with DatabaseFile(file) as database:
                slots, digest = database.contents, digest_in(database.header.version)(type(game))
                if not isinstance(slots, SlotsReader) or (database.game_name, database.rules) != (game.name, digest):
                    continue
                if max(row.remoteness for row in database.legend) >= (1 << scores.bits) - 2:
                    continue  # more than scores of this size can say
                for tier, size in zip(slots.tiers.numbers, np.diff(slots.tiers.bounds), strict=True):
                    row = numbering.row(int(tier))
                    if row >= 0 and numbering.size(row) == size:
                        sources.setdefault(row, file)
        except (RetrogradeError, OSError):  # it is of no use, and no concern of ours
            continue
    return sources


def take(scores: DenseScores, sources: Sources, rows: Iterable[int]) -> list[int]:
    """Fill in tiers from the databases that have them, and return which; a damaged one is passed over."""
    taken = []
    for row in rows:
        try:
            with DatabaseFile(sources[row]) as database:
                if not isinstance(slots := database.contents, SlotsReader):
                    continue
                k = int(slots.tiers.numbers.searchsorted(scores.numbering.tiers[row]))
                outcomes = slots.all_slots(*slots.tiers.bounds[k : k + 2].tolist())
                legend = [encode(value, plies, scores.bits) for value, plies, *_ in database.legend]
        except (RetrogradeError, OSError):
            continue
        part = scores.numbering.stretch(row)
        scores.scores[part] = np.array(legend, scores.scores.dtype)[outcomes]
        for _ in flowing(scores.executor, partial(measure, scores, row), range(0, len(outcomes), BLOCK)):
            pass
        taken.append(row)
    return taken


def measure(scores: DenseScores, row: int, begin: int) -> None:
    """Note which of a block of slots are empty, and how many positions are symmetric to the others."""
    part = scores.numbering.stretch(row)
    block = slice(begin, begin + BLOCK)
    sizes = scores.sizes[part][block]
    images = scores.room("images", kernels.MOST_IMAGES)
    dense_kernels.measure(scores.rules, int(scores.numbering.tiers[row]), begin, images, sizes)
    scores.scores[part][block][sizes == 0] = scores.empty
