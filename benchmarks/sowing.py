"""Prints how many boards of awari or kalah have each score, by number of stones, as CSV with digests.

    retrograde solve kalahboards:6,16
    python -m benchmarks.sowing kalahboards:6,16 > benchmarks/kalahboards.csv

A line has the number of stones, the score for the player to move, the number of such boards, and the first of them by
slot. The line without a score has all boards with so many stones, and the SHA-256 digest of their scores, one byte
each, in the order of the slots.
"""

import csv
import sys
from hashlib import sha256

import numpy as np

from retrograde.databases import database_path, open_database
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.catalog import load_game, variant


def main(name: str) -> None:
    """Print the table of a variant's database."""
    game = load_game(name)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["stones", "score", "boards", "first or digest"])
    with open_database(database_path(variant(game)), game=game) as database:
        assert isinstance(database, SlotsDatabase)
        scores = np.array([row.measures[0] for row in database.file.legend], np.int8)
        for tier in reversed(game.tiers):  # type: ignore[attr-defined]  # these games number their positions
            digest, boards = sha256(), 0
            for rows in database.tier_rows(tier):
                digest.update(scores[rows].tobytes())
                boards += len(rows)
            table.writerow([-tier, "", boards, digest.hexdigest()])
            for row in database.contents.counts:
                if row.tier == tier:
                    table.writerow([-tier, scores[row.outcome], row.stored, game.write(row.example)])


if __name__ == "__main__":
    main(sys.argv[1])
