"""What tasks over a state space are told, and where in it the children of a block are."""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, defines
from retrograde.solver.methods.listed.explore import kernels
from retrograde.solver.methods.listed.spill.looking import Located, Looked, blocks
from retrograde.solver.rules.examine import examine
from retrograde.solver.rules.expansion import Block, Expander, expander_of
from retrograde.solver.runtime.arrays import Part, Shared

Array = np.ndarray[Any, Any]


class Table(NamedTuple):
    """What tasks are told: the game, its state space (a StateSpace or a SpaceAside), and the scores that are known,
    with so many *bits* for plies."""

    game: Game
    space: Any
    scores: Shared
    bits: int

    @property
    def symmetric(self) -> bool:
        """Whether positions may be equal by symmetry."""
        return defines(self.game, "images")


class Cyclic(NamedTuple):
    """A tier to be solved: its number k, where it begins and ends, the scores of its positions, numbered from 0, and
    what is left of them (see values/left.py).

    `sums` uint32[n] is about the parents (see values/edges.py), or uint32[0] where the rules do not give them.
    """

    table: Table
    k: int
    low: int
    high: int
    scores: Part
    left: Part
    sums: Part


def expand_located(table: Table, expander: Expander, k: int, positions: Array) -> Block:
    """Return a block with the children, and their places, of positions of tier number k.

    The place of a child where the player moves again is -2 less what it is.
    """
    block = expand_placed(table, expander, k, positions)
    expander.mark_moves_again(positions, block, block.origins)
    return block


def expand_placed(table: Table, expander: Expander, k: int, positions: Array) -> Block:
    """Return the same, whoever is to move."""
    block = expander.expand(int(table.space.tiers[k]), positions, sizes=table.symmetric)
    if locate(table, block):
        missing = ((block.children >= 0) & (block.places < 0))[:, : block.columns].any(axis=0)
        complain_of_moves(table.game, int(positions[block.origins[np.flatnonzero(missing)[0]]]))
    return block


def complain_of_moves(game: Game, position: int) -> NoReturn:
    """Raise the RuleError due where a position has a child that is not among those found."""
    examine(game, position)
    raise RuleError(
        f"{variant(game)}, position {position}: the rules give moves that they did not give before; "
        "they must depend on the position alone"
    )


def blocks_of(
    table: Table, k: int, begin: int, end: int, looked: Looked | None, times: int = 1
) -> Iterator[tuple[int, int, Block | Located]]:
    """Yield the blocks of a stretch of tier number k, so many *times* as long as usual, and where each begins and ends:
    expanded and located, unless that has been done in passes, when they are those *looked* at."""
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
) -> Iterator[tuple[int, int, Block | Located]]:
    """Yield the same of positions of tier number k at some *places*, and where among these each begins and ends."""
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


def locate(table: Table, block: Block) -> int:
    """Fill the places of the children in a block, and return how many have none."""
    space, unsorted = table.space, np.zeros(len(block.children), np.bool_)
    if space.large:
        kernels.disorder(block.columns, block.children, unsorted)
    missing = kernels.locate(block.columns, block.matrix, unsorted, space.lists, space.index, block.places)
    return int(missing)
