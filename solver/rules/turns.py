"""Whose turn it is, asked by compiled code: whether a move hands the turn over, and so turns a value round.

Where two players alternate it always does, where there is one it never does; both are known when rules are compiled,
and cost nothing.
"""

from numba.extending import overload

from retrograde.games.contract.game import Game, alternates, defines, mover, same_mover
from retrograde.solver.rules.whole import whole


def turns(game: Game, position: int, child: int) -> bool:
    """Tell whether after a move from a position to a child somebody else is to move."""
    return not same_mover(game, position, child)


def is_players(game: Game, position: int) -> bool:
    """Tell whether it is the turn of one of the players, and not chance's."""
    return 0 <= mover(game, position) < game.players


@overload(is_players)
def _(game, position):
    if not defines(game.game, "turn"):
        return lambda game, position: True
    players = int(game.game.players)
    return lambda game, position: 0 <= whole(game.turn(position)) < players


@overload(turns)
def _(game, position, child):
    rules = game.game
    if alternates(rules):
        return lambda game, position, child: True
    if rules.players == 1 or not defines(rules, "turn"):
        return lambda game, position, child: False
    return lambda game, position, child: whole(game.turn(position)) != whole(game.turn(child))
