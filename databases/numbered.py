"""A database of a game that numbers its positions: finds the slot of a position, and the positions of slots."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Database, set_example_positions
from retrograde.databases.errors import OtherRules
from retrograde.databases.reader import SlotReader
from retrograde.games import Game
from retrograde.games.contract.game import Traits, is_none


class NumberedDatabase(Database):
    """A solved game with slots. It answers for every legal position, whether play reaches it or not."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, SlotReader)
        self._block_size = file.contents.block_size
        self._file_tiers: list[int] = file.contents.tiers.numbers.tolist()
        self._tier_starts: list[int] = file.contents.tiers.bounds.tolist()
        """The first slot of each tier, and the number of all slots last."""
        rules: Any = game  # options may be named `tiers` or `size`, so the contract has neither
        self._rules = rules
        self._all_tiers = sorted(set(rules.tiers))
        """All tiers of the game, by its rules; those of the file are `_file_tiers`."""

    def _expect_numbering(self) -> None:
        """Raise OtherRules if the file was made by another numbering, where the digest of the rules leaves it out."""
        from retrograde.games.identity.digest import is_digest_of, numbering_digest

        if not is_digest_of(str(self.file.details.get("numbering")), numbering_digest(self.game)):
            from retrograde.games.catalog import typed

            raise OtherRules(
                f"the database {str(self.file.path)!r} was made by another numbering than {self.file.game_name} has "
                f"now; make it again: retrograde solve {typed(self.game)} --fresh"
            )

    def _expect_tiers(self, *allowed: list[int]) -> None:
        """Raise DamagedDatabase unless the file's tiers are one of these lists, with the sizes that the rules give."""
        are_known = set(self._file_tiers) <= {*self._all_tiers}
        starts = [0, *accumulate(map(self._rules.size, self._file_tiers))] if are_known else []
        if self._file_tiers not in allowed or starts != self._tier_starts:
            raise self.file.damaged("its tiers are not those of the game")
        if self._width:  # positions are tuples, so the legend has slots in place of examples
            set_example_positions(self.file, self._position_by_number)

    def _position_by_number(self, number: int) -> Any:
        """Return the position of a slot, numbered through all tiers."""
        numbers, bounds = self.file.contents.tiers
        k = int(bounds.searchsorted(number, "right")) - 1
        if k == len(numbers):
            raise self.file.damaged(f"an example is in slot {number}, and there are not so many")
        return self._rules.unindex(int(numbers[k]), number - int(bounds[k]))

    def _slot_of(self, position: int, tier: int) -> int:
        """Return a canonical position's slot, numbered through all tiers, or -1 if it has none."""
        k = bisect_left(self._file_tiers, tier)
        if k == len(self._file_tiers) or self._file_tiers[k] != tier:
            return -1
        slot: int = self.game.index(position)
        if not 0 <= slot < self._tier_starts[k + 1] - self._tier_starts[k] or self.game.unindex(tier, slot) != position:
            return -1
        return self._tier_starts[k] + slot

    def _blocks_of_slots(self) -> Iterator[tuple[int, int, int, NDArray[np.int64], NDArray[np.bool_]]]:
        """Yield (tier, first slot, end, positions, which slots have one) for consecutive slots through all tiers."""
        for tier, tier_begin, tier_end in zip(self._file_tiers, self._tier_starts, self._tier_starts[1:], strict=False):
            for first in range(tier_begin, tier_end, self._block_size):
                end = min(first + self._block_size, tier_end)
                slots = range(first - tier_begin, end - tier_begin)  # within the tier
                yield tier, first, end, *positions_of_slots(self.game, tier, slots)


def positions_of_slots(game: Any, tier: int, slots: range) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return (the positions of slots that have one, whether each slot has one); int64[n, ints] if they are tuples."""
    by_slot = [game.unindex(tier, slot) for slot in slots]
    filled = np.array([not is_none(position) for position in by_slot], np.bool_)
    positions = np.array([position for position in by_slot if not is_none(position)], np.int64)
    return positions.reshape(-1, width) if (width := Traits.of(game).width) else positions, filled
