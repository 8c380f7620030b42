"""Games between players: where they begin, how they are played, and what each move was worth."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Literal, NamedTuple

from retrograde.databases.slots.read import SlotsReader
from retrograde.games.game import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, RetrogradeError, Value
from retrograde.solver.play.choice import Choice
from retrograde.solver.play.player import Player, best
from retrograde.solver.play.solution import Solution

ENDLESS = 3
"""A game is a draw when a position comes up so often."""
LONGEST_GAME = 1000
"""Plies after which a game is a draw as well."""
LONGEST_WALK, MOST_TRIES = 20, 10_000


class NoBeginning(RetrogradeError, ValueError):
    """There is no position to begin in."""


class Played(NamedTuple):
    """A game played: its moves, the value of the end for who moved first (WIN, LOSE, TIE or DRAW), and the mistakes of
    both, the moves that gave up value."""

    moves: list[int]
    value: Value
    mistakes: tuple[int, int]


# Beginnings


def random_position(solution: Solution, chance: Random) -> int:
    """Return a position by chance in which the game goes on; of a dense numbering, one of the first tier."""
    game, contents = solution.game, solution.database.file.contents
    if isinstance(contents, SlotsReader):
        tier, size = int(contents.tiers.numbers[0]), int(contents.tiers.bounds[1])
        draw: Callable[[], int] = lambda: game.unindex(tier, chance.randrange(size))  # noqa: E731
    else:
        draw = partial(wander, solution, chance)
    for _ in range(MOST_TRIES):
        position = draw()
        if position >= 0 and game.primitive(position) == UNDECIDED:
            return position
    raise NoBeginning("no position was found by chance in which the game goes on; say where to begin")


def wander(solution: Solution, chance: Random) -> int:
    """Return where so many random moves lead, at most, as a random number says."""
    game = solution.game
    position: int = game.start
    for _ in range(chance.randrange(LONGEST_WALK)):
        if game.primitive(position) != UNDECIDED:
            break
        position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
    return position


# Play


def play(solution: Solution, position: int, players: Sequence[Player]) -> Played:
    """Play a game from a position to its end."""
    game = solution.game
    met: Counter[int] = Counter()
    moves: list[int] = []
    mistakes = [0, 0]
    value = game.primitive(position)
    while value == UNDECIDED:
        met[position] += 1
        if met[position] == ENDLESS or len(moves) == LONGEST_GAME:
            return Played(moves, DRAW, (mistakes[0], mistakes[1]))
        turn = len(moves) % 2
        before = solution.value(position).value
        move = players[turn](solution, position)
        moves.append(move)
        position = game.do_move(position, move)
        mistakes[turn] += FLIPPED[solution.value(position).value] != before
        value = game.primitive(position)
    return Played(moves, value if len(moves) % 2 == 0 else FLIPPED[value], (mistakes[0], mistakes[1]))


def points(value: Value) -> float:
    """Return what a game is worth to who has it: a win 1, a tie or a draw ½.

    >>> [points(value) for value in (WIN, TIE, DRAW, LOSE)]
    [1.0, 0.5, 0.5, 0.0]
    """
    return {WIN: 1.0, TIE: 0.5, DRAW: 0.5, LOSE: 0.0}[value]


# Judgement


class Judgement(NamedTuple):
    """What a move was worth: as it was played, and the best there were."""

    played: Choice
    best: list[Choice]

    @property
    def keeps_value(self) -> bool:
        return self.played.value == self.best[0].value

    @property
    def is_best(self) -> bool:
        """Whether it kept the remoteness as well."""
        return self.played in self.best


def judge(solution: Solution, position: int, move: int) -> Judgement:
    """Return what a move in a position was worth."""
    played = next(choice for choice in solution.moves(position) if choice.move == move)
    return Judgement(played, best(solution, position))


Verdict = Literal["best", "slower", "mistake"]


class Mark(NamedTuple):
    """What is said of a move of a game: which ply it was, from 0; its judgement; and the names of the best moves."""

    ply: int
    judgement: Judgement
    better: list[str]
    """Of the moves that would have been better; none where it was one of the best."""

    @property
    def verdict(self) -> Verdict:
        """`best`; `slower`, which kept the value alone; or `mistake`, which gave it up."""
        if self.judgement.is_best:
            return "best"
        return "slower" if self.judgement.keeps_value else "mistake"


def marked(solution: Solution, positions: Sequence[int], moves: Sequence[int], plies: Sequence[int]) -> list[Mark]:
    """Return what the moves played at some plies, counted from 0, were worth; *positions* are those before each."""
    marks = []
    for ply in plies:
        judgement = judge(solution, positions[ply], moves[ply])
        better = [] if judgement.is_best else [choice.name for choice in judgement.best]
        marks.append(Mark(ply, judgement, better))
    return marks
