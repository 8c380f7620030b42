"""How a finished game has ended for its players: what each has got, and who has got the most.

For two players the value of the last position says who has won, unless points decide. For several players it does not:
a LOSE only says that another player gets more than the one to move. Then what each player has got decides.
"""

from collections.abc import Sequence

from retrograde.games.contract.game import Game, Traits, Value, metric_of, mover
from retrograde.solver.values.measures import gives

BY_POINTS = ("score", "expectation", "utilities")
"""The metrics by which players want points."""


def points_decide(game: Game) -> bool:
    """Return whether the one of two players who has got more has won, whatever the value of the last position."""
    traits = Traits.of(game)
    has_points = traits.has_rewards or (traits.has_payoffs and metric_of(game) in BY_POINTS)
    return game.players == 2 and has_points


def shares_of(game: Game, start: int, moves: Sequence[int]) -> list[int]:
    """Return what the moves and the end of a finished game have paid each player, by the players' numbers."""
    position, shares = start, [0] * game.players
    has_rewards = Traits.of(game).has_rewards
    for move in moves:
        if has_rewards:
            for player in range(game.players):
                shares[player] += game.reward(position, move, player)
        position = game.do_move(position, move)
    return [share + game.payoff(position, player) for player, share in enumerate(shares)]


def leaders_of(shares: Sequence[int]) -> list[int]:
    """Return the numbers of the players who have got the most.

    >>> leaders_of([0, 1, 0]), leaders_of([1, 1, 0]), leaders_of([1, 1, 1])
    ([1], [0, 1], [0, 1, 2])
    """
    return [player for player, share in enumerate(shares) if share == max(shares)]


def value_for_first(game: Game, start: int, moves: Sequence[int]) -> Value:
    """Return the value of a finished game of several players for the player who moved first."""
    return gives(shares_of(game, start, moves), max(0, mover(game, start)))
