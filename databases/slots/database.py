"""A database of a game that numbers its positions: looks outcomes up by slot.

Some tiers may lie in the databases of other variants (see `elsewhere` in the contract). Those are opened when needed,
from the same folder or the usual one. Where the game is over the rules give the outcome, so that no other database is
needed.
"""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database, Outcome
from retrograde.databases.errors import NoDatabase
from retrograde.databases.numbered import NumberedDatabase
from retrograde.databases.slots.read import OutcomeReader, SlotsReader
from retrograde.games import DRAW, UNDECIDED, Game
from retrograde.games.catalog import own_tiers
from retrograde.games.contract.game import Traits, is_none

TOGETHER = 64
"""Blocks of a tier that are read together."""
ALL = slice(None)
"""All slots of a tier."""


class SlotsDatabase(NumberedDatabase):
    """A solved game with the outcome of each slot."""

    open_other: Callable[[str], Database]
    """Opens the database of another variant, on which this one rests; the code that opens this database sets it."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, OutcomeReader)
        self.contents: OutcomeReader = file.contents
        self._has_swapped = Traits.of(game).has_swapped and not self._width
        if Traits.of(game).has_rewards:  # the digest of such rules says nothing of the numbering
            self._expect_numbering()
        self._expect_tiers(self._all_tiers, own_tiers(self._rules))
        if self._width:
            counts = self.contents.counts
            self.contents.counts = [row._replace(example=self._position_by_number(row.example)) for row in counts]
        has_all = self._file_tiers == self._all_tiers  # older files have the tiers of other variants too
        self._elsewhere = {} if has_all else {tier: self._rules.elsewhere(tier) for tier in self._all_tiers}
        """For each tier the variant whose database has it; "" if this one has it."""
        self._others: dict[str, SlotsDatabase] = {}
        """The databases opened so far of other variants."""
        self._opening = threading.Lock()
        """Held while one of these is opened, so that no thread opens it a second time."""

    @property
    def rests_on(self) -> list[str]:
        """The variants whose databases have the tiers that this one lacks; a variant follows those that it rests on."""
        return list(dict.fromkeys(filter(None, reversed(self._elsewhere.values()))))

    def holder(self, tier: int) -> "SlotsDatabase":
        """Return the database that has a tier: this one or another, opened at the first call. Raise NoDatabase."""
        variant = self._elsewhere.get(tier)
        if not variant:
            return self
        # Threads may look up at once; each other database is opened only once.
        with self._opening:
            if variant not in self._others:
                try:
                    other = self.open_other(variant)
                except NoDatabase as error:
                    raise NoDatabase(f"{self.file.variant} rests on others: {error}") from error
                if not isinstance(other, SlotsDatabase) or other.metric != self.metric:
                    other.close()
                    what = f"{self.file.variant} rests on {variant} by {self.metric}"
                    raise NoDatabase(f"{what}, and the database {str(other.file.path)!r} is by {other.metric}")
                self._others[variant] = other
        return self._others[variant]

    def all_slots(self, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Return the legend rows of the slots from *begin* to *end* (exclusive) through all tiers; all by default."""
        assert isinstance(self.contents, SlotsReader)
        return self.contents.all_slots(begin, end)

    def tier_rows(self, tier: int, slots: slice = ALL) -> Iterator[NDArray[Any]]:
        """Yield the legend rows of consecutive slots of a tier in this file, in order, some at a time."""
        k = bisect_left(self._file_tiers, tier)
        low, high = self._tier_starts[k : k + 2]
        first, end, _ = slots.indices(high - low)
        for begin in range(low + first, low + end, TOGETHER * self._block_size):
            yield self.all_slots(begin, min(begin + TOGETHER * self._block_size, low + end))

    def rows_of(self, tier: int, slots: slice = ALL) -> NDArray[Any]:
        """Return the legend rows of consecutive slots of a tier in this file."""
        return np.concatenate([*self.tier_rows(tier, slots)])

    def lookup(
        self, positions: ArrayLike, *, canonical: bool = False, tiers: ArrayLike | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values and remotenesses as `Database.lookup` does, also for tiers in other databases."""
        values, remotenesses = super().lookup(positions, canonical=canonical, tiers=tiers)
        # Values are 0 (UNDECIDED) where nothing was found.
        # A position without a slot may have one with the players exchanged.
        if self._has_swapped and not values.all():
            missing = np.flatnonzero(values.ravel() == UNDECIDED)
            others = [self.game.swapped(position) for position in np.asarray(positions).flat[missing].tolist()]
            values.flat[missing], remotenesses.flat[missing] = super().lookup(np.array(others, np.int64))
        if self._elsewhere and not values.all():
            # Look the positions that were not found up in the databases that have their tiers.
            array, missing_by_tier = np.asarray(positions), defaultdict(list)
            for i in np.flatnonzero(values.ravel() == UNDECIDED).tolist():
                if (address := self._locate(int(array.flat[i]))) and self._elsewhere.get(address[1]):
                    missing_by_tier[address[1]].append(i)
            for tier, indices in missing_by_tier.items():
                values.flat[indices], remotenesses.flat[indices] = self._lookup_elsewhere(tier, array.flat[indices])
        return values, remotenesses

    def _lookup_elsewhere(self, tier: int, positions: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values and remotenesses, as `lookup` does, of positions in a tier that another database has."""
        try:
            return self.holder(tier).lookup(positions)
        except NoDatabase:  # then only ends have an outcome
            outcomes = [self.get(position) or Outcome(UNDECIDED, None) for position in positions.tolist()]
            plies = [-1 if outcome.remoteness is None else outcome.remoteness for outcome in outcomes]
            return np.array([outcome.value for outcome in outcomes], np.uint8), np.array(plies, np.int32)

    def _find_outcome(self, position: Any) -> Outcome | None:
        """Return the outcome of a position, None if it is no position. If another database is missing, the rules still
        know ends."""
        try:
            return super()._find_outcome(position)
        except NoDatabase:
            canonical, tier = self._locate(position) or (-1, -1)
            # Another database is missing. If the game is over, the rules give the outcome all the same.
            if self.game.unindex(tier, self.game.index(canonical)) != canonical:
                return None
            value = self.game.primitive(canonical)
            if value == UNDECIDED:
                raise
            return Outcome(value, None if value == DRAW else 0)

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(super().close)
            for other in self._others.values():
                stack.callback(other.close)

    def _slot_of(self, position: int, tier: int) -> int:
        slot = super()._slot_of(position, tier)
        if slot < 0 and self._has_swapped and not is_none(other := self.game.swapped(position)):
            canonical = self.game.canonical(other)
            return super()._slot_of(canonical, self.game.tier(canonical))
        return slot

    def _find(self, position: int, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, or -1."""
        slot = self._slot_of(position, tier)
        if slot < 0:
            return -1
        block, i = divmod(slot, self._block_size)
        row: int = self._block(block)[i]
        return row

    def _find_all(self, positions: NDArray[np.int64], tiers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the legend rows of many canonical positions, -1 for one without a slot; decode each block once. A
        negative position stands for none, and gets -1 too."""
        pairs = zip(positions.tolist(), tiers.tolist(), strict=True)
        slots = np.array([self._slot_of(*pair) if pair[0] >= 0 else -1 for pair in pairs], np.int64)
        rows = np.full(len(slots), -1, np.int64)
        blocks = slots // self._block_size
        for block in np.unique(blocks[slots >= 0]).tolist():
            indices = np.flatnonzero(blocks == block)
            rows[indices] = np.asarray(self._block(block))[slots[indices] - block * self._block_size]
        return rows

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        for tier, first, last, positions, filled in self._blocks_of_slots():
            yield tier, positions, *self._read_legend(self.all_slots(first, last)[filled])
