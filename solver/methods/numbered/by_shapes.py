"""Solves a tier shape by shape, if solver/methods/shapes supports the game, and checks some slots against the rules."""

from contextlib import ExitStack

import numpy as np

from retrograde.games.catalog import variant
from retrograde.solver.methods.numbered.by_sets import check_slot
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.methods.numbered.table import NumberedTable
from retrograde.solver.methods.numbered.tier_memory import memory_by_shapes, memory_by_slots
from retrograde.solver.methods.shapes.fit import NotShaped
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import score_type

BEGUN = 0.4
"""Share of a tier's solving time that the first pass over all positions takes, about."""
CHECKS, CHECK_SLOTS = 2, 1 << 17
"""Slots of a tier checked with the interpreted rules: CHECKS, and one for each CHECK_SLOTS slots."""


def solve_by_shapes(
    table: NumberedTable, k: int, work: Work, phase: Phase, in_file: bool, elsewhere: Elsewhere, until_kept: ExitStack
) -> tuple[Array, Array] | None:
    """Return the scores of tier number k and the counts of its outcomes (see legend.py). All later tiers must be
    solved.

    Scores are written to the tier's part of the score array; if that is in a file (*in_file*) and the tier fits in
    memory, to an array of its own. A large tier is solved in ranges, whose outcomes are in files, if workers are in
    other processes or if memory is short. Resumes from the checkpoint of an earlier solve. Returns None if the declared
    steps do not fit together.
    """
    from retrograde.solver.methods.shapes.tiers import ShapeProgress, ShapeTier  # loads the compiler

    numbering, tier, count = table.numbering, int(table.numbering.tiers[k]), table.numbering.size(k)
    starts = dict(zip(numbering.tiers.tolist(), numbering.starts.tolist(), strict=False))

    def tell(visited: int, decided: int, remoteness: int | None) -> None:
        phase.working(BEGUN * visited + (1 - BEGUN) * decided, tier, Deciding(decided, count, remoteness))

    in_ranges = work.resumes(name := f"shaperanges{table.bits}-{k}")  # an earlier solve has begun with ranges
    in_ranges |= work.ranged_from is not None and count >= work.ranged_from
    in_ranges |= memory_by_shapes(table.game, tier, count) > work.budget.free_bytes()
    has_own_scores = in_file and not in_ranges
    scores = np.zeros(count, score_type(table.bits)) if has_own_scores else table.scores.array[numbering.slice_of(k)]
    try:
        if in_ranges:
            from retrograde.solver.methods.shapes.ranges import PROGRESS_KINDS, ShapeRanges  # rarely needed

            checkpoint = until_kept.enter_context(Checkpoint(work, name, *PROGRESS_KINDS))
            ranges = ShapeRanges(table.game, tier, starts, table.scores, table.bits, work, checkpoint)
            counts = ranges.solve(scores, tell)
        else:
            checkpoint = until_kept.enter_context(Checkpoint(work, f"shapes{table.bits}-{k}", ShapeProgress))
            solver = ShapeTier(table.game, tier, starts.__getitem__, table.scores.array, scores, table.bits)
            counts = solver.solve(work.map_in_process, tell, checkpoint)
    except NotShaped:
        # The caller goes on slot by slot, which needs more memory than it has checked.
        least = memory_by_slots(table.game, count, table.bits, work.ranged_from).least
        work.budget.check(least, f"solving {count:,} slots of {variant(table.game)} slot by slot")
        return None
    for slot in np.linspace(0, count - 1, CHECKS + count // CHECK_SLOTS).astype(np.int64).tolist():
        check_slot(table, k, slot, scores, elsewhere)
    return scores, counts.ravel()
