"""A game looked back on: what each move was worth, and where value was given up."""

from typing import NamedTuple

from retrograde.games.game import DRAW, FLIPPED, Value
from retrograde.solver.play.choice import Choice
from retrograde.solver.play.solution import Solution


class Review(NamedTuple):
    """What a move was worth, and the best there was."""

    played: Choice
    best: Choice

    @property
    def value(self) -> Value:
        """What the move brought who made it."""
        return FLIPPED[self.played.value]

    @property
    def had(self) -> Value:
        """What the best move would have brought."""
        return FLIPPED[self.best.value]

    @property
    def mistake(self) -> bool:
        """Whether the move gave up value."""
        return self.value != self.had

    @property
    def slower(self) -> int:
        """By how many plies a move that keeps the value is worse than the best: a win later, a loss sooner."""
        if self.mistake or self.value == DRAW:
            return 0
        return abs((self.played.remoteness or 0) - (self.best.remoteness or 0))


def review(solution: Solution, position: int, move: int) -> Review:
    """Return what a legal move is worth; raise NotInDatabase where play never reaches the position."""
    choices = solution.moves(position)
    return Review(next(choice for choice in choices if choice.move == move), choices[0])
