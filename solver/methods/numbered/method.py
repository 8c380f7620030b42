"""Solves games that number their positions: all slots of all tiers, last tier first.

Tiers that a game shares with others of its family are copied from existing databases. For example, the tier of two men
against one is the same in every draughts endgame, with any total number of pieces.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from retrograde.databases import DatabaseFile, database_path, home_folder, list_databases
from retrograde.databases.legend import LegendTable, Measures, table_of
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.write import SolvedSlots
from retrograde.games.catalog import is_digest_of, make, rests_on, rules_digest, variant
from retrograde.games.contract.game import METRICS, Game, RetrogradeError
from retrograde.games.contract.zeroing import PROGRESS_METRICS, signed_distance
from retrograde.solver.methods.chess.fit import is_chess
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.methods.numbered.legend import CODE, solved_slots
from retrograde.solver.methods.numbered.store import NumberedStore
from retrograde.solver.runtime.driver import Done, drive
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import decode, encode, score_type, with_enough_bits
from retrograde.solver.values.score_kernels import fill_gaps

SAMPLE_SLOTS, SAMPLE_SECONDS = 256, 0.01
"""Most slots, and seconds, of a sample that estimates the number of positions, for progress reports."""


@dataclass(frozen=True)
class NumberedMethod:
    """The method for games that number their positions.

    Tiers that other databases have are copied, from the folder of *path* and the database folder. If *path* is None or
    *fresh* is true, all tiers are solved. If *by_sets*, tiers are solved by sets if possible (see
    solver/methods/chess). *metric* is remoteness, or one of PROGRESS_METRICS, which needs sets.
    """

    path: Path | None = None
    by_sets: bool = True
    fresh: bool = False
    metric: str = METRICS[0]
    name: ClassVar[str] = "numbered"

    def solve(self, game: Game, work: Work) -> SolvedSlots:
        """Return the solved game, with every slot of it."""
        # Measured shares of the time.
        work.course.plan(solving=0.93, writing=0.07)

        def solve(bits: int) -> SolvedSlots:
            """Solve with scores that have *bits* bits for plies; called again with more bits if these are too few."""
            elsewhere = Elsewhere(game, self.path and self.path.parent, self.metric)
            work.open.enter_context(elsewhere)
            store = NumberedStore(game, bits, work, self.by_sets, elsewhere, self.metric)
            if work.listener:
                sample = store.own.sample(game, SAMPLE_SLOTS, SAMPLE_SECONDS)
                work.course.positions_a_record = sample.positions / sample.slots or 1.0
            phase = work.phase("solving", store.own.slots)
            # Step 1: copy the tiers that other databases have.
            sources = find_sources(store, self.path) if self.path and not self.fresh else {}
            for tier_result in copy_tiers(store, sources):
                stored_counts = store.keep(tier_result)
                phase.skip(stored_counts.records, stored_counts.positions)
            # Step 2: solve the other tiers, or take them from the journal.
            drive(store, work.log(f"scores{bits}"), phase)
            return solved_from(store)

        return with_enough_bits(work.sizes.plies_bits, solve)


def solved_from(store: NumberedStore) -> SolvedSlots:
    """Return a solved game for the database writer, made from the scores of all slots."""
    table = store.table
    codes = {code for counts in store.counts.values() for code in counts[:, CODE].tolist()}
    outcomes = {code: decode(code, table.bits) for code in codes}
    release = table.scores.release_pages if store.in_file else None
    scores = store.scores[: store.own.slots]  # a score is the code of its outcome
    solved = solved_slots(table.game, store.own, outcomes, store.counts, scores, release, fill_gaps)
    solved = replace(solved, quick=is_chess(table.game))
    # Other metrics than remoteness have a signed distance besides.
    if store.metric not in PROGRESS_METRICS:
        return solved
    legend = [row._replace(measures=(signed_distance(row.value, row.remoteness),)) for row in solved.legend]
    measures = Measures(store.metric, (store.metric,))
    return replace(solved, legend=LegendTable(table_of(legend, measures.names)), measures=measures)


Sources = dict[int, Path]
"""For the number of a tier, a database that has it."""


def find_sources(store: NumberedStore, path: Path) -> Sources:
    """Return the tiers that other databases have, in the folder of *path* or the usual one."""
    game, numbering, bits = store.table.game, store.own, store.table.bits
    folders = home_folder(), path.parent
    if rests_on(game):  # no other variant's database has its tiers
        candidates = [file for folder in folders if (file := database_path(variant(game), folder)).is_file()]
    else:
        candidates = [file for folder in folders for file in list_databases(folder)]
    files = {file.resolve(): file for file in candidates}
    files.pop(path.resolve(), None)
    sources: Sources = {}
    for file in files.values():
        try:
            with DatabaseFile(file) as database:
                slots, digest = database.contents, rules_digest(type(game))
                if not isinstance(slots, SlotsReader) or database.game_name != game.name:
                    continue
                if not is_digest_of(database.rules, digest):
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
    from retrograde.solver.methods.numbered.seeds import count_symmetric  # here, as it loads the compiler

    table = store.table
    for k, file in sources.items():
        try:
            with DatabaseFile(file) as database:
                if not isinstance(slots := database.contents, SlotsReader):
                    continue
                row = int(slots.tiers.numbers.searchsorted(table.numbering.tiers[k]))
                outcomes = slots.all_slots(*slots.tiers.bounds[row : row + 2].tolist())
                legend = [encode(value, plies, table.bits) for value, plies, *_ in database.legend]
        except (RetrogradeError, OSError):
            continue
        sizes = count_symmetric(table, k, store.work)
        scores = np.array(legend, score_type(table.bits))[outcomes]
        scores[sizes == 0] = table.empty
        yield store.count_and_write(k, scores, sizes)
