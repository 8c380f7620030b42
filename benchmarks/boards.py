"""Connect Four by the board and by how many in a row win: solves them all, and keeps what came of it.

    python benchmarks/boards.py               solves all boards from 3×3 to 5×6 and 6×5 that the table has not
    python benchmarks/boards.py 4,4,3         solves these again
    python benchmarks/boards.py --misere      the same where such a row loses, by tests/helpers/misere4.py

A row of boards.csv, or misere.csv, has width, height and how many in a row win, or lose; how many positions there are;
value and remoteness of the empty board; the longest win and the longest loss, in plies; and the bytes of the database.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from retrograde.databases import DatabaseFile
from retrograde.games.contract.game import LOSE, WIN

TABLE, MISERE = (Path(__file__).with_name(name) for name in ("boards.csv", "misere.csv"))
RULES = {TABLE: "connect4", MISERE: str(Path(__file__).parent.parent / "tests" / "helpers" / "misere4.py")}
COLUMNS = ["width", "height", "in_a_row", "positions", "value", "remoteness", "longest_win", "longest_loss", "bytes"]
MOST_CELLS = 30
BOARDS = [
    f"{width},{height},{line}"
    for line in (3, 4, 5)
    for width in range(3, 7)
    for height in range(3, 7)
    if width * height <= MOST_CELLS and line <= max(width, height)
]

Row = dict[str, str]


def solve(board: str, rules: str) -> Row:
    """Solve a board by some rules, and return its row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "board.h5"
        command = [sys.executable, "-m", "retrograde.cli", "solve", f"{rules}:{board}", "--database", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with DatabaseFile(path) as file:
            start = file.start_outcome
            assert start is not None
            longest = [
                max((row.remoteness for row in file.legend if row.value == value), default=0) for value in (WIN, LOSE)
            ]
            facts = [file.positions, start.value.name.lower(), start.remoteness, *longest, path.stat().st_size]
    return dict(zip(COLUMNS, [*board.split(","), *map(str, facts)], strict=True))


def read(table: Path) -> dict[str, Row]:
    """Return the rows that there are, by board."""
    if not table.exists():
        return {}
    with open(table, newline="", encoding="utf-8") as file:
        return {",".join(row[name] for name in COLUMNS[:3]): row for row in csv.DictReader(file)}


def write(table: Path, rows: dict[str, Row]) -> None:
    """Keep the rows, by how many in a row win, the smallest board first."""
    with open(table, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(rows.values(), key=lambda row: [int(row[name]) for name in ("in_a_row", "width", "height")])
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("boards", nargs="*", metavar="W,H,N", help="boards to be solved again")
    parser.add_argument("--misere", action="store_true", help="by the rules in which a row loses")
    args = parser.parse_args()
    table = MISERE if args.misere else TABLE
    rows = read(table)
    for board in args.boards or [board for board in BOARDS if board not in rows]:
        rows[board] = solve(board, RULES[table])
        print(", ".join(rows[board].values()), flush=True)
        write(table, rows)


if __name__ == "__main__":
    main()
