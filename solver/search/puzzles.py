"""Finds a shortest solution of a puzzle by iterative deepening (IDA*; Korf, 1985).

An iteration searches depth-first for a solution of exactly n plies. It leaves out positions of which a lower bound says
that they are too far from a solution. The next iteration begins with the least number of plies that the last one did
not rule out, so its first solution is a shortest one.

The lower bounds are those of the game (`least_plies`) and those that the search has proved before. The table holds the
latter, with whole positions. A bound in the table must hold by whatever move a position is reached, though the search
never takes the last move back.
"""

import time

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN, Game, RuleError, Traits
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import no_position, position_in
from retrograde.solver.rules.reason import compilable
from retrograde.solver.search.patterns import Patterns
from retrograde.solver.search.puzzle_kernels import (
    BROKEN,
    DEEPEST,
    NEVER,
    NODES,
    ROOT,
    TROUBLE,
    PuzzleMemory,
    bound_of,
    plies_to_solution,
)
from retrograde.solver.search.searcher import TABLE_SIZE, SearchResult
from retrograde.solver.search.timer import StoppableSearch


class PuzzleSearch(StoppableSearch):
    """A search for shortest solutions of a puzzle, with a table of *size* bytes that is kept between searches.

    *patterns* are the distances of smaller puzzles.
    """

    def __init__(self, game: Game, size: int = TABLE_SIZE, patterns: Patterns | None = None):
        super().__init__()
        self.game, width = game, Traits.of(game).width
        shape = (width,) if width else ()  # of a position
        entry_bytes = 8 * max(1, width) + 8
        entries = 1 << (max(1, size // entry_bytes).bit_length() - 1)  # a power of two
        table = np.zeros((entries, *shape), np.int64), np.zeros(entries, np.int64)
        line, faulty = np.zeros(DEEPEST + 1, np.int64), np.zeros((1, *shape), np.int64)
        self.memory = PuzzleMemory(*table, np.zeros(2, np.int64), self.stop, line, faulty, patterns)

    @property
    def looked_at(self) -> int:
        """The positions searched so far."""
        return int(self.memory.counts[NODES])

    def find(
        self, position: int, seconds: float | None = None, depth: int | None = None
    ) -> tuple[SearchResult, list[int]]:
        """Search for a shortest solution, at most *depth* plies long; return the result, and its moves if any. Without
        a solution, bounds of the value are what the search has excluded: at most TIE if there is none."""
        began, nodes, value = time.monotonic(), self.looked_at, self.game.primitive(position)
        deepest, solved = min(depth or DEEPEST, DEEPEST), value == WIN
        # Step 1: the lower bound of the game. No solution takes fewer than *plies* plies.
        plies = NEVER if value != UNDECIDED else max(1, self.least_plies(position))
        if value == UNDECIDED:
            self.iterate(position, min(plies, deepest))  # outside the time limit: this may compile the rules
        # Step 2: deepen, until an iteration returns the plies that it was called for.
        with self.limit_time(seconds):
            while not solved and plies <= deepest and (bound := self.iterate(position, plies)) is not None:
                solved, plies = bound == plies, bound
        # A shortest solution visits no position twice. So if few can be reached, a long one does not exist.
        if plies > DEEPEST and self.reaches_few(position):
            plies = NEVER
        # Step 3: the result.
        line = self.memory.line[:plies].tolist() if solved and value == UNDECIDED else []
        result = SearchResult(
            value=WIN if solved else None,
            remoteness=len(line) if solved else None,
            at_least=WIN if solved else LOSE,
            at_most=WIN if solved or plies < NEVER else TIE,
            no_end_within=0 if solved or plies >= NEVER else plies - 1,
            nodes=self.looked_at - nodes,
            seconds=time.monotonic() - began,
        )
        return result, line

    def reaches_few(self, position: int) -> bool:
        """Return whether play reaches at most DEEPEST positions from a position, itself included."""
        game, reached, todo = self.game, {position}, [position]
        while todo and len(reached) <= DEEPEST:
            position = todo.pop()
            if game.primitive(position) == UNDECIDED:
                new = {game.do_move(position, move) for move in game.generate_moves(position)} - reached
                reached |= new
                todo += new
        return len(reached) <= DEEPEST

    def least_plies(self, position: int) -> int:
        """Return the lower bound for an undecided position."""
        with compilable(self.game):
            return int(bound_of(rules_for(self.game), position, self.memory.patterns))

    def iterate(self, position: int, plies: int) -> int | None:
        """Search for a solution of exactly *plies* plies, if none is shorter. Return *plies* if there is one, else a
        greater lower bound of the plies to a solution; None if time is out."""
        memory = self.memory
        memory.counts[TROUBLE] = 0
        with compilable(self.game):
            least = self.least_plies(position)
            bound = plies_to_solution(rules_for(self.game), position, no_position(position), least, plies, ROOT, memory)
        if memory.counts[TROUBLE] == BROKEN:
            faulty = self.game.write(position_in(self.game, memory.faulty, 0))
            raise RuleError(f"{variant(self.game)}, position {faulty}: least_plies() falls by more than 1 with a move")
        return None if memory.counts[TROUBLE] else int(bound)
