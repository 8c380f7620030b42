"""A solution that counts plies without progress, as the fifty-move rule of chess does.

It needs the distances to zeroing besides those to the end, and then says what moves bring under the rule. Among moves
that win under the rule, the soonest end is best if it comes before the count is full in any case; otherwise the soonest
progress is. So each move gets nearer to one of the two, and play cannot go round in circles.
"""

from collections.abc import Sequence
from typing import Any, cast

from retrograde.databases import Outcome
from retrograde.games.contract.choice import Choice, equally_good, follow_best, ranked
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, REMOTENESS, WIN, Game
from retrograde.games.contract.marks import worth_key
from retrograde.games.contract.zeroing import DTZ, PATIENCE, by_rule, child_distance, count_after
from retrograde.solver.play.match import Review, judge_moves
from retrograde.solver.play.oracle import LONGEST_LINE, Oracle, ValueBounds, exact_bounds
from retrograde.solver.play.solution import Solution

ORDER = WIN, DRAW, LOSE
"""Values under the rule, the best first."""


class FiftyMoveOracle:
    """Answers by the rule for a position after *count* plies without progress and its children; else as before."""

    def __init__(self, solution: Solution, position: int, count: int):
        self.solution, self.counts = solution, {position: count}
        self.game: Game = solution.game

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solution, name)

    def __contains__(self, position: object) -> bool:
        return position in self.solution

    def value(self, position: int) -> Outcome:
        """Return value and remoteness; a DRAW if the rule makes one."""
        plain = self.solution.value(position)
        by_zeroing = self.solution.by_zeroing(position) if position in self.counts else None
        is_drawn = by_zeroing and by_rule(*by_zeroing, self.counts[position]) == DRAW
        return Outcome(DRAW, None) if is_drawn else plain

    def probe(self, position: int, seconds: float | None = None, distance: bool = True) -> ValueBounds:
        """Return what `value` returns, as a `ValueBounds`: at once and with the distance, whatever is asked for."""
        return exact_bounds(self.value(position), self.solution.probe(position).evidence)

    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return the moves of a position, the best under the rule first."""
        choices = self.solution.moves(position)
        if position not in self.counts:
            return choices
        outcomes = [self.solution.by_zeroing(choice.position) for choice in choices]
        known = [outcome for outcome in outcomes if outcome]
        if len(known) < len(choices):  # some database is missing
            return choices
        pairs = zip(choices, known, strict=True)
        return ranked(self._by_rule(position, choice, outcome) for choice, outcome in pairs)

    def best(self, position: int, seconds: float | None = None) -> list[Choice]:
        return equally_good(self.moves(position))

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position to the end, a full count, or a position met before."""
        return follow_best(lambda at: self.moves(at) if self.counts.get(at, 0) < PATIENCE else [], position, limit)

    def close(self) -> None:
        self.solution.close()

    def _by_rule(self, position: int, choice: Choice, outcome: Outcome) -> Choice:
        """Return a choice with what it brings under the rule; *outcome* is its position's by distance to zeroing."""
        game, count = self.game, self.counts[position]
        after = self.counts[choice.position] = count_after(game, position, choice.move, count)
        brings = FLIPPED[by_rule(*outcome, after)]
        # First what the move brings under the rule, then what it would bring without.
        rank: tuple[int, ...] = ORDER.index(brings), ORDER.index(choice.brings)
        # The end may come too late: prefer the soonest progress.
        if brings == WIN and not self._ends_before(position):
            plies = outcome.remoteness or 0
            rank = rank[0], child_distance(game, DTZ, position, choice.move, choice.position, plies)
        if brings == choice.brings:
            return choice._replace(rank=rank)
        # Last by plies, as without the rule: the opponent may not know it.
        rank = *rank, worth_key(choice.brings, choice.remoteness)[-1]
        return choice._replace(rank=rank, gives=brings, remoteness=None)

    def _ends_before(self, position: int) -> bool:
        """Return whether a won position ends before the count is full."""
        plies = self.solution.value(position).remoteness
        return self.solution.metric == REMOTENESS and (plies or 0) + self.counts[position] <= PATIENCE


def apply_fifty_move_rule(oracle: Oracle, position: int, count: int) -> Oracle:
    """Return an oracle that counts plies without progress, from *count* on; *oracle* itself if it has no such rule."""
    if not knows_fifty_move_rule(oracle):
        return oracle
    return cast(Oracle, FiftyMoveOracle(cast(Solution, oracle), position, count))


def knows_fifty_move_rule(oracle: Oracle) -> bool:
    """Return whether an oracle knows the distances to zeroing."""
    return isinstance(oracle, Solution) and oracle.zeroing is not None


def judge_moves_by_rule(
    oracle: Oracle, positions: Sequence[int], moves: Sequence[int], plies: Sequence[int], counted_plies: Sequence[int]
) -> list[Review]:
    """Like `match.judge_moves`, under the rule: `counted_plies[ply]` plies without progress precede the move at *ply*.
    If *oracle* does not know the distances to zeroing, the rule is ignored."""
    if not knows_fifty_move_rule(oracle):
        return judge_moves(oracle, positions, moves, plies)
    reviews = []
    for ply in plies:
        oracle_by_rule = apply_fifty_move_rule(oracle, positions[ply], counted_plies[ply])
        reviews += judge_moves(oracle_by_rule, positions, moves, [ply])
    return reviews
