"""Looks many positions up at once with kernels; the answers are those of single lookups.

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
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.steps.read import StepsReader
from retrograde.games.contract.game import DRAW, WIN, Value
from retrograde.solver.methods.numbered.compact.derive import Deriver
from retrograde.solver.methods.numbered.compact.kernels import LEFT_OUT, index_stored
from retrograde.solver.play import kernels
from retrograde.solver.play.kernels import LookupBlock, LookupKeys, TierTable
from retrograde.solver.rules.compiled import GuardedGame
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import of_positions
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import trouble_array, watch_kernel
from retrograde.solver.runtime.array_type import Array

PASS = 1 << 22
"""Positions in a pass, at some 40 bytes of memory each. A pass reads each block at most once."""
SLICE = 1 << 16
"""Positions for which a thread asks the rules at a time."""
CACHED_BYTES = 64 << 20
"""Decoded blocks kept for the next pass or call, in bytes."""
NONE = np.empty(0, np.int64)

Each = Callable[[Callable[[Any], None], Iterable[Any]], Iterable[None]]
"""A function like the builtin `map`."""


class BulkFinder(ABC):
    """Finds the legend rows of many positions in a database."""

    find: Callable[..., None]
    """The kernel that searches a block."""

    def __init__(self, database: Database):
        """Prepare for a database. Its rules are guarded, because they are asked about ints that may be no positions."""
        self.file, self.contents = database.file, database.file.contents
        self.game = database.game
        self.guarded = GuardedGame(database.game)
        self.size = self.contents.block_size
        self.table = self.read_table()
        self.block = lru_cache(max(1, CACHED_BYTES // (16 * self.size)))(self.read_block)

    @abstractmethod
    def read_table(self) -> TierTable:
        """Return the file's table of tiers."""

    @abstractmethod
    def read_block(self, number: int) -> LookupBlock:
        """Return a decoded block."""

    @abstractmethod
    def find_blocks(self, lookup: LookupKeys, rows: Array) -> Array:
        """Return each position's block, NOWHERE if it has none, and write the rows of positions that need none."""

    def rows(self, positions: Array) -> Array:
        """Return the legend row of each position, -1 if it has none."""
        rows = np.full(len(positions), kernels.NOWHERE, np.int32)
        with map_on_threads(len(positions)) as each:
            for part in cut_slices(len(positions), PASS):
                self.find_rows(positions[part], rows[part], each)
        return rows

    def find_rows(self, positions: Array, rows: Array, each: Each) -> None:
        """Write the legend rows of positions, on threads given by *each*."""
        lookup = LookupKeys(np.empty(len(positions), np.int64), np.empty(len(positions), np.int64))
        blocks = np.empty(len(positions), np.int64)

        def ask(part: slice) -> None:
            part_lookup = LookupKeys(lookup.keys[part], lookup.tiers[part])
            self.locate(positions[part], part_lookup)
            blocks[part] = self.find_blocks(part_lookup, rows[part])

        # Step 1: ask the rules, on threads. (`deque(…, 0)` runs an iterator to its end.)
        deque(each(ask, cut_slices(len(positions), SLICE)), 0)
        # Step 2: search the blocks, on threads.
        self.search(lookup, blocks, rows, each)

    def search(self, lookup: LookupKeys, blocks: Array, rows: Array, each: Each) -> None:
        """Write the rows of positions that have a block, searching each block once."""

        def search_block(number: int) -> None:
            span = int(begins[number]), int(begins[number + 1])
            self.find(span, sorted_keys, self.table, self.block(number), found)

        order, sorted_keys, begins = kernels.sort_by_block(blocks, self.contents.block_count, lookup)
        found = np.full(len(order), kernels.NOWHERE, np.int32)
        deque(each(search_block, np.flatnonzero(np.diff(begins)).tolist()), 0)
        kernels.scatter_rows(order, found, rows)

    def locate(self, positions: Array, lookup: LookupKeys) -> None:
        """Write the canonical positions and their tiers."""
        self.ask(kernels.locate, (positions, lookup), lookup.keys)

    def ask(self, kernel: Any, arguments: tuple[Any, ...], answers: Array) -> None:
        """Run a kernel that asks the rules about positions, and write NOWHERE to *answers* where they raise."""
        done, trouble = np.zeros(1, np.int64), trouble_array(self.game)
        while done[0] < len(answers):
            try:
                with compilable(self.game), watch_kernel(self.game, trouble):
                    kernel(rules_for(self.guarded), *arguments, done, trouble)
            except NotCompilable:  # a kernel, not the rules: they run interpreted then
                raise
            except (ArithmeticError, LookupError, ValueError):  # the rules may raise for what is no position
                answers[done[0]] = kernels.NOWHERE
                done[0] += 1


