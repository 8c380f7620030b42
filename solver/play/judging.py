"""Measures how often a depth-limited search picks a wrong move, checked against a database.

A search *errs* if its best move gives up value: a win for a tie, say, or in a game by score a point. If it rates
several moves best, each counts equally. The positions come from random play, and only those count in which some move
gives up value.

One expects fewer errors from deeper searches. Beal (1980) and Nau (1982) found that this need not be so, and called it
pathology: if estimates have independent errors, minimax can amplify them. So three estimates are tried besides the
game's own::

    own       the game's `estimate`, trusted where it is `quiet`
    ends      no estimate: only ends of the game count
    chance    a random number
    noisy     the true value, but a random other one in one of ten positions

The module also counts how many positions alpha-beta examines with moves in different orders.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from retrograde.games.catalog import in_short, typed
from retrograde.games.contract.game import (
    FLIPPED,
    LOSE,
    UNDECIDED,
    WIN,
    Game,
    RetrogradeError,
    Traits,
    metric_of,
    same_mover,
)
from retrograde.solver.play.match import random_position
from retrograde.solver.play.player import Player
from retrograde.solver.play.solution import Solution
from retrograde.solver.rules.examine import NotForSearch, advice, is_plain_puzzle
from retrograde.solver.search.depth import scoring
from retrograde.solver.search.depth.scores import counts_points
from retrograde.solver.search.depth.searcher import CountingSearch, PointSearch, ValueSearch

TRIES = 100
"""Random positions drawn for each one that is wanted."""
WRONG = 0.1
"""The share of positions in which the noisy estimate is wrong."""
MOST_NOISY = 300_000
"""The most positions examined, interpreted, with the noisy estimate."""
MOST_COUNTED = 20_000_000
"""The most positions that minimax examines for the counts."""
MOST_LOOKED = 100_000_000
"""The most positions examined for one depth, roughly."""
ESTIMATES = {"own": scoring.OWN, "ends": scoring.NONE, "chance": scoring.RANDOM}


class NothingToJudge(RetrogradeError, ValueError):
    """No position was found in which a move gives up value."""


class Errors(NamedTuple):
    """Error rates of searches to a depth, from 0 to 1, by estimate (None if not tried). *looked_at* is the mean
    positions with the game's own."""

    depth: int
    own: float | None
    ends: float
    chance: float
    noisy: float | None
    looked_at: float


class Counts(NamedTuple):
    """The positions that searches to a depth examine: minimax, and alpha-beta with three move orders."""

    depth: int
    minimax: int
    worst: int
    given: int
    best: int

    def exponent(self, count: int) -> float:
        """Return the logarithm of a count to the base of minimax's count: 0.5 is like half the depth."""
        return math.log(count) / math.log(self.minimax) if self.minimax > 1 else 1.0


class SearchJudge:
    """Judges searches by random positions of a solution in which a move can give up value."""

    def __init__(self, solution: Solution, positions: int, seed: int):
        refuse_to_judge(solution.game)
        self.solution, self.seed = solution, seed
        self.game: Game = solution.game
        self.keeping: dict[int, dict[int, bool]] = {}
        """For each position and move, whether the move keeps the value."""
        chance = Random(f"{seed} positions")
        # Keep random positions in which some moves keep the value and others do not.
        for _ in range(TRIES * positions):
            position = random_position(solution, chance)
            keeps = moves_keeping_value(solution, position)
            if len(set(keeps.values())) == 2:
                self.keeping[position] = keeps
            if len(self.keeping) == positions:
                break
        if not self.keeping:
            raise NothingToJudge("no random position was found in which a move gives up value; try more --positions")

    # Errors

    def by_chance(self) -> float:
        """Return the error rate of random moves."""
        return mean(1 - mean(keeps.values()) for keeps in self.keeping.values())

    def errors(self, deepest: int) -> Iterator[Errors]:
        """Yield the error rates for depths from 1 on, until a depth would take too long."""
        before = len(self.keeping)
        search_class = PointSearch if counts_points(self.game) else ValueSearch
        searches = {name: search_class(self.game, estimate=kind) for name, kind in ESTIMATES.items()}
        noisy = None if counts_points(self.game) else NoisySearch(self.solution, self.seed)
        for depth in range(1, deepest + 1):
            own_before, all_before = searches["own"].nodes, sum(ahead.nodes for ahead in searches.values())
            rates = {name: error_rate(self.keeping, ahead.scores, depth) for name, ahead in searches.items()}
            looked_at = (searches["own"].nodes - own_before) / len(self.keeping)
            own = rates["own"] if Traits.of(self.game).has_estimate else None
            by_noise = error_rate(self.keeping, noisy.scores, depth) if noisy and not noisy.is_exhausted else None
            by_noise = None if noisy and noisy.is_exhausted else by_noise  # it may have become so
            yield Errors(depth, own, rates["ends"], rates["chance"], by_noise, looked_at)
            # Stop if the next depth would take too long, growing by the same factor.
            now = sum(ahead.nodes for ahead in searches.values()) - all_before
            if now * now / before > MOST_LOOKED:
                break
            before = max(now, 1)

    def errors_of(self, player: Player) -> float:
        """Return the share of the positions in which a player gives up value."""
        return mean(not keeps[player(self.solution, position)] for position, keeps in self.keeping.items())

    # Order

    def counts(self, deepest: int) -> Iterator[Counts]:
        """Yield the counts of searches from the start, or from one of the positions."""
        position = next(iter(self.keeping)) if self.solution.start is None else self.solution.start
        return counts_of(self.game, position, deepest)


