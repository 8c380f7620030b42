"""Reads tiers that a game depends on from other databases, when they are needed (`elsewhere` in the game contract)."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np

from retrograde.databases import Database, home_folder
from retrograde.databases.open import open_beside
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.contract.game import METRICS, Game
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import encode, scores_of_legend


class Elsewhere:
    """The tiers that a game depends on, in databases of one metric, in *folder* or the usual one; a context manager."""

    def __init__(self, game: Game, folder: Path | None, metric: str = METRICS[0]):
        self.game, self.folder, self.metric = game, folder or home_folder(), metric
        self.stack, self.databases = ExitStack(), dict[str, Database]()

    def database(self, tier: int) -> SlotsDatabase:
        """Return the database of a tier; raise NoDatabase if there is no such database."""
        variant = self.game.elsewhere(tier)
        if variant not in self.databases:
            opened = open_beside(self.folder, self.game, variant, self.metric)
            self.databases[variant] = self.stack.enter_context(opened)
        database = self.databases[variant]
        if not isinstance(database, SlotsDatabase) or database.metric != self.metric:
            raise database.file.damaged(f"it does not have {self.metric} of {variant} slot by slot")
        return database

    def scores(self, tier: int, bits: int) -> Array:
        """Return the scores of all slots of a tier; the scores of empty slots are arbitrary."""
        database = self.database(tier)
        legend = scores_of_legend(database.file.legend, bits)
        scores, begin = np.empty(self.game.size(tier), legend.dtype), 0  # type: ignore[attr-defined]  # as in own_tiers
        for rows in database.tier_rows(tier):
            scores[begin : begin + len(rows)] = legend[rows]
            begin += len(rows)
        return scores

    def rows(self, tier: int, slots: slice, bits: int) -> tuple[Array, Array]:
        """Return (the legend rows of some slots of a tier, the score of each row); rows of empty slots are
        arbitrary."""
        database = self.database(tier)
        return database.rows_of(tier, slots), scores_of_legend(database.file.legend, bits)

    def score(self, position: int, bits: int) -> int:
        """Return the score of a position."""
        value, remoteness = self.database(self.game.tier(position))[position]
        return encode(value, remoteness or 0, bits)

    def __enter__(self) -> "Elsewhere":
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()
