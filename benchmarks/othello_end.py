"""Searches the score of Othello positions with fewer and fewer empty cells: python -m benchmarks.othello_end

    python -m benchmarks.othello_end 16 18 20 22           6 × 6 cells, five games
    python -m benchmarks.othello_end --games 2 12 14       fewer games, and cells

The positions are from games by random moves: for each number of empty cells, the same games. A row has the sums over
these games. The last column is how many times as long as the row before a row took.
"""

import argparse
import time
from random import Random

from retrograde.games import UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.search.scores.searcher import ScoreSearch


def random_game(game, seed: int) -> dict[int, object]:
    """Return the positions of a game by random moves, by their numbers of empty cells."""
    chance, position, found = Random(seed), game.start, {}
    while game.primitive(position) == UNDECIDED:
        found[game.width * game.height - game.tier(position)] = position
        position = game.do_move(position, chance.choice([*game.generate_moves(position)]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Searches the score of Othello positions.")
    parser.add_argument("empty", nargs="*", type=int, default=[16, 18, 20, 22], help="numbers of empty cells")
    parser.add_argument("--games", type=int, default=5, help="how many games")
    given = parser.parse_args()
    game = load_game("othello:6,6")
    games = [random_game(game, seed) for seed in range(given.games)]
    games = [positions for positions in games if min(positions) <= min(given.empty)]
    ScoreSearch(game, 1).score(games[0][given.empty[0]])  # compiles, outside the times below
    before = 0.0
    print("| empty cells | positions searched | CPU seconds | times the row before | scores |\n|---|---|---|---|---|")
    for empty in given.empty:
        nodes, began, scores = 0, time.process_time(), []
        for positions in games:
            found = ScoreSearch(game, 1).score(positions[empty])
            nodes += found.nodes
            scores.append(f"{found.score:+d}")
        took = time.process_time() - began
        times = f"{took / before:.1f}" if before else ""
        print(f"| {empty} | {nodes:,} | {took:.2f} | {times} | {', '.join(scores)} |", flush=True)
        before = took


if __name__ == "__main__":
    main()
