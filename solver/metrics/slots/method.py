"""The method that solves games with chance which number their positions: bounds of all slots, reachable or not."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from retrograde.databases.bounds.write import SolvedBounds
from retrograde.databases.layout import NOT_FOUND, LegendRow
from retrograde.databases.legend import Measures
from retrograde.games.contract.game import LOSE, TIE, WIN, Game, Traits
from retrograde.games.identity.digest import numbering_digest
from retrograde.solver.metrics.expectation import BITS
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow
from retrograde.solver.metrics.slots.store import SlotStore
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.work import MetricNotApplicable, Work


@dataclass(frozen=True)
class SlotBoundsMethod:
    """Solves by slots: numbers in tiers, some of which stand for no position; bounds are in files."""

    name: ClassVar[str] = "numbered"

    def solve(self, game: Game, work: Work) -> SolvedBounds:
        """Return the solved game; raise MetricNotApplicable if the method does not apply."""
        if game.players > 2 or (game.players == 2 and not Traits.of(game).has_turn):
            raise MetricNotApplicable("expectations by slot are of one player, or of two with turn(position)")
        work.course.plan(solving=0.95, writing=0.05)
        # Try with fewer bits after the point if payoffs overflow.
        for bits in BITS:
            store = SlotStore(game, bits, work)
            try:
                drive(store, work.log(f"bounds{bits}"), work.phase("solving", store.numbering.slots))
            except PayoffOverflow:
                continue
            return solved_from(store)
        raise MetricNotApplicable("what is paid adds up to 2**31 and more")


def solved_from(store: SlotStore) -> SolvedBounds:
    """Return the solved game for the database writer, with a legend row for each value that slots have."""
    scale = 1 << store.bits
    details: dict[str, Any] = {"scale": scale, "error": store.error / scale}
    details["numbering"] = numbering_digest(store.game)
    if store.counts_wins:
        details["counts_wins"] = 1
    numbering = store.numbering
    measures = Measures("expectation", ("low", "high"), details)
    legend = [row for kind, value in enumerate((LOSE, TIE, WIN)) if (row := row_of(store, kind, value)).stored]
    return SolvedBounds(numbering.tiers, numbering.starts, legend, store.files.blocks(), measures, store.start())


def row_of(store: SlotStore, kind: int, value: Any) -> LegendRow:
    """Return the legend row of *value*, in column *kind* of the counts; its example is the first position."""
    by_tier = np.stack([store.counts[k] for k in range(len(store.numbering.tiers))])
    stored, positions, firsts = by_tier[:, :, kind].T
    example = int(firsts[firsts >= 0][0]) if stored.any() else -1
    return LegendRow(value, NOT_FOUND, int(positions.sum()), int(stored.sum()), example)
