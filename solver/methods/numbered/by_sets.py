"""Solves a tier by sets, if solver/methods/chess supports the game, and checks some slots against the rules."""

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import METRICS, RuleError, is_none
from retrograde.games.contract.zeroing import PROGRESS_METRICS, child_distance
from retrograde.solver.methods.chess.fit import LaterScores, TooDeep, formation_of
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.methods.numbered.table import NumberedTable
from retrograde.solver.methods.numbered.tier_memory import memory_by_sets
from retrograde.solver.rules.examine import describe_difference, examine
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import decode, encode
from retrograde.solver.values.score_kernels import pass_on, pass_up

BEGUN = 0.3
"""Share of a tier's solving time that building its sets takes, about."""
CHECKS = 6
"""Slots of a tier that are checked with the interpreted rules."""


def solve_by_sets(
    table: NumberedTable, k: int, work: Work, phase: Phase, elsewhere: Elsewhere, metric: str = METRICS[0]
) -> tuple[Array, Array] | None:
    """Return the scores of tier number *k* of the table, and the counts of its outcomes (see legend.py).

    All later tiers must be solved, or be in *elsewhere*. *metric* is remoteness or one of PROGRESS_METRICS. The scores
    are a slice of `table.scores`, one for each slot. Returns None if sets do not apply or do not fit in memory.
    """
    tier_slots, tier = table.numbering.slice_of(k), int(table.numbering.tiers[k])
    formation = formation_of(table.game, tier, table.bits)
    if formation is None or memory_by_sets(formation, metric) > work.budget.free_bytes():
        return None
    from retrograde.solver.methods.chess.tiers import solve_tier  # its kernels load slowly

    all_scores, slot_count = table.scores.array, tier_slots.stop - tier_slots.start
    scores = all_scores[tier_slots]

    def later_scores(tier: int, slots: slice) -> LaterScores:
        """Return the scores of some slots of a later tier, from this table or another database."""
        row = table.numbering.row(tier)
        if row < 0:
            return LaterScores(*elsewhere.rows(tier, slots, table.bits))
        return LaterScores(all_scores[table.numbering.slice_of(row)][slots])

    def report(decided: int, remoteness: int) -> None:
        """Report progress: how many positions are decided, and in how many plies the last ones."""
        # The sets of both sides to move count equal men as distinct, so the slots decided follow from the share only.
        decided_share = decided / (2 * formation.pairs * formation.inner)
        deciding = Deciding(round(decided_share * slot_count), slot_count, remoteness)
        phase.working((BEGUN + (1 - BEGUN) * decided_share) * slot_count, tier, deciding)

    try:
        counts = solve_tier(formation, later_scores, scores, work.map_in_process, report, metric)
    except TooDeep:
        return None
    # Check a few slots, spread over the tier, against the interpreted rules.
    for slot in np.linspace(0, slot_count - 1, CHECKS).astype(np.int64).tolist():
        check_slot(table, k, slot, scores, elsewhere, metric)
    return scores, counts.ravel()


def check_slot(
    table: NumberedTable, k: int, slot: int, scores: Array, elsewhere: Elsewhere, metric: str = METRICS[0]
) -> None:
    """Raise RuleError if a slot's score in tier number k does not follow from its children's by the interpreted rules.
    *scores* has all scores of the tier, by *metric*."""
    game, tier, bits = table.game, int(table.numbering.tiers[k]), table.bits
    position = table.numbering.position_at(game, k, slot)
    if is_none(position):
        if int(scores[slot]) != table.empty:
            raise RuleError(f"{variant(game)}: slot {slot} of tier {tier} has a score, and stands for no position")
        return
    value, moves, children = examine(game, position)
    expected = encode(value, 0, bits) if value else 0  # 0 is the least score
    for move, child in zip(moves, children, strict=True):
        if game.elsewhere(game.tier(child)):
            score = elsewhere.score(child, bits)
        else:
            child_k, child_slot = table.numbering.slot_of(game, child)
            child_scores = scores if child_k == k else table.scores.array[table.numbering.slice_of(child_k)]
            score = int(child_scores[child_slot])
        if metric in PROGRESS_METRICS:
            decided, plies = decode(score, bits)
            score = encode(decided, child_distance(game, metric, position, move, child, plies), bits)
        expected = max(expected, int((pass_up if turns(game, position, child) else pass_on)(score, bits)))
    if int(scores[slot]) != expected:
        raise RuleError(describe_difference(game, position))
