"""Inputs of the tasks over a state space, and lookup of the children of a block of positions."""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.methods.listed.explore import kernels
from retrograde.solver.methods.listed.spill import row_kernels
from retrograde.solver.methods.listed.spill.lookup import LocatedBlock, LocatedChildren, located_blocks
from retrograde.solver.rules.examine import examine, to_list
from retrograde.solver.rules.expansion import Expander, ExpansionBlock, expander_of
from retrograde.solver.rules.positions import position_in
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import ArraySlice, SharedArray


class ListedTable(NamedTuple):
    """Inputs of every task: the game, its state space, and the scores of all positions, with *bits* bits for plies.
    `space` is a StateSpace or a SpilledStateSpace."""

    game: Game
    space: Any
    scores: SharedArray
    bits: int

    @property
    def tiers(self) -> Array:
        """The tiers as the rules number them, ascending."""
        tiers: Array = self.space.tiers
        return tiers

    def scores_of(self, k: int) -> ArraySlice:
        """Return the scores of tier number k."""
        return self.scores.slice(*self.space.bounds_of(k))

    @property
    def symmetric(self) -> bool:
        """Whether the rules give images."""
        return Traits.of(self.game).has_images


def expand_and_locate(table: ListedTable, expander: Expander, k: int, positions: Array) -> ExpansionBlock:
    """Return a block with the children of positions of tier number k. Its `indices` are those in the state space, -1
    for no child. Raise RuleError for a child outside the state space.

    Children where the same player moves again are still to be marked (`mark_moves_again`).
    """
    block = expander.expand(int(table.space.tiers[k]), positions, sizes=table.symmetric)
    if locate(table, block):
        exist = (block.children if positions.ndim == 1 else block.children[..., 0]) >= 0
        # A column has the children of one position, number `origins[column]`.
        missing = (exist & (block.indices < 0))[:, : block.columns].any(axis=0)
        refuse_moves(table.game, position_in(table.game, positions, block.origins[np.flatnonzero(missing)[0]]))
    return block


def refuse_moves(game: Game, position: Any) -> NoReturn:
    """Raise RuleError for a position with a child outside the state space; `examine` may raise a more exact one."""
    examine(game, position)
    raise RuleError(
        f"{variant(game)}, position {position}: the rules give moves that they did not give before; "
        "they must depend on the position alone"
    )


def blocks_of(
    table: ListedTable, k: int, begin: int, end: int, located: LocatedChildren | None, times: int = 1,
    indices: Array | None = None,
) -> Iterator[tuple[int, int, LocatedBlock]]:  # fmt: skip
    """Yield (begin, end, block) for consecutive blocks of tier number k, with children located.

    Blocks are *times* as long as usual. If *located* is None, positions are expanded and looked up here, in memory.
    Otherwise *located* holds their children, which a pass over the lists on disk has already located. With *indices*,
    positions are chosen by them; begin and end count within them.
    """
    if located is None:
        expander = expander_of(table.game)
        for first, last in expander.blocks(begin, end, times):
            positions = table.space.positions[slice(first, last) if indices is None else indices[first:last]]
            block = expand_and_locate(table, expander, k, positions)
            expander.mark_moves_again(positions, block, block.origins)
            yield first, last, LocatedBlock(block.columns, block.indices, block.matrix, block.out)
        return
    # Chosen positions on disk count from the begin of their block; the caller counts them from 0.
    base = 0 if indices is None else located.outlines[0].begin
    for first, last, located_block, missing in located_blocks(located):
        if missing >= 0:
            index = missing if indices is None else int(indices[missing - base])
            refuse_moves(table.game, to_list(table.space.read(index, index + 1))[0])
        yield first - base, last - base, located_block


def locate(table: ListedTable, block: ExpansionBlock) -> int:
    """Fill in the indices of the children of a block; return how many children are in no list."""
    space, matrix = table.space, block.matrix
    # Case: positions of several words, without keys. Compare word by word.
    if block.width and space.packing is None:
        return int(kernels.gallop_rows(block.columns, matrix, space.lists_of_rows, block.indices, False))
    # Case: positions of several words, with keys. Look their keys up.
    if block.width:
        matrix = matrix._replace(children=np.empty(block.indices.shape, np.int64))
        row_kernels.pack_children(block.columns, block.children, space.packing, matrix.children)
    children = matrix.children[:, : block.columns]
    # Rows whose children ascend are found by galloping, which runs along memory. Only other rows need the index.
    unsorted = np.zeros(len(children), np.bool_)
    if space.large:
        np.any(children[:, 1:] < children[:, :-1], axis=1, out=unsorted)
    missing = kernels.locate(block.columns, matrix, unsorted, space.lists, space.index, block.indices)
    # Several positions may share an inexact key: gallop from where the key was found, word by word.
    if block.width and not space.packing.is_exact:
        missing = kernels.gallop_rows(block.columns, block.matrix, space.lists_of_rows, block.indices, True)
    return int(missing)
