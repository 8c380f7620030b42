"""The audit of a database of records: positions with outcomes, sorted within each tier."""

from collections.abc import Iterator
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification.audit import BLOCK, Array, Audit, Checked

REMEMBERED = 1 << 16
"""Positions whose record numbers are cached while the interpreted rules run."""


class RecordAudit(Audit):
    """A database of records in memory. An item is a record.

    `positions` int64[n] and their legend `rows` are sorted tier by tier: tier k, of number `tiers[k]`, has the records
    from `bounds[k]` to `bounds[k + 1]`. `reached` uint8[n] marks records that play reaches, as far as known. `expanded`
    uint8[n] marks those of them whose children have been marked as reached.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        file = database.file
        self.positions = np.empty(file.stored, np.int64)
        self.rows = np.empty(file.stored, np.min_scalar_type(len(self.legend)))
        tiers: list[int] = []
        bounds: list[int] = []
        end = 0
        # Load all records. A tier may come in several chunks.
        for tier, positions, rows in file.contents.all_records():
            if not tiers or tiers[-1] != tier:
                tiers.append(tier)
                bounds.append(end)
            self.positions[end : end + len(positions)] = positions
            self.rows[end : end + len(positions)] = rows
            end += len(positions)
        self.tiers, self.bounds = np.array(tiers, np.int64), np.array([*bounds, end], np.int64)
        self.find = lru_cache(REMEMBERED)(self.find_record)
        starts = (self.find(self.game.canonical(start)) for start in (self.game.start, *self.game.starts))
        self.starts = [record for record in starts if record >= 0]
        self.begin()

    def __len__(self) -> int:
        return len(self.positions)

    def begin(self) -> None:
        super().begin()
        self.reached = np.zeros(len(self), np.uint8)
        self.expanded = np.zeros(len(self), np.uint8)
        self.reached[self.starts] = 1

    def find_record(self, position: int) -> int:
        """Return the record of a canonical position, or -1."""
        tier = self.game.tier(position)
        k = int(self.tiers.searchsorted(tier))
        if k == len(self.tiers) or self.tiers[k] != tier:
            return -1
        low, high = self.bounds[k : k + 2].tolist()
        record = low + int(self.positions[low:high].searchsorted(position))
        return record if record < high and self.positions[record] == position else -1

    def row_of(self, position: int) -> int:
        record = self.find(position)
        return -1 if record < 0 else self.row_at(record)

    def row_at(self, item: int) -> int:
        return int(self.rows[item])

    def position_at(self, item: int) -> int:
        return int(self.positions[item])

    def misplaced(self, item: int, position: int, canonical: int) -> str:
        own, tier = int(self.tiers[self.bounds.searchsorted(item, "right") - 1]), self.game.tier(position)
        if tier != own:
            return f"is stored in tier {own} and belongs in tier {tier}"
        return f"is stored, and equals {self.judge.text(canonical)} by symmetry" if canonical != position else ""

    # Interpreted

    def items(self) -> Iterator[int]:
        """Yield all records. Then mark those that play reaches, breadth-first from the starts."""
        self.children: list[list[int]] = []
        yield from range(len(self))
        found = self.starts
        while found:
            found = list({child for record in found for child in self.children[record] if not self.reached[child]})
            self.reached[found] = 1

    def note_children(self, item: int, children: list[int]) -> None:
        self.children.append([record for child in children if (record := self.find(child)) >= 0])

    # Compiled

    def storage(self) -> Any:
        from retrograde.solver.verification.storages import Records

        return Records(self.tiers, self.bounds, self.positions, self.rows, self.reached, self.expanded)

    def verify_items(self, executor: Executor, phase: Phase) -> Iterator[Checked]:
        def verify_block(begin: int) -> tuple[Array, Array]:
            return self.run(self.storage(), np.arange(begin, min(begin + BLOCK, len(self))))

        def expand(begin: int) -> None:
            self.run(self.storage(), late[begin : begin + BLOCK])

        # Pass 1: verify every record once, in parallel. Records already marked as reached mark their children.
        for tally, wrong in executor.map(verify_block, range(0, len(self), BLOCK)):
            yield 0, tally, wrong, int(tally["stored"].sum())
        # Pass 2: repeat for records that were marked only after pass 1 had visited them, until none are left.
        while len(late := np.flatnonzero(self.reached > self.expanded)):
            list(executor.map(expand, range(0, len(late), BLOCK)))

    def verify_reached(self) -> None:
        """Record the records that play never reaches, unless something else is wrong, which may be the cause."""
        if not self.wrong:
            for record in np.flatnonzero(self.reached == 0).tolist():
                self.complain(self.position_at(record), "is stored, and play never reaches it")
