"""Players: a player is a function `(solution, position) -> move`, asked only while the game is not over.

A new one is a function and a line in `PLAYERS`. (People play too, but only the command line can ask them.)
"""

from collections.abc import Callable
from random import Random

from retrograde.solver.solution import Solution

Player = Callable[[Solution, int], int]


def perfect(solution: Solution, position: int) -> int:
    """Choose the first of the best moves: wins as soon as possible, loses as late as possible."""
    return solution.moves(position)[0].move


def random_player(seed: int | None = None) -> Player:
    """Return a player who chooses among all legal moves by chance, the same way each time for the same seed."""
    chance = Random(seed)

    def player(solution: Solution, position: int) -> int:
        return chance.choice(list(solution.game.generate_moves(position)))

    return player


PLAYERS: dict[str, Callable[[int | None], Player]] = {
    "perfect": lambda seed: perfect,
    "random": random_player,
}
"""For each name on the command line, what makes such a player from a seed (None: by chance)."""
