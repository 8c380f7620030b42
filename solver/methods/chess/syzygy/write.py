"""Writes the two files of an ending: `.rtbw`, who wins, and `.rtbz`, distances to zeroing.

    magic, men and flags
    order of the digits, codes of men    for each file that the leading pawn may be on
    headers of compressed values         for each of those files, with White to move and with Black to move
    what distances stand for             by worth, for each of those files
    indices; sizes of blocks; blocks     for each of those files and sides; blocks begin at a multiple of 64 bytes
    16 bytes                             a checksum

`.rtbw` has both sides to move. `.rtbz` has the side to move that takes less space; for the other one readers make all
moves.

Distances are stored in moves, rounded, unless a ply matters to the fifty-move rule. If a side wins anywhere in exactly
as many plies as the rule allows, all its wins, and the losses of the other side, are stored in plies. Cursed wins and
blessed losses are always stored in moves.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.chess import men
from retrograde.solver.methods.chess.formation import Formation, bytes_of_later_codes, count_positions
from retrograde.solver.methods.chess.syzygy import kernels
from retrograde.solver.methods.chess.syzygy.cells import CellSorter, DistanceCells
from retrograde.solver.methods.chess.syzygy.checksum import checksum
from retrograde.solver.methods.chess.syzygy.compression import CompressedValues, compress
from retrograde.solver.methods.chess.syzygy.kernels import BLESSED, CURSED, LOSS, WIN
from retrograde.solver.methods.chess.syzygy.table_order import TableOrder, table_name, table_orders
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit, format_size
from retrograde.solver.runtime.progress import Listener, Phase

WORTHS, DISTANCES = ".rtbw", ".rtbz"
MAGIC = {WORTHS: bytes([0x71, 0xE8, 0x23, 0x5D]), DISTANCES: bytes([0xD7, 0x66, 0x0C, 0xA5])}
BLOCK_BITS = {WORTHS: 6, DISTANCES: 10}
"""Log2 of the block size in bytes."""
SPLIT, HAS_PAWNS = 1, 2
"""Flags of a table: both sides to move have values of their own; there are pawns."""
BLACK_TO_MOVE, MAPPED, WINS_IN_PLIES, LOSSES_IN_PLIES = 1, 2, 4, 8
"""Flags of distances."""
MAPS = (WIN, LOSS, CURSED, BLESSED)
"""Worths, in the order in which a file lists what their distances stand for."""
ALIGNED = 64
CELL, GATHERING, PACKING, FIXED = 2, 3.7, 6, 100_000_000
"""Bytes of memory.

