"""Reads expected payoffs by slot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import columns
from retrograde.databases.layout import BOUNDS, SLOT_BLOCK, SLOT_BLOCKS
from retrograde.databases.reader import SlotReader
from retrograde.games import LOSE, TIE, WIN, Value

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
MOST = 1 << 61
"""All bounds lie strictly between -MOST and MOST."""


def value_by_bounds(low: int, high: int) -> Value:
    """Return the value of a position whose expectation lies between two bounds: WIN if it is surely above 0."""
    return WIN if low > 0 else (LOSE if high < 0 else TIE)


class BoundsReader(SlotReader):
    """Reads the bounds of a file, which are those of player 0."""

    DATASET, ITEMS, ROW = "bounds", SLOT_BLOCK, SLOT_BLOCKS

    def item_types(self) -> Sequence[np.dtype[Any]]:
        return [BOUNDS]

    def read_tables(self) -> None:
        self.checks, self.tiers  # noqa: B018

    def read_block(self, number: int) -> Bounds:
        """Return the lower and the upper bounds of a block of slots."""
        return self.file.locked(lambda: self._decode(number))

    def _decode(self, number: int) -> Bounds:
        low, width = columns(self.read_items(number, BOUNDS), "low", "width")
        if (low <= -MOST).any() or (width < 0).any() or (width >= MOST).any() or (low + width >= MOST).any():
            raise ValueError("bounds contradict each other")
        return low, low + width

    def all_bounds(self, begin: int, end: int) -> Bounds:
        """Return the lower and the upper bounds of slots *begin* to *end* (exclusive), of player 0."""
        first = begin // self.block_size
        blocks = [self.read_block(number) for number in range(first, -(-end // self.block_size))]
        low, high = map(np.concatenate, zip(*blocks, strict=True))
        wanted = slice(begin - first * self.block_size, end - first * self.block_size)
        return low[wanted], high[wanted]
