"""Solves a chess tier, with bare kings or more men, by any of the three metrics.

Steps of `solve_tier`:

    1. slots        load the codes of all later tiers that captures and promotions lead to
    2. Side         for each side to move, find the legal positions and the result of their best capture or promotion
    3. en_passant   list the positions in which a pawn can be captured en passant
    4. WinSearch    for each side that may win, find sets of wins and losses ply by ply, until no set is found and
                    no capture or promotion is still to count
    5. slots        translate codes of positions into scores of slots, and count them
"""

import numpy as np

from retrograde.games.contract.zeroing import DTC, DTZ, TO_PROGRESS
from retrograde.solver.methods.chess import mate, zeroing
from retrograde.solver.methods.chess.analysis import Map, Report
from retrograde.solver.methods.chess.formation import Array, Formation
from retrograde.solver.methods.chess.slots import ScoresOf, collect_scores

ANALYSES = {DTZ: zeroing.analyse, DTC: zeroing.analyse_by_conversion}
"""The analysis by metric; distance to mate is the default."""


def solve_tier(
    formation: Formation, scores_of: ScoresOf, scores: Array, run: Map, report: Report, metric: str
) -> Array:
    """Write the scores of all slots of a tier by *metric*, and return their counts, as `collect_scores` does.

    Raises TooDeep.
    """
    table = (zeroing if metric in TO_PROGRESS else mate).table_of_scores()
    if not formation.codes:
        return collect_scores(formation, [np.zeros(formation.pairs, np.uint8)], scores, {}, table)
    known, double_steps = ANALYSES.get(metric, mate.analyse)(formation, scores_of, run, report)
    return collect_scores(formation, known, scores, double_steps, table)
