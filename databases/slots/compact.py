"""Compact files read: of each tier the slots of one side to move are kept; what is left out follows from the children.

    parts      tier 3: White, Black         tier 4: White, Black           of each part its slots, and where they are
                       |                            |                      kept, if they are
    kept       |0      1      2      3  |   |0             1          |

The slots of a part, written as rows of so many columns, are kept column after column: the order in which neighbours are
most alike is another one for each ending::

    slots 0 1 2 3 4 5 in 2 columns      0 1
                                        2 3     are kept as 0 2 4 1 3 5
                                        4 5
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.layout import COMPACT_BLOCK, DERIVED, PARTS, PartRow
from retrograde.databases.slots.read import OutcomeReader
from retrograde.games.contract.game import POSITION_LIMIT


class CompactReader(OutcomeReader):
    """The slots that a compact file keeps: those are its items."""

    DATASET, ITEMS = "kept", COMPACT_BLOCK
    TABLES = ("legend", "tiers", "counts", "parts", "blocks")

    def __init__(self, file: CheckedFile):
        super().__init__(file)
        self.part = lru_cache(1)(self.read_part)
        """What `read_part` returns, the last one remembered: in another order it is not read bit by bit."""

    @property
    def slots(self) -> int:
        last = self.parts[-1]
        return last.slot + last.slots

    def read_tables(self) -> None:
        self.parts  # noqa: B018
        super().read_tables()

    @cached_property
    def parts(self) -> list[PartRow]:
        """The parts of all tiers, one after another."""
        table = self.file.locked(lambda: self.file.table("parts", PARTS))
        parts = [PartRow(*row) for row in table.tolist()]
        if not are_sound(parts, self.length):
            raise self.file.damaged("the table of parts contradicts itself")
        return parts

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first slot of each part."""
        return np.array([part.slot for part in self.parts], np.int64)

    def place_of(self, slot: int) -> int:
        """Return where a slot is kept; DERIVED where it is not."""
        part = self.parts[int(self.firsts.searchsorted(slot, "right")) - 1]
        if part.kept == DERIVED:
            return DERIVED
        row, column = divmod(slot - part.slot, part.columns)
        return part.kept + column * (part.slots // part.columns) + row

    def read_part(self, number: int) -> NDArray[Any]:
        """Return the outcomes of all slots of a part that is kept, in the order of slots."""
        part = self.parts[number]
        return self.items(part.kept, part.kept + part.slots).reshape(part.columns, -1).T.ravel()


def are_sound(parts: Sequence[PartRow], kept: int) -> bool:
    """Tell whether parts follow one another, and keep just so many slots, one after another.

    >>> are_sound([PartRow(0, 6, 0, 2), PartRow(6, 4, DERIVED, 1)], 6)
    True
    """
    slot = place = 0
    for part in parts:
        if part.slot != slot or part.slots < 1 or part.columns < 1 or part.slots % part.columns:
            return False
        if part.kept not in (DERIVED, place):
            return False
        slot += part.slots
        place += part.slots if part.kept != DERIVED else 0
    return place == kept and slot < POSITION_LIMIT
