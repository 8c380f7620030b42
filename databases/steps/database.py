"""A database of steps: a position's outcome is that of the last step at or before it.

Positions that need no step get their outcome from the rules: where the game is over, or the player to move wins in one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database
from retrograde.databases.encoding import Runs, mask_runs, squeeze
from retrograde.databases.steps.read import StepsReader
from retrograde.games import DRAW, LOSE, UNDECIDED, WIN, Game


class StepSpan(NamedTuple):
    """Where the steps of a tier lie: step numbers count from 0 through all tiers."""

    low: int
    """Its first step."""
    high: int
    """The number after that of its last step."""
    position: int
    """The position at which the first step begins."""
    runs: Runs
    """The runs of ones in the tier's mask."""
    others: int
    """The bits outside the mask, which are the same in all positions of the tier."""
    rank: int
    """The rank at which the first step begins."""
    first_block: int
    last_block: int


class StepsDatabase(Database):
    """A solved game as steps. It answers for every position that play can reach. For some positions that play cannot
    reach it returns an outcome too, which means nothing."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, StepsReader)
        self._tiers = [column.data for column in file.contents.tiers]
        self._ranks = file.contents.ranks.data
        self._block_size = file.contents.block_size
        self._span = lru_cache(4096)(self._find_span)
        self._rows = {(int(row.value), row.remoteness): k for k, row in enumerate(file.legend)}

    def _find(self, position: int, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, or -1."""
        try:
            outcome = self._without_steps(position)
        except (ArithmeticError, LookupError, ValueError):
            return -1  # the rules may raise for what is no position
        return self._find_step(position, tier) if outcome is None else self._rows.get(outcome, -1)

    def _without_steps(self, position: int) -> tuple[int, int] | None:
        """Return (value, remoteness) if the game is over or the player to move wins in one ply; else None."""
        game = self.game
        value = game.primitive(position)
        if value != UNDECIDED:
            return value, -1 if value == DRAW else 0
        if any(game.primitive(game.do_move(position, move)) == LOSE for move in game.generate_moves(position)):
            return WIN, 1
        return None

    def _find_step(self, position: int, tier: int) -> int:
        """Return the legend row of the last step at or before a position of a tier, or -1."""
        if (span := self._span(tier)) is None:
            return -1
        low, high, first, runs, others, first_rank, block, last_block = span
        if (position ^ first) & others:
            return -1
        rank = squeeze(position, runs)
        # Step 1: the block. In a tier of several blocks, the last one whose first rank is not greater.
        if block < last_block:
            block = bisect_right(self._ranks, rank, block + 1, last_block + 1) - 1
        sums, outcomes = self._block(block)
        block_begin = block * self._block_size
        if low < block_begin:  # the tier began in a block before
            low, first_rank = block_begin, self._ranks[block]
        # Step 2: the last step of the tier in this block whose rank is not greater. Sums differ as ranks do.
        begin, end = low - block_begin, min(high - block_begin, len(sums))
        step = bisect_right(sums, rank - first_rank + sums[begin], begin, end) - 1
        return outcomes[step] if step >= begin else -1

    def _find_span(self, tier: int) -> StepSpan | None:
        """Return where the steps of a tier lie; None if it has none."""
        numbers, bounds, positions, masks = self._tiers
        row = bisect_left(numbers, tier)
        if row == len(numbers) or numbers[row] != tier:
            return None
        low, high, first, runs = bounds[row], bounds[row + 1], positions[row], mask_runs(masks[row])
        size = self._block_size
        return StepSpan(low, high, first, runs, ~masks[row], squeeze(first, runs), low // size, (high - 1) // size)

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        """Raise TypeError: positions are not stored."""
        raise TypeError("a database of steps does not store positions; explore the game to list them")
