"""Times look-ups in Python: of single positions, and of millions at once, in a database of each kind.

python benchmarks/lookup.py                   the databases must be there: retrograde solve connect4:5,4 and so on
python benchmarks/lookup.py connect4:5,5      or one of another variant, or file
"""

import random
import statistics
import sys
import time

import numpy as np

from retrograde.databases import Database, database_of, open_database
from retrograde.databases.slots.read import SlotsReader
from retrograde.games import UNDECIDED

KINDS = ("connect4:5,4", "connect4:5,5", "chess:KRKN")
"""Variants that are stored as records, as steps and as slots."""
QUESTIONS = 2000
MANY = 4_000_000
DIFFERENT = 50_000
"""Positions of which many are drawn, each of them several times, in any order."""
RUNS = 5


def walked(database: Database, count: int, dice: random.Random) -> list[int]:
    """Return undecided positions that random play reaches, every other one as an image of it."""
    game = database.game
    found: set[int] = set()
    for _ in range(count):
        position = game.start
        while game.primitive(position) == UNDECIDED:
            found.add(position)
            position = game.do_move(position, dice.choice(list(game.generate_moves(position))))
    chosen = dice.sample(sorted(found), min(count, len(found)))
    images = [next(iter(game.images(position))) for position in chosen[::2]]
    return images + chosen[1::2]


def numbered(database: Database, count: int, dice: random.Random) -> list[int]:
    """Return positions of slots of all tiers, the more of a tier the larger it is, every other one as an image."""
    game, (numbers, bounds) = database.game, database.file.contents.tiers
    found: list[int] = []
    while len(found) < count:
        slot = dice.randrange(int(bounds[-1]))
        k = int(bounds.searchsorted(slot, "right")) - 1
        position = game.unindex(int(numbers[k]), slot - int(bounds[k]))
        if position >= 0:
            found.append(dice.choice([position, *game.images(position)]) if len(found) % 2 else position)
    return found


def microseconds(database: Database, positions: list[int]) -> list[float]:
    """Return how long look-ups take, ascending."""
    taken = []
    for position in positions:
        began = time.perf_counter()
        database[position]
        taken.append(1e6 * (time.perf_counter() - began))
    return sorted(taken)


def words(taken: list[float]) -> str:
    return f"{statistics.median(taken):8.1f} µs, a tenth of them under {taken[len(taken) // 10]:.1f} µs"


def rates(database: Database, positions: np.ndarray) -> tuple[float, float]:
    """Return how many positions are looked up at once in a second, and in a CPU second, in the best of some runs."""
    database.lookup(positions[:10_000])  # which compiles, or loads what is compiled
    seconds = []
    for _ in range(RUNS):
        began, cpu = time.perf_counter(), time.process_time()
        database.lookup(positions)
        seconds.append((time.perf_counter() - began, time.process_time() - cpu))
    return len(positions) / min(wall for wall, _ in seconds), len(positions) / min(cpu for _, cpu in seconds)


def measure(source: str) -> None:
    """Print what look-ups in one database take."""
    dice = random.Random(1)
    began = time.perf_counter()
    with open_database(source) as database:
        print(f"{database.file.variant}, {database.file.contents.DATASET}")
        print(f"open        {1e3 * (time.perf_counter() - began):8.1f} ms")
        draw = numbered if isinstance(database.file.contents, SlotsReader) else walked
        positions = draw(database, DIFFERENT, dice)
        some, few = positions[:QUESTIONS], positions[:40]
        forgetful = database_of(database.file, database.game, cache_blocks=0)
        cold = microseconds(forgetful, some)
        print(f"cold block  {words(cold)}")
        microseconds(database, few)
        print(f"the same    {words(microseconds(database, few * 50))}")
        many = np.random.default_rng(1).choice(np.array(positions, np.int64), MANY)
        wall, cpu = rates(database, many)
        told = f"{wall / 1e6:8.2f} M positions/s, {cpu / 1e6:.2f} M in a CPU second"
        print(f"at once     {told}, {wall * statistics.median(cold) / 1e6:,.0f} times as fast as one by one")


def main() -> None:
    for source in sys.argv[1:] or KINDS:
        measure(source)


if __name__ == "__main__":
    main()
