"""Reads compact files, which keep the slots of one side to move; the others follow from their children.

    parts      tier 3: White, Black         tier 4: White, Black           for each part its slots, and where they are
                       |                            |                      kept, if they are
    kept       |0      1      2      3  |   |0             1          |

The slots of a part form rows of a number of columns, and are kept column by column. The number of columns differs by
ending: it is chosen so that neighbours are most alike::

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
    """Reads the slots that a compact file keeps; these are its items."""

    DATASET, ITEMS = "kept", COMPACT_BLOCK
    TABLES = ("legend", "tiers", "counts", "parts", "blocks")

    def __init__(self, file: CheckedFile):
        super().__init__(file)
        self.part = lru_cache(1)(self.read_part)
        """`read_part`, with the last result cached: parts are kept by columns, so that all of one must be read."""

    @property
    def slots(self) -> int:
        last = self.parts[-1]
        return last.slot + last.slots

    def read_tables(self) -> None:
        self.parts  # noqa: B018
        super().read_tables()

    @cached_property
    def parts(self) -> list[PartRow]:
        """The parts of all tiers, in order."""
        table = self.file.locked(lambda: self.file.table("parts", PARTS))
        parts = [PartRow(*row) for row in table.tolist()]
        if not are_sound(parts, self.length):
            raise self.file.damaged("the table of parts contradicts itself")
        return parts

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first slot of each part."""
        return np.array([part.slot for part in self.parts], np.int64)

    def offset_of(self, slot: int) -> int:
        """Return the offset of a slot among the kept ones, or DERIVED if it is not kept."""
        part = self.parts[int(self.firsts.searchsorted(slot, "right")) - 1]
        if part.kept == DERIVED:
            return DERIVED
        row, column = divmod(slot - part.slot, part.columns)
        return part.kept + column * (part.slots // part.columns) + row

    def read_part(self, number: int) -> NDArray[Any]:
        """Return the outcomes of a kept part, in the order of slots."""
        part = self.parts[number]
        return self.items(part.kept, part.kept + part.slots).reshape(part.columns, -1).T.ravel()


def are_sound(parts: Sequence[PartRow], kept: int) -> bool:
    """Return whether parts follow one another without gaps, and together keep *kept* slots.

    >>> are_sound([PartRow(0, 6, 0, 2), PartRow(6, 4, DERIVED, 1)], 6)
    True
    """
    slot = offset = 0
    for part in parts:
        if part.slot != slot or part.slots < 1 or part.columns < 1 or part.slots % part.columns:
            return False
        if part.kept not in (DERIVED, offset):
            return False
        slot += part.slots
        offset += part.slots if part.kept != DERIVED else 0
    return offset == kept and slot < POSITION_LIMIT
