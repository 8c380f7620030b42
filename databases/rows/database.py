"""A database of positions of several words: finds a position among the rows of its tier."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database, set_example_positions
from retrograde.databases.rows.read import RowsReader
from retrograde.games import Game


class RowsDatabase(Database):
    """A solved game whose positions are stored word by word. It knows of any position whether play reaches it."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, RowsReader)
        self.contents = file.contents
        if self.contents.width != self._width:
            raise file.damaged(f"its positions have {self.contents.width} words, and by the rules {self._width}")
        set_example_positions(file, self.contents.position)

    def _find(self, position: Any, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, or -1."""
        numbers, bounds = self.contents.tiers
        k = int(numbers.searchsorted(tier))
        if k == len(numbers) or numbers[k] != tier:
            return -1
        low, high, size = int(bounds[k]), int(bounds[k + 1]), self.contents.block_size
        # Step 1: the last block of the tier whose first position is not greater. The first block may begin before the
        # tier, so only the later ones are compared; *later* of them begin at or before the position.
        first, last = low // size, (high - 1) // size
        later = bisect_right(range(first + 1, last + 1), position, key=lambda number: self._position_at(number, 0))
        block = first + later
        # Step 2: the position within the block.
        begin, end = max(low - block * size, 0), min(high - block * size, size)
        i = begin + bisect_left(range(begin, end), position, key=lambda i: self._position_at(block, i))
        return int(self._block(block).outcomes[i]) if i < end and self._position_at(block, i) == position else -1

    def _position_at(self, block: int, i: int) -> tuple[int, ...]:
        return tuple(self._block(block).positions[i].tolist())

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        for tier, positions, rows in self.contents.all_records():
            yield tier, positions, *self._read_legend(rows)
