"""A database of a game that numbers its positions densely: what a position is worth is found at its number."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database
from retrograde.databases.slots.read import SlotsReader
from retrograde.games import Game


class SlotsDatabase(Database):
    """A solved game with a dense numbering; every legal position may be asked for, whether play leads there or not."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, SlotsReader)
        self.contents = file.contents
        self._block_size = self.contents.block_size
        self._numbers: list[int] = self.contents.tiers.numbers.tolist()
        self._bounds: list[int] = self.contents.tiers.bounds.tolist()
        rules: Any = game  # the contract has no `tiers` and `size`, which are names of options, too
        sizes = [rules.size(tier) for tier in self._numbers if tier in set(rules.tiers)]
        if len(sizes) != len(set(rules.tiers)) or [0, *accumulate(sizes)] != self._bounds:
            raise file.damaged("its tiers are not those of the game")

    def _find(self, position: int, tier: int) -> int:
        place = self._place(position, tier)
        if place < 0:
            return -1
        block, i = divmod(place, self._block_size)
        row: int = self._block(block)[i]
        return row

    def _place(self, position: int, tier: int) -> int:
        """Return the slot, among those of all tiers, of a canonical position, or -1 where it is none."""
        k = bisect_left(self._numbers, tier)
        if k == len(self._numbers) or self._numbers[k] != tier:
            return -1
        slot: int = self.game.index(position)
        if not 0 <= slot < self._bounds[k + 1] - self._bounds[k] or self.game.unindex(tier, slot) != position:
            return -1
        return self._bounds[k] + slot

    def _find_all(self, positions: NDArray[np.int64], tiers: NDArray[np.int64]) -> NDArray[np.int64]:
        pairs = zip(positions.tolist(), tiers.tolist(), strict=True)
        places = np.array([self._place(*pair) if pair[0] >= 0 else -1 for pair in pairs], np.int64)
        rows = np.full(len(places), -1, np.int64)
        blocks = places // self._block_size
        for block in np.unique(blocks[places >= 0]).tolist():
            asked = np.flatnonzero(blocks == block)
            rows[asked] = np.asarray(self._block(block))[places[asked] - block * self._block_size]
        return rows

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        """Yield (tier, positions, values, remotenesses) for all slots in order that stand for a position."""
        for tier, begin, end in zip(self._numbers, self._bounds, self._bounds[1:], strict=False):
            for first in range(begin, end, self._block_size):
                rows = self.contents.all_slots(first, min(first + self._block_size, end))
                slots = range(first - begin, first - begin + len(rows))
                positions = np.array([self.game.unindex(tier, slot) for slot in slots], np.int64)
                there = positions >= 0
                yield tier, positions[there], *self._read_legend(rows[there])
