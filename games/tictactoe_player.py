"""A player of tic-tac-toe that follows the rules of thumb people learn, and so loses now and then.

It is an entry point of the group `retrograde.players`, like players of other distributions: a function that takes a
solved game and a random generator, and returns a function from the solved game and a position to a move. It raises
ValueError for a game that it cannot play.
"""

from collections.abc import Callable
from random import Random
from typing import Protocol

from retrograde.games.contract.game import Game
from retrograde.games.tictactoe import TicTacToe


class HasGame(Protocol):
    """What a player sees of a solution: the game. This player uses nothing else of it."""

    @property
    def game(self) -> Game: ...


def by_rules(solved: HasGame, chance: Random) -> Callable[[HasGame, int], int]:
    """Return a player that wins, blocks, takes the centre, a corner, or an edge, without the database, at random among
    equals.

    Raise ValueError for every game but tic-tac-toe on 3 × 3 cells.
    """
    game = plain_tictactoe(solved.game)

    def player(solved: HasGame, position: int) -> int:
        return chance.choice(moves_by_rules(game, position))

    return player


def plain_tictactoe(game: Game) -> TicTacToe:
    """Return the game if it is plain tic-tac-toe; raise ValueError otherwise."""
    if not isinstance(game, TicTacToe) or options_of(game) != options_of(TicTacToe()):
        raise ValueError("the player 'rules' knows tictactoe alone, three by three")
    return game


def options_of(game: TicTacToe) -> tuple[int, bool]:
    return game.size, game.misere


def weights(game: Game, position: int) -> dict[int, int]:
    """Return the weight of each move that the player may make, for computing a best response to it."""
    return dict.fromkeys(moves_by_rules(plain_tictactoe(game), position), 1)


by_rules.weights = weights  # type: ignore[attr-defined]  # an optional attribute of a player


def moves_by_rules(game: TicTacToe, position: int) -> list[int]:
    """Return the moves that the rules of thumb allow in a position.

    >>> game = TicTacToe()
    >>> moves_by_rules(game, game.read("XX./OO./..."))
    [2]
    """
    free = list(game.generate_moves(position))
    stones = game.cells.set(position, 1), game.cells.set(position, 2)
    mover = game.mover.get(position)

    def completes(side: int, cell: int) -> bool:
        after = stones[side] | 1 << cell
        return any(after & line == line for line in game.lines)

    wins, blocks = ([cell for cell in free if completes(side, cell)] for side in (mover, 1 - mover))
    # The centre, the corners and the edges.
    places = ([cell for cell in cells if cell in free] for cells in ((4,), (0, 2, 6, 8), (1, 3, 5, 7)))
    return next(filter(None, (wins, blocks, *places)))
