"""An explored game: all positions, sorted by tier, and the rules' answers about them in blocks.

    positions --read_block--> where the children are, whose turn it is, what ends pay --metric--> measures

The *place* of a position is its index among all positions. Arrays of a metric have an entry for each place.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.listed.explore.explore import Explorer
from retrograde.solver.methods.listed.explore.space import StateSpace
from retrograde.solver.methods.listed.kernels import reverse
from retrograde.solver.methods.listed.table import ListedTable, expand_located
from retrograde.solver.rules import payoff_kernels
from retrograde.solver.rules.examine import refuse_tuples, starts_of
from retrograde.solver.rules.expansion import compiling, expander_of
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]

BYTES_A_MOVE = 24
"""Memory per move for children and predecessor lists, in bytes."""


class ExploredBlock(NamedTuple):
    """What the rules say about the positions from place `begin` to place `end`, all of one tier.

    `primitives` uint8 and `movers` int8 (-1 for chance) have an entry for each position. `pays` int64[positions,
    players] is what ends pay, 0 elsewhere.

    `places` int64[rows, columns] has a column for each undecided position: the places of its children in the order of
    the moves, -1 for none. `origins` int32[columns] is the position of each column, counted from `begin`. `rewards`
    int64[rows, columns, players] is what these moves pay at once; it has no rows if moves pay nothing.
    """

    begin: int
    end: int
    primitives: Array
    movers: Array
    pays: Array
    places: Array
    origins: Array
    rewards: Array


class ExploredGame:
    """All reachable positions, one of each set of symmetric ones, and methods that read the rules for them."""

    def __init__(self, game: Game, space: StateSpace, work: Work):
        self.game, self.space, self.work = game, space, work
        self.table = ListedTable(game, space, work.zeros("no scores", 1, np.uint16), 0)
        self.alternating = Traits.of(game).alternates
        """Whether every move passes the turn; if not, `movers` say who is to move."""

    def __len__(self) -> int:
        return len(self.space)

    @property
    def positions(self) -> Array:
        """All positions, tier by tier."""
        return self.space.positions

    def tiers_backwards(self) -> Iterator[int]:
        """Yield the tier numbers, last first, so that children in other tiers come before their parents."""
        yield from reversed(range(len(self.space.tiers)))

    def blocks(self, k: int) -> Iterator[ExploredBlock]:
        """Yield an ExploredBlock for each block of tier number *k*, in order of places."""
        blocks = expander_of(self.game).blocks(*self.space.stretch(k))
        yield from self.work.map(read_block, ((self.table, k, begin, end) for begin, end in blocks))

    @cached_property
    def sizes(self) -> Array:
        """Number of positions symmetric to each, uint16[n]; uint16[0] if the game has no symmetry."""
        if not self.table.symmetric:
            return np.zeros(0, np.uint16)
        stretches = (
            (self.table, begin, end)
            for k in range(len(self.space.tiers))
            for begin, end in expander_of(self.game).blocks(*self.space.stretch(k))
        )
        return np.concatenate([*self.work.map(count_sizes, stretches)])


def explore(game: Game, work: Work) -> ExploredGame:
    """Explore a game, resuming from an interrupted solve; raise NotForSearch for positions that are tuples of ints."""
    refuse_tuples(game, "solved in lists")
    work.course.plan(exploring=0.6, solving=0.35, writing=0.05)
    space = Explorer(game, work).explore(starts_of(game), work.log("waves"), work.phase("exploring"))
    assert isinstance(space, StateSpace)
    return ExploredGame(game, space, work)


class PositionGraph(NamedTuple):
    """A graph of positions as lists of children and predecessors.

    Children of position i: `children[ends[i - 1]:ends[i]]`. Predecessors: `parents[begins[i]:begins[i + 1]]`.
    """

    children: Array
    ends: Array
    parents: Array
    begins: Array


def graph_of(explored: ExploredGame) -> PositionGraph:
    """Return the graph of all positions, with an edge for each move."""
    blocks = (block for k in range(len(explored.space.tiers)) for block in explored.blocks(k))
    children, ends = children_of(blocks, 0, len(explored))
    explored.work.budget.check(BYTES_A_MOVE * len(children), f"linking {len(explored):,} positions")
    return PositionGraph(children, ends, *predecessors_of(children, ends))


def children_of(blocks: Iterable[ExploredBlock], low: int, high: int) -> tuple[Array, Array]:
    """Return the children of the positions from *low* to *high*, and where each position's children end.

    Children are listed position by position, in the order of the moves.
    """
    counts, lists = np.zeros(high - low, np.int64), [np.empty(0, np.int64)]
    for block in blocks:
        by_position = block.places.T
        is_child = by_position >= 0
        counts[block.begin - low + block.origins] = is_child.sum(1)
        lists.append(by_position[is_child])
    return np.concatenate(lists), np.cumsum(counts)


def predecessors_of(children: Array, ends: Array) -> tuple[Array, Array]:
    """Return (`parents`, `begins`) of a PositionGraph from its lists of children."""
    parents, begins = np.empty(len(children), np.int64), np.zeros(len(ends) + 2, np.int64)
    reverse(children, ends, parents, begins)
    return parents, begins


# Tasks


def read_block(task: tuple[ListedTable, int, int, int]) -> ExploredBlock:
    """Return the ExploredBlock of the positions from *begin* to *end* of tier number *k*."""
    table, k, begin, end = task
    positions = table.space.positions[begin:end].astype(np.int64, copy=False)
    block = expand_located(table, expander_of(table.game), k, positions)
    primitives, origins = block.primitives.copy(), block.origins[: block.columns].copy()
    places = block.places[:, : block.columns]
    places = np.where(places < -1, -2 - places, places)  # decode children where the same player moves again
    movers = np.empty(end - begin, np.int8)
    pays = np.zeros((end - begin, table.game.players), np.int64)
    trouble = np.zeros(2, np.int64)
    with compiling(table.game, trouble):
        payoff_kernels.look(rules_for(table.game), positions, primitives, movers, pays, trouble)
        moves = places.shape if Traits.of(table.game).has_rewards else (0, 0)
        rewards = np.zeros((*moves, table.game.players), np.int64)
        payoff_kernels.take_rewards(rules_for(table.game), positions[origins], rewards, trouble)
    return ExploredBlock(begin, end, primitives, movers, pays, places, origins, rewards)


def count_sizes(task: tuple[ListedTable, int, int]) -> Array:
    """Return the number of positions symmetric to each of a block."""
    table, begin, end = task
    sizes, trouble = np.empty(end - begin, np.uint16), np.zeros(2, np.int64)
    images = np.empty(payoff_kernels.MOST_IMAGES, np.int64)
    positions = table.space.positions[begin:end].astype(np.int64, copy=False)
    with compiling(table.game, trouble):
        payoff_kernels.sizes_of(rules_for(table.game), positions, images, sizes, trouble)
    return sizes
