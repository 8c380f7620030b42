"""Chooses among moves by random games, if nothing is proved: which move does best most often?

The result is a guess, and never presented as anything else. It is used only if a search has run out of time.
"""

from collections.abc import Callable

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import as_position, whole
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.kernel import kernel

GAMES = 100
"""Games played from each position in turn."""
LONGEST = 200
"""Plies after which a random game counts as a draw."""
MASK = (1 << 62) - 1
"""Keeps a seed below 2**62."""


@kernel
def play_out(game, position, games, seed):
    """Play *games* random games; return the points of the player to move, and a seed for the next ones. A win gives 2
    points, a game without a winner or longer than LONGEST plies 1. Two players must alternate."""
    points = 0
    for _ in range(games):
        current = position
        result = 1  # unless a side wins
        for ply in range(LONGEST):
            value = whole(game.primitive(current))
            if value != UNDECIDED:
                if value in (WIN, LOSE):
                    # At an even ply the player to move is the one who began.
                    result = 2 if (value == WIN) == (ply % 2 == 0) else 0
                break
            # Draw one of the moves with equal probability, in one pass: move number k replaces the choice with
            # probability 1/k.
            chosen = 0
            for number, move in enumerate(game.generate_moves(current), 1):
                seed = (seed * 6364136223846793005 + 1442695040888963407) & MASK  # Knuth's linear congruences
                if (seed >> 31) % number == 0:
                    chosen = whole(move)
            current = as_position(game.do_move(current, chosen))
        points += result
    return points, seed


def best_by_playouts(game: Game, position: int, moves: list[int], is_over: Callable[[], bool]) -> int:
    """Return the move after which the opponent gets the fewest points in random games. GAMES games are played after
    each move, again and again until `is_over()`, such as when time is out."""
    children = [game.do_move(position, move) for move in moves]
    points, seed = [0] * len(moves), 1
    with compilable(game):
        rules = rules_for(game)
        play_out(rules, position, 0, seed)  # no game: this compiles the rules before the loop
        while not is_over() and len(moves) > 1:
            for i, child in enumerate(children):
                more, seed = play_out(rules, child, GAMES, seed)
                points[i] += more
    return moves[points.index(min(points))]
