"""The bytes of all chess endings of three and four men, beside Gaviota's and Syzygy's tables.

    retrograde solve chess:all=4
    retrograde export chess:all=4 --compact small
    python benchmarks/endings_bytes.py GAVIOTA SYZYGY small > benchmarks/endings_bytes.csv

GAVIOTA is a folder with .gtb.cp4, SYZYGY one with .rtbw and .rtbz. `file` is the whole database, `own` the blocks that
hold slots, without tables and attributes. `compact` and `compact_own` are the same of the compact database.
"""

import csv
import sys
from pathlib import Path

import h5py

from retrograde.databases import database_path, open_database
from retrograde.databases.layout import DERIVED
from retrograde.databases.slots.compact import CompactReader
from retrograde.games.chess import men
from retrograde.games.chess.sets import set_of


def own_bytes(path: Path, ending: str) -> int:
    """Return how many bytes the frames take that hold slots of the ending itself."""
    with open_database(path) as database:
        contents = database.contents
        k = contents.tiers.numbers.tolist().index(men.tier_of(ending))
        first, end = map(int, contents.tiers.bounds[k : k + 2])
        if isinstance(contents, CompactReader):
            parts = [part for part in contents.parts if first <= part.slot < end and part.kept != DERIVED]
            first, end = parts[0].kept, parts[-1].kept + parts[-1].slots
        blocks = range(first // contents.block_size, -(-end // contents.block_size))
    with h5py.File(path) as file:
        return sum(file[contents.DATASET].id.get_chunk_info(number).size for number in blocks)


def main() -> None:
    """Print a row for each ending."""
    gaviota, syzygy, small = map(Path, sys.argv[1:])
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["ending", "file", "own", "gaviota", "rtbw", "rtbz", "compact", "compact_own"])
    for ending in sorted(set_of("all=4"), key=lambda name: (len(name), name)):
        path, second = database_path(f"chess:{ending}"), ending.index("K", 1)
        theirs = [gaviota / f"{ending.lower()}.gtb.cp4"]
        theirs += [syzygy / f"{ending[:second]}v{ending[second:]}{suffix}" for suffix in (".rtbw", ".rtbz")]
        sizes = [file.stat().st_size for file in (path, *theirs)]
        compact = small / path.name
        also = compact.stat().st_size, own_bytes(compact, ending)
        rows.writerow([ending, sizes[0], own_bytes(path, ending), *sizes[1:], *also])


if __name__ == "__main__":
    main()
