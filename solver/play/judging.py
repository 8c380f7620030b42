"""How often a search to a depth errs, since a database knows the truth; and what the order of moves saves it.

A search *errs* where the move that it likes best gives up value: a win for a tie, say. Of moves that it likes equally,
each counts as often. Only positions count in which a move can err, which random play from the start has led to.

One expects to err less the further one looks. That this need not be so was found by Beal (1980) and Nau (1982), and is
called pathology: where estimates are wrong here and there, each independently of the others, minimax adds their errors
up. So besides the game's own estimate three others are tried::

    own       the game's `estimate`, trusted where it is `quiet`
    ends      none at all: what counts is to see an end
    chance    a number that means nothing
    noisy     the truth, but in one of ten positions, by chance, another value
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import FLIPPED, LOSE, UNDECIDED, WIN, Game, RetrogradeError, defines
from retrograde.solver.play.match import random_position
from retrograde.solver.play.solution import Solution
from retrograde.solver.rules.examine import refuse_to_search
from retrograde.solver.search.depth import kernels
from retrograde.solver.search.depth.lookahead import Lookahead

TRIES = 100
"""Positions drawn by chance for each that is wanted."""
WRONG = 0.1
"""How often the noisy truth is wrong."""
MOST_NOISY = 300_000
"""Positions that are looked at, interpreted, with the noisy truth."""
MOST_COUNTED = 20_000_000
"""Positions that minimax looks at where they are counted."""
MOST_LOOKED = 100_000_000
"""Positions that are looked at to one depth, about."""
ESTIMATES = {"own": kernels.OWN, "ends": kernels.NONE, "chance": kernels.CHANCE}


class NothingToJudge(RetrogradeError, ValueError):
    """A game in which no move gives up value, as far as was seen."""


class Errors(NamedTuple):
    """How often a search to a depth errs, from 0 to 1, by estimate, None where it was not tried; and how many positions
    the search with the game's own estimate looks at, on average."""

    depth: int
    own: float | None
    ends: float
    chance: float
    noisy: float | None
    looked_at: float


class Counts(NamedTuple):
    """How many positions searches to a depth look at: minimax, and alpha-beta with moves in some order."""

    depth: int
    minimax: int
    worst: int
    given: int
    best: int

    def exponent(self, count: int) -> float:
        """Return to which power of what minimax looks at a count is: 0.5 is as if the depth were halved."""
        return math.log(count) / math.log(self.minimax) if self.minimax > 1 else 1.0


class Judge:
    """Positions of a solution in which a move can give up value, drawn by chance, so many at most."""

    def __init__(self, solution: Solution, positions: int, seed: int):
        refuse_to_search(solution.game)
        self.solution, self.seed = solution, seed
        self.game: Game = solution.game
        self.keeping: dict[int, dict[int, bool]] = {}
        """For each position, of each move whether it keeps the value."""
        chance = Random(f"{seed} positions")
        for _ in range(TRIES * positions):
            position = random_position(solution, chance)
            kept = self.kept(position)
            if len(set(kept.values())) == 2:
                self.keeping[position] = kept
            if len(self.keeping) == positions:
                break
        if not self.keeping:
            raise NothingToJudge("no position was found by chance in which a move gives up value")

    def kept(self, position: int) -> dict[int, bool]:
        """Return for each move whether it keeps the value of a position."""
        value = self.solution.value(position).value
        moves = self.game.generate_moves(position)
        return {move: FLIPPED[self.solution.value(self.game.do_move(position, move)).value] == value for move in moves}

    # Errors

    def by_chance(self) -> float:
        """Return how often any move errs."""
        return mean(1 - mean(kept.values()) for kept in self.keeping.values())

    def errors(self, deepest: int) -> Iterator[Errors]:
        """Yield how often searches to depths from 1 on err, as long as they do not look at too much."""
        before = len(self.keeping)
        searches = {name: Lookahead(self.game, kind) for name, kind in ESTIMATES.items()}
        noisy = Noisy(self.solution, self.seed)
        for depth in range(1, deepest + 1):
            looked, all_looked = searches["own"].nodes, sum(ahead.nodes for ahead in searches.values())
            found = {name: self.errs(ahead.scores, depth) for name, ahead in searches.items()}
            looked_at = (searches["own"].nodes - looked) / len(self.keeping)
            own = found["own"] if defines(self.game, "estimate") else None
            blurred = None if noisy.tired else self.errs(noisy.scores, depth)
            yield Errors(depth, own, found["ends"], found["chance"], None if noisy.tired else blurred, looked_at)
            now = sum(ahead.nodes for ahead in searches.values()) - all_looked
            if now * now / before > MOST_LOOKED:
                break
            before = max(now, 1)

    def errs(self, scores: Callable[[int, int], Sequence[tuple[int, float]]], depth: int) -> float:
        """Return how often a search errs that gives each move of a position a score."""
        shares = []
        for position, kept in self.keeping.items():
            scored = scores(position, depth)
            best = max(score for _, score in scored)
            shares.append(mean(not kept[move] for move, score in scored if score == best))
        return mean(shares)

    # Order

    def counts(self, deepest: int) -> Iterator[Counts]:
        """Yield what searches from the start look at, or from one of the positions where there is none."""
        position = next(iter(self.keeping)) if self.solution.start is None else self.solution.start
        return counts_of(self.game, position, deepest)


