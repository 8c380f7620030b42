"""Reads expected payoffs by slot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import columns
from retrograde.databases.layout import BOUNDS, SLOT_BLOCK, SLOT_BLOCKS
from retrograde.databases.reader import SlotReader

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
MOST = 1 << 61
"""All bounds lie strictly between -MOST and MOST."""


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
        parts = [self.read_block(number) for number in range(first, -(-end // self.block_size))]
        low, high = (np.concatenate(column)[begin - first * self.block_size :] for column in zip(*parts, strict=True))
        return low[: end - begin], high[: end - begin]
