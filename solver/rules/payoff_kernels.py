"""Compiled loops that ask the rules for turns, payoffs and rewards, and count symmetric positions."""

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED
from retrograde.solver.rules.kernels import count_images
from retrograde.solver.rules.positions import whole
from retrograde.solver.runtime.kernel import kernel

__all__ = ["MOST_IMAGES", "look", "sizes_of", "take_rewards"]


@kernel
def look(game, positions, primitives, movers, pays, trouble):
    """Write the player to move in each position, and each player's payoff if the game is over."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        movers[i] = whole(game.turn(positions[i]))
        if primitives[i] != UNDECIDED:
            for player in range(pays.shape[1]):
                pays[i, player] = whole(game.payoff(positions[i], player))


@kernel
def take_rewards(game, positions, rewards, trouble):
    """Write the reward of each move of undecided positions for each player.

    Does nothing if *rewards* has no rows.
    """
    for column in range(len(positions) if len(rewards) else 0):
        trouble[1] = positions[column]
        for row, move in enumerate(game.generate_moves(positions[column])):
            for player in range(rewards.shape[2]):
                rewards[row, column, player] = whole(game.reward(positions[column], move, player))


@kernel
def sizes_of(game, positions, images, sizes, trouble):
    """Write how many positions are symmetric to each, itself included."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        sizes[i] = count_images(game, positions[i], images)