class Noisy:
    """A search, interpreted, whose estimate is the truth save in some positions, the same each time.

    `tired` tells that it has looked at too many positions, and so that the last scores mean nothing.
    """

    def __init__(self, solution: Solution, seed: int):
        self.solution, self.game, self.seed = solution, solution.game, seed
        self.known: dict[tuple[int, int], int] = {}
        self.below: dict[int, list[int]] = {}

    @property
    def tired(self) -> bool:
        return len(self.known) > MOST_NOISY

    def scores(self, position: int, depth: int) -> list[tuple[int, int]]:
        """Return each move with what it brings: 1 for a win, 0 for a tie or a draw, -1 for a loss."""
        moves = list(self.game.generate_moves(position))
        return [
            (move, -self.score(self.game.canonical(self.game.do_move(position, move)), depth - 1)) for move in moves
        ]

    def score(self, position: int, depth: int) -> int:
        """Return what a canonical position is worth, as far as is seen."""
        if (position, depth) not in self.known:
            if self.tired:
                return 0
            self.known[position, depth] = self.look(position, depth)
        return self.known[position, depth]

    def look(self, position: int, depth: int) -> int:
        game = self.game
        end = game.primitive(position)
        if end != UNDECIDED:
            return sign(end)
        if depth == 0:
            return self.blurred(position)
        if position not in self.below:
            children = [game.do_move(position, move) for move in game.generate_moves(position)]
            self.below[position] = list({game.canonical(child) for child in children})
        return max(-self.score(child, depth - 1) for child in self.below[position])

    def blurred(self, position: int) -> int:
        """Return what a position is worth, but sometimes something else."""
        truth = sign(self.solution.value(position).value)
        chance = Random(f"{self.seed} {position}")
        return truth if chance.random() >= WRONG else chance.choice([value for value in (-1, 0, 1) if value != truth])


def counts_of(game: Game, position: int, deepest: int) -> Iterator[Counts]:
    """Yield what searches of a position look at, depth by depth, as long as that are not too many."""
    ahead = Lookahead(game)
    sight, before = kernels.Sight(kernels.OWN, 0), 1
    for depth in range(1, deepest + 1):
        counts = np.zeros(3, np.int64)
        kernels.minimax(game, position, depth, sight, counts)
        whole = int(counts[kernels.NODES])
        orders = (kernels.WORST, kernels.GIVEN, kernels.BEST)
        yield Counts(depth, whole, *(ahead.count(position, depth, order, sight) for order in orders))
        if whole * whole / before > MOST_COUNTED:
            break
        before = whole


def sign(value: int) -> int:
    """Return 1 for a WIN, -1 for a LOSE, else 0."""
    return (value == WIN) - (value == LOSE)


def mean(numbers: Iterable[float]) -> float:
    """Return the mean of numbers."""
    return float(np.mean(list(numbers)))
