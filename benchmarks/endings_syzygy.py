"""Exports chess endings as Syzygy tables and compares them with the databases: python -m benchmarks.endings_syzygy

    retrograde solve chess:all=5 --metric dtz
    python -m benchmarks.endings_syzygy TABLES                  every ending without a row of its own; resumes
    python -m benchmarks.endings_syzygy TABLES KRBKR KPPKP      only these, again

For each ending it writes the tables into the folder TABLES. Then it draws random positions of the database, reads the
tables with python-chess, and compares both the value under the fifty-move rule and the distance to zeroing. The results
go to `endings_syzygy.csv`. Exit status 1 if a position differs. Needs python-chess.

Distances must be exactly those that the format stores, see `expected_distance`. The sizes of the original tables are
those of `checksums/bytes.tsv` in github.com/niklasf/syzygy-tables.info. CPU seconds are of writing both tables, in one
process.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.syzygy

from retrograde.databases import database_path, open_database
from retrograde.games import LOSE, WIN, Value
from retrograde.games.chess import men
from retrograde.games.chess.sets import set_of
from retrograde.games.contract.game import is_none
from retrograde.games.contract.zeroing import PATIENCE, signed_distance
from retrograde.solver.methods.chess.syzygy.write import paths_of, write_tables

TABLE = Path(__file__).parent / "endings_syzygy.csv"
COLUMNS = ["ending", "positions", "differ", "wdl", "dtz", "original_wdl", "original_dtz", "cpu_seconds"]
Row = dict[str, str]


def read() -> dict[str, Row]:
    """Return the rows of the table by ending."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {row["ending"]: row for row in csv.DictReader(file)}


def save(rows: dict[str, Row]) -> None:
    """Write the rows of the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def endings_in_order() -> list[str]:
    """Return all endings of up to five men, each after those that may follow: fewer men and pawns first."""
    return sorted(set_of("all=5"), key=lambda name: (len(name), name.count("P")))


# The positions of a database, and what a table must say about them


def sample(database: Any, ending: str, count: int, seed: int) -> Iterator[tuple[chess.Board, Value, int]]:
    """Yield random positions of an ending with their value and plies to zeroing. Each slot is equally likely."""
    tier, game, chance = men.tier_of(ending), database.game, Random(f"{ending} {seed}")
    numbers, bounds = database.file.contents.tiers
    row = numbers.tolist().index(tier)
    while count:
        position = game.unindex(tier, chance.randrange(int(bounds[row + 1] - bounds[row])))
        if not is_none(position):
            count -= 1
            outcome = database[position]
            yield chess.Board(game.write(position)), outcome.value, outcome.remoteness or 0


def exact_winners(database: Any, ending: str) -> set[chess.Color]:
    """Return the sides that win some position in exactly as many plies as the fifty-move rule allows.

    The distances of their wins are stored in plies, all others in moves.
    """
    found, tier = set(), men.tier_of(ending)
    for row in database.contents.counts:
        outcome = database.file.legend[row.outcome]
        if row.tier == tier and outcome.value in (WIN, LOSE) and outcome.plies == PATIENCE:
            found.add((row.part == 0) == (outcome.value == WIN))
    is_symmetric = len({*men.sides_of(ending)}) == 1
    return {chess.WHITE, chess.BLACK} if found and is_symmetric else found


def worth(value: Value, plies: int) -> int:
    """Return the value as python-chess has it: ±2, ±1 if the fifty-move rule makes it a draw, or 0."""
    return {WIN: 2, LOSE: -2}.get(value, 0) // (2 if plies > PATIENCE else 1)


def stored_distance(plies: int, exact: bool) -> int:
    """Return the distance that a table gives: in moves it is rounded down, from 1 or from 101 plies on."""
    return plies if exact and plies <= PATIENCE else plies - (plies - 1) % 2


def expected_distance(plies: int, exact: bool, is_stored: bool) -> int:
    """Return the distance that a reader finds, from the true *plies* of a win or loss.

    If the side to move is not stored, the reader makes all moves, and counts one more than what the table gives. It
    knows zeroing moves and mates itself: 1, or 101 if the fifty-move rule would make the result a draw.
    """
    if plies in (1, PATIENCE + 1):
        return plies
    return stored_distance(plies, exact) if is_stored else stored_distance(plies - 1, exact) + 1


def compare(ending: str, tables: Path, count: int, seed: int) -> list[str]:
    """Return a line for each of *count* random positions about which the tables say something else."""
    differ = []
    with (
        open_database(database_path(f"chess:{ending}", metric="dtz")) as database,
        chess.syzygy.open_tablebase(str(tables)) as tablebase,
    ):
        winners = exact_winners(database, ending)
        for board, value, remoteness in sample(database, ending, count, seed):
            plies, wanted = max(remoteness, 1), (worth(value, remoteness), 0)  # mate counts 1
            if value in (WIN, LOSE):
                is_stored = tablebase.probe_dtz_table(board, wanted[0])[1] >= 0
                exact = (board.turn == (value == WIN)) in winners
                wanted = (wanted[0], signed_distance(value, expected_distance(plies, exact, is_stored)))
            found = tablebase.probe_wdl(board), tablebase.probe_dtz(board)
            if found != wanted:
                differ.append(f"{board.fen()}: {found}, not {wanted}")
    return differ


def fill(row: Row, tables: Path, count: int, seed: int) -> list[str]:
    """Write the tables of an ending, compare them and fill in its row; return a line for each differing position."""
    ending = row["ending"]
    with open_database(database_path(f"chess:{ending}", metric="dtz")) as database:
        began = time.process_time()
        write_tables(database, ending, tables)
        row["cpu_seconds"] = f"{time.process_time() - began:.1f}"
    row["wdl"], row["dtz"] = (str(path.stat().st_size) for path in paths_of(ending, tables))
    differ = compare(ending, tables, count, seed)
    row["positions"], row["differ"] = str(count), str(len(differ))
    return differ


def main(arguments: list[str] | None = None) -> int:
    """Fill in the rows that are missing, or of the named endings; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", type=Path, help="a folder for the tables")
    parser.add_argument("endings", nargs="*", help="endings to export again, such as KRBKR")
    parser.add_argument("--positions", type=int, default=1000, help="how many positions of each ending to compare")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    options.tables.mkdir(parents=True, exist_ok=True)
    rows, wrong = read(), 0
    for ending in endings_in_order():
        row = rows[ending]
        if not (ending in options.endings or (not options.endings and not row["cpu_seconds"])):
            continue
        differ = fill(row, options.tables, options.positions, options.seed)
        save(rows)
        wrong += len(differ)
        print(*(row[name] for name in COLUMNS), *differ[:10], flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
