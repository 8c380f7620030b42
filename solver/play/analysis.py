"""Statistics of a solved game, computed from its legend, for display or as JSON.

The legend counts the positions of each value and remoteness, and has an example of each. So nothing here takes longer
for a larger game.
"""

import re
from itertools import groupby
from typing import Any

import numpy as np

from retrograde.databases import CountRow, Database, DatabaseFile, LegendRow
from retrograde.databases.book import BookFile
from retrograde.databases.checked import CheckedFile
from retrograde.databases.layout import NOT_FOUND
from retrograde.databases.legend import LegendTable, by_outcome
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.databases.slots.read import OutcomeReader
from retrograde.games.contract.game import DRAW, LOSE, REMOTENESS, TIE, WIN, Game, Traits, Value
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.values.measures import facts_of

Facts = dict[str, Any]


def summary(database: Database | DatabaseFile) -> Facts:
    """Return the statistics of a solved game, ready for JSON. Positions are texts; if only a file is given, numbers.

    - `positions` and all counts: positions that play can reach, symmetric ones counted. `stored`: records.
    - `by_remoteness`: ascends by value (LOSE, DRAW, TIE, WIN), then by remoteness, which is None for a DRAW.
    - `longest_win`: the WIN furthest from its end; `longest`: the position of any value that is. None if there is none.
    - `starts`: the first positions of a game that has several.
    - `eccentricity`: for a puzzle, the moves that its hardest solvable position takes.
    - `slices`: what `counts_by_material` returns, if parts of tiers are named as in draughts, `K v KM`.
    - `compact`: for a compact file, the slots kept, and all slots.
    - `rests_on`: the variants on whose databases this one rests.
    """
    file = database.file if isinstance(database, Database) else database
    game = database.game if isinstance(database, Database) else None
    tiers: Facts = {"tiers": tiers_of(file.contents, game)} if isinstance(file.contents, OutcomeReader) else {}
    if tiers and (slices := counts_by_material(tiers["tiers"])):
        tiers["slices"] = slices
    # DRAWs have no end, and in a book some remotenesses are unknown.
    legend = by_outcome(file.legend)
    ends = [row for row in legend if row.value != DRAW and row.remoteness != NOT_FOUND]
    wins = [row for row in ends if row.value == WIN]
    if isinstance(file.contents, CompactReader):
        tiers["compact"] = {"kept": file.contents.length, "slots": file.contents.slots}
    if isinstance(database, SlotsDatabase) and (others := database.rests_on):
        tiers["rests_on"] = others
    book = {"book": {"plies": file.plies, "distances": file.has_distances}} if isinstance(file, BookFile) else {}
    return {
        "variant": file.variant,
        "positions": file.positions,
        "stored": file.stored,
        "values": {
            value.name.lower(): sum(row.positions for row in legend if row.value == value)
            for value in (WIN, LOSE, TIE, DRAW)
        },
        "by_remoteness": [{**outcome_facts(row), "count": row.positions} for row in legend],
        **metric_facts(file),
        "start": start_facts(file, game),
        "longest_win": furthest(wins, game),
        "longest": furthest(ends, game),
        **starts_of(game),
        **(puzzle_facts(wins, game) if game and game.players == 1 else {}),
        "bytes": file.bytes,
        "bits_per_position": round(8 * file.bytes / file.positions, 3),
        "path": str(file.path),
        **tiers,
        **book,
    }


SLICE = re.compile(r"(\w+) v (\w+)")
"""The name of a part of a tier: what each side has, the player to move first."""
MOST_MEASURES = 1000
"""The most different measures for which counts are listed."""


def metric_facts(file: CheckedFile) -> Facts:
    """Return a file's metric and how often each measure occurs; no counts for remoteness or very many measures."""
    if not isinstance(file.legend, LegendTable):
        return {"metric": file.metric, **file.details} if file.measures else {"metric": REMOTENESS}
    table = file.legend.table
    # Rows differ, so that there are at least so many different measures. Sorting millions of rows takes seconds.
    if len(table) > MOST_MEASURES * len(by_outcome(file.legend)):
        return {"metric": file.metric, **file.details}
    by_value = file.metric in PROGRESS_METRICS  # with these metrics 0 means a draw or mate
    columns = ["value", *file.measures] if by_value else [*file.measures]
    distinct, rows = np.unique(table[columns], return_inverse=True)
    if len(distinct) > MOST_MEASURES:
        return {"metric": file.metric, **file.details}
    counts = np.zeros(len(distinct), np.int64)
    np.add.at(counts, rows, table["positions"])
    by_measure = [
        {
            **({"value": Value(row[0]).name.lower()} if by_value else {}),
            **facts_of(file.metric, file.details, row[-len(file.measures) :]),
            "count": count,
        }
        for row, count in zip(distinct.tolist(), counts.tolist(), strict=True)
    ]
    return {"metric": file.metric, **file.details, "by_measure": by_measure}


