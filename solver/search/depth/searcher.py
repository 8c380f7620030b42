"""Depth-limited search: the move that seems best at a given depth, or as deep as the time allows.

It proves nothing. The depth grows by one ply each time (iterative deepening), because the best move of one iteration,
searched first, gives the next iteration more cutoffs. When time is out, the last complete iteration counts, unless the
next one has already found a better move.

- `ValueSearch`: who wins, how soon, and otherwise the game's `estimate`. For one player or two, who may move several
  times in a row, without chance.
- `PointSearch`: for games with payoffs, chance or more than two players. Points are what the player to move is paid,
  less what the other of two gets. Estimates are hundredths of points.
- `MaxNSearch`: each of several players maximises their own share.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, RuleError, defines, mover
from retrograde.solver.rules.examine import NotForSearch, blame
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import as_position
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.search.depth import kernels
from retrograde.solver.search.depth.scores import (
    DECIDED,
    DEEPEST,
    FAR,
    INFINITE,
    NO_SELECTION,
    Selection,
    most_points,
    score_of,
)
from retrograde.solver.search.depth.scoring import NO_MOVE, NOBODY, OWN, POINTS, VALUES, Scoring, units_per_ply
from retrograde.solver.search.endgame_tables import EndgameTables, address_of
from retrograde.solver.search.timer import StoppableSearch

Answer = TypeVar("Answer")

QUIESCENCE = 8
"""Plies of quiescence search: how far beyond the depth positions that are not quiet are searched."""
ENTRIES = 1 << 16
"""Entries of the transposition table, 32 bytes each."""
NO_DEPTH = 1 << 20
"""A depth that no entry of the table has, to probe only for its move."""
INITIAL_MOVES = 64
"""Moves of a position that the workspace holds at first."""


class MetChance(Exception):
    """It is chance's turn in a position, and this search does not handle chance."""


@dataclass(frozen=True)
class DepthResult:
    """The best move, its score (points, or see `scores.py`), and the depth in plies.

    `to_the_end`: every line ended within the depth, so that the score uses no estimate.
    """

    move: int
    score: float
    depth: int
    to_the_end: bool
    nodes: int
    seconds: float


class BestMove(NamedTuple):
    """The best of the moves searched in time, and its score; NO_MOVE and the mean at chance's moves."""

    move: int
    score: float
    is_complete: bool
    """Whether all moves were searched."""


