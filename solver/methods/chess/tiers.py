"""Solves a chess tier, with bare kings or more men, by any of the three metrics. The package lists the steps."""

import numpy as np

from retrograde.games.contract.zeroing import DTC, DTZ, PROGRESS_METRICS
from retrograde.solver.methods.chess import mate, zeroing
from retrograde.solver.methods.chess.analysis import Map, Report
from retrograde.solver.methods.chess.formation import Formation
from retrograde.solver.methods.chess.slots import ScoresOf, collect_scores
from retrograde.solver.runtime.array_type import Array

ANALYSES = {DTZ: zeroing.analyse, DTC: zeroing.analyse_by_conversion}
"""The analysis by metric; distance to mate is the default."""


def solve_tier(
    formation: Formation, scores_of: ScoresOf, scores: Array, run: Map, report: Report, metric: str
) -> Array:
    """Write the scores of all slots of a tier by *metric*, and return their counts, as `collect_scores` does; raise
    TooDeep."""
    table = (zeroing if metric in PROGRESS_METRICS else mate).table_of_scores()
    if not formation.codes:
        return collect_scores(formation, [np.zeros(formation.pairs, np.uint8)], scores, {}, table)
    ply_codes, double_steps = ANALYSES.get(metric, mate.analyse)(formation, scores_of, run, report)
    return collect_scores(formation, ply_codes, scores, double_steps, table)
