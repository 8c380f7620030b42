"""Plays random games, compiled with the rules of any game."""

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel

LONGEST = 200
"""Plies after which a random game counts as a draw."""
MASK = (1 << 62) - 1


@kernel
def play_out(game, position, games, seed):
    """Return the points of the player to move in random games, and the seed for the next ones.

    A win gives 2 points, a game without a winner 1.
    """
    points = 0
    for _ in range(games):
        at = position
        # 1 unless a side wins.
        result = 1
        for ply in range(LONGEST):
            value = whole(game.primitive(at))
            if value != UNDECIDED:
                if value in (WIN, LOSE):
                    # At an even ply the player to move is the one who began.
                    result = 2 if (value == WIN) == (ply & 1 == 0) else 0
                break
            # Draw one of the moves with equal probability, in one pass: move number k replaces the choice with
            # probability 1/k.
            chosen = 0
            for number, move in enumerate(game.generate_moves(at), 1):
                seed = seed * 6364136223846793005 + 1442695040888963407 & MASK  # Knuth's linear congruences
                if (seed >> 31) % number == 0:
                    chosen = whole(move)
            at = whole(game.do_move(at, chosen))
        points += result
    return points, seed
