"""All chess endings that are solved: how they compare with what Syzygy's tables count, and their bytes.

    retrograde solve chess:all=5
    python benchmarks/endings.py
    retrograde solve chess:KNNNKN
    python benchmarks/endings.py
    retrograde solve chess:all=4 --metric dtz
    python benchmarks/endings.py --metric dtz
    retrograde solve chess:all=4 --metric dtc
    python benchmarks/endings.py --metric dtc

How many positions are won, drawn and lost with either side to move is held against the counts of Syzygy's tables; with
--metric dtz how many are won and lost in how many plies to zeroing, which are those to conversion where there are no
pawns, and so with --metric dtc (tests/data/zeroing.csv, of six men tests/data/six_men.csv without plies, both from
regular-stats.txt of github.com/niklasf/syzygy-tables.info; wins that take longer than the fifty-move rule allows are
wins). Exit status 1 where one differs.
"""

import argparse
import csv
import sys
from collections import Counter
from itertools import permutations
from math import factorial, prod
from pathlib import Path
from typing import Any

from retrograde.databases import database_path, open_database
from retrograde.games import Value
from retrograde.games.chess import men
from retrograde.games.chess.board import FOURTH, NO_MAN, pack, put, sort_men
from retrograde.games.contract.game import DRAW

DATA = Path(__file__).parent.parent / "tests" / "data"
PUBLISHED, SIX_MEN = DATA / "zeroing.csv", DATA / "six_men.csv"
SIDES = ("white", "black")
DIAGONAL = range(0, 64, 9)
Outcome = tuple[Value, int | None]
Counts = list[Counter[Outcome]]
"""How many positions have an outcome, with White and with Black to move."""


def counts_of(database: Any, ending: str) -> Counts:
    """Return how many positions have each outcome, as Syzygy's tables count them: of those equal by symmetry one, and
    like men told apart.

    That is by Burnside's lemma: of the symmetries a reflection alone leaves positions as they are, those in which all
    men are on its diagonal; with pawns none does.
    """
    tier, game = men.tier_of(ending), database.game
    own = men.codes_of(men.sides_of(ending))
    symmetric = len({*men.sides_of(ending)}) == 1
    orders = prod(factorial(own.count(code)) for code in {*own})
    legend, rows = database.file.legend, [row for row in database.contents.counts if row.tier == tier]
    found: Counts = []
    for side in (0, 1):
        still, there = Counter[Outcome](), Counter[Outcome]()
        if symmetric and side:
            found.append(found[0])
            break
        found.append(Counter())
        for squares in permutations(DIAGONAL, 2 + len(own)) if "P" not in ending else ():
            third = [code << 6 | square for code, square in zip(own, squares[2:], strict=True)]
            first, second, third, fourth = [*third, NO_MAN, NO_MAN, NO_MAN][:4]
            position = sort_men(pack(side, squares[0], squares[1], first, second, third) | put(fourth, FOURTH))
            if game.possible(position):
                still[database[position]] += 1
        for row in rows:
            if row.part == side:
                there[legend[row.outcome].value, legend[row.outcome].plies] += row.positions // 2  # of both colours
        symmetries = 2 if "P" in ending else 8
        for outcome, count in there.items():
            found[-1][outcome], rest = divmod(orders * count + 2 * still[outcome], symmetries)
            assert not rest
    return found


def by_value(counts: Counts) -> Counts:
    """Return how many positions have each value."""
    found: Counts = [Counter(), Counter()]
    for side, some in enumerate(counts):
        for (value, _), count in some.items():
            found[side][value, None] += count
    return found


def published() -> dict[str, Counts]:
    """Return the same as published by ending, with the plies to zeroing; of six men without plies."""
    found: dict[str, Counts] = {}
    with PUBLISHED.open(newline="") as file:
        for row in csv.DictReader(file):
            sides = found.setdefault(row["ending"], [Counter(), Counter()])
            value = Value[row["value"].upper()]
            sides[SIDES.index(row["side"])][value, None if value == DRAW else int(row["plies"])] = int(row["count"])
    with SIX_MEN.open(newline="") as file:
        for row in csv.DictReader(file):
            columns = ((Value.WIN, "wins"), (Value.DRAW, "draws"), (Value.LOSE, "losses"))
            counts = Counter[Outcome]({(value, None): int(row[column]) for value, column in columns})
            found.setdefault(row["ending"], []).append(counts)
    return found


def main() -> int:
    """Print a line for each ending; return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--metric", choices=["remoteness", "dtz", "dtc"], default="remoteness")
    metric = parser.parse_args().metric
    wrong = there = total = 0
    print("ending     plies         bytes  beside Syzygy")
    for ending, theirs in sorted((known := published()).items()):
        path = database_path(f"chess:{ending}", metric="" if metric == "remoteness" else metric)
        if not path.exists():
            continue
        with open_database(path) as database:
            ours = counts_of(database, ending)
            longest = max(row.remoteness for row in database.file.legend)
        by_plies = len(ending) < 6 and (metric == "dtz" or (metric == "dtc" and "P" not in ending))
        same = ours == theirs if by_plies else by_value(ours) == by_value(theirs)
        there, total, wrong = there + 1, total + path.stat().st_size, wrong + (not same)
        print(f"{ending:<6}  {longest:>7}  {path.stat().st_size:>12,}  {'the same' if same else 'others'}")
    print(f"{there} of {len(known)} endings, {wrong} differ; {total:,} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
