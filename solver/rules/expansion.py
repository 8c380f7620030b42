"""Expands blocks of positions with the compiled rules, on any number of threads."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, MOST_MOVES, Game, RuleError, Traits, is_none
from retrograde.solver.rules import kernels
from retrograde.solver.rules.examine import blame, describe_difference, examine, refuse_chance, to_list
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.kernels import Matrix
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import noted_position, trouble_array, watch_kernel
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array

CELLS = 1 << 15
"""Cells of a matrix of children: 256 kB, so that a thread's three matrices stay in a core's cache."""
BLOCK = 1 << 14
"""The most positions in a block."""


class ExpansionBlock:
    """A thread's buffers for one block of positions: the arrays of a Matrix, and two more.

    The arrays are views into larger buffers, which `fit` cuts for the size of a block. The first `columns` columns are
    valid. `indices` int64[rows, positions] is for the children's indices in the state space, and `out` int64[cells + 1]
    for a list of them.
    """

    def __init__(self, width: int = 0) -> None:
        """*width* is the number of words of a position, 0 if it is one int."""
        self.width = width
        self.words = np.empty(0, np.int64)
        """The buffer of `children`, if positions are of several words."""
        self.flat = np.empty((4, 0), np.int64)
        """The buffers of `children`, `tiers`, `indices` and `out`: a cell of the matrix is a column here."""
        self.for_positions: tuple[Array, ...] = np.empty(0, np.uint8), np.empty(0, np.uint16), np.empty(0, np.int32)
        """The buffers of `primitives`, `sizes` and `origins`."""
        self.images = np.empty((MOST_IMAGES, width) if width else MOST_IMAGES, np.int64)

    def fit(self, rows: int, positions: int, sizes: bool = False) -> None:
        """Set the arrays to views for a matrix of *rows* by *positions* cells; make the buffers larger if needed.

        Only with *sizes* do kernels count the positions symmetric to each one.
        """
        cells = rows * positions  # `out` has one item more
        if cells >= self.flat.shape[1]:
            self.flat = np.empty((4, max(cells + 1, CELLS + 1)), np.int64)
        if positions > len(self.for_positions[0]):
            self.for_positions = tuple(np.empty(max(positions, BLOCK), array.dtype) for array in self.for_positions)
        self.children, self.tiers, self.indices = self.flat[:3, :cells].reshape(3, rows, positions)
        if self.width:
            if len(self.words) < cells * self.width:
                self.words = np.empty(max(cells, CELLS) * self.width, np.int64)
            self.children = self.words[: cells * self.width].reshape(rows, positions, self.width)
        self.out = self.flat[3]
        self.primitives, self.sizes, self.origins = (array[:positions] for array in self.for_positions)
        no_sizes = self.sizes[:0]  # kernels count no symmetric positions if the array is empty
        self.matrix = Matrix(
            self.children, self.tiers, self.primitives, self.sizes if sizes else no_sizes, self.origins, self.images
        )
        self.columns = 0

    def list_children(self) -> tuple[Array, Array, Array]:
        """Return arrays of all children, of their tiers, and of the indices of their parents in the block."""
        children = self.children[:, : self.columns]
        exist = (children[..., 0] if self.width else children) >= 0
        parents = np.broadcast_to(self.origins[: self.columns], exist.shape)
        return children[exist], self.tiers[:, : self.columns][exist], parents[exist]

    def lists_by_position(self) -> tuple[list[int], list[list[Any]]]:
        """Return (primitive values, lists of children), both with an entry for each position."""
        children: list[list[Any]] = [[] for _ in self.primitives]
        for column, origin in enumerate(self.origins[: self.columns].tolist()):
            cells = to_list(self.children[:, column])
            children[origin] = [child for child in cells if not is_none(child)]
        return self.primitives.tolist(), children


class Expander:
    """Expands positions of one game with its compiled rules: children and parents."""

    def __init__(self, game: Game, eager: bool = False):
        """Prepare for a game. The rules of an *eager* expander are compiled from the start."""
        self.game = game
        self.rules = rules_for(game, eager)
        self.rows = 1  # grows to the most moves seen in a position
        self.local = threading.local()

    def blocks(self, begin: int, end: int, times: int = 1) -> Iterator[tuple[int, int]]:
        """Yield (begin, end) of consecutive blocks from *begin* to *end*, *times* as long as suits the cache."""
        while begin < end:
            stop = min(begin + max(1, times * min(BLOCK, CELLS // self.rows)), end)
            yield begin, stop
            begin = stop

    def expand(self, tier: int, positions: Array, sizes: bool = False) -> ExpansionBlock:
        """Return a block with the children of positions of a tier; with *sizes*, also how many are symmetric to
        each."""
        wide = positions.astype(np.int64, copy=False)  # as kernels take them
        return self.run(
            lambda block, trouble: kernels.expand(self.rules, tier, wide, block.matrix, trouble), len(positions), sizes
        )

    def primitives(self, positions: Array) -> Array:
        """Return the primitive value of each position."""
        values, trouble = np.empty(len(positions), np.uint8), trouble_array(self.game)
        with compiling(self.game, trouble):
            kernels.write_primitives(self.rules, positions, values, trouble)
        return values

    def expand_parents(self, tier: int, positions: Array) -> ExpansionBlock:
        """Return a block whose `children` are the parents of the positions within their tier, a column for each
        position. Of the rest of the block only `tiers` is written."""
        wide = positions.astype(np.int64, copy=False)  # as kernels take them

        def ask(block: ExpansionBlock, trouble: Array) -> tuple[int, int]:
            block.tiers[:] = tier
            counts: tuple[int, int] = kernels.expand_parents(self.rules, tier, wide, block.children, trouble)
            return counts

        return self.run(ask, len(positions))

    def mark_moves_again(self, positions: Array, block: ExpansionBlock, origins: Array) -> None:
        """Mark the children at which the same player moves again: their index i in `block.indices` becomes -2 - i.

        *origins* has the index in *positions* of each column.
        """
        if Traits.of(self.game).alternates:
            return
        wide, trouble = positions.astype(np.int64, copy=False), trouble_array(self.game)
        children, indices = block.children, block.indices
        with compiling(self.game, trouble):
            sound = kernels.mark_moves_again(self.rules, block.columns, wide, origins, children, indices, trouble)
        if not sound:
            position = noted_position(self.game, trouble)
            refuse_chance(self.game, position)
            raise RuleError(describe_difference(self.game, position))

    def run(
        self, ask: Callable[[ExpansionBlock, Array], tuple[int, int]], positions: int, sizes: bool = False
    ) -> ExpansionBlock:
        """Call a kernel with matrices of enough rows; raise RuleError if the rules break the contract."""
        if not hasattr(self.local, "block"):
            self.local.block = ExpansionBlock(Traits.of(self.game).width)
        block: ExpansionBlock = self.local.block
        trouble = trouble_array(self.game)
        while True:
            block.fit(self.rows, positions, sizes)
            with compiling(self.game, trouble):
                block.columns, needed = ask(block, trouble)
            # The interpreted rules show the same fault in detail. If they show none, compiled and interpreted rules
            # differ.
            if trouble[0] != Trouble.FINE or needed >= MOST_MOVES:
                position = noted_position(self.game, trouble)
                examine(self.game, position)
                check_image(self.game, position)
                raise RuleError(describe_difference(self.game, position))
            if needed <= len(block.children):
                return block
            # Too few rows: remember how many are needed, and call again.
            self.rows = max(self.rows, needed)

    def spot_check(self, tier: int, positions: Array) -> None:
        """Raise RuleError unless interpreted and compiled rules agree at these positions, and at an image of each."""
        for position, value, children in zip(
            to_list(positions), *self.expand(tier, positions).lists_by_position(), strict=True
        ):
            if (value, children) != examine(self.game, position)[::2]:  # all but the moves
                raise RuleError(describe_difference(self.game, position))
            check_image(self.game, position)


@lru_cache(8)
def expander_of(game: Game) -> Expander:
    """Return the expander of a game; all tasks of a process share it."""
    return Expander(game)


@contextmanager
def compiling(game: Game, trouble: Array) -> Iterator[None]:
    """Turn errors of compiled rules into a RuleError that names the position, taken from *trouble*."""
    try:
        with compilable(game), watch_kernel(game, trouble):
            yield
    except Exception:
        was_called = trouble[1] >= 0  # else the error is one of compiling: no rule has got a position yet
        with blame(game, noted_position(game, trouble) if was_called else 0):
            raise