def refuse_to_judge(game: Game) -> None:
    """Raise NotForSearch unless a game is for two players, without chance."""
    traits = Traits.of(game)
    has_chance = traits.has_odds or metric_of(game) == "expectation"
    if not traits.alternates and (game.players != 2 or has_chance):
        instead = advice(game) if is_plain_puzzle(game) else f"play it: retrograde play {typed(game)}"
        raise NotForSearch(f"{in_short(game)}: judge is for games of two players without chance; {instead}")


def moves_keeping_value(solution: Solution, position: int) -> dict[int, bool]:
    """Return for each move whether it keeps the value, or in a game by score the points.

    Searches of a game whose own metric is the value play for a win, so by points they would err even at the end.
    """
    if solution.metric == "score" and counts_points(solution.game):
        choices = solution.moves(position)
        return {choice.move: choice.rank == choices[0].rank for choice in choices}
    game, value = solution.game, solution.value(position).value
    keeps = {}
    for move in game.generate_moves(position):
        child = game.do_move(position, move)
        brings = solution.value(child).value
        keeps[move] = (brings if same_mover(game, position, child) else FLIPPED[brings]) == value
    return keeps


def error_rate(
    keeping: Mapping[int, Mapping[int, bool]], scores: Callable[[int, int], Sequence[tuple[int, float]]], depth: int
) -> float:
    """Return how often a search picks a move that gives up value, among equally scored ones on average.

    *keeping* says for each position and move whether it keeps the value; *scores* is `DepthSearch.scores`.
    """
    shares = []
    for position, keeps in keeping.items():
        scored = scores(position, depth)
        best = max(score for _, score in scored)
        shares.append(mean(not keeps[move] for move, score in scored if score == best))
    return mean(shares)


class NoisySearch:
    """An interpreted search whose estimate is the true value except in some positions, always the same ones.

    `is_exhausted` is True after too many positions; then the last scores mean nothing.
    """

    def __init__(self, solution: Solution, seed: int):
        self.solution, self.game, self.seed = solution, solution.game, seed
        self.scored: dict[tuple[int, int], int] = {}
        self.children: dict[int, list[int]] = {}

    @property
    def is_exhausted(self) -> bool:
        return len(self.scored) > MOST_NOISY

    def scores(self, position: int, depth: int) -> list[tuple[int, int]]:
        """Return (move, score) for each move: 1 for a win, 0 for a tie or draw, -1 for a loss."""
        moves = list(self.game.generate_moves(position))
        return [(move, self.score_for(position, self.game.do_move(position, move), depth - 1)) for move in moves]

    def score_for(self, position: int, child: int, depth: int) -> int:
        """Return the score of a child, searched to a depth, for the player to move at *position*."""
        score = self.score(self.game.canonical(child), depth)
        return score if same_mover(self.game, position, child) else -score

    def score(self, position: int, depth: int) -> int:
        """Return the score of a canonical position, searched to a depth. Cached; 0 for a new one if `is_exhausted`."""
        if (position, depth) not in self.scored:
            if self.is_exhausted:
                return 0
            self.scored[position, depth] = self.search_uncached(position, depth)
        return self.scored[position, depth]

    def search_uncached(self, position: int, depth: int) -> int:
        """Return the score of an end, the noisy estimate at depth 0, or the best score of the children."""
        game = self.game
        end = game.primitive(position)
        if end != UNDECIDED:
            return sign(end)
        if depth == 0:
            return self.noisy_sign(position)
        if position not in self.children:
            children = [game.do_move(position, move) for move in game.generate_moves(position)]
            self.children[position] = list({game.canonical(child) for child in children})
        return max(self.score_for(position, child, depth - 1) for child in self.children[position])

    def noisy_sign(self, position: int) -> int:
        """Return the true score of a position, or sometimes another one."""
        truth = sign(self.solution.value(position).value)
        chance = Random(f"{self.seed} {position}")
        return truth if chance.random() >= WRONG else chance.choice([value for value in (-1, 0, 1) if value != truth])


def counts_of(game: Game, position: int, deepest: int) -> Iterator[Counts]:
    """Yield the counts of searches of a position for depths from 1 on, until a depth would take too long."""
    search, before = CountingSearch(game), 1
    for depth in range(1, deepest + 1):
        everything = search.count_minimax(position, depth)
        orders = (scoring.WORST, scoring.GIVEN, scoring.BEST)
        yield Counts(depth, everything, *(search.count(position, depth, order) for order in orders))
        if everything * everything / before > MOST_COUNTED:
            break
        before = everything


def sign(value: int) -> int:
    """Return 1 for a WIN, -1 for a LOSE, else 0."""
    return (value == WIN) - (value == LOSE)


def mean(numbers: Iterable[float]) -> float:
    return float(np.mean(list(numbers)))
