"""Solves games that number their positions: all slots of all tiers, last tier first."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from retrograde.databases.legend import LegendTable, Measures, table_of
from retrograde.databases.write import SolvedSlots
from retrograde.games.contract.game import METRICS, Game
from retrograde.games.contract.zeroing import TO_PROGRESS, signed
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.methods.numbered.legend import CODE, solved_slots
from retrograde.solver.methods.numbered.reuse import copy_tiers, find_sources
from retrograde.solver.methods.numbered.store import NumberedStore
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import decode, with_enough_bits
from retrograde.solver.values.score_kernels import fill_gaps

SAMPLE_SLOTS, SAMPLE_SECONDS = 256, 0.01
"""Most slots, and seconds, of a sample that estimates the number of positions, for progress reports."""


@dataclass(frozen=True)
class NumberedMethod:
    """The strategy for games that number their positions.

    Tiers that other databases have are copied, from the folder of *path* and the usual folder. If *path* is None or
    *fresh* is true, all tiers are solved. If *by_sets*, tiers are solved by sets if possible (see
    solver/methods/chess). *metric* is remoteness, or one of TO_PROGRESS, which needs sets.
    """

    path: Path | None = None
    by_sets: bool = True
    fresh: bool = False
    metric: str = METRICS[0]
    name: ClassVar[str] = "numbered"

    def solve(self, game: Game, work: Work) -> SolvedSlots:
        """Return the solved game, with every slot of it."""

        work.course.plan(solving=0.93, writing=0.07)

        def solve(bits: int) -> SolvedSlots:
            elsewhere = Elsewhere(game, self.path and self.path.parent, self.metric)
            work.open.enter_context(elsewhere)
            store = NumberedStore(game, bits, work, self.by_sets, elsewhere, self.metric)
            if work.listener:
                sample = store.own.sample(game, SAMPLE_SLOTS, SAMPLE_SECONDS)
                work.course.positions_a_record = sample.positions_a_slot
            phase = work.phase("solving", store.own.slots)
            for done in copy_tiers(store, find_sources(store, self.path) if self.path and not self.fresh else {}):
                kept = store.keep(done)
                phase.skip(kept.records, kept.positions)
            drive(store, work.log(f"scores{bits}"), phase)
            return solved_from(store)

        return with_enough_bits(work.sizes.plies_bits, solve)


def solved_from(store: NumberedStore) -> SolvedSlots:
    """Return a solved game for the database writer, made from the scores of all slots."""
    table = store.table
    codes = {code for counts in store.counts.values() for code in counts[:, CODE].tolist()}
    outcomes = {code: decode(code, table.bits) for code in codes}
    release = table.scores.release_pages if store.in_file else None
    own = store.scores[: store.own.slots]
    solved = solved_slots(table.game, store.own, outcomes, store.counts, own, release, fill_gaps)
    if store.metric not in TO_PROGRESS:
        return solved
    legend = [row._replace(measures=(signed(row.value, row.remoteness),)) for row in solved.legend]
    measures = Measures(store.metric, (store.metric,))
    return replace(solved, legend=LegendTable(table_of(legend, measures.names)), measures=measures)
