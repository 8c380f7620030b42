"""A database of steps: what a position is worth is what the last step before it says, or the rules where it needs
none."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.database import Database
from retrograde.databases.encoding import mask_runs, squeeze
from retrograde.games import DRAW, LOSE, UNDECIDED, WIN


class SteppedDatabase(Database):
    """A solved game as steps.

    It answers for every position that play can reach. Of another one it may not know that play cannot, and then what it
    says means nothing.
    """

    def _open(self, cache_blocks: int) -> None:
        file = self.file
        self._step_tiers = [column.data for column in file.step_tiers]
        self._ranks = file.step_ranks.data
        self._block_size = file.block_size
        self._steps = lru_cache(cache_blocks)(file.read_steps)
        self._step_stretch = lru_cache(4096)(self._find_step_stretch)
        self._rows = {(int(row.value), row.remoteness): k for k, row in enumerate(file.legend)}

    def get(self, position: int, default: Any = None) -> Any:
        """Return a position's outcome, or a default where play is known never to reach it."""
        row = self._row(index(position))
        return default if row is None else self._outcomes[row]

    def _row(self, position: int) -> int | None:
        """Return the row of the legend for a position, None where play is known never to reach it."""
        place = self._locate(position)
        if place is None:
            return None
        try:
            outcome = self._without_steps(place[0])
        except (ArithmeticError, LookupError, ValueError):
            return None  # rules need not cope with what is no position
        if outcome is not None:
            return self._rows.get(outcome)
        row = self._find(*place)
        return None if row < 0 else row

    def _without_steps(self, position: int) -> tuple[int, int] | None:
        """Return the value and remoteness of a position where the game is over, or the player to move wins in one."""
        game = self.game
        value = game.primitive(position)
        if value != UNDECIDED:
            return value, -1 if value == DRAW else 0
        if any(game.primitive(game.do_move(position, move)) == LOSE for move in game.generate_moves(position)):
            return WIN, 1
        return None

    def _find(self, position: int, tier: int) -> int:
        if (stretch := self._step_stretch(tier)) is None:
            return -1
        low, high, first, runs, others, begin, number, last = stretch
        if (position ^ first) & others:
            return -1
        rank = squeeze(position, runs)
        if number < last:
            number = bisect_right(self._ranks, rank, number + 1, last + 1) - 1
        sums, outcomes = self._steps(number)
        record = number * self._block_size
        if low < record:  # the tier began in a block before
            low, begin = record, self._ranks[number]
        i, end = low - record, min(high - record, len(sums))
        step = bisect_right(sums, rank - begin + sums[i], i, end) - 1
        return outcomes[step] if step >= i else -1

    def _find_step_stretch(self, tier: int) -> Any:
        """Return a tier's first step, the one after its last, where the first begins, the runs of the mask, the bits
        not under it, the rank of the first, its first and last block."""
        numbers, bounds, positions, masks = self._step_tiers
        row = bisect_left(numbers, tier)
        if row == len(numbers) or numbers[row] != tier:
            return None
        low, high, first, runs = bounds[row], bounds[row + 1], positions[row], mask_runs(masks[row])
        size = self._block_size
        return low, high, first, runs, ~masks[row], squeeze(first, runs), low // size, (high - 1) // size

    def _find_all(self, positions: NDArray[np.int64], tiers: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = [self._row(position) if position >= 0 else None for position in positions.tolist()]
        return np.array([-1 if row is None else row for row in rows], np.int64)

    def close(self) -> None:
        """Close the file."""
        self._steps.cache_clear()
        self.file.close()

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        """Raise TypeError: positions are not stored."""
        raise TypeError("a database of steps does not store positions; explore the game to list them")
