"""Runs the compiled score search repeatedly until the score is proved or time is out.

From the guess 0, the bounds asked move away in steps that double, until the score lies between two of them. Then a
binary search follows::

    at least 1?  yes   at least 2?  yes   at least 4?  yes   at least 8?  no   at least 6?  no   at least 5?  yes: 5
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from retrograde.games.catalog import in_short, variant
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN, Game, RuleError, Value, same_mover
from retrograde.solver.rules.examine import NotForSearch, advice
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.kernels import TROUBLE, ThreadWorkspace, words_per_child
from retrograde.solver.search.scores import kernels
from retrograde.solver.search.searcher import FIRST_SIZE, OutOfTime, Search, SearchTooDeep

FOR_WHOM = "scores are searched for one player or two, without chance"


@dataclass(frozen=True)
class ScoreResult:
    """What a search proved of a score, for the player to move. It lies between `low` and `high`, None if unknown."""

    low: int | None
    high: int | None
    nodes: int
    seconds: float

    @property
    def score(self) -> int | None:
        """The score if it is proved, else None."""
        return self.low if self.low == self.high else None

    @property
    def at_least(self) -> Value:
        """The worst value still possible."""
        if self.low is None or self.low < 0:
            return LOSE
        return TIE if self.low == 0 else WIN

    @property
    def at_most(self) -> Value:
        """The best value still possible."""
        if self.high is None or self.high > 0:
            return WIN
        return TIE if self.high == 0 else LOSE


class ScoreSearch(Search):
    """A score search of a game in which all play ends."""

    scores_in = FIRST_SIZE

    @property
    def words_per_child(self) -> int:
        return int(words_per_child(rules_for(self.game), kernels.CHILD))

    def refuse(self, game: Game) -> None:
        """Raise NotForSearch if there are more than two players or chance."""
        if game.players > 2:
            raise unsuitable(game, FOR_WHOM)

    def at_least(self, position: int, bound: int, workspace: ThreadWorkspace) -> bool:
        """Return one thread's answer: whether the score of a position is at least *bound*."""
        return kernels.at_least(self.game, position, bound, self.table, workspace)

    def enlarge(self, workspaces: list[ThreadWorkspace]) -> None:
        """Enlarge as `Search.enlarge` does; raise NotForSearch at chance's turn, RuleError for scores beyond the
        table's range."""
        troubles = {int(workspace.counters[TROUBLE]) for workspace in workspaces}
        if kernels.CHANCE_TURN in troubles:
            raise unsuitable(self.game, FOR_WHOM)
        if kernels.TOO_FAR in troubles:
            far = self.table.layout.far
            raise NotForSearch(
                f"{in_short(self.game)} has scores of {far} and more, too great to search; {advice(self.game)}"
            )
        super().enlarge(workspaces)

    @property
    def is_contradicted(self) -> bool:
        """Whether the search met an end whose value does not follow from what it pays."""
        return self.ends_met != 0

    def worth_of_end(self, position: int) -> int:
        """Return the points of the player to move at an end, less the other's; note if the value contradicts them."""
        player = max(0, self.game.turn(position))
        other = self.game.payoff(position, 1 - player) if self.game.players == 2 else 0
        score = self.game.payoff(position, player) - other
        if not kernels.has_sign(self.game.primitive(position), score):
            self.ends_met |= kernels.CONTRADICTED
        return score

    def score(self, position: int, seconds: float | None = None, value_only: bool = False) -> ScoreResult:
        """Search the score of a position for at most *seconds*; with *value_only*, stop once its sign is known."""
        began, nodes = time.monotonic(), self.nodes
        low: int | None = None
        high: int | None = None
        with self.limit_time(seconds), suppress(OutOfTime):
            if self.game.primitive(position) != UNDECIDED:
                low = high = self.worth_of_end(position)
            else:
                try:
                    for bounds in self.narrow_score(position):
                        low, high = bounds
                        if value_only and ((low or 0) > 0 or (high or 0) < 0):
                            break
                except SearchTooDeep:
                    raise unsuitable(
                        self.game, "play goes round in circles, or on for longer than there is room"
                    ) from None
        return ScoreResult(low, high, self.nodes - nodes, time.monotonic() - began)

    def narrow_score(self, position: int) -> Iterator[tuple[int | None, int | None]]:
        """Yield ever closer bounds of the score until they meet."""
        low: int | None = None
        high: int | None = None
        bound = step = 1  # from the guess 0, the bounds move away in steps that double
        while low is None or low != high:
            if self.ask(position, bound):
                low = bound
            else:
                high = bound - 1
            yield low, high
            if low is not None and high is not None:
                bound = (low + high + 1) // 2  # a binary search
            elif low is not None:
                bound, step = low + step, 2 * step
            elif high is not None:
                bound, step = high + 1 - step, 2 * step

    def best_line(self, position: int, score: int, seconds: float | None = None) -> list[int]:
        """Return moves to the end of the game that keep the score, as many as the time allows."""
        line: list[int] = []
        with self.limit_time(seconds), suppress(OutOfTime):
            while self.game.primitive(position) == UNDECIDED:
                for move in self.game.generate_moves(position):
                    child = self.game.do_move(position, move)
                    same = same_mover(self.game, position, child)
                    # The move keeps the score if the child brings the mover at least *needed* points.
                    # If the other player moves there, that player gets at most -needed.
                    needed = score - self.gain(position, move)
                    if self.ask(child, needed) if same else not self.ask(child, 1 - needed):
                        break
                else:
                    raise RuleError(f"no move of {variant(self.game)} keeps what was proved of position {position}")
                line.append(move)
                position, score = child, needed if same else -needed
        return line

    def gain(self, position: int, move: int) -> int:
        """Return what a move pays the mover at once, less what it pays the other player."""
        player = self.game.turn(position)
        other = self.game.reward(position, move, 1 - player) if self.game.players == 2 else 0
        return self.game.reward(position, move, player) - other


def unsuitable(game: Game, why: str) -> NotForSearch:
    """Return the error that this search does not apply to a game."""
    return NotForSearch(f"{in_short(game)}: {why}; {advice(game)}")
