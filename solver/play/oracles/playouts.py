"""Chooses among moves by random games, if nothing is proved: which move does best most often?

The result is a guess, and never presented as anything else. It is used only if a search has run out of time.
"""

from collections.abc import Callable

from retrograde.games.contract.game import Game
from retrograde.solver.play.oracles.kernels import play_out

GAMES = 100
"""Games played from each position in turn."""


def best_by_playouts(game: Game, position: int, moves: list[int], is_over: Callable[[], bool]) -> int:
    """Return the move after which the opponent gets the fewest points in random games, played until time is up."""
    children = [game.do_move(position, move) for move in moves]
    points, seed = [0] * len(moves), 1
    play_out(game, position, 0, seed)
    while not is_over() and len(moves) > 1:
        for number, child in enumerate(children):
            more, seed = play_out(game, child, GAMES, seed)
            points[number] += more
    return moves[points.index(min(points))]
