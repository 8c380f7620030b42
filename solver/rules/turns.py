"""Answers in compiled code whether a move passes the turn, and so reverses the value.

With two players that alternate it always does; with one player it never does.
"""

from numba.extending import overload

from retrograde.games.contract.game import Game, Traits, alternates, mover, same_mover

ALWAYS, NEVER, SOMETIMES = range(3)
"""Which moves pass the turn."""


def turns(game: Game, position: int, child: int) -> bool:
    """Return whether another player is to move after a move from *position* to *child*."""
    return not same_mover(game, position, child)


def is_players(game: Game, position: int) -> bool:
    """Return whether it is the turn of a player, and not chance's."""
    return 0 <= mover(game, position) < game.players


@overload(is_players)
def compiled_is_players(game, position):
    return lambda game, position: game.has_turn == 0 or 0 <= game.turn(position) < game.players


@overload(turns)
def compiled_turns(game, position, child):
    # CHANCE is negative and counts as player 0, as in `same_mover`.
    return lambda game, position, child: (
        game.alternates != 0
        or (game.players > 1 and game.has_turn != 0 and max(0, game.turn(position)) != max(0, game.turn(child)))
    )


def which_turn(game: Game) -> int:
    """Return which moves of a game pass the turn: ALWAYS, NEVER, or SOMETIMES (then call `turns` for each move)."""
    if alternates(game):
        return ALWAYS
    return NEVER if game.players == 1 or not Traits.of(game).has_turn else SOMETIMES


@overload(which_turn)
def compiled_which_turn(game):
    """Return what numba compiles for `which_turn`."""
    return lambda game: (
        ALWAYS if game.alternates != 0 else NEVER if game.players == 1 or game.has_turn == 0 else SOMETIMES
    )
