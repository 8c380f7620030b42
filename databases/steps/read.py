"""Reads steps, block by block: the ranks at which the outcome changes within a tier."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import are_positions, columns
from retrograde.databases.layout import STEP_BLOCK, STEP_BLOCKS, STEP_TIERS
from retrograde.databases.reader import NOUGHT, GapReader


class StepTiers(NamedTuple):
    """The table of tiers, by columns."""

    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """The first step of each tier; the last entry is the number of steps."""
    positions: NDArray[np.int64]
    """The position at which each tier's first step begins."""
    masks: NDArray[np.int64]
    """The bits in which the positions of each tier differ."""


class StepsReader(GapReader):
    """Reads the steps of a file."""

    DATASET, ITEMS, ROW = "steps", STEP_BLOCK, STEP_BLOCKS
    TIERS = StepTiers, STEP_TIERS

    def read_tables(self) -> None:
        self.tiers, self.ranks  # noqa: B018

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each block's first step."""
        (ranks,) = columns(self.block_table, "rank")
        if not are_positions(ranks):
            raise self.file.damaged("the table of blocks holds what no rank can be")
        return ranks

    def read_block(self, number: int) -> tuple[memoryview, memoryview]:
        """Return the running sums of a block's gaps, through all its tiers, and the rows of the legend."""
        bounds = self.tiers.bounds
        first = number * self.block_size
        # The tiers that begin in the block after its first step. The last bound, the number of all steps, is no tier.
        low, high = bounds.searchsorted([first, first + self.block_size], "right")
        begins = np.append(NOUGHT, bounds[low:high] - first)
        begins = begins[begins < self.items_in(number)]
        # Row low - 1 is the tier of the first step. A mask of as many ones as the widest of their masks limits gaps.
        widest = max(mask.bit_count() for mask in self.tiers.masks[low - 1 : high].tolist())
        sums, outcomes = self.read_gaps(number, begins, (1 << widest) - 1)
        self.check_outcomes(outcomes)
        return sums.data, outcomes.data
