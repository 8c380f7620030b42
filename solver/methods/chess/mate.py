"""Retrograde analysis of a chess tier by distance to mate.

A code is 0 for a draw, else one more than the plies to mate: 1 is mated, even codes are wins, odd ones losses.

    mated ──> won in 1 ──────────────> lost in 2 ──────────────> won in 3 …
              ^ captures and promotions that win so soon    ^ and those that lose no later
"""

from collections.abc import Iterable
from functools import cache

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, WIN
from retrograde.solver.methods.chess import analysis, kernels
from retrograde.solver.methods.chess.analysis import Map, Report, Results
from retrograde.solver.methods.chess.fit import BITS
from retrograde.solver.methods.chess.formation import Formation
from retrograde.solver.methods.chess.kernels import NO_POSITION, LaterCodes
from retrograde.solver.methods.chess.slots import DEEPEST_LATER, ScoresOf, find_departures, table_by_score
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import encode


def analyse(formation: Formation, scores_of: ScoresOf, run: Map, report: Report) -> Results:
    """Return the results of a tier by distance to mate; *scores_of* has the scores of later tiers."""
    sides, en_passant = analysis.prepare(formation, scores_of, run, codes_of_scores(), MateSide)
    analysis.mark_stuck(formation, sides, en_passant)
    analysis.search(formation.men, sides, en_passant, run, report)
    return analysis.results_of(sides, en_passant)


class MateSide(analysis.Side):
    """A side to move whose captures and promotions count all plies to mate.

    From the start `ply_codes` has the codes that captures and promotions bring. `next_wins` and `next_losses`
    uint8[words] are the least of them still to come (see `kernels.add_due`)."""

    alternates = True

    def __init__(self, formation: Formation, later: LaterCodes, side: int):
        self.number = side
        self.unwon, self.checked, found = find_departures(formation, later, side)
        self.ply_codes = found.ply_codes
        self.next_wins, self.next_losses = np.empty((2, formation.words), np.uint8)
        self.greatest = kernels.find_least_codes(self.ply_codes, self.next_wins, self.next_losses)
        self.unlost = self.unwon & ~found.saved & ~found.delayed

    def due(self) -> Iterable[int]:
        return range(1, self.greatest)

    def add_due_wins(self, plies: int, candidates: Array) -> bool:
        if plies % 2:
            kernels.add_due(self.ply_codes, self.next_wins, plies + 1, candidates, candidates)
        return plies % 2 == 1

    def add_due_losses(self, plies: int, candidates: Array) -> bool:
        if plies % 2 == 0:
            kernels.add_due(self.ply_codes, self.next_losses, plies + 1, self.unlost, candidates)
        return plies % 2 == 0

    def final_codes(self) -> Array:
        # A losing capture decides nothing if another move does not lose. This waits until both searches are done,
        # because both write to `ply_codes`.
        kernels.clear_losses(self.ply_codes, self.unlost)
        return self.ply_codes


@cache
def codes_of_scores() -> Array:
    """Return a table of codes by score, uint8[65536]; codes above DEEPEST_LATER mark scores that are too deep."""
    # 253 or 254 for too deep, of the right parity.
    plies = np.arange(1 << BITS)
    codes = np.minimum(plies + 1, DEEPEST_LATER + 1 + plies % 2).astype(np.uint8)
    return table_by_score(codes, codes, 0, NO_POSITION)


@cache
def table_of_scores() -> Array:
    """Return a table of scores by code, uint16[256]."""
    decided = [encode(LOSE if code & 1 else WIN, code - 1, BITS) for code in range(1, 256)]
    return np.array([encode(DRAW, 0, BITS), *decided], np.uint16)
