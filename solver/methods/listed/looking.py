"""The compiled loops that ask rules whose turn it is and what ends pay, and count symmetric positions."""

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED
from retrograde.solver.rules.kernels import count_images
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel

__all__ = ["MOST_IMAGES", "look", "sizes_of", "take_rewards"]


@kernel
def look(game, positions, primitives, movers, pays, trouble):
    """Write who is to move in each position, and what each player gets where the game is over."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        movers[i] = whole(game.turn(positions[i]))
        if primitives[i] != UNDECIDED:
            for player in range(pays.shape[1]):
                pays[i, player] = whole(game.payoff(positions[i], player))


@kernel
def take_rewards(game, positions, rewards, trouble):
    """Write what each move of some undecided positions pays each player at once; nothing without rows."""
    for column in range(len(positions) if len(rewards) else 0):
        trouble[1] = positions[column]
        for row, move in enumerate(game.generate_moves(positions[column])):
            for player in range(rewards.shape[2]):
                rewards[row, column, player] = whole(game.reward(positions[column], move, player))


@kernel
def sizes_of(game, positions, images, sizes, trouble):
    """Write how many positions are equal by symmetry to each."""
    for i in range(len(positions)):
        trouble[1] = positions[i]
        sizes[i] = count_images(game, positions[i], images)
