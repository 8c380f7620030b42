"""Games played by chance, compiled over the rules of any game."""

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel

LONGEST = 200
"""Plies after which a game played by chance counts as a draw."""
MASK = (1 << 62) - 1


@kernel
def played_out(game, position, games, seed):
    """Return what the player to move gets out of games played by chance, 2 points for a win and 1 for no winner; and
    the seed for the next ones."""
    points = 0
    for _ in range(games):
        at = position
        result = 1
        for ply in range(LONGEST):
            value = whole(game.primitive(at))
            if value != UNDECIDED:
                if value in (WIN, LOSE):
                    result = 2 if (value == WIN) == (ply & 1 == 0) else 0
                break
            chosen = 0
            for number, move in enumerate(game.generate_moves(at), 1):
                seed = seed * 6364136223846793005 + 1442695040888963407 & MASK  # Knuth's linear congruences
                if (seed >> 31) % number == 0:
                    chosen = whole(move)
            at = whole(game.do_move(at, chosen))
        points += result
    return points, seed
