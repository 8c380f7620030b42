"""Facts about a solved game, read off its legend, ready to be shown or written as JSON.

The legend of a database says for each value and remoteness how many positions have it, and one that does; so that
nothing here takes longer for a larger game.
"""

from typing import Any

from retrograde.databases import Database, DatabaseFile, LegendRow
from retrograde.games.game import DRAW, LOSE, TIE, WIN, Game

Facts = dict[str, Any]


def summary(database: Database | DatabaseFile) -> Facts:
    """Return what is known of a solved game as a whole.

    `positions` and all counts are of the positions that play can reach, symmetric ones counted; `stored` is the number
    of records. `by_remoteness` ascends by value (LOSE, DRAW, TIE, WIN), then by remoteness, which is None for a DRAW.
    `longest_win` is the WIN furthest from its end, `longest` the position of any value that is; each is None where
    there is none. Positions are texts, or numbers in text where a file is given without its game.
    """
    file = database.file if isinstance(database, Database) else database
    game = database.game if isinstance(database, Database) else None
    size = file.path.stat().st_size
    wins = [row for row in file.legend if row.value == WIN]
    ends = [row for row in file.legend if row.value != DRAW]
    return {
        "variant": file.variant,
        "positions": file.positions,
        "stored": file.stored,
        "values": {
            value.name.lower(): sum(row.positions for row in file.legend if row.value == value)
            for value in (WIN, LOSE, TIE, DRAW)
        },
        "by_remoteness": [{**outcome(row), "count": row.positions} for row in file.legend],
        "start": start(file, game),
        "longest_win": furthest(wins, game),
        "longest": furthest(ends, game),
        "bytes": size,
        "bits_per_position": round(8 * size / file.positions, 3),
        "path": str(file.path),
    }


def outcome(row: LegendRow) -> Facts:
    """Return the value and the remoteness of a row of the legend."""
    return {"value": row.value.name.lower(), "remoteness": None if row.value == DRAW else row.remoteness}


def start(file: DatabaseFile, game: Game | None) -> Facts | None:
    """Return the start and what it is worth, or None where the file has none."""
    if file.start is None or file.start_outcome is None:
        return None
    return {"position": text(file.start, game), **outcome(file.start_outcome)}


def furthest(rows: list[LegendRow], game: Game | None) -> Facts | None:
    """Return the outcome with the greatest remoteness of some, an example, and how many positions have it."""
    if not rows:
        return None
    row = max(rows, key=lambda row: row.remoteness)
    return {**outcome(row), "position": text(row.example, game), "count": row.positions}


def text(position: int, game: Game | None) -> str:
    """Return a position as text."""
    return game.write(position) if game else str(position)