class DepthSearch(StoppableSearch):
    """A depth-limited search of one game. The subclasses choose the scoring."""

    entries = ENTRIES
    scoring: Scoring

    def __init__(self, game: Game, tables: EndgameTables | None = None, selection: Selection = NO_SELECTION):
        self.game, self.endgame_tables, self.selection = game, tables, selection
        super().__init__()
        self.move_capacity = INITIAL_MOVES
        self.nodes = 0
        self.make_workspace()

    def make_workspace(self) -> None:
        """Allocate the workspace and an empty table. A ply takes two units of depth if moves may be singular."""
        plies = DEEPEST * (2 if self.selection.margin else 1) + QUIESCENCE + 2
        self.workspace = kernels.make_workspace(
            (plies, self.move_capacity), self.entries, self.stop, self.game, address_of(self.endgame_tables),
            selects=any(self.selection),
        )  # fmt: skip

    @property
    def counts(self) -> Array:
        """The counters in the workspace; see `kernels.NODES`."""
        return self.workspace.counts

    def prepare(self, position: int) -> None:
        """Prepare for searches of *position*; a hook of `PointSearch`."""

    def score_of_move(self, position: int, move: int, depth: int, low: float) -> float:
        """Return the score of a move; any upper bound if the score is not above *low*."""
        by_values, depth = self.scoring.domain == VALUES, depth * units_per_ply(self.scoring)
        # A null window first, as in the kernel: most moves are not above *low*.
        highs = (low + 1, INFINITE) if by_values and self.entries and low > -INFINITE else (INFINITE,)
        with compilable(self.game):
            for high in highs:
                score: float = kernels.search_move(
                    rules_for(self.game), position, move, depth, float(low), float(high), self.scoring, self.workspace
                )
                if score <= low:
                    break
        return int(score) if by_values else score

    def is_decided(self, score: float) -> bool:
        """Return whether a deeper search would not change the move."""
        return False

    @staticmethod
    def is_best(score: float) -> bool:
        """Return whether no score can be greater, so that the remaining moves need no search."""
        return False

    def quiescence(self, estimate: int = OWN) -> int:
        """Return the plies of quiescence search: 0 unless the game declares it and its own estimate is used."""
        return QUIESCENCE if estimate == OWN and (defines(self.game, "quiet") or self.game.exchanges) else 0

    def find(self, position: int, depth: int | None = None, seconds: float | None = None, seed: int = 0) -> DepthResult:
        """Return the move that seems best at *depth* plies or after *seconds*; *seed* decides between equal ones. If it
        is chance's turn, the score is the mean for player 0, and the move is NO_MOVE."""
        *_, last = self.deepen(position, depth, seconds, seed)
        return last

    def deepen(
        self,
        position: int,
        depth: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        moves: Sequence[int] = (),
        draws: Collection[int] = (),
    ) -> Iterator[DepthResult]:
        """Yield the result of each depth of a search; see `find`. With *moves*, search only these. Moves in *draws*
        count as ties, because they repeat a position of the game."""
        began, nodes = time.monotonic(), self.nodes
        self.workspace.history[:] //= 2  # what was learned for an earlier position counts less
        order = list(moves) or self.moves(position)
        Random(f"{seed} {position}").shuffle(order)
        deepest = min(depth or (DEEPEST if seconds else 1), DEEPEST)
        # The first ply runs outside the time limit: it may compile the rules, which is no search.
        found, plies = self.find_best(position, order, 1, draws), 1
        with self.limit_time(seconds):
            while found:
                to_the_end = found.is_complete and not self.counts[kernels.ESTIMATED]
                spent = self.nodes - nodes, time.monotonic() - began
                yield DepthResult(found.move, found.score, plies, to_the_end, *spent)
                if not found.is_complete or to_the_end or self.is_decided(found.score) or plies == deepest:
                    break
                # The best move comes first in the next iteration.
                last_best = found.move
                order = [move for move in order if move == last_best] + [move for move in order if move != last_best]
                plies += 1
                found = self.find_best(position, order, plies, draws)
                # Out of time: the iteration counts if it has found a better move than the one before.
                if found and not found.is_complete and found.move == last_best:
                    break

    def deepen_several(
        self,
        position: int,
        most: int,
        depth: int | None = None,
        seconds: float | None = None,
        moves: Sequence[int] = (),
        draws: Collection[int] = (),
    ) -> Iterator[list[DepthResult]]:
        """Yield the results of the best moves, the best first, for each depth that is complete.

        There are at most *most* results. The other parameters are those of `deepen`.
        """
        began, nodes = time.monotonic(), self.nodes
        self.workspace.history[:] //= 2
        order = list(moves) or self.moves(position)
        deepest = min(depth or (DEEPEST if seconds else 1), DEEPEST)
        results, plies = self.find_several(position, order, 1, most, draws), 1  # outside the time limit, as in `deepen`
        with self.limit_time(seconds):
            while results:
                spent = self.nodes - nodes, time.monotonic() - began
                yield [replace(result, nodes=spent[0], seconds=spent[1]) for result in results]
                if all(result.to_the_end or self.is_decided(result.score) for result in results) or plies == deepest:
                    break
                best = [result.move for result in results]
                order = best + [move for move in order if move not in best]
                plies += 1
                results = self.find_several(position, order, plies, most, draws)

    def find_several(
        self, position: int, moves: list[int], depth: int, most: int, draws: Collection[int]
    ) -> list[DepthResult]:
        """Return the results of the best moves, at most *most*; none if time is out before all are known.

        Each is the best move when those before it are left out.
        """
        results: list[DepthResult] = []
        while moves and len(results) < most:
            found = self.find_best(position, moves, depth, draws)
            if not (found and found.is_complete):
                return []
            to_the_end = not self.counts[kernels.ESTIMATED]
            results.append(DepthResult(found.move, found.score, depth, to_the_end, 0, 0.0))
            moves = [move for move in moves if move != found.move]
        return results

    def line(self, position: int, move: int, plies: int) -> list[int]:
        """Return a move and the best moves after it, at most *plies*, as far as the transposition table knows."""
        line: list[int] = []
        while move != NO_MOVE and len(line) < plies:
            line.append(move)
            position = self.game.do_move(position, move)
            if not self.entries or self.game.primitive(position) != UNDECIDED:
                break
            _, hash_move, _ = kernels.probe(as_position(position), NO_DEPTH, 0.0, 0.0, self.workspace)
            move = int(hash_move)
        return line

    def scores(self, position: int, depth: int) -> Sequence[tuple[int, float]]:
        """Return each move of an undecided position with its exact score at this depth."""
        self.prepare(position)
        return [(move, self.search_move(position, move, depth, -INFINITE) or 0) for move in self.moves(position)]

    def moves(self, position: int) -> list[int]:
        """Return the moves of a position; raise RuleError if there are none."""
        if moves := list(self.game.generate_moves(position)):
            return moves
        raise RuleError(f"position {self.game.write(position)} has no moves, and is not over")

    def find_best(self, position: int, moves: list[int], depth: int, draws: Collection[int] = ()) -> BestMove | None:
        """Return the first of the best moves; None if time is out before any. Moves in *draws* count as ties."""
        self.prepare(position)
        self.counts[kernels.ESTIMATED] = bool(draws)
        if mover(self.game, position) == CHANCE:
            return self.find_mean(position, moves, depth)
        best, chosen = -INFINITE, NO_MOVE
        for move in moves:
            score = 0.0 if move in draws else self.search_move(position, move, depth, best)
            if score is None:
                return None if chosen == NO_MOVE else BestMove(chosen, best, False)
            if score > best:
                best, chosen = score, move
            if self.is_best(best):
                break
        return BestMove(chosen, best, True)

    def find_mean(self, position: int, moves: list[int], depth: int) -> BestMove | None:
        """Return NO_MOVE and the mean of chance's moves; None if time is out."""
        if self.scoring.domain == VALUES:
            raise MetChance
        total, weighted_sum = 0, 0.0
        for move in moves:
            if (score := self.search_move(position, move, depth, -INFINITE)) is None:
                return None
            odds = self.game.odds(position, move)
            total, weighted_sum = total + odds, weighted_sum + odds * score
        return BestMove(NO_MOVE, weighted_sum / total, True)

    def search_move(self, position: int, move: int, depth: int, low: float) -> float | None:
        """Return the score of one move as `score_of_move` does; None if time is out."""
        child = self.game.do_move(position, move)
        return self.ask(child, lambda: self.score_of_move(position, move, depth, low))

    def ask(self, position: int, question: Callable[[], Answer]) -> Answer | None:
        """Return the answer of *question*, which calls a kernel; enlarge the workspace if needed. None: time is out."""
        while not self.stop[0]:
            counts = self.counts
            counts[kernels.NODES] = counts[kernels.TROUBLE] = 0
            with blame(self.game, position):
                answer = question()
            self.nodes += int(counts[kernels.NODES])
            if not counts[kernels.TROUBLE]:
                return answer
            if counts[kernels.TROUBLE] == kernels.CHANCE_MOVES:
                raise MetChance
            if counts[kernels.TROUBLE] == kernels.MANY_MOVES:
                estimated = counts[kernels.ESTIMATED]
                self.widen()  # which makes new counts
                self.counts[kernels.ESTIMATED] = estimated
        return None

    def widen(self) -> None:
        """Enlarge the workspace to four times as many moves."""
        self.move_capacity *= 4
        self.make_workspace()


