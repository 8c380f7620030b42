"""Blocks of positions expanded by the compiled rules, on any number of threads."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError
from retrograde.solver.rules import compiled, kernels
from retrograde.solver.rules.active import asking
from retrograde.solver.rules.examine import blame, examine
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.reason import NOT_COMPILED, reason

Array = np.ndarray[Any, Any]

CELLS = 1 << 15
"""Cells of a matrix of children: 256 kB, so that the three of a thread stay in a core's cache."""
BLOCK = 1 << 14
"""The most positions in a block."""


class NotCompilable(RuleError):
    """Rules that run interpreted only, and so slowly."""


class Block:
    """A thread's matrices, filled anew for each block of positions.

    `primitives` uint8 and `sizes` uint16 have an entry for each position; `children`, `tiers` and `places`,
    int64[slots, positions], a column for each undecided one, as far as `columns`; `origins` int32 is its place.
    """

    def __init__(self) -> None:
        self.flat = np.empty((4, 0), np.int64)
        self.places_in_order = np.empty(0, np.int32)
        self.by_place: tuple[Array, ...] = np.empty(0, np.uint8), np.empty(0, np.uint16), np.empty(0, np.int32)
        self.images = np.empty(kernels.MOST_IMAGES, np.int64)

    def fit(self, slots: int, positions: int) -> None:
        """Make all arrays as large as the block at hand needs them."""
        cells = slots * positions
        if cells >= self.flat.shape[1]:
            self.flat = np.empty((4, max(cells + 1, CELLS + 1)), np.int64)
            self.places_in_order = np.empty(self.flat.shape[1], np.int32)
        if positions > len(self.by_place[0]):
            self.by_place = tuple(np.empty(max(positions, BLOCK), array.dtype) for array in self.by_place)
        self.children, self.tiers, self.places = self.flat[:3, :cells].reshape(3, slots, positions)
        self.out = self.flat[3]
        self.runs = np.empty((slots, 4), np.int64)
        self.unsorted = np.empty(slots, np.bool_)
        self.order = self.places_in_order[:cells].reshape(slots, positions)
        self.primitives, self.sizes, self.origins = (array[:positions] for array in self.by_place)
        self.columns = 0

    def by_position(self) -> tuple[list[int], list[list[int]]]:
        """Return primitive values and children of each position."""
        children: list[list[int]] = [[] for _ in self.primitives]
        for column, origin in enumerate(self.origins[: self.columns].tolist()):
            children[origin] = [child for child in self.children[:, column].tolist() if child >= 0]
        return self.primitives.tolist(), children


class Expander:
    """The compiled rules of a game, asked for children and parents."""

    def __init__(self, game: Game):
        compiled.prepare(game)
        self.game = game
        self.slots = 1  # grows to the most moves seen in a position
        self.local = threading.local()

    def blocks(self, begin: int, end: int, times: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the ends of the blocks in which a stretch is best expanded, or of blocks so many *times* as long."""
        while begin < end:
            stop = min(begin + max(1, times * min(BLOCK, CELLS // self.slots)), end)
            yield begin, stop
            begin = stop

    def expand(self, tier: int, positions: Array, sizes: bool = False) -> Block:
        """Return a block with the children of positions of a tier and, if asked for, how many are symmetric to each."""

        wide = positions.astype(np.int64, copy=False)

        def kernel(block: Block, trouble: Array) -> tuple[int, int]:
            room = block.sizes if sizes else block.sizes[:0]
            return kernels.expand(
                self.game, tier, wide, block.primitives, room, block.images,
                block.origins, block.children, block.tiers, trouble,
            )  # fmt: skip

        return self.run(kernel, len(positions))

    def expand_parents(self, tier: int, positions: Array) -> Block:
        """Return a block with the parents, in the place of children, of positions of a tier."""

        wide = positions.astype(np.int64, copy=False)

        def kernel(block: Block, trouble: Array) -> tuple[int, int]:
            block.tiers[:] = tier
            return kernels.expand_parents(self.game, tier, wide, block.children, trouble)

        return self.run(kernel, len(positions))

    def run(self, kernel: Any, positions: int) -> Block:
        """Call a kernel with matrices of enough slots; raise RuleError where the rules break the contract."""
        if not hasattr(self.local, "block"):
            self.local.block = Block()
        block: Block = self.local.block
        trouble = np.zeros(2, np.int64)
        while True:
            block.fit(self.slots, positions)
            try:
                with asking(self.game, trouble):
                    block.columns, needed = kernel(block, trouble)
            except NOT_COMPILED as error:
                raise NotCompilable(reason(self.game, error)) from error
            except Exception:
                with blame(self.game, max(0, int(trouble[1]))):
                    raise
            if trouble[0] != kernels.FINE or needed >= kernels.MOST_MOVES:
                examine(self.game, int(trouble[1]))  # finds the same fault and says it in full
                check_image(self.game, int(trouble[1]))
                raise RuleError(differ(self.game, int(trouble[1])))
            if needed <= len(block.children):
                return block
            self.slots = max(self.slots, needed)

    def spot_check(self, tier: int, positions: Array) -> None:
        """Raise RuleError unless the interpreted rules say of some positions what the compiled ones do, and of an image
        of each the same."""
        for position, value, children in zip(
            positions.tolist(), *self.expand(tier, positions).by_position(), strict=True
        ):
            if (value, children) != examine(self.game, position)[::2]:
                raise RuleError(differ(self.game, position))
            check_image(self.game, position)


def differ(game: Game, position: int) -> str:
    """Return the complaint that rules do not do the same, interpreted and compiled, or twice."""
    return (
        f"{variant(game)}, position {position}: the rules do one thing interpreted and another compiled; do ints "
        "exceed 64 bits on the way, or does anything but the position decide?"
    )
