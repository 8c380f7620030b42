"""An oracle that searches for scores, for games about points and those in which a player may move again.

It tells proven bounds of a score, one of which may be unknown. The value follows from them if more points win. That is
so by definition in games about points. In other games the search looks at each end that it meets; if one goes to the
player with fewer points, no value is told. Scores do not say how far the end is.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from random import Random
from time import monotonic
from typing import Any

from retrograde.games import CHANCE, DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.games.contract.choice import Choice, ranked
from retrograde.games.contract.game import Traits, metric_of, mover, same_mover
from retrograde.solver.play.oracle import LONGEST_LINE, RULES, SEARCH, Evidence, ValueBounds
from retrograde.solver.play.oracles.searching import FOR_VALUE, LEAST_SECONDS, SearchingOracle
from retrograde.solver.rules.examine import NotForSearch, random_line
from retrograde.solver.search.prover import can_repeat
from retrograde.solver.search.scores.searcher import FOR_WHOM, ScoreResult, ScoreSearch, unsuitable
from retrograde.solver.search.searcher import OutOfTime, SearchTooDeep

FAR = 1 << 40
"""More than any score; stands for an unknown one."""
GAMES, PLIES = 8, 200
"""Random games played to see whether the rules involve chance, and the plies of each."""
NOTHING = ScoreResult(None, None, 0, 0.0)


def is_about_points(game: Game) -> bool:
    """Return whether a game needs this oracle rather than one that searches for values."""
    return metric_of(game) == "score" or (game.players == 2 and not Traits.of(game).alternates)


def involves_chance(game: Game, position: int) -> bool:
    """Return whether chance had a turn in some random games."""
    chance = Random(0)
    lines = (islice(random_line(game, position, chance), PLIES) for _ in range(GAMES))
    return any(game.primitive(each) == UNDECIDED and mover(game, each) == CHANCE for line in lines for each in line)


class ScoringOracle(SearchingOracle):
    """Answers by searching for scores, with some seconds for each question."""

    search: ScoreSearch
    passes = (True,)

    def refuse(self, game: Game) -> None:
        """Raise NotForSearch if there is chance or a third player, or play goes round in circles."""
        start = self.start_or_example
        if game.players > 2 or Traits.of(game).has_odds or involves_chance(game, start):
            raise unsuitable(game, FOR_WHOM)
        if can_repeat(game, start):
            raise unsuitable(game, "play goes round in circles")

    def make_search(self) -> ScoreSearch:
        return ScoreSearch(self.game, self.workers, self.size)

    def prepare(self) -> None:
        self.search.compile()

    @cached_property
    def scores(self) -> dict[int, ScoreResult]:
        """The results of searches, by canonical position."""
        return {}

    # What is known

    def score(self, position: int) -> ScoreResult:
        """Return what is known of a position's score without a search, for the player to move."""
        if self.game.primitive(position) != UNDECIDED:
            score = self.search.worth_of_end(position)
            return ScoreResult(score, score, 0, 0.0)
        return self.scores.get(self.game.canonical(position), NOTHING)

    def bounds_without_search(self, position: int) -> ValueBounds:
        """Return the bounds of the value that follow from those of the score; at an end, the value by the rules."""
        found, end = self.score(position), self.game.primitive(position)
        how = Evidence(SEARCH if end == UNDECIDED else RULES, found.nodes, found.seconds)
        least, most = self.tie_for_draw(found.at_least), self.tie_for_draw(found.at_most)
        if end != UNDECIDED and metric_of(self.game) != "score":
            least = most = end
        elif self.is_contradicted:
            least, most = LOSE, WIN
        return ValueBounds(least, most, 0 if end != UNDECIDED and least != DRAW else None, how)

    @property
    def is_contradicted(self) -> bool:
        """Whether the search met an end whose value does not follow from the score."""
        return self.search.is_contradicted and metric_of(self.game) != "score"

    @staticmethod
    def tie_for_draw(value: Value) -> Value:
        """Return TIE for DRAW: all play of such a game comes to an end."""
        return TIE if value == DRAW else value

    def search_until(self, position: int, deadline: float, distance: bool) -> ValueBounds:
        """Return what is known after a search up to a deadline: for the exact score with *distance*, else its sign."""
        known, found = self.bounds_without_search(position), self.score(position)
        left = deadline - monotonic()
        if found.score is not None or (known.proved and not distance) or left < LEAST_SECONDS:
            return known
        with suppress(NotForSearch):  # raised where the search meets chance or a repetition: then nothing is known
            self.learn_score(position, self.search.score(position, left, value_only=not distance))
        return self.bounds_without_search(position)

    def learn_score(self, position: int, new: ScoreResult) -> None:
        """Store a finding, merged with what was known."""
        old = self.score(position)
        low, high = choose_bound(old.low, new.low, greatest=True), choose_bound(old.high, new.high)
        found = ScoreResult(low, high, old.nodes + new.nodes, old.seconds + new.seconds)
        self.scores[self.game.canonical(position)] = found

    def worth(self, position: int) -> dict[str, Any]:
        """Return the score of a position and its bounds, as far as known, ready for JSON."""
        return score_json(self.score(position))

    # Moves

    def score_after(self, position: int, move: int) -> ScoreResult:
        """Return what is known of the score that a move brings the player who makes it."""
        child = self.game.do_move(position, move)
        found, gain = self.score(child), self.search.gain(position, move)
        if same_mover(self.game, position, child):
            sign, bounds = 1, (found.low, found.high)
        else:
            sign, bounds = -1, (found.high, found.low)
        low, high = (None if bound is None else gain + sign * bound for bound in bounds)
        return ScoreResult(low, high, found.nodes, found.seconds)

    def score_bounds_after(self, position: int, move: int) -> tuple[int, int]:
        """Return the least and the most that a move may bring, as far as known."""
        found = self.score_after(position, move)
        return -FAR if found.low is None else found.low, FAR if found.high is None else found.high

    def learn_from_moves(self, position: int, moves: Sequence[int]) -> None:
        """Store the bounds of a position's score that follow from those of its moves."""
        if not moves or self.score(position).score is not None:
            return
        results = [self.score_after(position, move) for move in moves]
        low = max((result.low for result in results if result.low is not None), default=None)
        highs = [result.high for result in results if result.high is not None]
        # The score is at most the greatest upper bound of a move, if each move has one.
        self.learn_score(position, ScoreResult(low, max(highs) if len(highs) == len(results) else None, 0, 0.0))

    def choice(self, position: int, move: int) -> Choice:
        """Return a move with what is known of its score, by which choices are ranked."""
        child = self.game.do_move(position, move)
        again, found = same_mover(self.game, position, child), self.score_after(position, move)
        proved = found.at_least == found.at_most and not self.is_contradicted
        brings = self.tie_for_draw(found.at_least) if proved else UNDECIDED
        name, (least, most) = self.game.move_name(position, move), self.score_bounds_after(position, move)
        return Choice(
            move, name, child, brings if again else FLIPPED[brings], None, again,
            rank=(-least, -most), worth=in_words(found), gives=brings,
        )  # fmt: skip

    def choose_move(self, position: int, moves: list[int], deadline: float) -> int:
        """Return a move that keeps the proven score. Without one, return a move that seems best and is not known to be
        worse."""
        self.search_until(position, monotonic() + FOR_VALUE * (deadline - monotonic()), distance=True)
        moves = [choice.move for choice in ranked(self.choice(position, move) for move in moves)]
        low, first_low = self.score(position).low, self.score_bounds_after(position, moves[0])[0]
        # Case: the first move is proven best.
        least = max(low if low is not None else -FAR, first_low)
        if first_low > -FAR and first_low == least == self.score(position).score:
            return moves[0]
        # Case: a score is proven: search for a move that keeps it.
        if low is not None:
            with (
                self.search.limit_time(max(deadline - monotonic(), LEAST_SECONDS)),
                suppress(OutOfTime, SearchTooDeep, NotForSearch),
            ):
                for move in moves:
                    if self.keeps_score(position, move, low):
                        return move
        # Case: the depth-limited search chooses.
        not_worse = [move for move in moves if self.score_bounds_after(position, move)[1] >= least]
        return self.seemingly_best(position, not_worse, deadline)

    def keeps_score(self, position: int, move: int, score: int) -> bool:
        """Return whether a move keeps at least this score, by a search."""
        child, needed = self.game.do_move(position, move), score - self.search.gain(position, move)
        if same_mover(self.game, position, child):
            return self.search.ask(child, needed)
        return not self.search.ask(child, 1 - needed)  # the opponent gets at most -needed

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return moves to the end that keep the score; none unless it is known exactly."""
        score, line = self.score(position).score, []
        if score is not None and self.game.primitive(position) == UNDECIDED:
            for move in self.search.best_line(position, score, self.seconds)[:limit]:
                line.append(self.choice(position, move))
                position = line[-1].position
        return line


def choose_bound(one: int | None, other: int | None, greatest: bool = False) -> int | None:
    """Return the least (or greatest) of two numbers; None stands for unknown.

    >>> choose_bound(1, 2), choose_bound(1, 2, greatest=True), choose_bound(None, 2), choose_bound(None, None)
    (1, 2, 2, None)
    """
    known = [number for number in (one, other) if number is not None]
    return (max if greatest else min)(known) if known else None


def score_json(found: ScoreResult) -> dict[str, Any]:
    """Return a score and its bounds, each None if unknown, ready for JSON."""
    return {"score": found.score, "score_at_least": found.low, "score_at_most": found.high}


def in_words(found: ScoreResult) -> str:
    """Return what is known of a score in short; "" if nothing is.

    >>> [in_words(ScoreResult(low, high, 0, 0.0)) for low, high in ((3, 3), (3, None), (None, 0), (-1, 2))]
    ['+3', 'at least +3', 'at most 0', '-1 to +2']
    """

    def text(bound: int) -> str:
        return f"{bound:+}" if bound else "0"

    low, high = found.low, found.high
    if low is None:
        return "" if high is None else f"at most {text(high)}"
    if high is None:
        return f"at least {text(low)}"
    return text(low) if low == high else f"{text(low)} to {text(high)}"