def tiers_of(slots: OutcomeReader, game: Game | None) -> Facts:
    """Return the statistics, in slots, of each part of each tier by name, in ascending order of tiers."""
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
    """Return the name of a part of a tier, or its number."""
    names = [name for name, _ in game.parts(tier)] if game else []
    return names[part] if part < len(names) else str(part)


def part_facts(slots: OutcomeReader, game: Game | None, rows: list[CountRow]) -> Facts:
    """Return the statistics of one part of a tier."""
    counts = [(slots.legend[row.outcome], row) for row in rows]
    decided = [(outcome, row) for outcome, row in counts if outcome.value in (WIN, LOSE) and outcome.plies is not None]
    longest = max(decided, key=lambda pair: pair[0].remoteness, default=None)
    return {
        "positions": sum(row.stored for row in rows),
        **{
            value.name.lower(): sum(row.stored for legend_row, row in counts if legend_row.value == value)
            for value in (WIN, LOSE, TIE, DRAW)
        },
        "by_remoteness": stored_by_outcome(counts),
        "longest": longest and {**outcome_facts(longest[0]), "position": text(longest[1].example, game)},
    }


def stored_by_outcome(counts: list[tuple[LegendRow, CountRow]]) -> list[Facts]:
    """Return the records of each value and remoteness, added over all measures, in the order of *counts*."""
    stored: dict[tuple[str, int | None], int] = {}
    for outcome, row in counts:
        key = outcome.value.name.lower(), outcome.plies
        stored[key] = stored.get(key, 0) + row.stored
    return [{"value": value, "remoteness": plies, "count": count} for (value, plies), count in stored.items()]


def counts_by_material(tiers: Facts) -> list[Facts]:
    """Return the counts of all tiers by what each side has, fewest pieces first, and the longest win in plies.

    *tiers* has the facts of each part by its name, for each tier. An item is, for instance,
    `{"own": "K", "other": "KM", "longest_win": 9, "win": 5, "draw": 8, "lose": 3}`.
    Parts are named as in draughts: `K v KM`, with the player to move first. Other parts are left out.
    """
    slices: dict[tuple[str, str], Facts] = {}
    for name, part in (item for parts in tiers.values() for item in parts.items()):
        if not (match := SLICE.fullmatch(name)):
            continue
        own, other = match.groups()
        facts = slices.setdefault((own, other), {"own": own, "other": other, "longest_win": None})
        for value in ("win", "draw", "lose"):
            facts[value] = facts.get(value, 0) + part[value]
        wins = [row["remoteness"] for row in part["by_remoteness"] if row["value"] == "win"]
        if known := [plies for plies in wins if plies is not None]:
            facts["longest_win"] = max(*known, facts["longest_win"] or 0)
    return sorted(slices.values(), key=lambda facts: (len(facts["own"] + facts["other"]), -len(facts["own"])))


def outcome_facts(row: LegendRow) -> Facts:
    return {"value": row.value.name.lower(), "remoteness": row.plies}


def start_facts(file: CheckedFile, game: Game | None) -> Facts | None:
    """Return the start and its outcome, or None if the file has none."""
    if file.start is None or file.start_outcome is None:
        return None
    row = file.start_outcome
    worth = facts_of(file.metric, file.details, row.measures) if row.measures else {}
    return {"position": text(file.start, game), **outcome_facts(row), **worth}


def starts_of(game: Game | None) -> Facts:
    starts = game.starts if game and Traits.of(game).has_starts else ()
    return {"starts": [text(start, game) for start in starts]} if len(starts) > 1 else {}


def puzzle_facts(wins: list[LegendRow], game: Game) -> Facts:
    """Return the remoteness of the hardest solvable position, how many are as hard, and the first of them."""
    row = max(wins, key=lambda row: row.remoteness, default=None)
    hardest = row and {"remoteness": row.remoteness, "positions": row.positions, "first": text(row.example, game)}
    return {"players": 1, "eccentricity": hardest}


def furthest(rows: list[LegendRow], game: Game | None) -> Facts | None:
    """Return the outcome with the greatest remoteness, an example, and how many positions have it."""
    if not rows:
        return None
    row = max(rows, key=lambda row: row.remoteness)
    return {**outcome_facts(row), "position": text(row.example, game), "count": row.positions}


def text(position: int, game: Game | None, rule: str = "write") -> str:
    """Return a position as text; its number if there is no game, or the game has no such position."""
    try:
        return str(getattr(game, rule)(position)) if game else str(position)
    except Exception:  # the rules may raise for what is no position, and a file may hold anything
        return str(position)


def board(position: int, game: Game | None) -> str:
    """Return a position as lines of text; its number in the same cases as `text`."""
    return text(position, game, "show")
