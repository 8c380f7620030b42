"""Retrograde analysis of a chess tier by distance to conversion (see `games/contract/zeroing.py`).

This is the analysis by distance to zeroing with a single level: all men move within the tier, pawns too, and captures
and promotions count 1 ply. Positions with en passant are decided along with the others.

    mated, or lost by captures and promotions ──lead_to──> won in one ply more ──lead_to──> perhaps lost in one more …
    won or lost with a capture en passant     ──parents──> the same
"""

from collections.abc import Callable

from retrograde.solver.methods.chess import zeroing
from retrograde.solver.methods.chess.formation import Formation
from retrograde.solver.methods.chess.passing import Passed
from retrograde.solver.methods.chess.tiers import Map, Tell
from retrograde.solver.methods.chess.words import EVERYTHING
from retrograde.solver.methods.chess.zeroing import SOON, Analysed, Array, Side
from retrograde.solver.methods.chess.zeroing_kernels import LOST


def solve_tier(formation: Formation, scores_of: Callable[[int], Array], scores: Array, run: Map, tell: Tell) -> Array:
    """Write the scores of all slots of a tier, and return their counts, as `tiers.solve_tier` does.

    The plies of all scores are those to conversion. Raises TooDeep.
    """
    return zeroing.solve_tier(formation, scores_of, scores, run, tell, analysed)


def analysed(formation: Formation, scores_of: Callable[[int], Array], run: Map, tell: Tell) -> Analysed:
    """Analyse a tier by distance to conversion."""
    sides, passed = zeroing.laid_out(formation, scores_of, run, zeroing.codes_of_scores(0))
    zeroing.begin(formation, sides, passed, EVERYTHING)
    roles = [Role(formation, sides[side], sides[1 - side], passed[side], passed[1 - side]) for side in (0, 1)]
    zeroing.play_out(roles, run, tell)
    del roles
    return zeroing.known_of(sides, passed)


class Role(zeroing.Role):
    """The search for the wins of one side.

    *passed* are the positions in which the loser may capture en passant, *passed_by_loser* those in which the winner
    may.
    """

    def __init__(self, formation: Formation, winner: Side, loser: Side, passed: Passed, passed_by_loser: Passed):
        super().__init__(formation.men, winner, loser, passed.passing, passed_by_loser.passing)
        self.passed, self.passed_by_loser = passed, passed_by_loser
        if passed.greatest or passed_by_loser.greatest:
            self.due.add(SOON)

    def step(self) -> bool:
        if not super().step():
            return False
        lost = self.passed.lose(LOST + self.plies + 1, self.lost, self.winning)  # parents, for the step to come
        won = self.passed_by_loser.win(self.plies + 1, self.won, self.losing)
        self.found_lost += lost
        self.found_won += won
        self.decided += lost + won
        return True
