"""A compact database: one side to move is stored, and the outcomes of the other follow from its children.

    position, not kept --a move--> child of the same tier, kept           --block--> its outcome
                       --a move--> child of a later tier, kept or derived            the best of all passed up

Tiers never fall along a move. So every position that must be derived on the way lies in a later tier, and the recursion
ends.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import BULK, CACHE_BLOCKS, Database, Outcome
from retrograde.databases.layout import DERIVED
from retrograde.databases.numbered import positions_of_slots
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.contract.game import Traits

NO_CHILD = -2
"""The plies used if no child has a remoteness, as in a damaged file. LOSE in one more, -1, is in no legend."""


class CompactDatabase(SlotsDatabase):
    """A solved game of which only a part is stored. It answers like a database of all slots."""

    contents: CompactReader

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        sizes = [slots for tier in self._file_tiers for _, slots in game.parts(tier) if slots]
        stored = [part.slots for part in self.contents.parts]
        if stored != sizes or not {*self._tier_starts} <= {0, *accumulate(stored)}:
            raise file.damaged("its parts are not those of the game")
        if self._width or not Traits.of(game).alternates:
            raise file.damaged("it is compact, and the game is not one that can be")
        self._row_of = {outcome: row for row, outcome in enumerate(self._outcomes)}

    def all_slots(self, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Return the legend rows of slots *begin* to *end* (exclusive); derive those that are not kept."""
        end = self.contents.slots if end is None else end
        blocks = []
        for number, part in enumerate(self.contents.parts):
            low, high = max(begin, part.slot), min(end, part.slot + part.slots)
            if low < high and part.kept != DERIVED:
                blocks.append(self.contents.part(number)[low - part.slot : high - part.slot])
            elif low < high:
                blocks.append(self._derive_slots(low, high))
        return np.concatenate(blocks)

    def close(self) -> None:
        self.contents.part.cache_clear()
        super().close()

    def _derive_slots(self, low: int, high: int) -> NDArray[Any]:
        """Return the legend rows of slots of one tier that are not kept; 0 for slots without a position."""
        k = int(self.contents.tiers.bounds.searchsorted(low, "right")) - 1
        tier, first = self._file_tiers[k], self._tier_starts[k]
        rows = self._bulk.slot_rows(tier, low - first, high - low) if high - low >= BULK and self._bulk else None
        if rows is None:
            positions, filled = positions_of_slots(self.game, tier, range(low - first, high - first))
            rows = np.zeros(high - low, np.int64)
            rows[filled] = [self._derive_row(position, tier) for position in positions.tolist()]
        return np.asarray(rows, self.contents.outcome_type)

    _find_all = Database._find_all  # one by one, for most blocks of a tier are not stored

    def _find(self, position: int, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, kept or derived, or -1."""
        slot = self._slot_of(position, tier)
        if slot < 0:
            return -1
        offset = self.contents.offset_of(slot)
        return self._derive_row(position, tier) if offset == DERIVED else self._row_at(offset)

    def _row_at(self, offset: int) -> int:
        """Return the legend row at an offset among the kept slots."""
        block, i = divmod(offset, self._block_size)
        row: int = self._block(block)[i]
        return row

    def _derive_row(self, position: int, tier: int) -> int:
        """Return a position's row in the legend, from the rules and the position's children."""
        value = self.game.primitive(position)
        if value != UNDECIDED:
            outcome = Outcome(value, None if value == DRAW else 0)
        else:
            moves = list(self.game.generate_moves(position))
            outcome = best_outcome(self._outcome_of_child(self.game.do_move(position, move), tier) for move in moves)
        try:
            return self._row_of[outcome]
        except KeyError:
            raise self.file.damaged("an outcome that follows from the children is not in the legend") from None

    def _outcome_of_child(self, child: int, parent_tier: int) -> Outcome:
        """Return the outcome of a child of a position that is not kept. *parent_tier* is that position's tier."""
        address = self._locate(child)  # (canonical child, its tier), or None
        if address is None:
            raise self.file.damaged("a position is left out, and a child is no position")
        if address[1] != parent_tier:  # a later tier: looked up or derived like any position
            outcome: Outcome | None = self.get(child)
            if outcome is None:
                raise self.file.damaged("a position is left out, and a child is no position")
            return outcome
        slot = self._slot_of(*address)
        if slot < 0 or (offset := self.contents.offset_of(slot)) == DERIVED:
            raise self.file.damaged("a position is left out, and so is a child not in a later tier")
        return self._outcomes[self._row_at(offset)]


def best_outcome(children: Iterable[Outcome]) -> Outcome:
    """Return a position's outcome from those of its children, each for the player to move there.

    A child that is LOSE makes the position a WIN, in one ply more than the soonest such child. Otherwise a child that
    is TIE makes it a TIE, counted in the same way, and then one that is DRAW a DRAW. If all children are WIN, the
    position is a LOSE, in one ply more than the latest.

    >>> best_outcome([Outcome(WIN, 4), Outcome(DRAW, None), Outcome(LOSE, 6), Outcome(LOSE, 2)])
    Outcome(value=<Value.WIN: 4>, remoteness=3)
    """
    outcomes = list(children)
    for child_value, value in ((LOSE, WIN), (TIE, TIE)):
        if plies := [each.remoteness for each in outcomes if each.value == child_value and each.remoteness is not None]:
            return Outcome(value, min(plies) + 1)
    if any(each.value == DRAW for each in outcomes):
        return Outcome(DRAW, None)
    plies = [each.remoteness for each in outcomes if each.remoteness is not None]
    return Outcome(LOSE, max(plies, default=NO_CHILD) + 1)