@contextmanager
def map_on_threads(count: int) -> Iterator[Each]:
    """Give a `map` on as many threads as *count* positions are worth."""
    workers = min(-(-count // SLICE), os.cpu_count() or 1)
    with ThreadPoolExecutor(max(1, workers)) as executor:
        yield executor.map if workers > 1 else map


def cut_slices(length: int, size: int) -> Iterator[slice]:
    """Yield slices of *size* items that cover *length* items; the last may be shorter.

    >>> list(cut_slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    yield from (slice(begin, min(begin + size, length)) for begin in range(0, length, size))


class RankFinder(BulkFinder):
    """Finds positions in a database of records, by their ranks in the blocks."""

    find = staticmethod(kernels.find_ranks)

    @cached_property
    def firsts(self) -> Array:
        """The rank of the first item of each block."""
        return np.asarray(self.contents.blocks.positions)

    def read_table(self) -> TierTable:
        numbers, bounds, positions = self.contents.tiers
        return TierTable(numbers, bounds, positions, np.full(len(numbers), kernels.ALL_BITS))

    def read_block(self, number: int) -> LookupBlock:
        decoded, mask = self.contents.read_block(number), int(self.contents.blocks.masks[number])
        return self.make_block(number, mask, True, decoded.sums, decoded.outcomes)

    def make_block(self, number: int, mask: int, exact: bool, *decoded: memoryview) -> LookupBlock:
        return LookupBlock(number * self.size, int(self.firsts[number]), mask, exact, *widen(*decoded))

    def find_blocks(self, lookup: LookupKeys, rows: Array) -> Array:
        """Return each position's block, and replace the keys by ranks."""
        blocks = np.empty(len(rows), np.int64)
        kernels.find_blocks(lookup, self.table, self.firsts, self.size, blocks)
        return blocks


class StepsFinder(RankFinder):
    """Finds positions in a database of steps."""

    def __init__(self, database: Database):
        super().__init__(database)
        rows = {(row.value, row.remoteness): k for k, row in enumerate(self.file.legend)}
        ends = [rows.get((value, -1 if value == DRAW else 0), kernels.NOWHERE) for value in Value]
        self.ends = np.array([*ends, rows.get((WIN, 1), kernels.NOWHERE)], np.int64)

    @cached_property
    def firsts(self) -> Array:
        return np.asarray(self.contents.ranks)

    def read_table(self) -> TierTable:
        return TierTable(*self.contents.tiers)

    def read_block(self, number: int) -> LookupBlock:
        return self.make_block(number, kernels.ALL_BITS, False, *self.contents.read_block(number))

    def find_blocks(self, lookup: LookupKeys, rows: Array) -> Array:
        """Return the blocks of positions whose outcome the steps have, and write the rows of ends and wins in
        one ply."""
        self.ask(kernels.find_ends, (lookup, self.ends, rows), rows)
        lookup.keys[rows != kernels.IN_STEPS] = kernels.NOWHERE
        rows[rows == kernels.IN_STEPS] = kernels.NOWHERE
        return super().find_blocks(lookup, rows)


class SlotsFinder(BulkFinder):
    """Finds positions in a database of slots."""

    find = staticmethod(kernels.find_slots)

    def read_table(self) -> TierTable:
        numbers, bounds = self.contents.tiers
        return TierTable(numbers, bounds, NONE, NONE)

    def read_block(self, number: int) -> LookupBlock:
        return LookupBlock(number * self.size, 0, 0, True, NONE, *widen(self.contents.read_block(number)))

    def locate(self, positions: Array, lookup: LookupKeys) -> None:
        """Write the slots in place of canonical positions, since tuples would not fit an array of ints."""
        self.ask(kernels.locate_slots, (positions, self.table, lookup.keys), lookup.keys)

    def find_blocks(self, lookup: LookupKeys, rows: Array) -> Array:
        blocks: Array = lookup.keys // self.size  # -1 // size stays -1, NOWHERE
        return blocks

    def positions_of(self, tier: int, begin: int, count: int) -> Array:
        """Return the positions of *count* slots of a tier, from slot *begin* on; NOWHERE for slots without one."""
        positions = of_positions(self.game, count)
        self.ask(kernels.write_positions, (tier, begin, positions), positions)
        return positions


class CompactFinder(SlotsFinder):
    """Finds positions in a compact database, and derives those that are not stored."""

    def __init__(self, database: Database):
        super().__init__(database)
        self.block = lru_cache(max(1, CACHED_BYTES // self.size))(self.read_block)
        self.deriver = Deriver(database, self.guarded, self.find_stored)

    def read_block(self, number: int) -> LookupBlock:
        return LookupBlock(number * self.size, 0, 0, True, NONE, np.asarray(self.contents.read_block(number)))

    def find_blocks(self, lookup: LookupKeys, rows: Array) -> Array:
        index_stored(self.deriver.parts, lookup.keys, rows)
        return super().find_blocks(lookup, rows)

    def find_stored(self, slots: Array, tiers: Array, rows: Array, each: Each) -> None:
        self.search(LookupKeys(slots, tiers), slots // self.size, rows, each)

    def rows(self, positions: Array) -> Array:
        """Return the legend rows of positions, derived if they are not stored."""
        rows = super().rows(positions)
        missing = np.flatnonzero(rows == LEFT_OUT)
        rows[missing] = self.deriver.rows(positions[missing])
        return rows

    def slot_rows(self, tier: int, begin: int, count: int) -> Array:
        """Return the rows of *count* slots of a tier that are not stored; 0 for slots without a position."""
        rows = np.zeros(count, np.int32)
        for part in cut_slices(count, SLICE):
            positions = self.positions_of(tier, begin + part.start, part.stop - part.start)
            exists = np.flatnonzero(positions >= 0)
            rows[part.start + exists] = self.deriver.rows(positions[exists])
        return rows


def widen(*arrays: memoryview) -> list[Array]:
    """Return arrays as int64, so that kernels are compiled for one type."""
    return [np.asarray(array).astype(np.int64) for array in arrays]


KINDS: dict[type, type[BulkFinder]] = {
    RecordsReader: RankFinder,
    StepsReader: StepsFinder,
    SlotsReader: SlotsFinder,
    CompactReader: CompactFinder,
}


def finder_of(database: Database) -> BulkFinder | None:
    """Return the bulk lookup of a database, None if there is none; the entry point of the group `retrograde.bulk`."""
    kind = KINDS.get(type(database.file.contents))
    return kind(database) if kind else None
