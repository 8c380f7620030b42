"""A player of tic-tac-toe who goes by the rules that people learn, and so loses now and then.

It comes by an entry point of the group `retrograde.players`, as players of other distributions do: a function that is
given a solved game and a source of chance, and returns a function from the solved game and a position to a move. Where
it cannot play that game it raises ValueError.
"""

from collections.abc import Callable
from random import Random
from typing import Protocol

from retrograde.games.contract.game import Game
from retrograde.games.tictactoe import TicTacToe


class Solved(Protocol):
    """What a player sees of a solution: the game, and what else it has to say, which this one does not ask."""

    @property
    def game(self) -> Game: ...


def by_rules(solved: Solved, chance: Random) -> Callable[[Solved, int], int]:
    """Return who wins, blocks, takes the centre, a corner, an edge; by chance among equals. The database is not asked.

    Raises ValueError for all games but tic-tac-toe as everybody knows it.
    """
    game = known(solved.game)

    def player(solved: Solved, position: int) -> int:
        return chance.choice(moves_by_rules(game, position))

    return player


def known(game: Game) -> TicTacToe:
    """Return the game if it is the one that the player knows; raise ValueError where it is not."""
    if not isinstance(game, TicTacToe) or options_of(game) != options_of(TicTacToe()):
        raise ValueError("the player 'rules' knows tictactoe alone, three by three")
    return game


def options_of(game: TicTacToe) -> tuple[int, bool]:
    return game.size, game.misere


def weights(game: Game, position: int) -> dict[int, int]:
    """Return with what weights the player moves, for those who want to compute a best response to it."""
    return dict.fromkeys(moves_by_rules(known(game), position), 1)


by_rules.weights = weights  # type: ignore[attr-defined]  # what a player offers beside


def moves_by_rules(game: TicTacToe, position: int) -> list[int]:
    """Return the moves that the rules leave in a position.

    >>> game = TicTacToe()
    >>> moves_by_rules(game, game.read("XX./OO./..."))
    [2]
    """
    free = list(game.generate_moves(position))
    stones = position & (1 << game.cells) - 1, position >> game.cells
    mover = position.bit_count() & 1

    def completes(side: int, cell: int) -> bool:
        after = stones[side] | 1 << cell
        return any(after & line == line for line in game.lines)

    wins, blocks = ([cell for cell in free if completes(side, cell)] for side in (mover, 1 - mover))
    places = ([cell for cell in cells if cell in free] for cells in ((4,), (0, 2, 6, 8), (1, 3, 5, 7)))
    return next(filter(None, (wins, blocks, *places)))
