"""An oracle that searches for scores: of games that are about points, and of those in which a player moves again.

What is told is proved: that the score of a position lies between two numbers, one of which may not be known. The value
follows from it, where more points win: that is so by definition where a game is about points; elsewhere each end that
is met is looked at, and where one goes to who has fewer points, no value is told. Scores do not say how far the end is.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from random import Random
from time import monotonic

from retrograde.games.contract.game import (
    CHANCE,
    DRAW,
    FLIPPED,
    LOSE,
    TIE,
    UNDECIDED,
    WIN,
    Game,
    Value,
    alternates,
    defines,
    metric_of,
    mover,
    same_mover,
)
from retrograde.solver.play.choice import Choice, ranked
from retrograde.solver.play.oracle import LONGEST_LINE, RULES, SEARCH, How, Known
from retrograde.solver.play.oracles.searching import FOR_VALUE, LEAST_SECONDS, SearchingOracle
from retrograde.solver.rules.examine import NotForSearch, refuse_tuples
from retrograde.solver.search.depth.ahead import Ahead
from retrograde.solver.search.depth.names import ahead_of
from retrograde.solver.search.prover import goes_round
from retrograde.solver.search.scores.searcher import FOR_WHOM, ScoreFinding, ScoreSearch, unsuited
from retrograde.solver.search.searcher import Endless, OutOfTime

FAR = 1 << 40
"""More than any score; stands for one that is not known."""
GAMES, PLIES = 8, 200
"""Games played by chance, to see whether chance has a say in the rules, and how long each is."""
NOTHING = ScoreFinding(None, None, 0, 0.0)


def is_about_points(game: Game) -> bool:
    """Tell whether a game is for this oracle rather than for one that searches for values."""
    return metric_of(game) == "score" or (game.players == 2 and not alternates(game))


def meets_chance(game: Game, position: int) -> bool:
    """Tell whether chance has had a turn in some games played by chance."""
    chance = Random(0)
    for _ in range(GAMES):
        now = position
        for _ in range(PLIES):
            if game.primitive(now) != UNDECIDED:
                break
            if mover(game, now) == CHANCE:
                return True
            now = game.do_move(now, chance.choice(list(game.generate_moves(now))))
    return False


class ScoringOracle(SearchingOracle):
    """Answers by scores that are searched for, so many seconds a question. A context manager."""

    search: ScoreSearch

    def refuse(self, game: Game) -> None:
        """Raise NotForSearch where there is chance or a third player, or play goes round."""
        refuse_tuples(game, "searched")
        start = self.start_or_example
        if game.players > 2 or defines(game, "odds") or meets_chance(game, start):
            raise unsuited(game, FOR_WHOM)
        if goes_round(game, start):
            raise unsuited(game, "play goes round in circles")

    def make_search(self) -> ScoreSearch:
        return ScoreSearch(self.game, self.workers, self.size)

    def prepare(self) -> None:
        """Compile the rules now; raise NotCompilable, or another RuleError, where there can be no search."""
        self.search.compile()

    @cached_property
    def ahead(self) -> Ahead:
        """What looks ahead where no score is known."""
        return ahead_of(self.game)

    @cached_property
    def scores(self) -> dict[int, ScoreFinding]:
        """What searches have found, by canonical position."""
        return {}

    # What is known

    def score(self, position: int) -> ScoreFinding:
        """Return what is known of the score of a position without a search, for the player to move."""
        if self.game.primitive(position) != UNDECIDED:
            paid = self.search.worth_of_end(position)
            return ScoreFinding(paid, paid, 0, 0.0)
        return self.scores.get(self.game.canonical(position), NOTHING)

    def at_hand(self, position: int) -> Known:
        found, end = self.score(position), self.game.primitive(position)
        how = How(SEARCH if end == UNDECIDED else RULES, found.nodes, found.seconds)
        least, most = self.told(found.at_least), self.told(found.at_most)
        if end != UNDECIDED and metric_of(self.game) != "score":
            least = most = end
        elif self.is_contradicted:
            least, most = LOSE, WIN
        return Known(least, most, 0 if end != UNDECIDED and least != DRAW else None, how)

    @property
    def is_contradicted(self) -> bool:
        """Whether it was seen that the value does not follow from the score."""
        return self.search.contradicted and metric_of(self.game) != "score"

    @staticmethod
    def told(value: Value) -> Value:
        """Return a value of a game whose plays all come to an end, so that there is no DRAW in it."""
        return TIE if value == DRAW else value

    def sought(self, position: int, deadline: float, distance: bool) -> Known:
        """Return what is known of a position after a search up to a deadline; without *distance* the value will do."""
        known, found = self.at_hand(position), self.score(position)
        left = deadline - monotonic()
        if found.score is not None or (known.proved and not distance) or left < LEAST_SECONDS:
            return known
        with suppress(NotForSearch):  # as long as it was met, nothing is known
            self.note_score(position, self.search.score(position, left, value_only=not distance))
        return self.at_hand(position)

    def note_score(self, position: int, new: ScoreFinding) -> None:
        """Keep what was found of a position, with what was known before."""
        old = self.score(position)
        low, high = least_of(old.low, new.low, greatest=True), least_of(old.high, new.high)
        found = ScoreFinding(low, high, old.nodes + new.nodes, old.seconds + new.seconds)
        self.scores[self.game.canonical(position)] = found

    # Moves

    def brings(self, position: int, move: int) -> ScoreFinding:
        """Return what is known of the score that a move brings who makes it."""
        child = self.game.do_move(position, move)
        found, gain = self.score(child), self.search.gain(position, move)
        low, high = found.low, found.high
        if not same_mover(self.game, position, child):
            low, high = (None if bound is None else -bound for bound in (high, low))
        return ScoreFinding(
            None if low is None else gain + low, None if high is None else gain + high, found.nodes, found.seconds
        )

    def better_score(self, position: int, move: int) -> tuple[int, int]:
        """Return the least and the most that a move may bring, as far as is known."""
        found = self.brings(position, move)
        return -FAR if found.low is None else found.low, FAR if found.high is None else found.high

    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        moves, deadline = self.legal(position), self.deadline(seconds)
        for number, move in enumerate(moves):
            begun = monotonic()
            self.sought(self.game.do_move(position, move), begun + (deadline - begun) / (len(moves) - number), True)
        self.pass_up(position, moves)
        return ranked(self.choice(position, move) for move in moves)

    def pass_up(self, position: int, moves: Sequence[int]) -> None:
        """Note of a position what is known of it by its moves."""
        if not moves or self.score(position).score is not None:
            return
        found = [self.brings(position, move) for move in moves]
        low = max((one.low for one in found if one.low is not None), default=None)
        highs = [one.high for one in found if one.high is not None]
        self.note_score(position, ScoreFinding(low, max(highs) if len(highs) == len(found) else None, 0, 0.0))

    def choice(self, position: int, move: int) -> Choice:
        child = self.game.do_move(position, move)
        again, found = same_mover(self.game, position, child), self.brings(position, move)
        proved = found.at_least == found.at_most and not self.is_contradicted
        brings = self.told(found.at_least) if proved else UNDECIDED
        name, rank = self.game.move_name(position, move), self.better_score(position, move)
        return Choice(
            move, name, child, brings if again else FLIPPED[brings], None, again,
            rank=(-rank[0], -rank[1]), worth=in_words(found), gives=brings,
        )  # fmt: skip

    def chosen(self, position: int, moves: list[int], deadline: float) -> int:
        """Return the move to make, of several: one that keeps what is proved of the position at least; else what seems
        best of those that are not known to be worse than another."""
        self.sought(position, monotonic() + FOR_VALUE * (deadline - monotonic()), distance=True)
        moves = [choice.move for choice in ranked(self.choice(position, move) for move in moves)]
        low = self.score(position).low
        least = max(low if low is not None else -FAR, self.better_score(position, moves[0])[0])
        if least == self.better_score(position, moves[0])[0] > -FAR and self.score(position).score == least:
            return moves[0]
        if low is not None:
            with (
                self.search.limited(max(deadline - monotonic(), LEAST_SECONDS)),
                suppress(OutOfTime, Endless, NotForSearch),
            ):
                for move in moves:
                    if self.keeps_score(position, move, low):
                        return move
        left = [move for move in moves if self.better_score(position, move)[1] >= least]
        seems = self.ahead.find(position, seconds=max(deadline - monotonic(), LEAST_SECONDS)).move
        return seems if seems in left else left[0]

    def keeps_score(self, position: int, move: int, score: int) -> bool:
        """Tell whether a move brings so much at least."""
        child, rest = self.game.do_move(position, move), score - self.search.gain(position, move)
        if same_mover(self.game, position, child):
            return self.search.ask(child, rest)
        return not self.search.ask(child, 1 - rest)

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position of which the score is known, as far as there is time."""
        score, line = self.score(position).score, []
        if score is not None and self.game.primitive(position) == UNDECIDED:
            for move in self.search.best_line(position, score, self.seconds)[:limit]:
                line.append(self.choice(position, move))
                position = line[-1].position
        return line


def least_of(one: int | None, other: int | None, greatest: bool = False) -> int | None:
    """Return the least of two numbers, or the greatest, one or both of which may not be known.

    >>> least_of(1, 2), least_of(1, 2, greatest=True), least_of(None, 2), least_of(None, None)
    (1, 2, 2, None)
    """
    known = [number for number in (one, other) if number is not None]
    return (max if greatest else min)(known) if known else None


def in_words(found: ScoreFinding) -> str:
    """Return what is known of a score, in short: nothing where nothing is.

    >>> [in_words(ScoreFinding(low, high, 0, 0.0)) for low, high in ((3, 3), (3, None), (None, 0), (-1, 2))]
    ['+3', 'at least +3', 'at most 0', '-1 to +2']
    """
    low, high = (None if bound is None else f"{bound:+}" if bound else "0" for bound in (found.low, found.high))
    if low is None or high is None:
        return f"at least {low}" if low else f"at most {high}" if high else ""
    return low if low == high else f"{low} to {high}"
