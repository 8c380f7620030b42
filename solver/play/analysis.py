"""Facts about a solved game, read off its legend, ready to be shown or written as JSON.

The legend of a database says for each value and remoteness how many positions have it, and one that does; so that
nothing here takes longer for a larger game.
"""

from itertools import groupby
from typing import Any

from retrograde.databases import CountRow, Database, DatabaseFile, LegendRow
from retrograde.databases.book import BookFile
from retrograde.databases.checked import CheckedFile
from retrograde.databases.layout import NOT_FOUND
from retrograde.databases.slots.read import SlotsReader
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
    tiers = {"tiers": tiers_of(file.contents, game)} if isinstance(file.contents, SlotsReader) else {}
    ends = [row for row in file.legend if row.value != DRAW and row.remoteness != NOT_FOUND]
    wins = [row for row in ends if row.value == WIN]
    book = {"book": {"plies": file.plies, "distances": file.has_distances}} if isinstance(file, BookFile) else {}
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
        **tiers,
        **book,
    }


def tiers_of(slots: SlotsReader, game: Game | None) -> Facts:
    """Return what each part of each tier of a dense numbering has, by their names; the first tier last.

    All counts are of slots: of symmetric positions one counts. `longest` is the WIN or LOSE furthest from its end.
    """
    tiers: Facts = {}
    for tier, rows in groupby(slots.counts, key=lambda row: row.tier):
        name = game.tier_name(tier) if game else str(tier)
        tiers[name] = {}
        for part, part_rows in groupby(rows, key=lambda row: row.part):
            names = part_name(game, tier, part)
            facts = part_facts(slots, game, list(part_rows))
            tiers[name] |= dict.fromkeys(names.split(" and "), facts)
    return tiers


def part_name(game: Game | None, tier: int, part: int) -> str:
    """Return the name of a part of a tier; its number, where there is no game, or none with that part."""
    names = [name for name, _ in game.parts(tier)] if game else []
    return names[part] if part < len(names) else str(part)


def part_facts(slots: SlotsReader, game: Game | None, rows: list[CountRow]) -> Facts:
    """Return what one part of a tier has."""
    outcomes = [(slots.legend[row.outcome], row) for row in rows]
    ends = [(of, row) for of, row in outcomes if of.value in (WIN, LOSE)]
    longest = max(ends, key=lambda end: end[0].remoteness, default=None)
    return {
        "positions": sum(row.stored for row in rows),
        **{
            value.name.lower(): sum(row.stored for of, row in outcomes if of.value == value)
            for value in (WIN, LOSE, TIE, DRAW)
        },
        "by_remoteness": [{**outcome(of), "count": row.stored} for of, row in outcomes],
        "longest": longest and {**outcome(longest[0]), "position": text(longest[1].example, game)},
    }


def outcome(row: LegendRow) -> Facts:
    """Return the value and the remoteness of a row of the legend."""
    return {
        "value": row.value.name.lower(),
        "remoteness": None if row.remoteness in (-1, NOT_FOUND) else row.remoteness,
    }


def start(file: CheckedFile, game: Game | None) -> Facts | None:
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
    """Return a position as text; its number where there is no game, or none with that position."""
    try:
        return game.write(position) if game else str(position)
    except Exception:  # rules need not cope with what is no position, and a file may hold anything
        return str(position)


def board(position: int, game: Game | None) -> str:
    """Return a position as lines of text, as `text` does."""
    try:
        return game.show(position) if game else str(position)
    except Exception:
        return str(position)
