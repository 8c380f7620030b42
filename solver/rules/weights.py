"""Asks compiled rules for the turn, chance weights, rewards and payoffs of a block of positions."""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, PAYOFF_LIMIT, UNDECIDED, Game, Traits
from retrograde.solver.rules.examine import Fault, blame, examine
from retrograde.solver.rules.expansion import ExpansionBlock, compiling
from retrograde.solver.rules.kernels import WEIGHT_LIMIT, ask_movers, weigh_block
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array


class Weights(NamedTuple):
    """Data of a block beside its children.

    `movers` int8[positions] is the player to move, or CHANCE. `pays` int64[positions, players] is 0 before the end.
    `odds` int64[rows, columns] are the weights of chance's moves, 0 for others. `rewards` int64[rows, columns, players]
    has no rows if moves pay nothing.
    """

    movers: Array
    pays: Array
    odds: Array
    rewards: Array


def weigh(game: Game, positions: Array, block: ExpansionBlock) -> Weights:
    """Return the weights of a block that was expanded from *positions*; raise RuleError if they are invalid."""
    rows = len(block.children)
    weights = Weights(
        np.empty(len(positions), np.int8), np.zeros((len(positions), game.players), np.int64),
        np.zeros((rows, block.columns), np.int64),
        np.zeros((rows if Traits.of(game).has_rewards else 0, block.columns, game.players), np.int64),
    )  # fmt: skip
    trouble = trouble_array(game)
    wide = positions.astype(np.int64, copy=False)  # as kernels take them
    with compiling(game, trouble):
        weigh_block(rules_for(game), wide, block.primitives, block.origins[: block.columns], weights, trouble)
    if trouble[0] != Trouble.FINE:
        raise_fault(game, noted_position(game, trouble))
    return weights


def movers(game: Game, positions: Array) -> Array:
    """Return the player to move in each position, or CHANCE, as int8[n]."""
    turns = np.empty(len(positions), np.int8)
    trouble = trouble_array(game)
    with compiling(game, trouble):
        ask_movers(rules_for(game), positions.astype(np.int64, copy=False), turns, trouble)
    return turns


def raise_fault(game: Game, position: int) -> None:
    """Raise the RuleError for an invalid turn, weight, reward or payoff of a position."""
    value, moves, _ = examine(game, position)
    with blame(game, position):
        if value != UNDECIDED:
            raise Fault(f"payoff() must give an int between -{PAYOFF_LIMIT} and {PAYOFF_LIMIT}")
        turn = game.turn(position)
        if not CHANCE <= turn < game.players:
            raise Fault(f"turn() gives {turn}; it must give a player from 0 to {game.players - 1}, or CHANCE")
        weights = [game.odds(position, move) if turn == CHANCE else 1 for move in moves]
        if min(weights) < 1:
            raise Fault(f"odds() gives {min(weights)}; it must give an int above 0")
        if sum(weights) >= WEIGHT_LIMIT:
            raise Fault(f"odds() add up to {sum(weights)}; they must come to less than {WEIGHT_LIMIT}")
        rewards = [game.reward(position, move, player) for move in moves for player in range(game.players)]
        if max(map(abs, rewards)) >= PAYOFF_LIMIT:
            raise Fault(f"reward() must give an int between -{PAYOFF_LIMIT} and {PAYOFF_LIMIT}")
        raise Fault("the rules do one thing interpreted and another compiled; do ints exceed 64 bits on the way?")
