"""Looks many positions up at once with compiled rules; the answers are those of single lookups.

It works in passes. Threads ask the rules for each position's canonical form and tier; these are sorted by block; each
block is read once and searched. The entry point group `retrograde.bulk` gives this module to `databases`, which need
not know the solver.
"""

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.steps.read import StepsReader
from retrograde.games.contract.game import DRAW, WIN, Traits, Value
from retrograde.solver.methods.numbered.compact.derive import Deriver
from retrograde.solver.methods.numbered.compact.kernels import LEFT_OUT, index_stored
from retrograde.solver.play import kernels
from retrograde.solver.play.kernels import Asked, Block, TierTable
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.rules.positions import of_positions
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import trouble_array, watch_kernel

Array = np.ndarray[Any, Any]

PASS = 1 << 22
"""Positions in a pass, at some 40 bytes of memory each. A pass reads each block at most once."""
PART = 1 << 16
"""Positions for which a thread asks the rules at a time."""
CACHED_BYTES = 64 << 20
"""Decoded blocks kept for the next pass or call, in bytes."""
NONE = np.empty(0, np.int64)

Each = Callable[[Callable[[Any], None], Iterable[Any]], Iterable[None]]
"""A function like the builtin `map`."""


class Finder(ABC):
    """Finds the legend rows of many positions in a database."""

    def __init__(self, database: Database):
        """Prepare for a database; nothing is compiled yet."""
        self.file, self.contents = database.file, database.file.contents
        compiled.prepare(database.game)
        self.game = database.game
        self.guarded = compiled.GuardedGame(database.game)
        self.size = self.contents.block_size
        self.table = self.read_table()
        self.block = lru_cache(max(1, CACHED_BYTES // (16 * self.size)))(self.read_block)

    @abstractmethod
    def read_table(self) -> TierTable:
        """Return the file's table of tiers."""

    @abstractmethod
    def read_block(self, number: int) -> Block:
        """Return a decoded block."""

    @abstractmethod
    def place(self, asked: Asked, rows: Array) -> Array:
        """Return the block of each position, NOWHERE if it has none; write the rows that need no block."""

    @abstractmethod
    def find(self, *searched: Any) -> None:
        """Search a block, with a kernel."""

    def rows(self, positions: Array) -> Array | None:
        """Return the legend row of each position, -1 if it has none; None if the rules do not compile."""
        found = np.full(len(positions), kernels.NOWHERE, np.int32)
        try:
            with threads(len(positions)) as each:
                for part in stretches(len(positions), PASS):
                    self.find_rows(positions[part], found[part], each)
        except NotCompilable:
            return None
        return found

    def find_rows(self, positions: Array, rows: Array, each: Each) -> None:
        """Write the rows of one pass."""
        asked = Asked(np.empty(len(positions), np.int64), np.empty(len(positions), np.int64))
        blocks = np.empty(len(positions), np.int64)

        def ask(part: slice) -> None:
            own = Asked(asked.keys[part], asked.tiers[part])
            self.locate(positions[part], own)
            blocks[part] = self.place(own, rows[part])

        # Step 1: ask the rules, on threads.
        deque(each(ask, stretches(len(positions), PART)), 0)
        # Step 2: search the blocks, on threads.
        self.search(asked, blocks, rows, each)

    def search(self, asked: Asked, blocks: Array, rows: Array, each: Each) -> None:
        """Write the rows of positions that have a block, by searching the blocks."""

        def search(number: int) -> None:
            span = int(begins[number]), int(begins[number + 1])
            self.find(span, placed, self.table, self.block(number), found)

        order, placed, begins = kernels.sort_by_block(blocks, self.contents.block_count, asked)
        found = np.full(len(order), kernels.NOWHERE, np.int32)
        deque(each(search, np.flatnonzero(np.diff(begins)).tolist()), 0)
        kernels.put_back(order, found, rows)

    def locate(self, positions: Array, asked: Asked) -> None:
        """Write the canonical positions and their tiers."""
        self.ask(kernels.locate, (positions, asked), asked.keys)

    def ask(self, kernel: Any, arguments: tuple[Any, ...], answers: Array) -> None:
        """Run a kernel that asks the rules about positions; where the rules raise, write NOWHERE and go on."""
        done, trouble = np.zeros(1, np.int64), trouble_array(self.game)
        while done[0] < len(answers):
            try:
                with compilable(self.game), watch_kernel(self.game, trouble):
                    kernel(self.guarded, *arguments, done, trouble)
            except NotCompilable:
                raise
            except (ArithmeticError, LookupError, ValueError):  # the rules may raise for what is no position
                answers[done[0]] = kernels.NOWHERE
                done[0] += 1


@contextmanager
def threads(count: int) -> Iterator[Each]:
    """Give a function like `map` on as many threads as *count* positions are worth."""
    workers = min(-(-count // PART), os.cpu_count() or 1)
    with ThreadPoolExecutor(max(1, workers)) as executor:
        yield executor.map if workers > 1 else map


def stretches(length: int, size: int) -> Iterator[slice]:
    """Yield slices of *size* items that cover *length* items; the last may be shorter.

    >>> list(stretches(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    yield from (slice(begin, min(begin + size, length)) for begin in range(0, length, size))


class RecordsFinder(Finder):
    """Finds positions in a database of records."""

    def read_table(self) -> TierTable:
        numbers, bounds, positions = self.contents.tiers
        return TierTable(numbers, bounds, positions, NONE)

    def read_block(self, number: int) -> Block:
        blocks, decoded = self.contents.blocks, self.contents.read_block(number)
        mask, first = int(blocks.masks[number]), int(blocks.positions[number])
        return Block(number * self.size, first, mask, *widened(decoded.sums, decoded.outcomes))

    def place(self, asked: Asked, rows: Array) -> Array:
        blocks = np.empty(len(rows), np.int64)
        kernels.place_records(asked, self.table, self.contents.blocks.positions, self.size, blocks)
        return blocks

    def find(self, *searched: Any) -> None:
        kernels.find_records(*searched)


class StepsFinder(Finder):
    """Finds positions in a database of steps."""

    def __init__(self, database: Database):
        super().__init__(database)
        rows = {(row.value, row.remoteness): k for k, row in enumerate(self.file.legend)}
        ends = [rows.get((value, -1 if value == DRAW else 0), kernels.NOWHERE) for value in Value]
        self.ends = np.array([*ends, rows.get((WIN, 1), kernels.NOWHERE)], np.int64)

    def read_table(self) -> TierTable:
        return TierTable(*self.contents.tiers)

    def read_block(self, number: int) -> Block:
        first = int(self.contents.ranks[number])
        return Block(number * self.size, first, 0, *widened(*self.contents.read_block(number)))

    def place(self, asked: Asked, rows: Array) -> Array:
        self.ask(kernels.judge, (asked, self.ends, rows), rows)
        asked.keys[rows != kernels.GOES_ON] = kernels.NOWHERE
        rows[rows == kernels.GOES_ON] = kernels.NOWHERE
        blocks = np.empty(len(rows), np.int64)
        kernels.place_steps(asked, self.table, self.contents.ranks, self.size, blocks)
        return blocks

    def find(self, *searched: Any) -> None:
        kernels.find_steps(*searched)


class SlotsFinder(Finder):
    """Finds positions in a database of slots."""

    def read_table(self) -> TierTable:
        numbers, bounds = self.contents.tiers
        return TierTable(numbers, bounds, NONE, NONE)

    def read_block(self, number: int) -> Block:
        return Block(number * self.size, 0, 0, NONE, *widened(self.contents.read_block(number)))

    def locate(self, positions: Array, asked: Asked) -> None:
        if positions.ndim == 1:
            super().locate(positions, asked)
        else:  # tuples do not fit an array of ints: find their slots directly
            self.ask(kernels.place, (positions, self.table, asked.keys), asked.keys)

    def place(self, asked: Asked, rows: Array) -> Array:
        if not Traits.of(self.game).width:
            places: Array = np.empty(len(rows), np.int64)
            self.ask(kernels.number, (asked, self.table, places), places)
            asked.keys[:] = places
        blocks: Array = asked.keys // self.size  # -1 // size stays -1, NOWHERE
        return blocks

    def find(self, *searched: Any) -> None:
        kernels.find_slots(*searched)

    def positions_of(self, tier: int, begin: int, count: int) -> Array:
        """Return the positions of *count* slots of a tier, from slot *begin* on; NOWHERE for slots without one.

        Raises NotCompilable if the rules do not compile.
        """
        positions = of_positions(self.game, count)
        self.ask(kernels.position_of, (tier, begin, positions), positions)
        return positions


class CompactFinder(SlotsFinder):
    """Finds positions in a compact database, and derives those that are not kept."""

    def __init__(self, database: Database):
        super().__init__(database)
        self.block = lru_cache(max(1, CACHED_BYTES // self.size))(self.read_block)
        self.deriver = Deriver(database, self.guarded, self.find_kept)

    def read_block(self, number: int) -> Block:
        return Block(number * self.size, 0, 0, NONE, np.asarray(self.contents.read_block(number)))

    def place(self, asked: Asked, rows: Array) -> Array:
        super().place(asked, rows)
        index_stored(self.deriver.parts, asked.keys, rows)
        blocks: Array = asked.keys // self.size
        return blocks

    def find_kept(self, places: Array, tiers: Array, rows: Array, each: Each) -> None:
        """Write the rows at some offsets of the kept slots."""
        self.search(Asked(places, tiers), places // self.size, rows, each)

    def rows(self, positions: Array) -> Array | None:
        rows = super().rows(positions)
        if rows is None:
            return None
        left = np.flatnonzero(rows == LEFT_OUT)
        try:
            rows[left] = self.deriver.rows(positions[left])
        except NotCompilable:
            return None
        return rows

    def slot_rows(self, tier: int, begin: int, count: int) -> Array | None:
        """Return the rows of *count* slots of a tier that are not kept; None if the rules do not compile.

        Slots without a position have 0.
        """
        rows = np.zeros(count, np.int32)
        try:
            for part in stretches(count, PART):
                positions = self.positions_of(tier, begin + part.start, part.stop - part.start)
                there = np.flatnonzero(positions >= 0)
                rows[part.start + there] = self.deriver.rows(positions[there])
        except NotCompilable:
            return None
        return rows


def widened(*arrays: memoryview) -> list[Array]:
    """Return parts of a block as int64 arrays, so that its kernel is compiled for one type only."""
    return [np.asarray(array).astype(np.int64) for array in arrays]


KINDS: dict[type, type[Finder]] = {
    RecordsReader: RecordsFinder,
    StepsReader: StepsFinder,
    SlotsReader: SlotsFinder,
    CompactReader: CompactFinder,
}


def finder_of(database: Database) -> Finder:
    """Return the bulk lookup of a database; the entry point of the group `retrograde.bulk`."""
    return KINDS[type(database.file.contents)](database)
