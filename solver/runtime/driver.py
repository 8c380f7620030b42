"""The driver: whatever has records of tiers is solved group by group, and what is done is logged.

    for each group, last first:    solve --done--> keep, log

What a solve before has logged is kept in the same way, and then left out.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase

Array = np.ndarray[Any, Any]
Done = tuple[Array, ...]
"""A piece of a group that is solved, as the journal has it. The arrays stay as they are."""

Group = TypeVar("Group")


class Kept(NamedTuple):
    """What a piece has: how many records, the tier of the last, and how many positions these stand for."""

    records: int
    tier: int | None
    positions: float | None = None


class Store(Protocol[Group]):
    """Where the records of tiers are, those that are solved and those that are not."""

    def groups(self) -> Iterable[Group]:
        """Yield what can be solved at once, last first: it rests on groups before alone."""

    def solve(self, group: Group, phase: Phase) -> Iterator[Done]:
        """Yield what is solved of a group, piece by piece, but for what is kept already; *phase* may be told of what is
        under way."""

    def keep(self, done: Done) -> Kept:
        """Take a piece, from `solve` or from the log alike; return what it has."""


def drive(store: Store[Any], log: Log, phase: Phase) -> None:
    """Solve all groups of a store, less what is in the log."""
    for entry in log.resumed:
        kept = store.keep(tuple(entry))
        phase.skip(kept.records, kept.positions)
    log.resumed.clear()
    phase.tell()
    for group in store.groups():
        for done in store.solve(group, phase):
            phase.advance(*store.keep(done))
            log.add(done)
            log.write()
    phase.end()
