"""Inputs of the tasks over a state space, and lookup of the children of a block of positions."""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.methods.listed.explore import kernels
from retrograde.solver.methods.listed.spill.looking import Located, Looked, blocks
from retrograde.solver.rules.examine import examine
from retrograde.solver.rules.expansion import Expander, ExpansionBlock, expander_of
from retrograde.solver.runtime.arrays import Part, Shared

Array = np.ndarray[Any, Any]


class Table(NamedTuple):
    """Inputs of every task: the game, its state space, and the scores of all positions.

    `space` is a StateSpace or a SpaceAside. Scores have *bits* bits for the plies.
    """

    game: Game
    space: Any
    scores: Shared
    bits: int

    @property
    def symmetric(self) -> bool:
        """Whether the game declares symmetry (`images`)."""
        return Traits.of(self.game).has_images


class Cyclic(NamedTuple):
    """A tier with cycles that is to be solved: tier number k, positions *low* to *high* among all.

    `scores` and `left` have an entry for each position of the tier, counted from 0. `left` holds the undecided-children
    counters (see values/left.py). `sums` uint32[n] are checksums of the parents (see values/edges.py); empty if the
    rules do not give parents.
    """

    table: Table
    k: int
    low: int
    high: int
    scores: Part
    left: Part
    sums: Part


def expand_located(table: Table, expander: Expander, k: int, positions: Array) -> ExpansionBlock:
    """Return a block with the children of positions of tier number k, and the children's indices.

    If the same player moves again in a child, its entry in `places` is -2 minus its index.
    """
    block = expand_placed(table, expander, k, positions)
    expander.mark_moves_again(positions, block, block.origins)
    return block


def expand_placed(table: Table, expander: Expander, k: int, positions: Array) -> ExpansionBlock:
    """Return such a block without marking the children where the same player moves again.

    Raises RuleError if a child is not in the state space.
    """
    block = expander.expand(int(table.space.tiers[k]), positions, sizes=table.symmetric)
    if locate(table, block):
        missing = ((block.children >= 0) & (block.places < 0))[:, : block.columns].any(axis=0)
        complain_of_moves(table.game, int(positions[block.origins[np.flatnonzero(missing)[0]]]))
    return block


def complain_of_moves(game: Game, position: int) -> NoReturn:
    """Raise the RuleError for a position that has a child outside the state space.

    `examine` raises a more exact error if it finds the fault.
    """
    examine(game, position)
    raise RuleError(
        f"{variant(game)}, position {position}: the rules give moves that they did not give before; "
        "they must depend on the position alone"
    )


def blocks_of(
    table: Table, k: int, begin: int, end: int, looked: Looked | None, times: int = 1
) -> Iterator[tuple[int, int, ExpansionBlock | Located]]:
    """Yield (begin, end, block) for consecutive blocks of tier number k, with children located.

    Blocks are *times* as long as usual. If *looked* is None, positions are expanded and looked up here, in memory.
    Otherwise *looked* holds their children, which a pass over the lists on disk has already located.
    """
    expander = expander_of(table.game)
    if looked is None:
        for first, last in expander.blocks(begin, end, times):
            yield first, last, expand_located(table, expander, k, table.space.positions[first:last])
        return
    for first, last, block in blocks(looked):
        if block.missing >= 0:
            complain_of_moves(table.game, int(table.space.read(block.missing, block.missing + 1)[0]))
        yield first, last, block


def blocks_of_some(
    table: Table, k: int, places: Array, looked: Looked | None
) -> Iterator[tuple[int, int, ExpansionBlock | Located]]:
    """Yield such blocks for chosen positions of tier number k, given by their indices in *places*.

    Begin and end of each block count within *places*.
    """
    expander = expander_of(table.game)
    if looked is None:
        for first, last in expander.blocks(0, len(places)):
            yield first, last, expand_located(table, expander, k, table.space.positions[places[first:last]])
        return
    begin = looked.outlines[0].begin
    for first, last, block in blocks(looked):
        if block.missing >= 0:
            place = int(places[block.missing - begin])
            complain_of_moves(table.game, int(table.space.read(place, place + 1)[0]))
        yield first - begin, last - begin, block


def locate(table: Table, block: ExpansionBlock) -> int:
    """Fill in the indices of the children of a block; return how many children are in no list."""
    space, unsorted = table.space, np.zeros(len(block.children), np.bool_)
    # Rows whose children ascend are found by a merge-like scan, which runs along memory. Only other rows need the
    # index.
    if space.large:
        kernels.disorder(block.columns, block.children, unsorted)
    missing = kernels.locate(block.columns, block.matrix, unsorted, space.lists, space.index, block.places)
    return int(missing)
