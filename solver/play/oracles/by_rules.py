"""An oracle that knows only the rules: for puzzles and games of chance that have no database.

It searches for shortest solutions of puzzles. In games with chance, with several players, or in which play goes round
in circles, it proves nothing, and chooses moves by a depth-limited search.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any

from retrograde.games.contract.choice import Choice, ranked
from retrograde.games.contract.game import LOSE, WIN, Game
from retrograde.solver.play.oracle import LONGEST_LINE, SEARCH, Evidence, ValueBounds, bounds_of_finding
from retrograde.solver.play.oracles.searching import FOR_VALUE, LEAST_SECONDS, SearchingOracle
from retrograde.solver.rules.examine import is_plain_puzzle
from retrograde.solver.search.probing.patterns import find_patterns
from retrograde.solver.search.puzzles import PuzzleSearch


class RulesOracle(SearchingOracle):
    """Answers by the rules, and for puzzles by a search of some seconds for each question. A context manager."""

    search: Any
    passes = (True,)

    def refuse(self, game: Game) -> None:
        """Refuse nothing: every game can be played."""

    def make_search(self) -> Any:
        return PuzzleSearch(self.game, self.size, find_patterns(self.game))

    def prepare(self) -> None:
        """Do nothing: the first question compiles the rules, outside its time limit."""

    def bounds_without_search(self, position: int) -> ValueBounds:
        """Return what is known without a search; nothing if there are more than two players."""
        if self.game.players > 2:
            return ValueBounds(LOSE, WIN, None, Evidence(SEARCH))
        return super().bounds_without_search(position)

    def search_until(self, position: int, deadline: float, distance: bool) -> ValueBounds:
        """Return what is known after a search of a puzzle; without *distance*, nothing is searched."""
        known, left = self.bounds_without_search(position), deadline - monotonic()
        if not distance or known.is_exact or left < LEAST_SECONDS or not is_plain_puzzle(self.game):
            return known
        found, line = self.search.find(position, left)
        known = self.learn(position, bounds_of_finding(found))
        for ply, move in enumerate(line[:-1], 1):
            position = self.game.do_move(position, move)
            self.learn(position, known._replace(remoteness=len(line) - ply))
        return known

    def learn_from_moves(self, position: int, moves: Sequence[int]) -> None:
        """Do nothing: the search of a position knows all that follows from its moves."""

    def choose_move(self, position: int, moves: list[int], deadline: float) -> int:
        """Return the first move of a solution, a move that wins at once, or one by a depth-limited search."""
        self.search_until(position, monotonic() + FOR_VALUE * (deadline - monotonic()), distance=True)
        best = ranked(self.choice(position, move) for move in moves)[0]
        if best.brings == WIN:
            return best.move
        return self.seemingly_best(position, moves, deadline)

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return a shortest solution of a puzzle, or another win, as far as it is known without a search."""
        line: list[Choice] = []
        while self.bounds_without_search(position).remoteness and len(line) < limit:
            line.append(self.moves(position, 0)[0])
            position = line[-1].position
        return line
