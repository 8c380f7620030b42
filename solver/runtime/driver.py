"""Solves a store group by group and logs each finished piece, so that a killed solve resumes.

    for each group, last first:    solve --done--> keep, log

Pieces that an earlier run has logged go to the store in the same way, and are not solved again.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase

Done = tuple[Array, ...]
"""A solved piece of a group, in the journal's form: arrays that must not change afterwards."""

Group = TypeVar("Group")


class StoredCounts(NamedTuple):
    """What a piece holds: records, the tier of the last one, and the positions that the records stand for."""

    records: int
    tier: int | None
    positions: float | None = None


class Store(Protocol[Group]):
    """Solves and holds the records of a game, group by group."""

    def groups(self) -> Iterable[Group]:
        """Yield the groups, last first. Each depends only on groups yielded before."""

    def solve(self, group: Group, phase: Phase) -> Iterator[Done]:
        """Yield the solved pieces of a group, except those already kept; *phase* may get progress meanwhile."""

    def keep(self, done: Done) -> StoredCounts:
        """Store a piece, from `solve` or from the log, and return its counts."""


def drive(store: Store[Any], log: Log, phase: Phase) -> None:
    """Solve all groups of a store, except what the log has."""
    for entry in log.resumed:
        counts = store.keep(tuple(entry))
        phase.skip(counts.records, counts.positions)
    log.resumed.clear()
    phase.tell()
    for group in store.groups():
        for done in store.solve(group, phase):
            phase.advance(*store.keep(done))
            log.add(done)
            log.write()
    phase.end()
