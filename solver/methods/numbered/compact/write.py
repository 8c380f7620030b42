"""Makes databases compact: of each tier the positions of one side to move are left out, if the others suffice.

The outcome of a position that is left out follows from its children. So the parts of a side may be left out if no move
leads from one of them into one of them. If that holds for both sides, the parts of the side that takes more space are
left out. If one part stands for both sides, it is kept, in the column order that takes the least space.

1. Sample some positions of each part to find the parts that moves lead to (`parts_reached`).
2. Choose the parts to leave out (`choose_omitted`), and write the others, each in its best order (`compress_best`).
3. Before the new file gets its name, compare it with the old one, slot by slot (`compare`). So a wrong guess in step 1
   is found.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from math import prod
from os import PathLike, cpu_count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from retrograde.databases import Database, open_database
from retrograde.databases.database import BULK
from retrograde.databases.frames import compress_group
from retrograde.databases.layout import COMPACT_BLOCK, DERIVED, SLOT_LEVEL, PartRow, outcome_dtype
from retrograde.databases.numbered import positions_of_slots
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.write import SolvedCompact, write_database
from retrograde.games.contract.game import METRICS, UNDECIDED, RetrogradeError, Traits, is_none
from retrograde.solver.methods.chess.fit import is_chess
from retrograde.solver.methods.numbered.legend import fill_gaps
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Listener, Phase, announce

SAMPLE, DRAWS = 30, 3000
"""Positions of a part that are expanded to find the parts that moves lead to, and the most slots drawn for them."""
BLOCK = 1 << 20
"""Slots in a block."""


class CannotCompact(RetrogradeError, ValueError):
    """Nothing can be left out of a database."""


class KeptPart(NamedTuple):
    """A part that is kept: its legend rows, in the order of *columns* columns, and their compressed size."""

    columns: int
    rows: Array
    bytes: int


def make_compact(database: Database, path: str | PathLike[str], listener: Listener | None = None) -> Path:
    """Write a compact database with the same answers as *database*, and return its path. Raises CannotCompact."""
    check_kind(database)
    assert isinstance(database, SlotsDatabase)
    slots = database.contents.slots
    announce(listener, "compiling the rules, which takes some seconds the first time")
    phase = Phase("looking at slots", listener, slots)
    rows, has_position = database.all_slots(), np.empty(slots, np.bool_)
    for tier, first, begin, end in blocks(database):
        has_position[begin:end] = find_positions(database, tier, begin - first, end - begin)
        phase.advance(end - begin)
    with ThreadPoolExecutor(cpu_count()) as executor:
        solved = solved_compact(database, rows, has_position, executor)
        inspect = partial(compare, database, rows, has_position, Phase("comparing slots", listener, slots))
        return write_database(path, database.game, solved, executor.map, inspect=inspect)


def check_kind(database: Database) -> None:
    """Raise CannotCompact if a database is not of a kind that can be made compact."""
    what = f"the database {str(database.file.path)!r} cannot be made compact"
    if not isinstance(database.file.contents, SlotsReader):
        raise CannotCompact(f"{what}: only full databases of games that number their positions can")
    if database.metric != METRICS[0]:
        raise CannotCompact(f"{what}: its values are by {database.metric}; only distances to the end can be derived")
    if Traits.of(database.game).width or not Traits.of(database.game).alternates:
        raise CannotCompact(f"{what}: that needs two players who alternate, and positions that are ints")


def blocks(database: SlotsDatabase) -> Iterator[tuple[int, int, int, int]]:
    """Yield (tier, first slot of the tier, begin, end) of all blocks of slots."""
    numbers, bounds = (column.tolist() for column in database.contents.tiers)
    for tier, first, end in zip(numbers, bounds, bounds[1:], strict=False):
        for begin in range(first, end, BLOCK):
            yield tier, first, begin, min(begin + BLOCK, end)


def find_positions(database: SlotsDatabase, tier: int, begin: int, count: int) -> Array:
    """Return for each of *count* slots of a tier, from *begin* on, whether it has a position."""
    if count >= BULK and database._bulk:
        has_position: Array = database._bulk.positions_of(tier, begin, count) >= 0
        return has_position
    return positions_of_slots(database.game, tier, range(begin, begin + count))[1]


# Choose the parts to keep


def solved_compact(
    database: SlotsDatabase, rows: Array, has_position: Array, executor: ThreadPoolExecutor
) -> SolvedCompact:
    """Return the contents of the compact database: of each tier the smallest parts from which the others follow."""
    game, file = database.game, database.file
    all_parts = list(SlotNumbering.of(game, database.contents.tiers.numbers).parts(game))
    parts, outcomes, kept_slots = list[PartRow](), list[Array](), 0
    for tier, group in groupby(all_parts, key=lambda part: part.tier):
        slices = [part.slots for part in group if part.slots.start < part.slots.stop]
        smallest_parts = [compress_best(database, tier, rows[slots], has_position[slots], executor) for slots in slices]
        left_out = choose_omitted(game, slices, tier, [part.bytes for part in smallest_parts])
        for number, (slots, part) in enumerate(zip(slices, smallest_parts, strict=True)):
            size = slots.stop - slots.start
            if number in left_out:
                parts.append(PartRow(slots.start, size, DERIVED, 1))
                continue
            parts.append(PartRow(slots.start, size, kept_slots, part.columns))
            outcomes.append(part.rows)
            kept_slots += size
    what = f"the database {str(file.path)!r} cannot be made compact"
    names = [name for tier in database.contents.tiers.numbers.tolist() for name, slots in game.parts(tier) if slots]
    both_sides = all(" and " in name for name in names)  # one part for both sides: its order makes it smaller
    if not both_sides and all(part.kept != DERIVED for part in parts):
        raise CannotCompact(f"{what}: in each part of a tier, some move leads to the same part")
    if not outcomes:
        raise CannotCompact(f"{what}: in all of its positions the game is over, so nothing would be stored")
    start = None if file.start_outcome is None else [*file.legend].index(file.start_outcome)
    tiers, bounds = database.contents.tiers
    return SolvedCompact(
        tiers, bounds, file.legend, database.contents.counts, np.concatenate(outcomes), start, parts=parts
    )


def choose_omitted(game: Any, parts: list[slice], tier: int, sizes: list[int]) -> set[int]:
    """Return the parts of a tier to leave out: those of the side to move that takes more bytes by *sizes*, or none.
    Even parts have one side to move, odd parts the other."""
    best = set[int]()
    for side in (0, 1):
        side_parts = set(range(side, len(parts), 2))
        can_derive = not any(side_parts & parts_reached(game, parts, tier, number) for number in side_parts)
        if can_derive and sum(sizes[number] for number in side_parts) > sum(sizes[number] for number in best):
            best = side_parts
    return best


def parts_reached(game: Any, parts: list[slice], tier: int, number: int) -> set[int]:
    """Return the parts of the same tier that moves lead to from up to SAMPLE positions of part *number*. *parts* are
    slices of slots, counted through all tiers. Empty slots and ended games are skipped."""
    random, reached, expanded, tier_start = Random(0), set[int](), 0, parts[0].start
    for _ in range(DRAWS):
        position = game.unindex(tier, random.randrange(parts[number].start, parts[number].stop) - tier_start)
        if is_none(position) or game.primitive(position) != UNDECIDED:
            continue
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            if game.tier(child) == tier:
                slot = tier_start + game.index(child)
                reached.add(next(j for j, part in enumerate(parts) if part.start <= slot < part.stop))
        expanded += 1
        if expanded == SAMPLE:
            break
    return reached


def compress_best(
    database: SlotsDatabase, tier: int, rows: Array, has_position: Array, executor: ThreadPoolExecutor
) -> KeptPart:
    """Return a part in the column order that compresses best."""
    compress = partial(compress_in_columns, rows, has_position, len(database.file.legend))
    return min(executor.map(compress, columns_of(database.game, tier, len(rows))), key=lambda part: part.bytes)


def compress_in_columns(rows: Array, has_position: Array, outcomes: int, columns: int) -> KeptPart:
    """Return a part column by column, if its slots are rows of *columns*; empty slots get the legend row before them.
    There are *outcomes* legend rows.

    >>> compress_in_columns(np.array([1, 2, 3, 4, 5, 6], np.uint8), np.ones(6, np.bool_), 9, 2).rows
    array([1, 3, 5, 2, 4, 6], dtype=uint8)
    """
    ordered, filled = (array.reshape(-1, columns).T.ravel() for array in (rows, has_position))
    first = ordered[filled.argmax()]
    ordered = np.where(filled, ordered, np.min_scalar_type(outcomes).type(outcomes))  # *outcomes* marks empty slots
    fill_gaps(ordered, outcomes, first)
    kind = outcome_dtype(outcomes)
    ordered = ordered.astype(kind, copy=False)
    frames = compress_group(min(COMPACT_BLOCK, len(rows)), kind, SLOT_LEVEL, ordered)
    return KeptPart(columns, ordered, sum(map(len, frames)))


def columns_of(game: Any, tier: int, slots: int) -> list[int]:
    """Return the numbers of columns to try for a part (see `compress_in_columns`). For chess, a column is a way to
    place the last few groups of men."""
    if not is_chess(game):
        return [1]
    from retrograde.games.chess import men, numbering  # other games do not need it

    groups = [ways for ways in numbering.ways_of_groups(men.name_of_tier(tier)) if ways > 1]
    if slots != game.pairs_of_kings(tier) * prod(groups):  # a part with en passant rights
        return [1]
    return [prod(groups[number:]) for number in range(len(groups), -1, -1)]


# Compare with the full database


def compare(database: SlotsDatabase, rows: Array, has_position: Array, phase: Phase, path: Path) -> None:
    """Raise CannotCompact if the compact file at *path* and the old database, with these *rows*, differ in a slot."""
    with open_database(path, game=database.game) as compact:
        assert isinstance(compact, SlotsDatabase)
        for _, _, begin, end in blocks(database):
            filled = has_position[begin:end]
            if (compact.all_slots(begin, end)[filled] != rows[begin:end][filled]).any():
                what = f"outcomes in the database {str(database.file.path)!r} do not follow from their children's"
                raise CannotCompact(f"{what}; to find the errors, run: retrograde verify {database.file.path}")
            phase.advance(end - begin)
