"""Players: functions `(oracle, position) -> move`, called only while the game is not over.

Makers of players take a random generator, *chance*.

To add one, write a function and a line in `PLAYERS`, or install it (see `offered.py`), as players of one game are.
(People play too, but only the command line can ask them.)
"""

import math
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import EntryPoint
from random import Random

from retrograde.databases import NoDatabase
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.game import LOSE, Game, RetrogradeError
from retrograde.solver.metrics.models.by_search import GreedyModel
from retrograde.solver.metrics.models.model import Model, NoModel
from retrograde.solver.metrics.models.names import model_named
from retrograde.solver.play.offered import entry_point, offered
from retrograde.solver.play.oracle import Oracle
from retrograde.solver.search.depth.names import searcher_named

Player = Callable[[Oracle, int], int]
Maker = Callable[[Oracle, Random], Player]
"""Makes a player for an oracle's games, with a random generator."""

MOST_REPLIES = 2000
"""Replies examined, roughly, to find the move that sets the most problems; after that the best so far is played."""


class NoPlayer(RetrogradeError, ValueError):
    """No such player exists, or it cannot play this game."""


# Perfect play


def perfect(oracle: Oracle, position: int) -> int:
    """Return a best move: the one after which the opponent can err in the most ways (see `count_problems`)."""
    choices = oracle.best(position)
    if len(choices) == 1:
        return choices[0].move
    examined = 0
    most, chosen = None, choices[0]
    for choice in choices:
        replies = oracle.moves(choice.position)
        rating = count_problems(choice, replies)
        if most is None or rating > most:
            most, chosen = rating, choice
        examined += len(replies)
        if examined > MOST_REPLIES:
            break
    return chosen.move


def count_problems(choice: Choice, replies: list[Choice]) -> tuple[int, int, float]:
    """Return how difficult a move makes the game for the opponent; greater is harder.

    Three numbers: the replies that lose needlessly (or needlessly soon), the other replies that give something up, and
    minus the plies of the quickest losing reply.
    """
    if choice.again:
        return 0, 0, 0.0
    losing = [reply for reply in replies if reply.brings == LOSE]
    if choice.value == LOSE:
        losing = [reply for reply in losing if reply.remoteness != losing[0].remoteness]  # losing[0] loses latest
        others = 0
    else:
        others = sum(reply.brings not in (LOSE, choice.value) for reply in replies)
    return len(losing), others, -min((reply.remoteness or 0 for reply in losing), default=math.inf)


def first_best(oracle: Oracle, position: int) -> int:
    """Return the first of the best moves in the rules' order."""
    return oracle.moves(position)[0].move


# Others


def random_player(chance: Random) -> Player:
    """Return a player who chooses a random legal move."""

    def player(oracle: Oracle, position: int) -> int:
        return chance.choice(list(oracle.game.generate_moves(position)))

    return player


def skilled_player(skill: float, chance: Random) -> Player:
    """Return a player who plays perfectly with probability *skill*, and randomly otherwise."""
    any_move = random_player(chance)

    def player(oracle: Oracle, position: int) -> int:
        return (perfect if chance.random() < skill else any_move)(oracle, position)

    return player


def greedy_player(chance: Random) -> Player:
    """Return a player who looks one ply ahead, as the model of that name does, without the database."""
    return model_player(GreedyModel(), chance)


def model_player(model: Model, chance: Random) -> Player:
    """Return a player who moves with the probabilities of a model."""

    def player(oracle: Oracle, position: int) -> int:
        weights = model.weights(oracle.game, position)
        return chance.choices([*weights], [*weights.values()])[0]

    return player


PLAYERS: dict[str, Maker] = {
    "perfect": lambda oracle, chance: perfect,
    "first": lambda oracle, chance: first_best,
    "random": lambda oracle, chance: random_player(chance),
    "greedy": lambda oracle, chance: greedy_player(chance),
}
"""The makers of players by their names on the command line.

Other names are: a number, which plays perfectly with that probability; `depth:4` and `time:0.5`, which search that many
plies or seconds with the game's estimate; `depth:4,book`, which first plays from the book of estimates; `paranoid:4`,
which assumes that several others all play against it; `mcts:1000`, Monte Carlo tree search by that many random games;
and the models `skill:0.8` and `exploit:random`.
"""

BY_MODEL = ("skill", "exploit")
"""The prefixes of models that are also players."""


def make_player(name: str, oracle: Oracle, chance: Random) -> Player:
    """Return a player by name or by skill, a number from 0 to 1; raise NoPlayer if there is none."""
    if name in PLAYERS:
        return PLAYERS[name](oracle, chance)
    if choose := searcher_named(name, oracle.game, chance):
        return lambda oracle, position: choose(position)
    with suppress(ValueError):
        if 0 <= (skill := float(name)) <= 1:
            return skilled_player(skill, chance)
    if name.partition(":")[0] in BY_MODEL:
        return model_player(find_model(name, oracle.game), chance)
    if point := entry_point(name):
        return load_player(point, oracle, chance)
    names = ", ".join([*PLAYERS, "depth:N", "time:S", "paranoid:N", "mcts:N", "skill:P", "exploit:MODEL", *offered()])
    raise NoPlayer(f"no player {name!r}; the players are {names}, or a skill from 0 to 1")


def find_model(name: str, game: Game) -> Model:
    """Return a model by name; raise NoPlayer if there is none, or its database is missing."""
    try:
        return model_named(name, game)
    except (NoModel, NoDatabase) as error:
        raise NoPlayer(str(error)) from error


def load_player(point: EntryPoint, oracle: Oracle, chance: Random) -> Player:
    """Return a player from another distribution; raise NoPlayer if it cannot be loaded."""
    try:
        maker: Maker = point.load()
    except (ImportError, AttributeError) as error:
        raise NoPlayer(f"the player {point.name!r} cannot be loaded from {point.value}: {error}") from error
    try:
        return maker(oracle, chance)
    except ValueError as error:
        raise NoPlayer(str(error)) from error
