"""Time the search on published positions: python benchmarks/positions.py FILE [COUNT] [SECONDS] [SOLVER]

FILE has a line `set,columns played,score` for each position of Connect Four. Scores are those of the test sets of
Pascal Pons (blog.gamesolver.org): 22 less the stones that the winner will have played, below 0 if that is not the
player to move. Of each set COUNT positions, 50 unless said, are searched one after another for value and distance, on
one thread with one table of 64 MiB, for SECONDS each at most. The distance of a tie is not searched, because no score
tells it. SOLVER is a program to compare with: it reads lines of columns, and writes each with its score.
"""

import csv
import os
import subprocess
import sys
import time
from collections import defaultdict

from retrograde.games.catalog import load_game
from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.search.searcher import Search

SIZE = 1 << 26
COUNT, SECONDS = 50, 60.0


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else COUNT
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else SECONDS
    game = load_game("connect4")
    Search(game, 1, SIZE).find(game.start, 0.5)  # compiles, or links what was compiled
    print(f"{'':16} positions wrong  open    looked at    CPU ms SOLVER ms  ratio")
    for name, lines in sets(sys.argv[1]).items():
        some = lines[:count]
        wrong, left, nodes, spent = ours(game, some, seconds)
        theirs = rival(sys.argv[4], some) if len(sys.argv) > 4 else None
        told = "" if theirs is None else f"{1000 * theirs:9.2f} {spent / theirs:6.1f}"
        row = f"{name:16} {len(some):9} {wrong:5} {left:5} {nodes:12,.0f} {1000 * spent:9.2f} {told}"
        print(row, flush=True)


def sets(path: str) -> dict[str, list[tuple[str, int]]]:
    """Return the positions of each set, as columns played, and their scores."""
    found = defaultdict(list)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["set"]].append((row["columns_played"], int(row["score"])))
    return found


def ours(game, lines: list[tuple[str, int]], seconds: float) -> tuple[int, int, float, float]:
    """Return how many positions were told wrong, and how many were left open; positions looked at and CPU seconds, on
    the average."""
    search = Search(game, 1, SIZE)
    wrong = left = nodes = 0
    began = time.process_time()
    for columns, score in lines:
        position = game.start
        for column in columns:
            position = game.do_move(position, int(column) - 1)
        found = search.find(position, seconds, distance=score != 0)
        nodes += found.nodes
        if found.value is None or (score and found.remoteness is None):
            left += 1
        else:
            value, plies = outcome(len(columns), score)
            wrong += found.value != value or (score != 0 and found.remoteness != plies)
    return wrong, left, nodes / len(lines), (time.process_time() - began) / len(lines)


def outcome(stones: int, score: int) -> tuple[int, int]:
    """Return value and remoteness by the score of a position with so many stones.

    >>> outcome(0, 1) == (WIN, 41)
    True
    """
    if score == 0:
        return TIE, 42 - stones
    own, other = stones // 2, (stones + 1) // 2
    return (WIN, 2 * (22 - score - own) - 1) if score > 0 else (LOSE, 2 * (22 + score - other))


def rival(program: str, lines: list[tuple[str, int]]) -> float:
    """Return the CPU seconds that another solver takes for a position, on the average."""
    before = os.times()
    told = subprocess.run(
        [program], input="".join(f"{columns}\n" for columns, _ in lines), capture_output=True, text=True, check=True
    ).stdout
    after = os.times()
    answers = [line.split() for line in told.splitlines()]
    assert [(columns, int(score)) for columns, score in answers] == lines, "the other solver says something else"
    return (after.children_user + after.children_system - before.children_user - before.children_system) / len(lines)


if __name__ == "__main__":
    main()