class ValueSearch(DepthSearch):
    """A search by value, with an estimate: the game's own, unless *estimate* names another kind. It counts positions in
    endgame *tables* as ends."""

    def __init__(
        self, game: Game, estimate: int = OWN, tables: EndgameTables | None = None,
        selection: Selection = NO_SELECTION,
    ):  # fmt: skip
        if game.players > 2:
            raise NotForSearch("values are for one player or two; look ahead by points")
        super().__init__(game, tables, selection)
        exchanges = estimate == OWN and game.exchanges
        plain = Scoring(VALUES, estimate, self.quiescence(estimate), exchanges=exchanges)
        self.scoring = plain.with_selection(selection)

    def is_decided(self, score: float) -> bool:
        return abs(score) > DECIDED and not self.selection.keep  # a deeper search may keep the move that refutes it

    @staticmethod
    def is_best(score: float) -> bool:
        return score == FAR - 1

    def score(self, position: int, depth: int) -> float:
        """Return the score of a position at a depth, also of an end."""
        if (end := self.game.primitive(position)) != UNDECIDED:
            return score_of(end)
        return max(score for _, score in self.scores(position, depth))


class CountingSearch(ValueSearch):
    """Counts the positions that minimax and alpha-beta without a table search, to a depth without quiescence search."""

    entries = 0

    def count_minimax(self, position: int, depth: int) -> int:
        """Return the number of positions that minimax searches."""
        counts = np.zeros(3, np.int64)
        with compilable(self.game):
            kernels.minimax(rules_for(self.game), position, depth, OWN, counts)
        return int(counts[kernels.NODES])

    def count(self, position: int, depth: int, order: int) -> int:
        """Return the number of positions that alpha-beta searches, with moves in an order of `scoring.py`."""
        while True:
            self.counts[:] = 0
            with compilable(self.game):
                kernels.alpha_beta(
                    rules_for(self.game), position, depth, -INFINITE, INFINITE, 0,
                    Scoring(VALUES, order=order), self.workspace,
                )  # fmt: skip
            if not self.counts[kernels.TROUBLE]:
                return int(self.counts[kernels.NODES])
            self.widen()


