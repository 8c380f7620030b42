"""Verifies a database of records: positions with outcomes, sorted within each tier."""

from bisect import bisect_left
from collections.abc import Iterator
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.games.contract.game import Traits
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification.judge import text_of
from retrograde.solver.verification.outcomes import OutcomeVerifier
from retrograde.solver.verification.verifier import BLOCK, DatabaseVerifier, TaskResult

REMEMBERED = 1 << 16
"""Positions whose record numbers are cached while the interpreted rules run."""


class RecordTable(DatabaseVerifier):
    """A database of records in memory. An item is a record.

    `positions` int64[n], or int64[n, words], and their legend `row_numbers` are sorted tier by tier: tier k, of number
    `tiers[k]`, has the records from `bounds[k]` to `bounds[k + 1]`. `starts` are the records of the first positions.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.width = Traits.of(self.game).width
        self.positions = np.empty((self.stored, self.width) if self.width else self.stored, np.int64)
        self.row_numbers = np.empty(self.stored, np.min_scalar_type(self.legend_rows))
        tiers: list[int] = []
        bounds: list[int] = []
        end = 0
        # Load all records. A tier may come in several chunks.
        for tier, positions, rows in self.file.contents.all_records():
            if not tiers or tiers[-1] != tier:
                tiers.append(tier)
                bounds.append(end)
            self.positions[end : end + len(positions)] = positions
            self.row_numbers[end : end + len(positions)] = rows
            end += len(positions)
        self.tiers, self.bounds = np.array(tiers, np.int64), np.array([*bounds, end], np.int64)
        self.find = lru_cache(REMEMBERED)(self.find_record)
        starts = (self.find(self.game.canonical(start)) for start in (self.game.start, *self.game.starts))
        self.starts = [record for record in starts if record >= 0]

    def __len__(self) -> int:
        return len(self.positions)

    def find_record(self, position: int) -> int:
        """Return the record of a canonical position; -1 if it is not stored."""
        tier = self.game.tier(position)
        k = int(self.tiers.searchsorted(tier))
        if k == len(self.tiers) or self.tiers[k] != tier:
            return -1
        low, high = self.bounds[k : k + 2].tolist()
        record = low + bisect_left(range(low, high), position, key=self.position_at)
        return record if record < high and self.position_at(record) == position else -1

    def row_of(self, position: int) -> int:
        record = self.find(position)
        return -1 if record < 0 else int(self.row_numbers[record])

    def position_at(self, item: int) -> Any:
        return tuple(self.positions[item].tolist()) if self.width else int(self.positions[item])

    def storage(self, *marks: Array) -> Any:
        """Return the records for kernels, with *marks* of what play reaches."""
        from retrograde.solver.verification.storages import RecordStorage

        return RecordStorage(self.tiers, self.bounds, self.positions, self.row_numbers, *marks)


class RecordsVerifier(RecordTable, OutcomeVerifier):
    """Verifies the outcomes of records. `reached` uint8[n] marks records that play is known to reach, `expanded`
    uint8[n] those of them whose children have been marked as reached."""

    def begin(self) -> None:
        super().begin()
        self.reached = np.zeros(len(self), np.uint8)
        self.expanded = np.zeros(len(self), np.uint8)
        self.reached[self.starts] = 1

    def row_at(self, item: int) -> int:
        return int(self.row_numbers[item])

    def storage_fault(self, item: int, position: int, canonical: int) -> str:
        stored_tier, tier = int(self.tiers[self.bounds.searchsorted(item, "right") - 1]), self.game.tier(position)
        if tier != stored_tier:
            return f"is stored in tier {stored_tier} and belongs in tier {tier}"
        return f"is stored, and equals {text_of(self.game, canonical)} by symmetry" if canonical != position else ""

    # Interpreted

    def items(self) -> Iterator[int]:
        """Yield all records. Then mark those that play reaches, breadth-first from the starts."""
        self.children: list[list[int]] = []
        """The records of each record's children. `note_children` appends them when the caller checks the record."""
        yield from range(len(self))
        frontier = self.starts
        while frontier:
            new = {child for record in frontier for child in self.children[record] if not self.reached[child]}
            frontier = list(new)
            self.reached[frontier] = 1

    def note_children(self, item: int, children: list[int]) -> None:
        self.children.append([record for child in children if (record := self.find(child)) >= 0])

    # Compiled

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """Verify all records in blocks, then mark what play reaches."""

        def verify_records(begin: int) -> TaskResult:
            return self.run(self.storage(self.reached, self.expanded), np.arange(begin, min(begin + BLOCK, len(self))))

        def expand(records: Array) -> None:
            self.run(self.storage(self.reached, self.expanded), records)

        # Pass 1: verify every record once, in parallel. Records already marked as reached mark their children.
        yield from executor.map(verify_records, range(0, len(self), BLOCK))
        # Pass 2: repeat for records that were marked only after pass 1 had visited them, until none are left.
        while len(late := np.flatnonzero(self.reached > self.expanded)):
            list(executor.map(expand, (late[begin : begin + BLOCK] for begin in range(0, len(late), BLOCK))))

    def verify_reached(self) -> None:
        """Record the records that play never reaches, unless something else is wrong, which may be the cause."""
        if not self.wrong:
            for record in np.flatnonzero(self.reached == 0).tolist():
                self.complain(self.position_at(record), "is stored, and play never reaches it")
