"""Games played by chance, to choose among moves of which nothing is proved: which of them goes well the most often?

What comes of it is a guess, and never told as anything else: it is asked only where a search has run out of time.
"""

from collections.abc import Callable

from retrograde.games.contract.game import Game
from retrograde.solver.play.oracles.kernels import played_out

GAMES = 100
"""Games that are played from each position in turn."""


def likeliest(game: Game, position: int, moves: list[int], is_over: Callable[[], bool]) -> int:
    """Return the one of some moves after which the opponent gets the fewest points in games played by chance
    until the time is over."""
    children = [game.do_move(position, move) for move in moves]
    points, seed = [0] * len(moves), 1
    played_out(game, position, 0, seed)
    while not is_over() and len(moves) > 1:
        for number, child in enumerate(children):
            more, seed = played_out(game, child, GAMES, seed)
            points[number] += more
    return moves[points.index(min(points))]
