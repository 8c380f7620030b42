"""Times look-ups in Python: microseconds for a position in a block that is cached, and in one that is not.

python benchmarks/lookup.py connect4:5,5      the database must be there: retrograde solve connect4:5,5
"""

import random
import statistics
import sys
import time

from retrograde.databases import Database, database_of, open_database
from retrograde.games import UNDECIDED

QUESTIONS = 2000
LONGEST_WALK = 40


def sample(database: Database, count: int) -> list[int]:
    """Return positions that random play reaches, after any number of moves, every other one with its image."""
    dice = random.Random(1)
    game = database.game
    found: set[int] = set()
    for _ in range(4 * count):
        position = game.start
        for _ in range(dice.randrange(LONGEST_WALK)):
            if game.primitive(position) != UNDECIDED:
                break
            position = game.do_move(position, dice.choice(list(game.generate_moves(position))))
        found.add(position)
    chosen = dice.sample(sorted(found), min(count, len(found)))
    images = [next(iter(game.images(position))) for position in chosen[::2]]
    return images + chosen[1::2]


def microseconds(database: Database, positions: list[int]) -> str:
    """Return how long look-ups take, in words."""
    taken = []
    for position in positions:
        began = time.perf_counter()
        database[position]
        taken.append(1e6 * (time.perf_counter() - began))
    taken.sort()
    return f"{statistics.median(taken):8.1f} µs, a tenth of them under {taken[len(taken) // 10]:.1f} µs"


def main() -> None:
    began = time.perf_counter()
    with open_database(sys.argv[1] if len(sys.argv) > 1 else "connect4:5,5") as database:
        print(f"open        {1e3 * (time.perf_counter() - began):8.1f} ms")
        positions = sample(database, QUESTIONS)
        few = positions[:: len(positions) // 40]
        forgetful = database_of(database.file, database.game, cache_blocks=0)
        print(f"cold block  {microseconds(forgetful, positions)}")
        microseconds(database, few)
        print(f"warm block  {microseconds(database, few * 50)}")


if __name__ == "__main__":
    main()