class PointSearch(DepthSearch):
    """Expectiminimax with alpha-beta, Star1 and a table. With more than two players, all others are one side
    (*paranoid*)."""

    def __init__(self, game: Game, most: float | None = None, estimate: int = OWN, selection: Selection = NO_SELECTION):
        """Prepare a search; *most* bounds the points of any position, by default as the rules say."""
        super().__init__(game, selection=selection)
        most = most_points(game) if most is None else most
        self.scoring = Scoring(POINTS, estimate, self.quiescence(estimate), most=most).with_selection(selection)

    def prepare(self, position: int) -> None:
        me = max(0, mover(self.game, position)) if self.game.players > 2 else NOBODY
        if me != self.scoring.me:
            self.scoring = self.scoring._replace(me=me)
            self.workspace.keys[:] = kernels.NO_POSITION  # the table's scores are for another player


class MaxNSearch(PointSearch):
    """Max^n: each of several players maximises their own share."""

    entries = 0  # no table

    def score_of_move(self, position: int, move: int, depth: int, low: float) -> float:
        child, player = self.game.do_move(position, move), max(0, mover(self.game, position))
        with compilable(self.game):
            kernels.max_n(rules_for(self.game), child, depth - 1, 0, self.scoring, self.workspace)
        return float(self.workspace.shares[0, 0, player]) + self.game.reward(position, move, player)

    def shares(self, position: int, move: int, depth: int) -> list[float]:
        """Return what each player gets by a search to *depth* plies, the move included. *move* is NO_MOVE if it is
        chance's turn. Do not call it while the search is stopped."""
        gains = [0] * self.game.players
        if move != NO_MOVE:
            gains = [self.game.reward(position, move, player) for player in range(self.game.players)]
            position, depth = self.game.do_move(position, move), depth - 1

        def question() -> list[float]:
            with compilable(self.game):
                kernels.max_n(rules_for(self.game), position, depth, 0, self.scoring, self.workspace)
            return [float(points) for points in self.workspace.shares[0, 0]]

        found = self.ask(position, question)
        assert found is not None
        return [gain + points for gain, points in zip(gains, found, strict=True)]
