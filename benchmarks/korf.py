"""Solves Korf's 100 positions of the 15-puzzle by IDA* with databases of smaller puzzles: python -m benchmarks.korf

    python -m benchmarks.korf                 all, with a table of 256 MiB; first makes the databases that are missing
    python -m benchmarks.korf --first 10      only some of them
    python -m benchmarks.korf --no-tables     with the rules' own lower bound, as Korf did

The positions, the lengths of their shortest solutions and the nodes of his IDA* are those of table 1 in R. E. Korf,
"Depth-first iterative-deepening: an optimal admissible tree search", Artificial Intelligence 27 (1985). In `korf.csv`
the tiles are in his order: his goal has the gap first. So the positions are turned by 180 degrees.
"""

import argparse
import csv
import time
from pathlib import Path

from retrograde.databases.location import database_path
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.options import SolveOptions
from retrograde.solver.search.probing.patterns import find_patterns, missing_patterns
from retrograde.solver.search.puzzles import PuzzleSearch

HERE = Path(__file__).parent
CELLS = 16
TABLE = 1 << 28


def position_of(game, tiles: str):
    """Return a position of the game: Korf's, turned by 180 degrees."""
    numbers = [(CELLS - int(tile)) % CELLS for tile in reversed(tiles.split())]
    return game.split(sum(number << 4 * cell for cell, number in enumerate(numbers)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Solves Korf's positions of the 15-puzzle.")
    parser.add_argument("--first", type=int, default=100, help="how many positions")
    parser.add_argument("--no-tables", action="store_true", help="use only the rules' lower bound")
    given = parser.parse_args()
    game = load_game("eightpuzzle:4,4")
    for name, there in missing_patterns(game).items() if not given.no_tables else ():
        began = time.process_time()
        solve(load_game(name), database_path(name), SolveOptions(fresh=there))
        print(f"{name} solved in {time.process_time() - began:.1f} CPU seconds", flush=True)
    patterns = None if given.no_tables else find_patterns(game)
    search = PuzzleSearch(game, TABLE, patterns)
    search.find(game.do_move(game.goal, CELLS - 2))  # compiles, outside the times below
    total = seconds = published = 0.0
    print("| position | moves | nodes | Korf's nodes | CPU seconds |\n|---|---|---|---|---|")
    for row in list(csv.DictReader((HERE / "korf.csv").open(encoding="utf-8")))[: given.first]:
        search.memory.bounds[:] = 0  # each position for itself
        search.memory.keys[:] = 0
        began = time.process_time()
        found, line = search.find(position_of(game, row["tiles"]))
        took = time.process_time() - began
        assert len(line) == found.remoteness == int(row["moves"]), row
        print(f"| {row['number']} | {len(line)} | {found.nodes:,} | {int(row['nodes']):,} | {took:.2f} |", flush=True)
        total, seconds, published = total + found.nodes, seconds + took, published + int(row["nodes"])
    print(f"| all | | {int(total):,} | {int(published):,} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
