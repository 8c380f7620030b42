"""All chess endings of five men that are solved: how they compare with what others have published, and their bytes.

    retrograde solve chess:all=5
    python benchmarks/endings.py

How many positions are won, drawn and lost with either side to move is held against the counts of Syzygy's tables
(tests/data/five_men.csv, from regular-stats.txt of github.com/niklasf/syzygy-tables.info; wins that take longer than
the fifty-move rule allows are wins). Exit status 1 where one differs.
"""

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
from retrograde.games.chess.board import NO_MAN, packed
from retrograde.games.game import DRAW, LOSE, WIN

PUBLISHED = Path(__file__).parent.parent / "tests" / "data" / "five_men.csv"
SIDES, VALUES = ("white", "black"), ("win", "draw", "lose")
DIAGONAL = range(0, 64, 9)


def counts_of(database: Any, ending: str) -> list[list[int]]:
    """Return how many positions are won, drawn and lost with either side to move, as Syzygy's tables count them: of
    those equal by symmetry one, and like men told apart.

    That is by Burnside's lemma: of the symmetries a reflection alone leaves positions as they are, those in which all
    men are on its diagonal; with pawns none does.
    """
    tier, game = men.tier_of(ending), database.game
    own = men.codes_of(men.sides_of(ending))
    orders = prod(factorial(own.count(code)) for code in {*own})
    legend, rows = database.file.legend, [row for row in database.contents.counts if row.tier == tier]
    found = []
    for side in (0, 1):
        still = Counter[Value]()
        for squares in permutations(DIAGONAL, 2 + len(own)) if "P" not in ending else ():
            third = [code << 6 | square for code, square in zip(own, squares[2:], strict=True)]
            position = packed(side, *squares[:2], *[*third, NO_MAN, NO_MAN][:3])
            if game.possible(position):
                still[database[position].value] += 1
        symmetries = 2 if "P" in ending else 8
        found.append([])
        for value in (WIN, DRAW, LOSE):
            there = sum(row.positions for row in rows if row.part == side and legend[row.outcome].value == value) // 2
            whole, rest = divmod(orders * there + 2 * still[value], symmetries)
            assert not rest
            found[-1].append(whole)
    return found


def published() -> dict[str, list[list[int]]]:
    """Return the same as published, by ending."""
    found: dict[str, dict[str, list[int]]] = {}
    with PUBLISHED.open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["ending"], {})[row["side"]] = [int(row[value]) for value in VALUES]
    return {ending: [sides[side] for side in SIDES] for ending, sides in found.items()}


def main() -> int:
    """Print a line for each ending; return the exit status."""
    wrong = there = total = 0
    print("ending    plies         bytes  beside Syzygy")
    for ending, theirs in sorted((known := published()).items()):
        path = database_path(f"chess:{ending}")
        if not path.exists():
            continue
        with open_database(path) as database:
            ours = counts_of(database, ending)
            longest = max(row.remoteness for row in database.file.legend)
        there, total, wrong = there + 1, total + path.stat().st_size, wrong + (ours != theirs)
        print(f"{ending}  {longest:>7}  {path.stat().st_size:>12,}  {'the same' if ours == theirs else (ours, theirs)}")
    print(f"{there} of {len(known)} endings, {wrong} differ; {total:,} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
