"""The numbering of a game's tiers and slots, and positions by slot."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from random import Random
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import own_tiers, variant
from retrograde.games.contract.game import Game, RuleError, Traits, is_none
from retrograde.solver.rules.images import mean_size
from retrograde.solver.runtime.array_type import Array

MOST_SLOTS = 1 << 40


def is_by_slot(game: Any, least: int = 0) -> bool:
    """Return whether a game with chance numbers its positions and has more than *least* slots."""
    traits = Traits.of(game)
    if not traits.has_numbering or not traits.has_chance or not game.tiers:
        return False
    return SlotNumbering.of(game).slots > least


class TierPart(NamedTuple):
    """A part of a tier: the tier, the part's number in it, and its slots, numbered across all tiers."""

    tier: int
    number: int
    slots: slice


class SlotSample(NamedTuple):
    """Result of sampling `slots` slots: `records` of them have positions, which stand for `positions` with all
    symmetric ones."""

    slots: int
    records: int
    positions: int


@dataclass(frozen=True)
class SlotNumbering:
    """The tiers of a game, and their slots one after another. `tiers` int64[T] ascends. Tier number *row* has the slots
    `starts[row]` to `starts[row + 1]` of all."""

    tiers: Array
    starts: Array

    @classmethod
    def own(cls, game: Any) -> "SlotNumbering":
        """Return the numbering of a game's own database, without the tiers that are `elsewhere` in other databases."""
        return cls.of(game, own_tiers(game))

    @classmethod
    def of(cls, game: Any, tiers: Any = None) -> "SlotNumbering":
        """Return the numbering of all tiers of a game, those in other databases included, or of some *tiers*. Raises
        RuleError if tiers or sizes are invalid."""
        given = game.tiers if tiers is None else tiers
        try:
            tiers = sorted(set(map(index, given)))
        except TypeError:
            raise RuleError(f"{variant(game)}: tiers is {given!r:.60}; it must be a list of ints, all tiers") from None
        sizes = [game.size(tier) for tier in tiers]
        for tier, size in zip(tiers, sizes, strict=True):
            if not is_int(size) or not 0 < size < MOST_SLOTS:
                raise RuleError(f"{variant(game)}: size({tier}) gives {size}; it must give an int from 1 to 2**40")
        if not tiers:
            raise RuleError(f"{variant(game)} has a size(), and no tiers; give the class a property that lists them")
        return cls(np.array(tiers, np.int64), np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))

    @property
    def slots(self) -> int:
        """The number of slots of all tiers."""
        return int(self.starts[-1])

    def sample(self, game: Game, most: int, seconds: float) -> SlotSample:
        """Sample random slots with the interpreted rules: at most *most*, for about *seconds* seconds."""
        random, deadline = Random(0), time.monotonic() + seconds
        slots = records = positions = 0
        while slots < most and (not slots or time.monotonic() < deadline):
            row, slot = self.locate(random.randrange(self.slots))
            position = self.position_at(game, row, slot)
            slots += 1
            if not is_none(position):
                records += 1
                positions += round(mean_size(game, [position]))
        return SlotSample(slots, records, positions)

    def number_at(self, game: Any, row: int, slot: int) -> int:
        """Return the number that stands for a slot's position in a file. It is the position itself or, if positions are
        tuples, the slot's index among all."""
        return int(self.starts[row]) + slot if Traits.of(game).width else game.unindex(int(self.tiers[row]), slot)

    def locate(self, number: int) -> tuple[int, int]:
        """Return (row, slot in the tier) of a slot's number among all."""
        row = int(self.starts.searchsorted(number, side="right")) - 1
        return row, number - int(self.starts[row])

    def slice_of(self, row: int) -> slice:
        """Return the slots of a tier among all."""
        return slice(int(self.starts[row]), int(self.starts[row + 1]))

    def size(self, row: int) -> int:
        """Return the number of slots of a tier."""
        return int(self.starts[row + 1] - self.starts[row])

    def row(self, tier: int) -> int:
        """Return the row of a tier; -1 if there is no such tier."""
        row = int(self.tiers.searchsorted(tier))
        return row if row < len(self.tiers) and self.tiers[row] == tier else -1

    def slot_of(self, game: Game, position: int) -> tuple[int, int]:
        """Return (row, slot) of a position. Raises RuleError if the rules give an invalid tier or slot."""
        tier = game.tier(position)
        row = self.row(tier) if is_int(tier) else -1
        if row < 0:
            raise RuleError(f"{variant(game)}, position {position}: it is in tier {tier}, which is not among the tiers")
        slot = game.index(position)
        if not is_int(slot) or not 0 <= slot < self.size(row):
            size = self.size(row)
            raise RuleError(f"{variant(game)}, position {position}: index() gives {slot}, and size({tier}) is {size}")
        return row, slot

    def position_at(self, game: Any, row: int, slot: int) -> Any:
        """Return the position of a slot, -1 if it is empty. Raises RuleError if the position has another slot or is not
        canonical."""
        tier = int(self.tiers[row])
        position: Any = game.unindex(tier, slot)
        try:
            position = tuple(map(index, position)) if isinstance(position, tuple) else index(position)
        except TypeError:
            raise RuleError(f"{variant(game)}: unindex({tier}, {slot}) gives {position!r}, which is no int") from None
        if is_none(position):
            return -1
        own_row, own_slot = self.slot_of(game, position)
        if (own_row, own_slot) != (row, slot):
            what = f"unindex({tier}, {slot}) gives it, and its slot is {own_slot} of tier {self.tiers[own_row]}"
            raise RuleError(f"{variant(game)}, position {position}: {what}")
        if (least := game.canonical(position)) != position:
            what = f"unindex({tier}, {slot}) gives it, and must give the canonical position, {least}"
            raise RuleError(f"{variant(game)}, position {position}: {what}")
        return position

    def parts(self, game: Game) -> Iterator[TierPart]:
        """Yield the parts of all tiers."""
        for row, tier in enumerate(self.tiers.tolist()):
            begin = int(self.starts[row])
            for number, slots in self.parts_of(game, row):
                yield TierPart(tier, number, slice(begin + slots.start, begin + slots.stop))

    def parts_of(self, game: Game, row: int) -> Iterator[tuple[int, slice]]:
        """Yield (number, slots within the tier) for each part of tier number *row*: parts of 3 and 5 slots are
        (0, slice(0, 3)) and (1, slice(3, 8)). Raises RuleError at the end if they are not the whole tier."""
        tier, begin = int(self.tiers[row]), 0
        for number, (_name, count) in enumerate(game.parts(tier)):
            yield number, slice(begin, begin + count)
            begin += count
        if begin != self.size(row):
            raise RuleError(f"{variant(game)}: parts({tier}) have {begin} slots, and size({tier}) is {self.size(row)}")


def is_int(number: object) -> bool:
    """Return whether `operator.index` accepts *number*: an int, a bool or a NumPy integer."""
    try:
        index(number)  # type: ignore[arg-type]  # that is what is being tried
    except TypeError:
        return False
    return True