CELL: of a cell. GATHERING: of a position with one side to move while captures are looked at, besides the codes of later
endings. PACKING: of a position while the values of one file of the leading pawn are compressed, besides the cells.
FIXED: for the pairs of symbols, in total.
"""


class SubTable(NamedTuple):
    """The values of a table with one side to move, for one file of the leading pawn."""

    order: TableOrder
    values: CompressedValues
    meaning: bytes = b""
    """What the numbers of distances stand for."""


def endings_in(database: SlotsDatabase) -> list[str]:
    """Return the endings in a database and below it, those with fewer men first; bare kings are left out."""
    tiers: Sequence[int] = database.game.tiers  # type: ignore[attr-defined]  # of chess
    return [men.name_of_tier(tier) for tier in reversed(tiers) if len(men.name_of_tier(tier)) > len("KK")]


def write_tables(database: SlotsDatabase, name: str, folder: Path, listener: Listener | None = None) -> None:
    """Write both files of one ending in a database by distance to zeroing into a folder; raise MemoryLimit."""
    formation = Formation(name)
    if (needed := memory_needed(formation)) > MemoryBudget().free_bytes():
        raise MemoryLimit(f"to write the tables of {name} takes {format_size(needed)} of memory, which is not free")
    # For each side to move: who wins first, then distances from the same cells.
    cells = DistanceCells(database, formation)
    worths, distances = list[list[SubTable]](), list[list[SubTable]]()
    sides = range(2 - formation.is_symmetric)  # of equal sides, only White is to move
    phase = Phase("writing tables", listener, 2 * len(sides) * sum(lengths_of(formation)))
    in_plies = flags_of(cells)
    for side in sides:
        side_cells = cells.of(side)
        worths.append(sub_tables(formation, side_cells, phase))
        kernels.clear_unread(side_cells, cells.find_quiet_wins(side))
        distances.append(sub_tables(formation, side_cells, phase, in_plies[side] | BLACK_TO_MOVE * side))
    phase.end()
    # Distances: keep the side to move that takes less space, for each file of the leading pawn.
    smaller = [[min(by_side, key=size_of)] for by_side in zip(*distances, strict=True)]
    worths_path, distances_path = paths_of(name, folder)
    save(worths_path, name, list(zip(*worths, strict=True)))
    save(distances_path, name, smaller)


def memory_needed(formation: Formation) -> int:
    """Return the approximate memory in bytes that writing the tables of an ending takes."""
    positions = count_positions(formation.codes)
    gathering = round(GATHERING * positions) + bytes_of_later_codes(formation)
    return max(gathering, CELL * positions + PACKING * max(lengths_of(formation))) + FIXED


def lengths_of(formation: Formation) -> list[int]:
    """Return the number of positions with one side to move, for each file of the leading pawn."""
    order = table_orders(formation.name)[0]  # any order: all have as many positions
    return [order.length(file) for file in range(order.files)]


def paths_of(name: str, folder: Path) -> list[Path]:
    """Return the paths of both files of an ending."""
    return [folder / f"{table_name(name)}{suffix}" for suffix in (WORTHS, DISTANCES)]


def flags_of(cells: DistanceCells) -> list[int]:
    """Return the flags WINS_IN_PLIES and LOSSES_IN_PLIES of each side to move, White first.

    The wins of a side are stored in plies if it wins, or its opponent loses, anywhere in exactly as many plies as the
    fifty-move rule allows. Then so are the losses to it.
    """
    limits = [cells.reaches_limit(side) for side in range(2 - cells.formation.is_symmetric)]
    # `side - 1` is the other side; if there is only one (a symmetric ending), the same.
    wins_in_plies = [limits[side][0] or limits[side - 1][1] for side in range(len(limits))]
    return [
        WINS_IN_PLIES * wins_in_plies[side] | LOSSES_IN_PLIES * wins_in_plies[side - 1] for side in range(len(limits))
    ]


def sub_tables(formation: Formation, cells: Array, phase: Phase, flags: int | None = None) -> list[SubTable]:
    """Return the sub-table for each file of the leading pawn: who wins if *flags* is None, else distances with these
    flags. *cells* are those of a side to move."""
    sorter, halved, found = CellSorter(formation, cells), halved_by(flags or 0), []
    to_values = stored_worths if flags is None else partial(stored_distances, halved=halved)
    for file in range(table_orders(formation.name)[0].files):
        order = sorter.best_order(file, to_values)
        ordered = sorter.cells(order, file)
        if flags is None:
            found.append(SubTable(order, compress(to_values(ordered), BLOCK_BITS[WORTHS])))
        else:
            meaning = number_distances(ordered, halved)[1]
            found.append(SubTable(order, compress(to_values(ordered), BLOCK_BITS[DISTANCES], MAPPED | flags), meaning))
        phase.advance(len(ordered))
    return found


def stored_worths(cells: Array) -> Array:
    """Return the values for cells in a table of who wins, uint8."""
    values, counts = np.empty(len(cells), np.uint8), np.zeros(5, np.int64)
    kernels.count_worths(cells, counts)
    kernels.fill_worths(cells, counts, values)
    return values


def stored_distances(cells: Array, halved: Array) -> Array:
    """Return the values for cells in a table of distances, uint8; *halved* as `halved_by` returns it."""
    values = np.empty(len(cells), np.uint8)
    kernels.fill_distances(cells, halved, number_distances(cells, halved)[0], values)
    return values


def halved_by(flags: int) -> Array:
    """Return for each worth 1 if its distances are stored in moves, 0 if in plies, int64[5]."""
    halved = np.ones(5, np.int64)
    halved[WIN], halved[LOSS] = not flags & WINS_IN_PLIES, not flags & LOSSES_IN_PLIES
    return halved


def number_distances(cells: Array, halved: Array) -> tuple[Array, bytes]:
    """Return numbers for distances by worth, uint8[5, 256], and what the numbers mean, as a file has it.

    The most frequent distance of a worth gets the number 0. In the file, each of MAPS has the count of its numbers and
    the distance of each: `bytes([2, 7, 3])` means that 0 stands for 7, and 1 for 3.
    """
    counts = np.zeros((5, 256), np.int64)
    kernels.count_distances(cells, halved, counts)
    numbers, meaning = np.zeros((5, 256), np.uint8), b""
    for worth in MAPS:
        distances = np.flatnonzero(counts[worth])
        distances = distances[np.argsort(-counts[worth, distances], kind="stable")]
        numbers[worth, distances] = np.arange(len(distances))
        meaning += bytes([len(distances), *distances.tolist()])
    return numbers, meaning


def size_of(table: SubTable) -> int:
    """Return the bytes that a sub-table takes in a file."""
    return sum(len(content) for content in (*table.values, table.meaning))


def save(path: Path, name: str, tables: Sequence[Sequence[SubTable]]) -> None:
    """Write a file, as the module's docstring shows; *tables* are by file of the leading pawn, then by side to move."""
    every = [table.values for sides in tables for table in sides]
    flags = HAS_PAWNS if "P" in name else 0
    if len({*men.sides_of(name)}) > 1:
        flags |= SPLIT
    # A name has a letter for each man.
    content = bytearray(MAGIC[path.suffix] + bytes([len(name) << 4 | flags]))
    for sides in tables:
        # Four bits for White to move and four for Black; a table of one side has the same twice.
        white, black = sides[0].order, sides[-1].order
        content += bytes(low | high << 4 for low, high in zip(white.description, black.description, strict=True))
    align(content, 2)
    content += b"".join(values.header for values in every)
    content += b"".join(table.meaning for sides in tables for table in sides)
    align(content, 2)
    content += b"".join(values.entries for values in every)
    content += b"".join(values.sizes for values in every)
    for values in every:
        align(content, ALIGNED)
        content += values.blocks
    align(content, ALIGNED)
    content += checksum(bytes(content))
    # Write to another name first, so that no damaged table remains.
    unfinished = path.with_name(path.name + ".partial")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def is_complete(path: Path) -> bool:
    """Return whether a file is a complete table with a correct checksum."""
    if not path.is_file():
        return False
    content = path.read_bytes()
    checked, end = content[:-16], content[-16:]
    return content[:4] == MAGIC[path.suffix] and len(checked) % ALIGNED == 0 and checksum(checked) == end


def align(content: bytearray, to: int) -> None:
    """Pad with zeros to a multiple of *to* bytes."""
    content += bytes(-len(content) % to)
