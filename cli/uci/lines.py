"""Best moves of chess and the lines after them, with as few database look-ups as possible.

A position's own outcome says what its best child is worth. The first child with that outcome is best, as in
`Solution.moves`, and the others need no look-up.
"""

from collections.abc import Iterator

from retrograde.cli.uci.clock import Clock
from retrograde.databases import Outcome
from retrograde.games.chess.san import uci
from retrograde.games.contract.choice import Choice, ranked
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, UNDECIDED, WIN, Value
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.play.oracle import LONGEST_LINE
from retrograde.solver.play.oracles.fifty_moves import FiftyMoveOracle
from retrograde.solver.play.solution import Solution

SURE = 20_000
"""The score in centipawns of a win whose distance to mate is not known."""
CURSED = 1
"""The score of a win that the fifty-move rule turns into a draw."""


class Prober:
    """Looks up positions in a solution, and counts the look-ups."""

    def __init__(self, solution: Solution):
        self.solution = solution
        self.game = solution.game
        self.hits = 0

    def value(self, position: int) -> Outcome:
        self.hits += 1
        return self.solution.value(position)

    def choices(self, position: int) -> Iterator[Choice]:
        """Yield the moves of a position, looking up each one only when it is needed."""
        if self.game.primitive(position) == UNDECIDED:
            for move in self.game.generate_moves(position):
                child = self.game.do_move(position, move)
                yield Choice(move, uci(position, move), child, *self.value(child))

    def best(self, position: int, outcome: Outcome | None = None) -> Choice | None:
        """Return the first of the best moves, or None if the game is over; *outcome* is that of the position."""
        value, remoteness = outcome or self.value(position)
        # A best child is a ply nearer to the end, with the value as the opponent sees it.
        best_outcome = FLIPPED[value], (None if value == DRAW else (remoteness or 0) - 1)
        alike = (choice for choice in self.choices(position) if (choice.value, choice.remoteness) == best_outcome)
        return next(alike, None)

    def ranked(self, position: int, names: list[str], most: int) -> list[Choice]:
        return ranked(choice for choice in self.choices(position) if choice.name in names)[:most]

    def score(self, choice: Choice) -> str:
        return score(choice.value, choice.remoteness)

    def line(self, first: Choice, clock: Clock) -> list[str]:
        """Return a move and best play after it, to an end, a repetition or LONGEST_LINE plies. Late, return only the
        move."""
        line, choice = [first.name], first
        met = {first.position}
        while len(line) < LONGEST_LINE:
            if clock.is_over:
                return line[:1]
            following = self.best(choice.position, Outcome(choice.value, choice.remoteness))
            if following is None:
                break
            line.append(following.name)
            choice = following
            if choice.position in met:
                break
            met.add(choice.position)
        return line


class FiftyMoveProber(Prober):
    """The same under the fifty-move rule, from a position after *count* plies without progress."""

    def __init__(self, solution: Solution, position: int, count: int):
        super().__init__(solution)
        self.oracle = FiftyMoveOracle(solution, position, count)

    def choices(self, position: int) -> Iterator[Choice]:
        for choice in self.oracle.moves(position):
            self.hits += 2  # the distances to mate and to zeroing
            yield choice._replace(name=uci(position, choice.move))

    def best(self, position: int, outcome: Outcome | None = None) -> Choice | None:
        """Return the first of the best moves, or None if the game is over, also by the fifty-move rule."""
        return next(self.choices(position), None) if self.oracle.counts.get(position, 0) < PATIENCE else None

    def score(self, choice: Choice) -> str:
        """Return the score of a move: the distance to mate, if mate surely comes before the count is full."""
        plain = FLIPPED[choice.value]
        sign = {WIN: 1, LOSE: -1}.get(plain, 0)
        if choice.brings != plain:
            return f"cp {sign * CURSED}"
        count = self.oracle.counts.get(choice.position)  # None where a database is missing
        in_time = count is None or (choice.remoteness or 0) + count <= PATIENCE
        return super().score(choice) if in_time else f"cp {sign * SURE}"


def depth(choice: Choice, line: list[str]) -> int:
    """Return the depth of a move's line in plies: to the end of the game, if it has one."""
    return len(line) if choice.brings == DRAW else (choice.remoteness or 0) + 1


def score(value: Value, remoteness: int | None) -> str:
    """Return the score of a move that leads to this outcome for the opponent.

    >>> score(LOSE, 0), score(LOSE, 2), score(WIN, 1), score(WIN, 3)
    ('mate 1', 'mate 2', 'mate -1', 'mate -2')
    """
    plies = remoteness or 0
    if value == LOSE:
        return f"mate {plies // 2 + 1}"
    return f"mate {-(plies + 1) // 2}" if value == WIN else "cp 0"
